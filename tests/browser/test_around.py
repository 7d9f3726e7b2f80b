"""The pages around the trials, by keyboard and on a narrow screen: quiz, deletion, the end, pay."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from judgments.models import Session
from judgments.sessions.pretrial import correct_choice
from tests import cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
QUIZ = [
    {"question": "What counts?", "right": "how it sounds", "wrong": ["is it true", "is it long"]},
    {"question": "May you stop?", "right": "yes", "wrong": ["no"], "hint": "At any time."},
]
QUESTIONS = [{"name": "dutch", "label": "Do you speak Dutch?", "type": "yes_no", "screen_out": ["no"]}]


def read_well(page):
    """A researcher's page: axe finds nothing, nothing scrolls sideways; small buttons are for a mouse."""
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url


def press(page, name):
    """Press a button by keyboard and wait for the page that it leads to."""
    with page.expect_navigation():
        page.get_by_role("button", name=name).first.press("Enter")


def agree(page):
    page.goto("/take/agreement/")
    press(page, "I agree")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_questions_and_quiz_by_keyboard_then_the_answers_are_deleted(open_page, check_page, scheme):
    cast.study("agreement", quiz=QUIZ, questionnaire=QUESTIONS)
    page = open_page(color_scheme=scheme)
    agree(page)
    check_page(page)
    assert not page.locator("input[name=further_notes]").evaluate("one => one.tabIndex >= 0")
    page.get_by_label("Yes").check()
    press(page, "Continue")
    press(page, "Start")
    check_page(page)
    session = Session.objects.get()
    for number in range(len(QUIZ)):
        place = correct_choice(session, number)
        wrong = "2" if place == "1" else "1"
        page.locator(f"input[name=answer_{number + 1}][value='{wrong}']").press("Space")
    page.get_by_role("button", name="Continue").press("Enter")
    page.get_by_text("At any time.").wait_for()
    check_page(page)
    page.goto(f"/s/{session.token}/withdraw/")
    check_page(page)
    page.get_by_role("button", name="Delete my answers").press("Enter")
    page.get_by_role("heading", name="Your answers are deleted").wait_for()
    check_page(page)


def test_everything_reads_well_at_twice_the_size_and_without_motion(open_page, check_page):
    cast.study("agreement", quiz=QUIZ[:1], questionnaire=QUESTIONS)
    page = open_page(width=640, height=400, device_scale_factor=2, reduced_motion="reduce")
    page.goto("/take/agreement/")
    check_page(page)
    press(page, "I agree")
    check_page(page)
    page.get_by_label("Yes").check()
    press(page, "Continue")
    check_page(page)
    press(page, "Start")
    check_page(page)
    page.locator(f"input[name=answer_1][value='{correct_choice(Session.objects.get(), 0)}']").check()
    page.get_by_role("button", name="Continue").click()
    page.locator(".task[data-onset]").wait_for()
    check_page(page)
    option = page.locator(".option").first
    assert option.evaluate("one => getComputedStyle(one).transitionDuration") == "0s"


def test_who_refuses_is_not_asked_again_but_may_take_it_back(open_page, check_page):
    cast.study("agreement")
    page = open_page()
    page.goto("/take/agreement/")
    page.get_by_role("button", name="I do not agree").press("Enter")
    for _ in range(2):
        page.get_by_role("heading", name="You do not take part").wait_for()
        assert page.locator("main :is(button, a)").all_inner_texts() == ["Back to the question"]
        check_page(page)
        page.goto("/take/agreement/")
    page.go_back()
    page.get_by_role("heading", name="You do not take part").wait_for()
    assert Session.objects.get().status == "refused"
    page.get_by_role("button", name="Back to the question").press("Enter")
    page.get_by_role("button", name="I agree and want to take part").wait_for()
    assert not Session.objects.exists()


def test_screened_out_and_finished_pages_read_well(open_page, check_page):
    study = cast.study(
        "agreement",
        questionnaire=QUESTIONS,
        screen_out_code="PARTIAL",
        completion="redirect",
        completion_url="https://panel.example.org/?cc={code}",
    )
    page = open_page()
    agree(page)
    page.get_by_label("No", exact=True).check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("PARTIAL").wait_for()
    check_page(page)
    session = cast.sit(study, "quentin")
    page.goto(f"/s/{session.token}/")
    assert page.get_by_role("link", name="Complete and go back").is_visible()
    check_page(page)


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_pay_is_decided_on_a_page_that_reads_well(open_page, client, live_server, width, scheme):
    study = cast.study("agreement", reward_minor=150)
    session = cast.sit(study, "pia")
    cast.sit(study, "quentin")
    session.signals.create(name="side_bias", version=1, value=1, reason="the first in 20 of 20 trials")
    client.force_login(cast.ada())
    page = open_page(width=width, color_scheme=scheme)
    value = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": value, "url": live_server.url}])
    page.goto("/studies/agreement/participants/")
    read_well(page)
    page.get_by_role("button", name="Approve all 2").click()
    page.get_by_text("Pay of 2 sessions approved").wait_for()
    page.get_by_text("Decide on the pay of").first.click()
    read_well(page)
    page.get_by_role("button", name="Undo").first.click()
    page.get_by_text("Both entries stay in the ledger").wait_for()
    page.goto(f"/studies/agreement/participants/{session.participant.pk}/erase/")
    read_well(page)


@pytest.mark.parametrize("instructions", ["", "Read each pair."])
def test_after_consent_the_address_is_the_sessions_and_a_reload_sends_no_form(open_page, instructions):
    cast.study("agreement", instructions=instructions, n_lists=1)
    page = open_page()
    requests = []
    page.on(
        "request",
        lambda request: (
            requests.append((request.method, request.url)) if request.is_navigation_request() else 0
        ),
    )
    agree(page)
    page.wait_for_url("**/s/*/")
    heading = page.locator("h1, legend").first
    expect(heading).not_to_be_empty()
    words = heading.text_content()
    assert [method for method, _ in requests] == [
        "GET",
        "POST",
    ]  # no redirect between consent and first screen
    page.reload()
    expect(heading).to_have_text(words)
    assert requests[-1] == ("GET", page.url)
    page.go_back()
    page.wait_for_url("**/s/*/")  # the link knows the session
    assert Session.objects.count() == 1


def test_a_long_title_and_a_long_word_about_saving_leave_both_edges_alone(open_page):
    """At 390 px: the position stays at the right of the title, the way out at the right below the words."""
    study = cast.study("agreement", title="How acceptable is it, compared with a reference?", n_lists=1)
    page = open_page()
    page.goto(f"/s/{cast.begin(study).token}/")
    page.get_by_role("button").first.click()
    page.locator(".task[data-onset]").wait_for()
    page.evaluate("document.querySelector('footer span').textContent = 'Answers saved. '.repeat(6)")
    box = {name: page.locator(name).bounding_box() for name in ("header .num", "header", ".way-out", ".task")}
    edge = box["header"]["x"] + box["header"]["width"]
    assert box["header"]["height"] < 60
    for name in ("header .num", ".way-out", ".task"):
        assert abs(box[name]["x"] + box[name]["width"] - edge) < 1, name
