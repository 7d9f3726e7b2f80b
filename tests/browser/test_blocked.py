"""Pages come, but something stops what is sent in the background: a form takes the answers along."""

import json

import pytest
from playwright.sync_api import Page, Request, expect

from judgments.models import Judgment, Session, SessionEvent
from tests.browser.test_engine import (
    NO_DATABASE,
    NO_STORAGE,
    PRACTICE,
    a_session,
    answer,
    finish,
    shown_trial,
)
from tests.browser.test_offline import start
from tests.cast import material_set

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ANSWERS = "**/api/v1/sessions/*/judgments/"
OF_PAGES = {"document", "script", "stylesheet", "image"}
WAITING = "Answers to be saved with the next page"
STORED = """session => new Promise((resolve, reject) => {
  const request = indexedDB.open("obelus");
  request.onerror = reject;
  request.onsuccess = () => {
    const all = request.result.transaction("answers").objectStore("answers").getAll();
    all.onsuccess = () => resolve(all.result.filter((one) => one.session === session && one.row).length);
  };
})"""


def block(page: Page, address: str = ANSWERS) -> None:
    """Stop requests of scripts to this address, as an extension does; pages come as ever."""
    page.context.route(
        address,
        lambda route: route.fallback() if route.request.resource_type in OF_PAGES else route.abort(),
    )


def impatient(page: Page) -> None:
    """Let the engine take a second, in place of twenty, for enough to know that it is blocked."""

    def sooner(route):
        reply = route.fetch()
        text = reply.text()
        assert "BARRED_MS, LOOK_MS] = [200, 3, 20_000, 5000]" in text
        route.fulfill(response=reply, body=text.replace("20_000, 5000]", "1000, 5000]"))

    page.context.route("**/engine/sender.js", sooner)


def forms(page: Page) -> list[list[str]]:
    """The trials that each form takes along, from now on."""
    sent: list[list[str]] = []

    def note(request: Request) -> None:
        if request.method == "POST" and request.url.endswith("/handed/"):
            assert request.resource_type == "document"
            data = json.loads(request.post_data_json["sent"])
            sent.append([one["trial"] for one in data["judgments"]])

    page.context.on("request", note)
    return sent


def all_stored_once(session: Session, n: int) -> None:
    """Every trial has its one answer with its time, and the session has its code."""
    session.refresh_from_db()
    assert session.status == "complete" and session.completion_code
    judgments = Judgment.objects.filter(trial__session=session)
    assert judgments.count() == n == session.trials.count()
    assert all(one.rt_ms >= 200 and one.input_type == "keyboard" for one in judgments)
    assert not any("no_rt" in one.timing for one in judgments)
    assert not SessionEvent.objects.filter(kind="conflict").exists()


def test_a_whole_session_arrives_by_a_form_at_the_end(open_page):
    session = a_session()
    page = open_page()
    sent = forms(page)
    block(page)
    page.goto(f"/s/{session.token}/")
    given = [answer(page) for _ in range(4)]
    expect(page.locator("h1")).to_have_text("Saving your last answers")
    assert not Judgment.objects.exists()
    page.locator(".code").wait_for(timeout=40_000)
    assert sent == [given]
    all_stored_once(session, 4)
    assert all(one.timing["by_form"] is True for one in Judgment.objects.all())
    assert page.url.endswith(f"/s/{session.token}/")
    assert page.evaluate(STORED, session.token) == 0
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
    given = [answer(page)]
    page.keyboard.press("Enter")  # the practice is over
    given += [answer(page), answer(page)]
    expect(page.locator("[data-status]")).to_contain_text(WAITING, timeout=10_000)
    check_page(page)
    while len(given) < 14:
        given.append(answer(page))
    expect(page.locator("h1")).to_have_text("Block 1 of 2 is done")
    assert [len(one) for one in sent] == [10, 4]
    expect(page.locator("[data-status]")).to_have_text("Answers saved")
    check_page(page)
    page.keyboard.press("Enter")
    while len(given) < 27:
        given.append(answer(page))
    page.locator(".code").wait_for()
    assert [one for form in sent for one in form] == given and [len(one) for one in sent] == [10, 4, 10, 3]
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
    expect(page.locator("[data-status]")).to_contain_text(f"{WAITING}: 2.", timeout=10_000)
    for _ in range(12):
        answer(page)
    page.locator(".code").wait_for()
    assert [len(one) for one in sent] == [10, 4] and questions == []
    all_stored_once(session, 14)
    if script is NO_DATABASE:
        assert page.evaluate("token => localStorage.getItem(`obelus-${token}`)", session.token) is None


def test_what_is_let_through_again_goes_the_usual_way(open_page):
    session = a_session()
    page = open_page()
    sent = forms(page)
    impatient(page)
    block(page)
    page.goto(f"/s/{session.token}/")
    answer(page), answer(page)
    expect(page.locator("[data-status]")).to_contain_text(WAITING, timeout=10_000)
    page.context.unroute(ANSWERS)
    answer(page)
    expect(page.locator("[data-status]")).to_have_text("Answers saved")
    assert Judgment.objects.count() == 3
    finish(page)
    assert sent == []
    all_stored_once(session, 4)


def test_what_the_server_had_stored_already_is_not_stored_twice(open_page):
    """Answers get there, but no word comes back."""
    session = a_session()
    page = open_page()
    sent = forms(page)
    impatient(page)

    def lose_the_reply(route):
        if route.request.resource_type == "fetch":
            route.fetch()
        route.abort()

    page.context.route(ANSWERS, lose_the_reply)
    page.goto(f"/s/{session.token}/")
    given = [answer(page) for _ in range(4)]
    page.locator(".code").wait_for()
    assert sent == [given]
    all_stored_once(session, 4)
    assert not any("by_form" in one.timing for one in Judgment.objects.all())


def test_every_request_of_scripts_blocked_a_session_that_is_opened_again_goes_on(open_page):
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


def test_where_scripts_may_ask_for_nothing_no_worker_comes_in_between(open_page):
    """A worker would ask for the page's scripts and styles as scripts do, and be blocked."""
    session = a_session()
    page = open_page()
    block(page, "**/*")
    page.goto(f"/s/{session.token}/")
    shown_trial(page)
    page.wait_for_timeout(1000)
    assert page.evaluate("async () => (await navigator.serviceWorker.getRegistrations()).length") == 0


def test_a_worker_that_came_before_the_block_is_not_in_the_way(open_page):
    session = a_session()
    page = open_page()
    impatient(page)
    start(page, session)
    with page.expect_response(ANSWERS):
        answer(page)
    page.reload()
    shown_trial(page)
    assert page.evaluate("Boolean(navigator.serviceWorker.controller)")
    block(page, "**/*")
    for _ in range(3):
        answer(page)
    page.locator(".code").wait_for()
    all_stored_once(session, 4)


def test_two_tabs_hand_over_what_each_has_and_the_first_answer_stands(open_page):
    session = a_session()
    page = open_page()
    impatient(page)
    block(page)
    page.add_init_script(NO_STORAGE)  # so neither tab knows what the other has
    page.goto(f"/s/{session.token}/")
    answer(page), answer(page)
    expect(page.locator("[data-status]")).to_contain_text(WAITING, timeout=10_000)
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


def test_a_second_tab_at_the_end_hands_over_and_the_first_says_so(open_page):
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


@pytest.mark.parametrize("away", ["network", "server"])
def test_no_form_is_sent_where_pages_do_not_come_either(away, open_page):
    session = a_session()
    page = open_page()
    sent = forms(page)
    impatient(page)
    page.goto(f"/s/{session.token}/")
    answer(page)
    if away == "network":
        page.context.set_offline(True)
    else:
        for address in (ANSWERS, "**/s/**"):
            page.context.route(address, lambda route: route.fulfill(status=503, body="<h1>Away</h1>"))
    for _ in range(3):
        answer(page)
    expect(page.locator("h1")).to_have_text("Saving your last answers")
    page.wait_for_timeout(6000)  # several attempts
    expect(page.locator("[data-status]")).to_contain_text("Reconnecting")
    assert sent == []
    page.context.set_offline(False)
    page.context.unroute_all()
    page.evaluate("dispatchEvent(new Event('online'))")
    page.locator(".code").wait_for()
    assert sent == []
    all_stored_once(session, 4)


def test_no_form_is_sent_where_the_server_comes_back_between_an_attempt_and_the_look(open_page):
    session = a_session()
    page = open_page()
    sent = forms(page)
    impatient(page)
    page.goto(f"/s/{session.token}/")
    refused, looks = [], []

    def away_until_the_look(route):
        if route.request.method == "HEAD":
            looks.append(len(refused))
        if looks:
            return route.fallback()
        refused.append(route.request.url)
        return route.fulfill(status=503, body="<h1>Away</h1>")

    for address in (ANSWERS, "**/s/**"):
        page.context.route(address, away_until_the_look)
    for _ in range(4):
        answer(page)
    page.locator(".code").wait_for(timeout=20_000)
    assert looks == [len(refused)] and len(refused) >= 3
    assert sent == []
    all_stored_once(session, 4)


@pytest.mark.parametrize("status", [200, 409, 503])
def test_a_firewalls_own_page_in_place_of_our_answer_counts_as_blocked(status, open_page):
    session = a_session()
    page = open_page()
    sent = forms(page)
    impatient(page)
    page.context.route(
        ANSWERS, lambda route: route.fulfill(status=status, content_type="text/html", body="<h1>Denied</h1>")
    )
    page.goto(f"/s/{session.token}/")
    for _ in range(4):
        answer(page)
    page.locator(".code").wait_for()
    assert len(sent) == 1
    all_stored_once(session, 4)
