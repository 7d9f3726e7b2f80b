"""The page at the end comes with the last acknowledgement, without another request before the code."""

import json

import pytest
from playwright.sync_api import expect

from judgments.models import Judgment, Session
from tests.browser.playing import KEPT, NOTES, a_session, answer, finish, shown_trial, start

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def pages_asked(page):
    """The pages that are asked for from now on."""
    addresses = []
    page.on(
        "request", lambda request: addresses.append(request.url) if request.is_navigation_request() else None
    )
    return addresses


def test_the_code_is_shown_without_another_request_and_a_reload_shows_the_same(open_page, check_page):
    session = a_session(debrief="It was about *agreement*.")
    page = open_page(width=390)
    start(page, session)
    requests = pages_asked(page)
    for _ in range(4):
        answer(page)
    code = page.locator(".code output")
    code.wait_for()
    assert requests == [] and page.url.endswith(f"/s/{session.token}/")
    expect(code).to_have_text(Session.objects.get().completion_code)
    heading = page.locator("h1")
    expect(heading).to_be_focused()  # read out, as a page that was loaded is
    expect(page.locator("main")).to_contain_text("About this study")
    assert page.title().startswith("Thank you")
    check_page(page)
    page.wait_for_function(f"async () => !(await ({NOTES})({json.dumps(session.token)})).length")
    page.wait_for_function(f"async () => !Object.keys(await ({KEPT})()).length")
    shown_html = page.locator("body").inner_html()
    attributes = "() => document.body.getAttributeNames()"
    before = page.evaluate(attributes)
    page.reload()
    code.wait_for()
    assert len(requests) == 1
    assert page.locator("body").inner_html().split() == shown_html.replace(' tabindex="-1"', "").split()
    assert page.evaluate(attributes) == before


def test_what_the_page_links_to_works_from_there(open_page):
    session = a_session()
    page = open_page()
    page.goto(f"/s/{session.token}/")
    for _ in range(4):
        answer(page)
    page.locator(".code").wait_for()
    page.get_by_role("link", name="Delete my answers").click()
    page.wait_for_url("**/withdraw/")
    page.go_back()
    expect(page.locator(".code output")).to_have_text(Session.objects.get().completion_code)


def test_a_page_that_did_not_come_along_is_asked_for(open_page):
    session = a_session()
    page = open_page()

    def without_page(route):
        reply = route.fetch()
        document = reply.json()
        document.pop("page", None)
        route.fulfill(response=reply, json=document)

    page.goto(f"/s/{session.token}/")
    page.context.route("**/api/v1/sessions/*/judgments/", without_page)
    requests = pages_asked(page)
    for _ in range(4):
        answer(page)
    page.locator(".code").wait_for()
    expect(page.locator(".code output")).to_have_text(Session.objects.get().completion_code)
    assert len(requests) == 1


def test_a_tab_opened_at_the_end_shows_the_code_and_leaves_this_one_alone(open_page):
    session = a_session()
    page = open_page()
    page.goto(f"/s/{session.token}/")
    for _ in range(4):
        answer(page)
    page.locator(".code").wait_for()
    other = page.context.new_page()
    other.goto(page.url)
    other.locator(".code").wait_for()
    page.wait_for_timeout(300)
    expect(page.locator(".code")).to_be_visible()


def test_a_page_whose_session_was_completed_on_another_device_stops_at_its_next_answer(open_page):
    session = a_session()
    phone, laptop = open_page(width=390), open_page()  # each with a storage of its own
    phone.goto(f"/s/{session.token}/")
    shown_trial(phone)
    laptop.goto(f"/s/{session.token}/")
    for _ in range(4):
        answer(laptop)
    laptop.locator(".code").wait_for()
    answer(phone)
    expect(phone.locator(".code output")).to_have_text(Session.objects.get().completion_code)
    assert Judgment.objects.count() == 4


@pytest.mark.parametrize("is_reloaded", [False, True])
def test_the_code_is_copied_with_one_press(open_page, is_reloaded):
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    session = a_session()
    page.goto(f"/s/{session.token}/")
    finish(page)
    if is_reloaded:
        page.reload()
    page.get_by_role("button", name="Copy the code").click()
    expect(page.locator("[data-copied]")).to_have_text("Copied")
    session.refresh_from_db()
    assert page.evaluate("navigator.clipboard.readText()") == session.completion_code
