"""What practice feedback says of the answer: as it was seen, with the engine and without JavaScript."""

import pytest
from playwright.sync_api import Page

from tests.browser.playing import ready
from tests.cast import begin, study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PRACTICE = {"sentence": "He goes.", "correct": [3, 100], "feedback": "It is fine."}
HAS_SCRIPTS = pytest.mark.parametrize("has_scripts", [True, False], ids=["engine", "form"])


def a_practice(open_page, task: str, *, has_scripts: bool, **fields) -> Page:
    """The practice trial of a session just begun, ready to be answered."""
    extras = ({"kind": "practice", "payload": PRACTICE},)
    session = begin(study(task=task, instructions="", n_lists=1, extras=extras, **fields))
    page = open_page(java_script_enabled=has_scripts)
    page.goto(f"/s/{session.token}/")
    if has_scripts:
        ready(page)
    return page


@HAS_SCRIPTS
@pytest.mark.parametrize(
    ("language", "high_first", "reads"),
    [("en", False, "ltr"), ("en", True, "rtl"), ("ar", False, "rtl"), ("ar", True, "ltr")],
)
def test_a_place_on_the_line_is_shown_again_and_not_as_a_number(
    open_page, check_page, has_scripts, language, high_first, reads
):
    parameters = {"high_first": high_first, "low_label": "bad", "high_label": "good"}
    page = a_practice(open_page, "slider", has_scripts=has_scripts, language=language, parameters=parameters)
    if has_scripts:
        page.locator(".line").press("End")
    else:
        page.locator("#number").fill("62,5")
    page.locator("main .button.primary").click()
    page.get_by_text("It is fine.").wait_for()
    line = page.locator(".line")
    assert line.is_disabled()
    assert (line.get_attribute("value"), line.get_attribute("dir")) == (
        "100" if has_scripts else "62.5",
        reads,
    )
    words = page.locator("main").inner_text()
    assert "bad" in words and "good" in words
    assert not any(sign.isdigit() for sign in words)
    if has_scripts:
        check_page(page)


@HAS_SCRIPTS
def test_a_point_is_named_with_its_words(open_page, has_scripts):
    labels = ["awful", "poor", "fine", "good", "perfect"]
    page = a_practice(
        open_page,
        "likert",
        has_scripts=has_scripts,
        parameters={"points": 5, "labels": labels, "confirm": True},
    )
    page.locator(".option").nth(3).click()
    page.locator("main .button.primary").click()
    page.get_by_text("It is fine.").wait_for()
    assert "Your answer: 4 good" in page.locator("main").inner_text()
