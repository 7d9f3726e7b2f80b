"""The methods paragraph: who took part, what was judged how often, and what a transform left out."""

import numpy as np
import pandas as pd
import pytest

from analysis.report.methods import collection_paragraphs
from analysis.report.numbers import collection_numbers

MATERIALS = {
    "phenomena": 1, "paradigms": 2, "items": 4, "sentences": 8, "pairs": 4, "language_name": "Turkish",
}  # fmt: skip
STUDY = {
    "origin": "collected", "parameters": {"modulus": 100}, "materials": MATERIALS, "recruiters": [],
    "answered": {"first": "2026-03-01T10:00:00Z", "last": "2026-03-02T10:00:00Z"},
    "design": {"fillers": "Filler sentences"},
    "lists": {"n": 2, "trials": {"target": [8, 8], "filler": [10, 10], "catch": [2, 3]}},
}  # fmt: skip
PLAN = {"steps": [], "locked_before_first_response": False}


def ratings(task="likert"):
    """Five participants rate eight sentences; d gives one rating throughout, e answers twice."""
    rows = [
        (person, f"i{n // 2}", f"s{n}", 1.0 + (3 * n + place) % 7 if person != "d" else 4.0)
        for place, person in enumerate("abcde")
        for n in range(8 if person != "e" else 2)
    ]
    frame = pd.DataFrame(rows, columns=["participant", "item", "sentence_id", "value"])
    return frame.assign(
        session=frame["participant"], paradigm="p", kind="target", task=task, scale_low=1, scale_high=7
    )


def paragraphs(rows, *, study=STUDY, simulated=()):
    task = rows["task"].iloc[0]
    numbers = collection_numbers(rows, rows, task=task, simulated=simulated)
    flow = [{"step": "all", "judgments_left": len(rows), "participants_left": 5}]
    numbers |= {"agreement": {"refused": "", "rule": ""}, "exclusions": {"flow": flow}}
    return collection_paragraphs(study, PLAN, numbers)


def test_scale_items_lists_fillers_and_language_are_named():
    first, second = paragraphs(ratings())
    assert first == (
        "5 participants rated sentences on a scale from 1 to 7 between 2026-03-01 and 2026-03-02, giving "
        "34 judgments. The materials were 8 sentences from 4 items, 2 paradigms and 1 phenomenon (Turkish). "
        "They were distributed over 2 lists. Each list contained 8 target, 10 filler and 2 to 3 catch "
        "trials. The fillers were from Filler sentences."
    )
    assert second.startswith(
        "No judgment was excluded; there were 4 to 5 judgments of each sentence. Ratings"
    )


def test_ratings_without_z_are_counted():
    _, second = paragraphs(ratings())
    assert second.endswith(
        "1 participant gave one rating throughout and 1 participant gave fewer than 4 ratings: 10 judgments "
        "without z."
    )


def test_simulated_participants_are_counted_apart():
    first, _ = paragraphs(ratings(), simulated={"a", "b", "not there"})
    assert first.startswith("3 participants and 2 simulated participants rated")
    first, _ = paragraphs(ratings(), simulated=set("abcde"))
    assert first.startswith("5 simulated participants rated")


def test_zeros_of_magnitude_estimation_are_counted():
    rows = ratings("magnitude_estimation")
    rows.loc[[0, 1, 9], "value"] = 0.0
    _, second = paragraphs(rows)
    assert "3 estimates of zero (2 participants) entered raw numbers and z" in second


@pytest.mark.parametrize(
    ("origin", "modulus", "words"),
    [
        ("collected", 100, "as numbers relative to a reference sentence between"),
        ("imported", 100, "as numbers between"),
        ("collected", None, "as numbers between"),
    ],
)
def test_estimates_are_relative_to_a_reference_only_where_there_is_one(origin, modulus, words):
    study = STUDY | {"origin": origin, "parameters": {"modulus": modulus}}
    assert words in paragraphs(ratings("magnitude_estimation"), study=study)[0]


def test_without_lists_the_trials_of_sessions_are_counted():
    rows = pd.concat([ratings(), ratings().iloc[:3].assign(kind="catch", value=np.nan)])
    first, _ = paragraphs(rows, study=STUDY | {"lists": None, "design": None})
    assert "Each session contained 2 to 8 target and 3 catch trials." in first
