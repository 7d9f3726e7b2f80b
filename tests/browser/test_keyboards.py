"""Number keys of keyboards that print other signs on them than the digits 0 to 9."""

import pytest

from judgments.models import Judgment
from tests.browser.test_answers import first_trial, stored
from tests.browser.test_every_task import is_over, ready

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def strike(page, *presses: tuple[str, str]) -> Judgment:
    """Press keys as a person's keyboard sends them: what is printed on each, and where it lies."""
    trial = ready(page)
    keyboard = page.context.new_cdp_session(page)
    for key, code in presses:
        sign = {"key": key, "code": code}
        keyboard.send(
            "Input.dispatchKeyEvent", {"type": "keyDown", **sign, "text": key if len(key) == 1 else ""}
        )
        keyboard.send("Input.dispatchKeyEvent", {"type": "keyUp", **sign})
    is_over(page, trial)
    return stored(page, trial)


@pytest.mark.parametrize(
    ("key", "code"), [("é", "Digit2"), ("٢", "Digit2"), ("२", "KeyX"), ("2", "Numpad2"), ("@", "Digit2")]
)
def test_the_second_number_key_is_a_two_on_every_keyboard(open_page, key, code):
    page = first_trial(open_page, "likert")
    judgment = strike(page, (key, code))
    assert (judgment.value, judgment.input_type, judgment.timing["trusted"]) == (2, "keyboard", True)


def test_numbers_of_two_digits_are_typed_on_every_keyboard(open_page):
    page = first_trial(open_page, "likert", parameters={"points": 11, "lowest": 0})
    assert strike(page, ("&", "Digit1"), ("à", "Digit0")).value == 10
    assert strike(page, ("٧", "Digit7")).value == 7


def test_arrows_of_a_number_pad_are_no_numbers(open_page):
    page = first_trial(open_page, "likert")
    assert strike(page, ("ArrowLeft", "Numpad4"), ("3", "Digit3")).value == 3
