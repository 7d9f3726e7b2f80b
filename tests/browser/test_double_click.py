"""A double click answers once: its second half is no answer, no mistake, no selection on the next screen."""

import pytest
from playwright.sync_api import Page, expect

from judgments.models import Judgment
from tests.browser.playing import ready, shown_trial
from tests.cast import begin, study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PRACTICE = {"sentence": "He goes.", "correct": [0, 100], "feedback": "It is fine."}
ONE_PLACE = "main.reading .ways { position: fixed; inset: 0 auto auto 0 }"

SECOND_HALF_AFTER = """(ms) => addEventListener("trial-onset", ({ detail }) => setTimeout(() => {
  while (performance.now() < detail.onset + ms); // to the millisecond, on a slow machine, too
  const click = new MouseEvent("click", { detail: 2, bubbles: true });
  document.querySelector(".task .option").dispatchEvent(click);
  window.chosenAfter = document.querySelectorAll(".task .chosen").length;
}), { once: true })"""


def a_trial(open_page, task: str, **fields) -> Page:
    session = begin(study(task=task, instructions="", n_lists=1, **fields))
    page = open_page(width=1280)
    page.goto(f"/s/{session.token}/")
    ready(page)
    return page


def double_click(page: Page, selector: str) -> None:
    """Both halves as a hand makes them, whatever the page makes of the first."""
    box = page.locator(selector).bounding_box()
    page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, delay=40)


@pytest.mark.parametrize("task", ["slider", "likert"])
def test_next_pressed_twice_complains_of_nothing_in_the_next_trial(open_page, task):
    page = a_trial(open_page, task, parameters={"confirm": True} if task == "likert" else {})
    first = shown_trial(page)
    if task == "slider":
        page.locator(".line").press("ArrowRight")
    else:
        page.locator(".option").first.click()
    double_click(page, "main .button.primary")
    expect(page.locator(f'.task[data-onset]:not([data-trial="{first}"])')).to_be_visible()
    page.wait_for_timeout(250)
    assert page.locator("[role=alert]:visible, .early:not(:empty)").count() == 0
    assert page.evaluate("getSelection().toString()").strip() == ""
    assert Judgment.objects.count() <= 1
    page.locator("main .button.primary").click()  # pressed once more, it says what is missing
    expect(page.locator("[role=alert]:visible, .early:not(:empty)")).to_have_count(1)


@pytest.mark.parametrize(("ms", "n_chosen"), [(300, 0), (900, 1)])
def test_the_second_half_of_a_slow_double_click_is_no_answer_to_the_next_trial(open_page, ms, n_chosen):
    page = a_trial(open_page, "yes_no")
    page.evaluate(SECOND_HALF_AFTER, ms)
    page.locator(".option").first.click()
    page.wait_for_function("() => window.chosenAfter !== undefined")
    assert page.evaluate("chosenAfter") == n_chosen


def test_a_screen_between_trials_is_not_passed_by_the_click_before(open_page):
    """Two screens in a row with their buttons at one place: feedback, then the end of practice."""
    page = a_trial(open_page, "yes_no", extras=({"kind": "practice", "payload": PRACTICE},))
    page.locator(".option").first.click()
    page.get_by_text("It is fine.").wait_for()
    page.evaluate(f"document.styleSheets[0].insertRule({ONE_PLACE!r})")
    double_click(page, "main .button.primary")
    expect(page.get_by_role("heading", name="That was the practice")).to_be_visible()
    page.wait_for_timeout(400)
    expect(page.get_by_role("heading", name="That was the practice")).to_be_visible()
    assert page.evaluate("getSelection().toString()").strip() == ""
