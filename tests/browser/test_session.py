"""Sessions without JavaScript: by keyboard, after reload. With it: test_engine.py."""

import pytest
from playwright.sync_api import Page, expect

from judgments.models import Judgment, Session
from tests.cast import material_set, study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
QUESTIONS = [
    {"name": "age", "label": "How old are you?", "type": "number", "required": True},
    {"name": "native", "label": "Did you grow up with English?", "type": "yes_no", "role": "native_language"},
    {"name": "others", "label": "Other languages", "type": "multi_choice", "choices": ["French", "German"]},
]
PRACTICE = {
    "forced_choice": {"good": "He goes home.", "bad": "He go home.", "feedback": "He needs goes."},
    "likert": {"sentence": "He goes home.", "correct": [0, 500], "feedback": "It is fine."},
}


def open_study(task: str, **fields):
    practice = {"kind": "practice", "payload": PRACTICE.get(task, PRACTICE["likert"])}
    return study(task=task, n_blocks=2, n_lists=1, questionnaire=QUESTIONS, extras=(practice,), **fields)


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the element has the focus, as someone without a mouse does."""
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return
    raise AssertionError(f"Tab never reaches {selector}")


def enter(page: Page) -> None:
    """Press Enter and wait for the page it leads to."""
    with page.expect_navigation():
        page.keyboard.press("Enter")


def go_on(page: Page) -> None:
    """Press the page's main button and wait for the page it leads to."""
    button = page.locator("main .button.primary")
    with page.expect_navigation():
        button.tap() if page.evaluate("navigator.maxTouchPoints > 0") else button.click()


def answer_by_keyboard(page: Page, task: str) -> None:
    """Answer the trial on the page."""
    if task == "magnitude_estimation":
        tab_to(page, "#number")
        page.keyboard.type("62,5")
    else:
        tab_to(page, "input[name=response]")
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
    enter(page)


@pytest.mark.parametrize("task", ["forced_choice", "magnitude_estimation"])
def test_a_whole_session_by_keyboard_on_a_phone(task, open_page, check_page):
    open_study(task)
    page = open_page(width=390, plain=True)
    page.goto("/take/agreement/")
    n_screens = 0
    while not page.locator(".code").count():
        n_screens += 1
        assert n_screens < 20
        check_page(page)
        if page.locator("form[data-task]").count():
            answer_by_keyboard(page, task)
        elif page.locator("#id_age").count():
            tab_to(page, "#id_age")
            page.keyboard.type("33")
            enter(page)
        else:
            tab_to(page, "main .button.primary")
            enter(page)
    check_page(page)
    session = Session.objects.get()
    expect(page.locator(".code output")).to_have_text(session.completion_code)
    assert Judgment.objects.count() == 5
    assert n_screens == 11  # consent, questions, instructions, practice, feedback, ready, 4 trials, 1 break


def test_every_point_can_be_hit_with_a_finger_at_320_pixels(open_page, check_page):
    study(task="likert", parameters={"points": 11, "lowest": 0}, instructions="Read.")
    page = open_page(width=320, has_touch=True, plain=True)
    page.goto("/take/agreement/")
    for _ in range(2):
        go_on(page)
    check_page(page)
    page.locator(".option").nth(10).tap()
    go_on(page)
    assert Judgment.objects.get().value == 10


def test_back_and_reload_keep_the_place_and_the_first_answer(open_page):
    study(instructions="Read.", n_lists=1)
    page = open_page(width=1280, height=800, plain=True)
    page.goto("/take/agreement/")
    for _ in range(2):
        go_on(page)
    first = page.locator("form[data-trial]").get_attribute("data-trial")
    page.locator(".option").first.click()
    go_on(page)
    expect(page.locator("form[data-trial]")).not_to_have_attribute("data-trial", first)
    second = page.locator("form[data-trial]").get_attribute("data-trial")
    page.reload()
    expect(page.locator("form[data-trial]")).to_have_attribute("data-trial", second)
    page.go_back()
    page.goto("/take/agreement/")
    expect(page.locator("form[data-trial]")).to_have_attribute("data-trial", second)
    assert Judgment.objects.count() == 1


def test_a_double_click_on_next_stores_one_judgment(open_page):
    study(instructions="Read.", n_lists=1)
    page = open_page(plain=True)
    page.goto("/take/agreement/")
    for _ in range(2):
        go_on(page)
    page.locator(".option").first.click()
    page.locator("main .button.primary").dblclick(no_wait_after=True)
    expect(page.locator(".where").first).to_contain_text("2 of 4")
    assert Judgment.objects.count() == 1


@pytest.mark.parametrize(
    ("width", "scheme"), [(390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")]
)
def test_a_right_to_left_study_with_a_wrong_answer_is_legible_in_every_light(
    width, scheme, open_page, check_page
):
    materials = material_set(
        "agreement", language="he", texts=("הילדים {n} הולכים הביתה עכשיו.", "הילדים {n} הולך הביתה עכשיו.")
    )
    study(
        task="magnitude_estimation",
        materials=materials,
        language="he",
        instructions="קראו.",
        parameters={"reference": "הכלבים נובח.", "modulus": 100},
    )
    page = open_page(width=width, color_scheme=scheme, plain=True)
    page.goto("/take/agreement/")
    for _ in range(2):
        go_on(page)
    page.locator("#number").fill("-3")
    go_on(page)
    expect(page.locator("[role=alert]")).to_be_visible()
    check_page(page)
    with page.expect_navigation():
        page.locator("a.way-out").click()
    check_page(page)
    with page.expect_navigation():
        page.locator(".button.danger").click()
    check_page(page)


def test_a_closed_door_and_a_wrong_address_are_pages_too(open_page, check_page):
    study(status="closed")
    page = open_page()
    page.goto("/take/agreement/")
    check_page(page)
