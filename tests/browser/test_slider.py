"""The slider in a real browser: no thumb before the first touch, by mouse, by touch, by keyboard."""

import pytest
from playwright.sync_api import Page, expect

from judgments.models import Judgment, Session
from tests.browser.playing import is_over, ready
from tests.cast import begin, study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def a_slider(open_page, *, parameters: dict | None = None, language: str = "en", **options) -> Page:
    """The first trial of a session of sliders."""
    task_parameters = parameters or {}
    session = begin(
        study(task="slider", instructions="", n_lists=1, language=language, parameters=task_parameters)
    )
    page = open_page(**options)
    page.goto(f"/s/{session.token}/")
    ready(page)
    return page


def send(page: Page) -> None:
    """Press Next and wait for the next trial or the end."""
    trial = page.locator(".task").get_attribute("data-trial")
    page.locator("main .button.primary").click()
    is_over(page, trial)


def at(page: Page, share: float) -> dict[str, float]:
    """A point on the line."""
    box = page.locator(".line").bounding_box()
    return {"x": box["x"] + 14 + share * (box["width"] - 28), "y": box["y"] + box["height"] / 2}


def the_end(page: Page) -> list[Judgment]:
    """Answer what is left by keyboard; give all judgments in order."""
    while page.locator(".task").count():
        ready(page)
        page.keyboard.press("ArrowRight")
        send(page)
        page.locator(".task[data-onset], .code").first.wait_for()
    page.locator(".code").wait_for()
    return list(Judgment.objects.order_by("trial__position"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_place_is_chosen_by_mouse_and_there_is_no_thumb_before(open_page, check_page, scheme):
    page = a_slider(open_page, width=1280, color_scheme=scheme)
    line = page.locator(".line")
    expect(line).to_have_class("line untouched")
    check_page(page)
    page.locator("main .button.primary").click()
    expect(page.locator("[role=alert]")).to_have_text("Please choose a place on the line.")
    page.mouse.click(**at(page, 0.8))
    expect(line).to_have_class("line")
    check_page(page)
    send(page)
    first = the_end(page)[0]
    assert first.value == pytest.approx(80, abs=1)
    assert (first.input_type, first.timing["refused_answers"]) == ("mouse", 1)
    assert first.timing["first_touch_ms"] <= first.timing["last_touch_ms"] <= first.rt_ms


def test_the_very_middle_can_be_chosen_by_a_click(open_page):
    page = a_slider(open_page)
    page.mouse.click(**at(page, 0.5))
    send(page)
    assert the_end(page)[0].value == pytest.approx(50, abs=1)


def test_the_very_middle_can_be_chosen_by_a_finger(open_page):
    page = a_slider(open_page, has_touch=True, is_mobile=True)
    page.touchscreen.tap(**at(page, 0.5))
    expect(page.locator(".line")).to_have_class("line")
    send(page)
    first = the_end(page)[0]
    assert (first.value, first.input_type) == (50, "touch")


def test_a_whole_session_by_keyboard(open_page, check_page):
    page = a_slider(open_page)
    for keys in (["End"], ["Home"], ["ArrowRight", "ArrowRight"]):
        ready(page)
        for key in keys:
            page.keyboard.press(key)
        trial = page.locator(".task").get_attribute("data-trial")
        page.keyboard.press("Enter")
        is_over(page, trial)
    stored = the_end(page)
    assert [judgment.value for judgment in stored] == [
        100,
        0,
        76,
        75,
    ]  # a first arrow leads to the middle of its half
    assert {judgment.input_type for judgment in stored} == {"keyboard"}
    assert Session.objects.get().status == "complete"


def test_a_finger_chooses_a_place_on_a_phone(open_page, check_page):
    page = a_slider(open_page, width=320, has_touch=True, is_mobile=True)
    check_page(page)
    page.touchscreen.tap(**at(page, 0.25))
    send(page)
    first = the_end(page)[0]
    assert first.value == pytest.approx(25, abs=1)
    assert first.input_type == "touch"


@pytest.mark.parametrize(
    ("language", "high_first", "value"), [("en", True, 10), ("ar", False, 10), ("ar", True, 90)]
)
def test_the_value_is_high_for_natural_in_every_direction(open_page, check_page, language, high_first, value):
    page = a_slider(open_page, language=language, parameters={"high_first": high_first})
    check_page(page)
    page.mouse.click(**at(page, 0.9))
    send(page)
    assert the_end(page)[0].value == pytest.approx(value, abs=1)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (["ArrowRight"], 75),
        (["ArrowLeft"], 25),
        (["ArrowUp", "ArrowUp"], 76),
        (["PageDown"], 25),
        (["7"], 70),
        (["7", "5"], 75),
        (["1", "0", "0"], 100),
        (["0", "5", "ArrowLeft"], 4),
    ],
)
def test_keys_lead_to_a_place_without_starting_from_the_middle(open_page, keys, value):
    page = a_slider(open_page)
    for key in keys:
        page.keyboard.press(key)
    assert page.locator(".line").input_value() == str(value)


def test_the_first_arrow_points_where_the_eye_sees_it(open_page):
    page = a_slider(open_page, language="ar")
    page.keyboard.press("ArrowLeft")
    assert page.locator(".line").input_value() == "75"


def test_the_line_in_focus_has_no_frame_like_a_field(open_page):
    page = a_slider(open_page)
    page.keyboard.press("ArrowRight")
    focused = page.locator(".line:focus-visible")
    assert focused.evaluate("one => getComputedStyle(one).outlineStyle") == "none"
    assert focused.evaluate("one => getComputedStyle(one).borderStyle") == "none"
