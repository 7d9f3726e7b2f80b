"""The line of steps on the planning pages."""

import re

import pytest

from experiments.page_cache import cache
from experiments.studies.lifecycle import open_study
from tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_lists():
    """No lists of another test."""
    cache.clear()


def line(client, page="design/"):
    text = client.get(f"/studies/agreement/{page}").content.decode()
    match = re.search(r'<ol class="plan-line">(.*?)</ol>', text, re.S)
    return re.findall(r">(\w+)<span class=\"sr\">, ([\w ]+)</span>", match[1]) if match else None


def test_line_shows_what_is_done_and_what_is_next(client):
    cast.draft("agreement", instructions="")
    client.force_login(cast.ben())
    assert line(client) == [
        ("Materials", "done"),
        ("Task", "done"),
        ("Texts", "next"),
        ("Design", "done"),
        ("Checks", "to do"),
        ("Preview", "to do"),
        ("Pilot", "to do"),
        ("Open", "to do"),
    ]


@pytest.mark.parametrize("page", ["", "design/", "launch/"])
def test_line_is_on_every_planning_page_as_links(client, page):
    cast.draft("agreement")
    client.force_login(cast.ada())
    assert len(line(client, page)) == 8
    text = client.get(f"/studies/agreement/{page}").content.decode()
    assert text.count('aria-current="step"') == 1


def test_an_open_study_has_its_way_behind_it(client):
    study = cast.draft("agreement")
    open_study(study, cast.ada())
    client.force_login(cast.ada())
    assert line(client) is None
