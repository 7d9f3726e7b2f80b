"""The researcher's browser and that of a worker on another site."""

import pytest

from tests import cast


@pytest.fixture
def researcher(open_page, client, live_server):
    """Ada's browser."""
    client.force_login(cast.ada())
    page = open_page(width=1280)
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
    )
    return page


@pytest.fixture
def worker_page(chromium):
    """A page of the worker site; at the end nothing in the frame broke a policy, and no cookie was kept."""
    contexts, complaints = [], []

    def open_page(**options):
        context = chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
        return page

    yield open_page
    cookies = [cookie for context in contexts for cookie in context.cookies()]
    for context in contexts:
        context.close()
    assert cookies == [] and complaints == []
