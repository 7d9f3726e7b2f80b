"""A page that is still open when its session has ended elsewhere asks for nothing more."""

import pytest
from playwright.sync_api import expect

from judgments.models import Judgment
from judgments.sessions.removal import erase, leave
from tests.browser.playing import ready
from tests.cast import begin, study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_session_that_ended_elsewhere_stops_at_the_next_answer(open_page):
    session = begin(study(n_lists=1, instructions=""))
    page = open_page()
    page.goto(f"/s/{session.token}/")
    ready(page)
    leave(session)
    page.keyboard.press("ArrowDown")
    expect(page.locator("h1")).to_have_text("You have left the study")
    assert not Judgment.objects.exists()


def test_a_session_whose_answers_were_deleted_elsewhere_asks_for_no_more(open_page):
    session = begin(study(n_lists=1, instructions=""))
    page = open_page()
    page.goto(f"/s/{session.token}/")
    ready(page)
    erase(session.participant, reason="deleted in another tab")
    page.keyboard.press("ArrowDown")
    expect(page.locator("h1")).to_have_text("Your answers are deleted")
    assert not Judgment.objects.exists()
