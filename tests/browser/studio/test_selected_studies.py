"""Several studies selected on the start page are changed together: by keyboard, with and without scripts."""

import pytest
from playwright.sync_api import expect

from experiments.models import Experiment
from tests import cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("javascript", [True, False], ids=["javascript", "no-javascript"])
@pytest.mark.parametrize("width", [390, 1280])
def test_studies_are_moved_and_archived_by_keyboard(
    open_page, check_page, client, live_server, javascript, width
):
    materials = cast.material_set("agreement")
    for name in ("first", "second", "third"):
        cast.draft(name, materials=materials)
    client.force_login(cast.ada())
    page = open_page(width=width)
    cookie = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    if not javascript:
        page.route("**/*.js", lambda route: route.abort())
    page.goto("/?status=draft")
    bar = page.locator("#bulk")
    expect(bar).to_be_hidden()
    for name in ("Study third", "Study second"):
        page.get_by_label(f"Select {name}").focus()
        page.keyboard.press("Space")
    expect(bar).to_be_visible()
    check_page(page)
    if javascript:
        expect(bar.get_by_role("status")).to_have_text("2 selected")
        bar.get_by_label("Select all on this page").check()
        expect(page.locator(".pick:checked")).to_have_count(3)
        page.get_by_label("Select Study first").uncheck()
    page.get_by_label("Folder").last.fill("Islands")
    page.keyboard.press("Enter")
    expect(page.locator("body")).to_contain_text("2 studies in the folder Islands now.")
    assert page.url.endswith("/?status=draft")
    page.get_by_label("Select Study second").press("Space")
    for _ in range(20):  # on through the bar, without a way back
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.value") == "archive":
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Archive the selected studies?")
    check_page(page)
    page.get_by_role("button", name="Archive 1 study").press("Enter")
    expect(page.locator("body")).to_contain_text("In the archive: Study second.")
    moved = Experiment.objects.filter(folder="Islands")
    assert {study.slug: bool(study.archived_at) for study in moved} == {"second": True, "third": False}
