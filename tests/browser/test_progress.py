"""How far one is: the block one is in fills as one goes on."""

import pytest
from playwright.sync_api import expect

from judgments.models import Judgment, Session
from tests.browser.playing import answer, shown_trial, start, until
from tests.cast import begin, study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_block_one_is_in_fills_trial_by_trial(open_page, check_page):
    session = begin(study(task="likert", instructions="", n_lists=1, n_blocks=2))
    page = open_page()
    start(page, session)
    mark = page.locator(".blocks progress")
    for n_done in (0, 1):
        shown_trial(page)
        expect(mark).to_have_js_property("value", n_done)
        expect(mark).to_have_js_property("max", 2)
        check_page(page)
        answer(page, "likert")
    expect(page.get_by_role("heading", name="Block 1 of 2 is done")).to_be_visible()
    expect(mark).to_have_count(0)
    expect(page.locator(".blocks .done")).to_have_count(1)
    page.locator("main .button.primary").click()
    shown_trial(page)
    expect(page.locator(".blocks > *")).to_have_count(2)
    expect(page.locator(".blocks > :last-child")).to_have_js_property("value", 0)


def test_the_bar_fills_and_instructions_are_read_again_without_leaving_the_trial(open_page, check_page):
    session = begin(study(task="likert", instructions="Read each sentence once.", n_lists=1))
    Session.objects.update(screen="block-1")
    page = open_page()
    start(page, session)
    for n_done in (0, 1):
        shown_trial(page)
        expect(page.locator(".bar")).to_have_js_property("value", n_done)
        expect(page.locator("header.where")).to_contain_text("of 4 · about 1 min left")
        check_page(page)
        if not n_done:
            answer(page, "likert")
    answers = page.locator(".scale").bounding_box()
    summary = page.locator(".again summary")
    summary.press("Enter")
    expect(page.get_by_text("Read each sentence once.")).to_be_visible()
    assert page.locator(".scale").bounding_box() == answers
    check_page(page)
    page.wait_for_timeout(300)
    summary.press("Enter")
    answer(page, "likert")
    until(page, lambda: Judgment.objects.count() == 2)
    first, second = (judgment.timing for judgment in Judgment.objects.order_by("trial__position"))
    assert "instructions_ms" not in first and second["instructions_ms"] >= 300
