"""Consistency of repeated judgments by one participant."""

import json

import numpy as np
import pandas as pd
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
    latent = rng.normal(4, 1.2, (people, sentences))[rows["participant"], rows["sentence_id"]]
    value = np.round(latent + 0.5 * rows["occasion"] + rng.normal(0, noise, len(rows)))
    return rows.assign(value=np.clip(value, 1, 7), task="likert", item=rows["sentence_id"])


def test_ratings_given_twice_have_the_values_of_scikit_learn_and_of_the_mean_squares():
    rows = ratings()
    report = repetitions(rows)
    wide = rows.pivot(index=["participant", "sentence_id"], columns="occasion", values="value")
    assert (report["status"], report["n_cells"], report["n_participants"]) == ("ok", 120, 12)
    assert report["agreement"] == pytest.approx((wide[0] == wide[1]).mean())
    points = [wide[k].astype(int) for k in (0, 1)]
    assert report["kappa"] == pytest.approx(cohen_kappa_score(*points, weights="quadratic"))
    between = 2 * wide.mean(axis=1).var(ddof=1)
    residual = (wide[1] - wide[0]).var(ddof=1) / 2
    consistency = (between - residual) / (between + residual)
    values = {row["form"]: row["value"] for row in report["icc"]}
    assert values["ICC(C,1)"] == pytest.approx(consistency)
    assert all(row["ci_low"] < row["value"] for row in report["icc"])
    assert report["sd_within"] == pytest.approx(((wide[0] - wide[1]) ** 2 / 2).mean() ** 0.5)
    assert report["shift"] == pytest.approx((wide[1] - wide[0]).mean())
    assert report["ci_low"] < report["agreement"] < report["ci_high"]
    assert json.loads(json.dumps(report, allow_nan=False)) == report


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
    report = repetitions(rows)
    assert (report["n_cells"], report["n_answers"]) == (2, 5)
    assert report["agreement"] == pytest.approx((1 / 3 + 1) / 2)
    assert {row["participant"]: row["agreement"] for row in report["participants"]} == pytest.approx(
        {"a": 1 / 3, "b": 1.0}
    )
    assert report["sd_within"] is None and report["icc"][0]["value"] is None


def test_a_study_without_repetitions_is_reported_as_not_estimable():
    report = repetitions(ratings().query("occasion == 0"))
    assert (report["status"], report["agreement"]) == ("not_estimable", None)
    assert report["reason"] == "nobody judged the same sentence twice"
