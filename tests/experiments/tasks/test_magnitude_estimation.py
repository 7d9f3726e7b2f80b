"""Magnitude estimation: any positive number against a reference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadInput
from experiments.tasks.base import BadResponse
from experiments.tasks.registry import get_task

TASK = get_task("magnitude_estimation")
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
    assert screen == {"reference": "Is it?", "modulus": "12.5", "twice": "25", "half": "6.25"}


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
