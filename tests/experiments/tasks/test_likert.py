"""Likert scales of any length."""

import numpy as np
import pytest

from analysis.errors import BadInput
from experiments.tasks.base import BadResponse, is_correct
from experiments.tasks.registry import get_task

TASK = get_task("likert")


@pytest.mark.parametrize("points", [2, 5, 7, 11, 100])
def test_every_point_of_a_scale_is_an_answer_and_no_other(points):
    settings = TASK.settings({"points": points})
    assert [TASK.parse(str(n), settings, options=()).value for n in range(1, points + 1)] == list(
        range(1, points + 1)
    )
    assert TASK.scale(settings) == (1.0, float(points))
    for outside in ("0", str(points + 1), "-1"):
        with pytest.raises(BadResponse, match=f"from 1 to {points}"):
            TASK.parse(outside, settings, options=())


@pytest.mark.parametrize("wrong", ["", "3.5", "three", "nan", "inf", "1e0", " 3", "٣"])
def test_what_is_no_point_is_refused(wrong):
    with pytest.raises(BadResponse):
        TASK.parse(wrong, TASK.settings({}), options=())


def test_a_scale_may_begin_at_zero():
    settings = TASK.settings({"points": 11, "lowest": 0})
    assert TASK.scale(settings) == (0.0, 10.0)
    assert TASK.parse("0", settings, options=()).value == 0


def test_words_are_at_the_ends_or_under_every_point():
    ends = TASK.screen(TASK.settings({"points": 3, "low_label": "bad", "high_label": "good"}), arrangement={})
    assert [point["label"] for point in ends["points"]] == ["bad", "", "good"]
    every = TASK.screen(TASK.settings({"points": 3, "labels": ["bad", "so so", "good"]}), arrangement={})
    assert [point["label"] for point in every["points"]] == ["bad", "so so", "good"]
    assert every["layout"] == "list"


@pytest.mark.parametrize(
    "impossible",
    [{"points": 1}, {"points": 102}, {"points": "7"}, {"lowest": 0.5}, {"labels": ["a"]}, {"colour": 1}],
)
def test_impossible_scales_are_refused(impossible):
    with pytest.raises(BadInput):
        TASK.settings(impossible)


def test_a_catch_sentence_is_right_within_its_range_ends_included():
    answers = [TASK.parse(str(n), TASK.settings({}), options=()) for n in range(1, 8)]
    assert [is_correct(answer, {"low": 6, "high": 7}) for answer in answers] == [False] * 5 + [True] * 2


@pytest.mark.parametrize("profile", ["honest", "careless", "left-biased", "random"])
def test_simulated_ratings_stay_on_the_scale(profile):
    rng, settings = np.random.default_rng(1), TASK.settings({"points": 5})
    for z in (-3, 0, 3):
        for _ in range(50):
            rating = TASK.simulate(rng, settings, options=(), acceptability=z, profile=profile)
            TASK.parse(rating, settings, options=())


def test_the_direction_turns_the_points_and_keeps_their_numbers():
    settings = TASK.settings({"points": 3, "low_label": "bad", "high_label": "good", "high_first": True})
    screen = TASK.screen(settings, arrangement={})
    assert [(point["value"], point["label"]) for point in screen["points"]] == [
        (3, "good"),
        (2, ""),
        (1, "bad"),
    ]
    assert [end["value"] for end in screen["ends"]] == [3, 1]
    labelled = TASK.settings({"points": 3, "labels": ["bad", "so so", "good"], "high_first": True})
    assert [point["label"] for point in TASK.screen(labelled, arrangement={})["points"]] == [
        "good",
        "so so",
        "bad",
    ]
    assert TASK.parse("3", labelled, options=()).value == 3


def test_a_study_may_ask_to_confirm():
    assert TASK.screen(TASK.settings({"confirm": True}), arrangement={})["confirm"] is True
    with pytest.raises(BadInput):
        TASK.settings({"confirm": "yes"})
