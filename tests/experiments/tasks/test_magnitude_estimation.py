"""Magnitude estimation: any positive number against a reference."""

from decimal import Decimal

import numpy as np
import pytest
from babel.numbers import format_decimal
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadInput
from experiments.tasks.base import NUMBER_RULES, BadResponse
from experiments.tasks.registry import get_task

TASK = get_task("magnitude_estimation")
# As participants of these locales write numbers, with the digits of each.
LOCALES = (
    "en",
    "de",
    "de_CH",
    "fr",
    "es",
    "pt",
    "ru",
    "sv",
    "hi",
    "en_IN",
    "ar_EG",
    "fa",
    "ur",
    "bn",
    "my",
    "th",
    "zh",
)
SETTINGS = TASK.settings({"reference": "Who said my brother was kept tabs on by the FBI?"})


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("80", 80),
        ("62.5", 62.5),
        ("62,5", 62.5),
        (".5", 0.5),
        (",5", 0.5),
        ("+7", 7),
        (" 12 ", 12),
        ("0.001", 0.001),
        ("5.", 5),
        ("٦٢٫٥", 62.5),
        ("۶۲٫۵", 62.5),
        ("６２．５", 62.5),
        ("６２，５", 62.5),
        ("\u200f٣", 3),
    ],
)
def test_any_positive_decimal_with_point_or_comma_is_a_number_and_is_kept_as_typed(typed, value):
    answer = TASK.parse(typed, SETTINGS, options=())
    assert (answer.value, answer.response) == (value, typed)


@pytest.mark.parametrize(
    "typed",
    [
        "",
        " ",
        "0",
        "0,0",
        "-5",
        "ten",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "1e999",
        "1e5",
        "1,000.5",
        "1 000",
        "5%",
        "٣٫٣٫٣",
        "1_0",
        "9" * 41,
        "9" * 20,
    ],
)
def test_what_is_no_positive_number_is_refused_kindly(typed):
    with pytest.raises(BadResponse, match="Please type"):
        TASK.parse(typed, SETTINGS, options=())


@pytest.mark.parametrize(
    ("typed", "large", "small"),
    [
        ("1,000", "1000", "1"),
        ("1.000", "1000", "1"),
        (" +12.250 ", "12250", "12.25"),
        ("806,061", "806061", "806,0610"),
        ("١،٥٠٠", "1500", "1,5"),
        ("１００，０００", "100000", "100"),
    ],
)
def test_a_separator_before_three_digits_is_asked_about_with_both_readings(typed, large, small):
    with pytest.raises(BadResponse) as refusal:
        TASK.parse(typed, SETTINGS, options=())
    assert refusal.value.values == {"typed": typed.strip(), "large": large, "small": small}
    for reading in (large, small):
        assert TASK.parse(reading, SETTINGS, options=()).value == float(reading.replace(",", "."))


@given(st.integers(0, 10**7), st.sampled_from(LOCALES), st.booleans())
def test_a_number_of_any_locale_is_read_as_meant_or_asked_about(thousandths, locale, is_grouped):
    number = Decimal(thousandths) / 1000
    typed = format_decimal(
        number,
        locale=locale,
        group_separator=is_grouped,
        decimal_quantization=False,
        numbering_system="default",
    )
    try:
        assert TASK.parse(typed, SETTINGS, options=()).value == float(number)
    except BadResponse:
        digits = sum(character.isdecimal() for character in typed)
        assert number == 0 or digits > 3


@given(st.text(max_size=45))
def test_no_text_at_all_gives_a_value_that_cannot_be_stored(typed):
    try:
        value = TASK.parse(typed, SETTINGS, options=()).value
    except BadResponse:
        return
    assert 0 < value < 1e12


def test_reference_and_modulus_are_kept_with_the_trial_and_on_the_screen():
    settings = TASK.settings({"reference": "Is it?", "modulus": 12.5})
    screen = TASK.screen(settings, arrangement=TASK.arrange(settings, turn=0))
    assert screen == {
        "reference": "Is it?",
        "modulus": "12.5",
        "twice": "25",
        "half": "6.25",
        "number": NUMBER_RULES,
    }


@pytest.mark.parametrize(
    "impossible",
    [
        {},
        {"reference": " "},
        {"reference": "A", "modulus": 0},
        {"reference": "A", "modulus": "100"},
        {"reference": "A", "modulus": float("nan")},
    ],
)
def test_a_study_without_reference_or_positive_modulus_is_refused(impossible):
    with pytest.raises(BadInput):
        TASK.settings(impossible)


@pytest.mark.parametrize("profile", ["honest", "careless", "left-biased", "random"])
def test_simulated_estimates_are_numbers_people_could_type(profile):
    rng = np.random.default_rng(1)
    for z in (-4, 0, 4):
        for _ in range(50):
            TASK.parse(
                TASK.simulate(rng, SETTINGS, options=(), acceptability=z, profile=profile),
                SETTINGS,
                options=(),
            )
