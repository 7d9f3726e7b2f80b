"""A form is sent where pages come and the background is stopped, and only there."""

import pytest
from playwright.sync_api import expect

from judgments.models import Judgment
from tests.browser.blocking import ANSWERS, WAITING, all_stored_once, block, forms, impatient
from tests.browser.playing import a_session, answer, finish, shown_trial, start, until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_unblocked_requests_use_the_regular_endpoint_again(open_page):
    session = a_session()
    page = open_page()
    sent = forms(page)
    impatient(page)
    block(page)
    page.goto(f"/s/{session.token}/")
    answer(page), answer(page)
    expect(page.locator("[data-status]")).to_contain_text(WAITING)
    page.context.unroute(ANSWERS)
    answer(page)
    # The two before may be saved, and said to be, before the third is on its way.
    until(page, lambda: Judgment.objects.count() == 3)
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
    answers = [answer(page) for _ in range(4)]
    page.locator(".code").wait_for()
    assert sent == [answers]
    all_stored_once(session, 4)
    assert not any("by_form" in judgment.timing for judgment in Judgment.objects.all())


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
    refused, attempts_seen = [], []

    def away_until_the_look(route):
        if route.request.method == "HEAD":
            attempts_seen.append(len(refused))
        if attempts_seen:
            return route.fallback()
        refused.append(route.request.url)
        return route.fulfill(status=503, body="<h1>Away</h1>")

    for address in (ANSWERS, "**/s/**"):
        page.context.route(address, away_until_the_look)
    for _ in range(4):
        answer(page)
    page.locator(".code").wait_for()
    assert attempts_seen == [len(refused)] and len(refused) >= 3
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
