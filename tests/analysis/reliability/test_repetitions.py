"""Consistency of repeated judgments by one participant."""

import json

import numpy as np
import pandas as pd
import pingouin
import pytest
from sklearn.metrics import cohen_kappa_score

from analysis.reliability.report import reliability_report


def repetitions(rows):
    return reliability_report(rows, splits=5, groups=0)["repetitions"]


def ratings(people=12, sentences=10, noise=0.8, seed=1):
    """Simulate people who rate each sentence twice; the second time half a point higher."""
    rng = np.random.default_rng(seed)
    rows = pd.MultiIndex.from_product(
        [range(people), range(2), range(sentences)], names=["participant", "occasion", "sentence_id"]
    ).to_frame(index=False)
    own = rng.normal(4, 1.2, (people, sentences))[rows["participant"], rows["sentence_id"]]
    value = np.round(own + 0.5 * rows["occasion"] + rng.normal(0, noise, len(rows)))
    return rows.assign(value=np.clip(value, 1, 7), task="likert", item=rows["sentence_id"])


def test_ratings_given_twice_have_the_values_of_scikit_learn_and_pingouin():
    rows = ratings()
    found = repetitions(rows)
    wide = rows.pivot(index=["participant", "sentence_id"], columns="occasion", values="value")
    assert (found["status"], found["n_cells"], found["n_participants"]) == ("ok", 120, 12)
    assert found["agreement"] == pytest.approx((wide[0] == wide[1]).mean())
    points = [wide[k].astype(int) for k in (0, 1)]
    assert found["kappa"] == pytest.approx(cohen_kappa_score(*points, weights="quadratic"))
    long = rows.assign(cell=rows["participant"] * 100 + rows["sentence_id"])
    table = pingouin.intraclass_corr(long, targets="cell", raters="occasion", ratings="value")
    wanted = dict(zip(table["Type"], table["ICC"], strict=True))
    for row in found["icc"]:
        assert row["value"] == pytest.approx(wanted[row["form"]]) and row["ci_low"] < row["value"]
    assert found["sd_within"] == pytest.approx(((wide[0] - wide[1]) ** 2 / 2).mean() ** 0.5)
    assert found["shift"] == pytest.approx((wide[1] - wide[0]).mean())
    assert found["ci_low"] < found["agreement"] < found["ci_high"]
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_choices_given_three_times_count_equal_pairs_and_units_judged_once_stay_out():
    rows = pd.DataFrame(
        [
            ("a", "i", 1),
            ("a", "i", 1),
            ("a", "i", 0),
            ("a", "j", 1),
            ("b", "i", 0),
            ("b", "i", 0),
            ("b", "j", 1),
        ],
        columns=["participant", "item", "value"],
    ).assign(task="forced_choice")
    found = repetitions(rows)
    assert (found["n_cells"], found["n_answers"]) == (2, 5)
    assert found["agreement"] == pytest.approx((1 / 3 + 1) / 2)
    assert {row["participant"]: row["agreement"] for row in found["participants"]} == pytest.approx(
        {"a": 1 / 3, "b": 1.0}
    )
    assert found["sd_within"] is None and found["icc"][0]["value"] is None


def test_a_study_without_repetitions_says_so():
    found = repetitions(ratings().query("occasion == 0"))
    assert (found["status"], found["agreement"]) == ("not_estimable", None)
    assert found["reason"] == "nobody judged the same sentence twice"
