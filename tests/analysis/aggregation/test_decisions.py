"""Whether a judgment agrees with the expectation, in each task."""

import numpy as np
import pandas as pd
import pytest

from analysis.aggregation.decisions import decisions
from analysis.errors import MissingColumns


def agreements(frame):
    """Give {(participant, item): agrees}, None for missing."""
    decided = decisions(frame)
    keys = zip(decided["participant"], decided["item"], strict=True)
    values = [None if np.isnan(value) else value for value in decided["agrees"]]
    return dict(zip(keys, values, strict=True))


def rated(rows, task="likert"):
    """Build ratings from (participant, item, expected, value)."""
    return pd.DataFrame(rows, columns=["participant", "item", "expected", "value"]).assign(
        task=task, paradigm="p"
    )


def test_forced_choice_uses_the_pair_where_an_item_has_several():
    frame = pd.DataFrame(
        {"participant": ["A", "A"], "item": ["1", "1"], "pair_id": ["1a", None], "value": [1, 0]}
    ).assign(task="forced_choice")
    assert agreements(frame) == {("A", "1a"): 1, ("A", "1"): 0}


def test_yes_no_agrees_with_yes_to_good_and_no_to_bad():
    frame = rated(
        [("A", "1", "acceptable", 1), ("A", "1", "unacceptable", 1), ("A", "2", "unacceptable", 0),
         ("A", "2", "acceptable", None), ("A", "3", None, 1)],
        "yes_no",
    ).assign(sentence_id=["g1", "b1", "b2", "g2", "x"])  # fmt: skip
    assert agreements(frame) == {("A", "g1"): 1, ("A", "b1"): 0, ("A", "b2"): 1, ("A", "g2"): None}


def test_a_rater_agrees_who_puts_the_acceptable_side_above():
    frame = rated(
        [("A", "1", "acceptable", 6), ("A", "1", "unacceptable", 2),
         ("B", "1", "acceptable", 3), ("B", "1", "unacceptable", 3),
         ("C", "1", "acceptable", 2), ("C", "1", "unacceptable", 5),
         ("D", "1", "acceptable", 7)]
    )  # fmt: skip
    assert agreements(frame) == {("A", "1"): 1, ("B", "1"): 0, ("C", "1"): 0, ("D", "1"): None}


def test_several_sentences_on_one_side_are_averaged():
    frame = rated(
        [("A", "1", "acceptable", 4), ("A", "1", "acceptable", 6), ("A", "1", "unacceptable", 4)],
        "magnitude_estimation",
    )
    assert agreements(frame) == {("A", "1"): 1}


def test_without_a_task_column_the_values_decide():
    assert agreements(pd.DataFrame({"participant": ["A"], "item": ["1"], "value": [0]})) == {("A", "1"): 0}
    assert agreements(
        rated([("A", "1", "acceptable", 6), ("A", "1", "unacceptable", 2)]).drop(columns="task")
    ) == {("A", "1"): 1}


def test_two_tasks_in_one_frame_are_each_read_their_way():
    choice = pd.DataFrame({"participant": ["A"], "item": ["9"], "value": [1], "task": ["forced_choice"]})
    ratings = rated([("A", "1", "acceptable", 6), ("A", "1", "unacceptable", 2)])
    assert agreements(pd.concat([choice, ratings])) == {("A", "9"): 1, ("A", "1"): 1}


def test_ratings_without_expected_status_are_refused():
    with pytest.raises(MissingColumns, match="expected"):
        decisions(rated([("A", "1", "acceptable", 6)]).drop(columns="expected"))


@pytest.mark.filterwarnings("error")
def test_no_rows_give_no_decisions():
    for task in ("likert", "yes_no", "forced_choice"):
        frame = rated([("A", "1", "acceptable", 6)], task).assign(sentence_id="s")
        assert decisions(frame[:0]).empty
