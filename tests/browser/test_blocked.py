"""Pages come, but something stops what is sent in the background: a form takes the answers along."""

import pytest
from playwright.sync_api import expect

from judgments.models import Judgment, Session, SessionEvent
from tests.browser.blocking import ANSWERS, WAITING, all_stored_once, block, forms, impatient
from tests.browser.playing import (
    NO_DATABASE,
    NO_STORAGE,
    NOTES,
    PRACTICE,
    a_session,
    answer,
    finish,
    shown_trial,
)
from tests.cast import material_set

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_whole_session_arrives_by_a_form_at_the_end(open_page):
    session = a_session()
    page = open_page()
    sent = forms(page)
    block(page)
    page.goto(f"/s/{session.token}/")
    answers = [answer(page) for _ in range(4)]
    expect(page.locator("h1")).to_have_text("Saving your last answers")
    assert not Judgment.objects.exists()
    page.locator(".code").wait_for(timeout=40_000)
    assert sent == [answers]
    all_stored_once(session, 4)
    assert all(judgment.timing["by_form"] is True for judgment in Judgment.objects.all())
    assert page.url.endswith(f"/s/{session.token}/")
    assert not any(note.get("row") for note in page.evaluate(NOTES, session.token))
    page.reload()
    expect(page.locator(".code output")).to_have_text(session.completion_code)


def test_ten_answers_or_a_break_are_worth_a_page_and_the_sentences_go_on_there(open_page, check_page):
    practice = {"kind": "practice", "payload": PRACTICE["forced_choice"]}
    materials = material_set(n_items=26)
    session = a_session(
        n_blocks=2, materials=materials, extras=(practice,), instructions="Read, then choose."
    )
    Session.objects.update(screen="practice")
    page = open_page()
    sent = forms(page)
    impatient(page)
    block(page)
    page.goto(f"/s/{session.token}/")
    answers = [answer(page)]
    page.keyboard.press("Enter")  # the practice is over
    answers += [answer(page), answer(page)]
    expect(page.locator("[data-status]")).to_contain_text(WAITING)
    check_page(page)
    while len(answers) < 14:
        answers.append(answer(page))
    expect(page.locator("h1")).to_have_text("Block 1 of 2 is done")
    assert [len(trial_ids) for trial_ids in sent] == [10, 4]
    expect(page.locator("[data-status]")).to_have_text("Answers saved")
    check_page(page)
    page.keyboard.press("Enter")
    while len(answers) < 27:
        answers.append(answer(page))
    page.locator(".code").wait_for()
    assert [trial_ids for form in sent for trial_ids in form] == answers and [
        len(trial_ids) for trial_ids in sent
    ] == [10, 4, 10, 3]
    all_stored_once(session, 27)
    assert Judgment.objects.filter(timing__has_key="from_kept").count() == 0
    assert not SessionEvent.objects.filter(kind="reload").exists()


@pytest.mark.parametrize("script", [NO_DATABASE, NO_STORAGE])
def test_where_storage_is_blocked_as_well_nothing_is_lost_and_leaving_asks_nothing(script, open_page):
    session = a_session(materials=material_set(n_items=14))
    page = open_page()
    questions = []
    page.on("dialog", lambda dialog: (questions.append(dialog.type), dialog.accept()))
    page.add_init_script(script)
    sent = forms(page)
    impatient(page)
    block(page)
    page.goto(f"/s/{session.token}/")
    answer(page), answer(page)
    expect(page.locator("[data-status]")).to_contain_text(f"{WAITING}: 2.")
    for _ in range(12):
        answer(page)
    page.locator(".code").wait_for()
    assert [len(trial_ids) for trial_ids in sent] == [10, 4] and questions == []
    all_stored_once(session, 14)
    if script is NO_DATABASE:
        assert page.evaluate("token => localStorage.getItem(`obelus-${token}`)", session.token) is None


def test_a_reopened_session_continues_with_every_scripted_request_blocked(open_page):
    """Also the plan is asked for in vain then, and no worker has one."""
    session = a_session()
    page = open_page(service_workers="block")
    sent = forms(page)
    impatient(page)
    page.goto(f"/s/{session.token}/")
    with page.expect_response(ANSWERS):
        answer(page)
    block(page, "**/*")
    second = answer(page)
    third = shown_trial(page)
    page.reload()
    assert shown_trial(page) == third
    assert sent == [[second]] and Judgment.objects.count() == 2
    page.reload()  # with nothing to take along
    assert shown_trial(page) == third
    assert sent == [[second], []]
    answer(page), answer(page)
    page.locator(".code").wait_for()
    all_stored_once(session, 4)


def test_a_worker_that_cannot_be_dismissed_holds_no_answer_back_and_has_an_event(open_page):
    session = a_session()
    page = open_page()
    page.add_init_script("ServiceWorkerContainer.prototype.getRegistration = () => new Promise(() => {})")
    sent = forms(page)
    impatient(page)
    block(page)
    page.goto(f"/s/{session.token}/")
    answers = [answer(page) for _ in range(4)]
    page.locator(".code").wait_for()
    assert sent == [answers]
    all_stored_once(session, 4)
    event = SessionEvent.objects.get(kind="storage", details__what="worker")
    assert event.details["reason"] == "TimeoutError"


def test_two_tabs_hand_over_what_each_has_and_the_first_answer_is_kept(open_page):
    session = a_session()
    page = open_page()
    impatient(page)
    block(page)
    page.add_init_script(NO_STORAGE)  # so neither tab knows what the other has
    page.goto(f"/s/{session.token}/")
    answer(page), answer(page)
    expect(page.locator("[data-status]")).to_contain_text(WAITING)
    other = page.context.new_page()
    other.add_init_script(NO_STORAGE)
    other.goto(f"/s/{session.token}/")
    shown_trial(other)
    expect(page.locator("h1")).to_have_text("This study is open in another tab")
    page.bring_to_front()
    page.locator(".button.primary").click()
    expect(page.locator(".where").first).to_contain_text("3 of 4")
    expect(other.locator("h1")).to_have_text("This study is open in another tab")
    assert Judgment.objects.count() == 2
    finish(page)
    all_stored_once(session, 4)
    other.locator(".button.primary").click()
    expect(other.locator(".code output")).to_have_text(session.completion_code)


def test_a_second_tab_at_the_end_hands_over_and_the_first_shows_a_notice(open_page):
    session = a_session()
    page = open_page()
    sent = forms(page)
    block(page)
    page.goto(f"/s/{session.token}/")
    for _ in range(4):
        answer(page)
    expect(page.locator("h1")).to_have_text("Saving your last answers")
    other = page.context.new_page()
    impatient(other)
    other.goto(f"/s/{session.token}/")
    expect(page.locator("h1")).to_have_text("This study is open in another tab")
    other.locator(".code").wait_for()
    assert len(sent) == 1
    all_stored_once(session, 4)
    page.locator(".button.primary").click()
    expect(page.locator(".code output")).to_have_text(session.completion_code)
