"""Answers that cannot leave yet: no network, a closed tab, a reload, other tabs, no storage."""

import json

import pytest
from playwright.sync_api import Route, expect

from judgments.models import Judgment, Session, SessionEvent
from tests.browser.playing import NO_DATABASE, NO_STORAGE, a_session, answer, finish, shown_trial

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_an_answer_offline_waits_on_the_device_and_is_sent_when_the_network_is_back(open_page):
    session = a_session()
    page = open_page()
    page.goto(f"/s/{session.token}/")
    with page.expect_response("**/judgments/"):
        answer(page)
    page.context.route("**/judgments/", lambda route: route.abort())  # no console error as when offline
    for _ in range(2):
        answer(page)  # the next trial comes without the network
    expect(page.locator("[data-status]")).to_contain_text("Answers kept on this device: 2")
    assert Judgment.objects.count() == 1
    page.context.unroute("**/judgments/")
    answer(page)
    page.evaluate("dispatchEvent(new Event('online'))")
    page.locator(".code").wait_for()
    assert Judgment.objects.count() == 4


def test_without_a_network_the_end_waits_and_shows_no_code(open_page):
    session = a_session()
    page = open_page()
    page.goto(f"/s/{session.token}/")
    shown_trial(page)
    page.context.set_offline(True)
    for _ in range(4):
        answer(page)
    expect(page.locator("h1")).to_have_text("Saving your last answers")
    expect(page.locator("[data-status]")).to_contain_text("Reconnecting")
    assert Session.objects.get().status == "active"
    page.context.set_offline(False)
    page.locator(".code").wait_for()
    assert Session.objects.get().status == "complete"


def test_answers_not_yet_sent_survive_a_closed_tab(open_page):
    session = a_session()
    page = open_page()
    page.context.route("**/judgments/", lambda route: route.abort())
    page.goto(f"/s/{session.token}/")
    first, second = answer(page), answer(page)
    page.close()
    page.context.unroute("**/judgments/")
    reopened = page.context.new_page()
    reopened.goto(f"/s/{session.token}/")
    assert shown_trial(reopened) not in {first, second}
    finish(reopened)
    assert Judgment.objects.count() == 4
    assert not SessionEvent.objects.filter(kind="conflict").exists()


def test_a_reload_comes_back_to_the_same_trial_and_is_noted(open_page):
    session = a_session()
    page = open_page()
    page.goto(f"/s/{session.token}/")
    answer(page)
    second = shown_trial(page)
    page.reload()
    assert shown_trial(page) == second
    finish(page)
    assert Judgment.objects.count() == 4
    assert SessionEvent.objects.get(kind="reload").trial.public_id == second


def test_a_second_tab_takes_over_and_the_first_shows_a_notice(open_page):
    session = a_session()
    page = open_page()
    page.goto(f"/s/{session.token}/")
    answer(page)
    other = page.context.new_page()
    other.goto(f"/s/{session.token}/")
    second = shown_trial(other)
    expect(page.locator("h1")).to_have_text("This study is open in another tab")
    page.bring_to_front()
    page.locator(".button.primary").click()
    assert shown_trial(page) == second
    expect(other.locator("h1")).to_have_text("This study is open in another tab")
    finish(page)
    assert Judgment.objects.count() == 4


def test_an_answer_stored_while_a_second_tab_loads_is_not_asked_again(open_page):
    session = a_session()
    page = open_page(service_workers="block")  # a route sees no request that a worker makes
    page.goto(f"/s/{session.token}/")
    judgments, scripts = [], []
    page.context.route("**/judgments/", lambda route: judgments.append(route))
    first = answer(page)
    other = page.context.new_page()
    other.route("**/engine/start*.js", lambda route: scripts.append(route))
    other.goto(f"/s/{session.token}/", wait_until="commit")  # rendered while the answer is on its way
    with page.expect_response("**/judgments/"):
        judgments[0].continue_()
    page.context.unroute("**/judgments/")
    other.wait_for_timeout(200)  # the first tab notes the receipt
    assert scripts
    scripts[0].continue_()
    assert shown_trial(other) != first
    finish(other)
    assert Judgment.objects.count() == 4
    assert not SessionEvent.objects.filter(kind="conflict").exists()


@pytest.mark.parametrize(("script", "kind"), [(NO_DATABASE, "device"), (NO_STORAGE, "page only")])
def test_blocked_storage_falls_back_with_a_notice(script, kind, open_page):
    session = a_session()
    page = open_page()
    page.add_init_script(script)
    page.context.route("**/judgments/", lambda route: route.abort())
    page.goto(f"/s/{session.token}/")
    answer(page)
    expect(page.locator("[data-status]")).to_contain_text(kind)
    page.context.unroute("**/judgments/")
    finish(page)
    assert Judgment.objects.count() == 4


def test_a_browser_without_storage_shows_a_notice_before_the_first_answer(open_page):
    session = a_session()
    page = open_page()
    page.add_init_script(NO_STORAGE)
    page.goto(f"/s/{session.token}/")
    shown_trial(page)
    expect(page.locator("[data-status]")).to_contain_text("leave the page open")
    expect(page.locator("[data-status]")).not_to_contain_text("saved")


def test_a_flaky_network_loses_and_doubles_nothing(open_page):
    """The first reply to every delivery is lost on its way back, after the server has stored it."""
    session = a_session()
    page = open_page()
    heard = []

    def lose_every_other(route: Route) -> None:
        reply = route.fetch()
        heard.append(json.loads(route.request.post_data))
        if len(heard) % 2:
            route.fulfill(status=503, json={"code": "try_again", "message": ""})
        else:
            route.fulfill(response=reply)

    page.context.route("**/judgments/", lose_every_other)
    page.goto(f"/s/{session.token}/")
    finish(page)
    sent = [row["trial"] for body in heard for row in body["judgments"]]
    assert len(sent) > len(set(sent)) == 4
    assert Judgment.objects.count() == 4


def test_a_returning_participant_gets_the_current_plan(open_page):
    session = a_session()
    page = open_page()
    page.goto(f"/s/{session.token}/")
    with page.expect_response("**/judgments/"):
        answer(page)
    with page.expect_response("**/plan/") as plan:
        page.reload()
    assert [trial["is_answered"] for trial in plan.value.json()["trials"]] == [True, False, False, False]
    expect(page.locator(".where").first).to_contain_text("2 of 4")
