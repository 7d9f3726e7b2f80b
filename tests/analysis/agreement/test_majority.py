"""The majority label of an item."""

import numpy as np
import pandas as pd
import pytest

from analysis.aggregation.proportions import clopper_pearson_interval
from analysis.agreement.majority import majority_agreement, majority_status
from analysis.agreement.report import item_table
from analysis.errors import UnknownName


def choices(items, paradigm="p"):
    """Build forced choices from {item: answers}, None for a missing one."""
    rows = [(item, f"P{n}", answer) for item, answers in items.items() for n, answer in enumerate(answers)]
    frame = pd.DataFrame(rows, columns=["item", "participant", "value"]).astype({"value": float})
    return frame.assign(paradigm=paradigm, task="forced_choice")


def test_strict_majority_tie_thin_and_empty_items():
    items = item_table(
        choices({"a": [1, 1, 1, 0], "b": [1, 1, 0, 0], "c": [0, 0, 1, None], "d": [None], "e": [1, 1]})
    ).set_index("item")
    assert items["majority"].to_dict() == {
        "a": "expected", "b": "tie", "c": "unexpected", "d": "no_data", "e": "insufficient",
    }  # fmt: skip
    assert items.loc["c", ["k", "n", "n_missing"]].tolist() == [1, 3, 1]
    assert items.loc["a", "ci_low"] == pytest.approx(0.3006418426)
    assert np.isnan(items.loc["d", "share"])


def test_the_order_of_rows_never_breaks_a_tie():
    frame = choices({"a": [1, 1, 0, 0]})
    assert item_table(frame[::-1])["majority"].tolist() == ["tie"]


@pytest.mark.parametrize(("ties", "expected"), [("strict", 0.25), ("half", 0.5), ("drop", 0.5)])
def test_each_tie_rule_counts_ties_as_documented(ties, expected):
    words = ["expected", "tie", "tie", "unexpected", "no_data", "insufficient"]
    assert majority_agreement(words, ties=ties) == expected


def test_without_usable_items_agreement_is_undefined():
    assert majority_agreement(["no_data", "insufficient"]) is None
    assert majority_agreement(["tie"], ties="drop") is None


def test_unknown_tie_rule_suggests_a_near_one():
    with pytest.raises(UnknownName, match="strict"):
        majority_agreement([], ties="strikt")


def test_the_same_item_name_in_two_paradigms_is_two_items():
    two_paradigms = pd.concat([choices({"1": [1, 1, 1]}, "a"), choices({"1": [0, 0, 0]}, "b")])
    assert item_table(two_paradigms)["majority"].tolist() == ["expected", "unexpected"]


def test_items_emptied_by_exclusion_are_listed_without_data():
    before = choices({"a": [1, 1, 1], "b": [1, 1, 1]})
    items = item_table(before[before["item"] == "a"], before=before)
    assert items["majority"].tolist() == ["expected", "no_data"]
    assert items["n_before"].tolist() == [3, 3]


def test_catch_and_practice_trials_are_not_items():
    frame = choices({"a": [1, 1, 1], "b": [0, 0, 0]})
    frame["kind"] = ["target"] * 3 + ["catch"] * 3
    assert item_table(frame)["item"].tolist() == ["a"]


def test_empty_frame_gives_an_empty_table():
    assert len(item_table(choices({"a": [1]})[:0])) == 0


def test_vector_fc_majority(shared_vectors):
    vector = shared_vectors["fc_majority"]
    items = item_table(choices(vector["input"]), n_min=1).set_index("item")
    for item, expected in vector["expected"].items():
        row = items.loc[item]
        assert [row["n"], row["k"], row["n_missing"]] == [expected[key] for key in ("n", "k", "n_missing")]
        assert row["majority"] == expected["majority"]
        if expected["share"] is None:
            assert np.isnan(row["share"])
            continue
        assert row["share"] == pytest.approx(expected["share"])
        assert [row["ci_low"], row["ci_high"]] == pytest.approx(expected["wilson95"], abs=1e-6)
        exact = clopper_pearson_interval(row["k"], row["n"])
        assert [float(end) for end in exact] == pytest.approx(expected["clopper_pearson95"], abs=1e-6)
    default = majority_status([1], [1])
    assert default.tolist() == ["insufficient"]


def test_halves_are_not_counted_as_agreement():
    rows = pd.DataFrame({"participant": list("abcd"), "item": "i", "value": [1.0, 0.5, 0.0, None]})
    rows["task"] = "forced_choice"
    counts = item_table(rows)[["k", "n", "n_half", "n_missing"]]
    assert counts.to_dict("records") == [{"k": 1, "n": 3, "n_half": 1, "n_missing": 1}]
