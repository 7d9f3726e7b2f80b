"""Best–worst scaling in a real browser: by keyboard, by touch, with and without the engine."""

import pytest
from playwright.sync_api import Page, expect

from experiments.models import Design
from experiments.studies.lifecycle import open_study
from judgments.models import Judgment, Session
from tests.browser.playing import is_over, ready
from tests.cast import ada, begin, draft, material_set

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def a_session(**fields) -> Session:
    materials = material_set(n_items=4, texts=("The keys {n} to the old door are here.", "The {n} is keys."))
    experiment = draft(
        task="best_worst", materials=materials, parameters={"size": 4, "showings": 2}, **fields
    )
    Design.objects.create(experiment=experiment, n_lists=2, seed=3)
    open_study(experiment, ada())
    return begin(experiment)


def past_the_instructions(page: Page, session: Session) -> None:
    page.goto(f"/s/{session.token}/")
    with page.expect_navigation():
        page.locator("main .button.primary").click()


def mark(page: Page, name: str, place: int) -> None:
    radio = page.locator(f"input[name={name}]").nth(place)
    radio.tap() if page.evaluate("navigator.maxTouchPoints > 0") else radio.click()


@pytest.mark.parametrize(("width", "plain"), [(320, True), (320, False), (1280, True), (1280, False)])
def test_a_whole_session_with_and_without_the_engine(open_page, check_page, plain, width):
    session = a_session()
    page = open_page(width=width, plain=plain, has_touch=width == 320)
    past_the_instructions(page, session)
    for number in range(2):
        if not plain:
            ready(page)
        if number == 0:
            check_page(page)
        mark(page, "best", 1)
        page.locator("main .button.primary").click()
        expect(page.locator("[role=alert]")).to_contain_text("best and the worst")
        mark(page, "worst", 2)
        before = page.locator("input[name=best]").first.get_attribute("value")
        page.locator("main .button.primary").click()
        expect(page.locator(f"input[value='{before}']")).to_have_count(0)
    page.locator(".code").wait_for()
    assert [judgment.value for judgment in Judgment.objects.all()] == [2, 2]


def test_the_second_mark_of_a_sentence_takes_the_place_of_the_first(open_page):
    session = a_session()
    page = open_page()
    past_the_instructions(page, session)
    page.locator(".task[data-onset]").wait_for()
    mark(page, "best", 0)
    mark(page, "worst", 0)
    expect(page.locator("input[name=best]:checked")).to_have_count(0)
    expect(page.locator("input[name=worst]").first).to_be_checked()
    ready(page)
    page.locator("main .button.primary").click()
    expect(page.locator("[role=alert]")).to_contain_text("best and the worst")
    mark(page, "best", 3)
    with page.expect_response("**/judgments/"):
        page.locator("main .button.primary").click()
    first = Judgment.objects.get()
    assert (first.value, first.timing["changes"], first.timing["refused_answers"]) == (4, 1, 1)


def test_arrow_keys_pass_over_the_other_mark(open_page):
    session = a_session()
    page = open_page()
    past_the_instructions(page, session)
    page.locator(".task[data-onset]").wait_for()
    mark(page, "best", 1)
    page.locator("input[name=worst]").first.focus()
    for key in ("Space", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    expect(page.locator("input[name=best]").nth(1)).to_be_checked()
    expect(page.locator("input[name=worst]").nth(2)).to_be_checked()


def test_one_sentence_cannot_be_both_without_the_engine(open_page):
    session = a_session()
    page = open_page(plain=True)
    past_the_instructions(page, session)
    mark(page, "best", 0)
    mark(page, "worst", 0)
    page.locator("main .button.primary").click()
    expect(page.locator("[role=alert]")).to_contain_text("two different sentences")
    assert Judgment.objects.count() == 0


def test_by_keyboard_in_a_right_to_left_language(open_page, check_page):
    session = a_session(language="ar")
    page = open_page()
    past_the_instructions(page, session)
    ready(page)
    check_page(page)
    for _ in range(2):
        trial = ready(page)
        for key in ("Tab", "Space", "Tab", "ArrowDown", "Enter"):
            page.keyboard.press(key)
        is_over(page, trial)
    page.locator(".code").wait_for()
    assert {(judgment.value, judgment.input_type) for judgment in Judgment.objects.all()} == {(1, "keyboard")}


@pytest.mark.parametrize("plain", [True, False])
def test_on_a_phone_a_sentence_has_the_width_of_the_page_and_marks_their_words(open_page, check_page, plain):
    session = a_session(language="de")
    page = open_page(width=320, plain=plain, has_touch=True, is_mobile=True)
    past_the_instructions(page, session)
    page.locator("form[data-task]" if plain else ".task[data-onset]").wait_for()
    check_page(page)
    page_width = page.locator("main .set").bounding_box()["width"]
    assert {heading.bounding_box()["width"] for heading in page.locator(".set tbody th").all()} == {
        page_width
    }
    words = "one => getComputedStyle(one, '::after').content"
    labels = [mark.evaluate(words) for mark in page.locator(".set tbody tr").first.locator(".mark").all()]
    assert labels == ['"Am besten"', '"Am schlechtesten"']
    first = page.get_by_role("radio", name="Am schlechtesten").first  # a tap on the word marks it, too
    box = page.locator(".mark").nth(1).bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] - 8, box["y"] + box["height"] / 2)
    expect(first).to_be_checked()
