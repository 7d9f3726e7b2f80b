"""Position bias and response times by item."""

import pandas as pd
import pytest

from analysis.agreement.item_statistics import item_position_and_time


def choices(**columns):
    base = {
        "participant": ["a", "b", "c", "d"],
        "task": "forced_choice",
        "kind": "target",
        "paradigm": "p",
        "item": "i",
        "pair_id": "i-1",
        "value": [1.0, 1.0, 0.0, 0.0],
        "expected_first": [True, False, False, True],
        "rt_ms": [900.0, 1100.0, None, 4000.0],
    }
    return pd.DataFrame({**base, **columns})


def test_share_of_first_choices_and_median_time():
    row = item_position_and_time(choices()).iloc[0]
    assert (row["paradigm"], row["item"], row["n_sided"], row["first_share"]) == ("p", "i-1", 4, 0.5)
    assert row["median_rt_ms"] == 1100
    assert row["first_low"] == pytest.approx(0.15, abs=0.01) and row["first_high"] == pytest.approx(
        0.85, abs=0.01
    )


def test_always_left_is_seen_on_every_item():
    row = item_position_and_time(choices(value=[1.0, 0.0, 0.0, 1.0])).iloc[0]
    assert row["first_share"] == 1 and row["first_low"] > 0.5


def test_ratings_have_times_and_no_sides():
    ratings = choices(
        task="likert", pair_id="", expected=["acceptable", "unacceptable"] * 2, expected_first=None
    )
    row = item_position_and_time(ratings).iloc[0]
    assert row["item"] == "i" and pd.isna(row["first_share"]) and row["median_rt_ms"] == 1100


def test_yes_no_items_are_sentences():
    answers = choices(task="yes_no", pair_id="", sentence_id=["s1", "s1", "s2", "s2"], expected="acceptable")
    assert list(item_position_and_time(answers)["item"]) == ["s1", "s2"]


def test_without_times_nothing_is_made_up():
    assert item_position_and_time(choices().drop(columns="rt_ms"))["median_rt_ms"].isna().all()


def test_practice_and_catch_trials_are_left_out():
    assert item_position_and_time(choices(kind="catch")).empty
