"""Response styles and drift: shares by hand, slopes of R, and what cannot be computed."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from analysis.reliability.response_styles import REASONS, rating_drift, response_styles

REFERENCE = Path(__file__).parents[2] / "reference"


def ratings(values, *, task="likert", low=1, high=7):
    """Judgments of participants a, b, …, each with a list of values."""
    return pd.DataFrame([
        {"participant": name, "item": f"i{place}", "task": task, "value": float(value), "scale_low": low,
         "scale_high": high}
        for name, own in zip("abcdef", values, strict=False) for place, value in enumerate(own)
    ])  # fmt: skip


def test_shares_of_points_have_wilsons_interval():
    report = response_styles(ratings([[1, 7, 7, 4, 5, 2, 3, 6], [4] * 8]))
    first, second = report["participants"]
    assert (first["extreme"], first["midpoint"], first["acquiescence"]) == (3 / 8, 1 / 8, 4 / 8)
    ends = proportion_confint(3, 8, method="wilson")
    assert (first["extreme_low"], first["extreme_high"]) == pytest.approx(ends)
    assert (second["extreme"], second["midpoint"], second["acquiescence"]) == (0, 1, 0)
    assert report["sample"][0]["midpoint"] == 9 / 16 and report["sample"][0]["n"] == 16


def test_participants_far_from_the_sample_are_named():
    usual = [[2, 3, 4, 5, 6] * 8] * 5
    report = response_styles(ratings([*usual, [1, 7] * 20]))
    apart = {row["participant"]: row["apart"] for row in report["participants"]}
    assert apart["f"] == ["extreme"] and not any(apart[name] for name in "abcde")


def test_each_scale_has_its_own_styles():
    even = response_styles(ratings([[1, 6, 3, 4]], high=6))["participants"][0]
    assert even["midpoint"] is None and even["midpoint_low"] is None and even["acquiescence"] == 0.5
    slider = ratings([[2, 50.5, 97, 60]], task="slider", low=0, high=100)
    slider = response_styles(slider)["participants"][0]
    assert (slider["extreme"], slider["midpoint"], slider["acquiescence"]) == (0.5, 0.25, 0.75)
    answers = response_styles(ratings([[1, 1, 0, 1]], task="yes_no", low=0, high=1))["participants"][0]
    assert (answers["extreme"], answers["acquiescence"]) == (None, 0.75)
    both = pd.concat([ratings([[1, 7, 4, 4]]), ratings([[50, 0]], task="slider", low=0, high=100)])
    assert [row["n"] for row in response_styles(both)["participants"]] == [4, 2]
    assert response_styles(ratings([[1, 0]], task="forced_choice"))["status"] == "not_for_choices"
    assert response_styles(ratings([[1, 9]], task="magnitude_estimation"))["status"] == "no_ends"


@pytest.fixture
def drifting():
    """R's ratings with drift."""
    data = pd.read_csv(REFERENCE / "drift.csv").rename(columns={"sentence": "sentence_id"})
    return data.assign(task="slider", scale_low=-100, scale_high=200)


def test_drift_equals_that_of_lme4(drifting):
    drift, reference = rating_drift(drifting), json.loads((REFERENCE / "drift.json").read_text())
    for key, within in {"estimate": 1e-5, "se": 1e-5, "df": 1e-3, "p": 1e-4, "sd_participants": 1e-4}.items():
        assert drift[key] == pytest.approx(reference[key], rel=within), key
    own = next(row for row in drift["participants"] if row["participant"] == "1")
    assert own["slope"] == pytest.approx(reference["slope"])
    assert [own["ci_low"], own["ci_high"]] == pytest.approx(reference["ends"])
    assert own["p"] == pytest.approx(reference["p_slope"]) and own["p_holm"] >= own["p"]
    assert (drift["n"], drift["trials"], drift["status"]) == (720, 24, "singular")


def test_drift_that_cannot_be_estimated_has_a_reason(drifting):
    place = drifting["sentence_id"].map({name: n for n, name in enumerate(drifting["sentence_id"].unique())})
    statuses = [
        rating_drift(drifting.assign(task="yes_no", value=1.0))["status"],
        rating_drift(drifting.drop(columns="position"))["status"],
        rating_drift(drifting.assign(position=place + 1))["status"],
        rating_drift(drifting[drifting["participant"] == 1].assign(sentence_id="s"))["status"],
    ]
    assert statuses == ["no_ratings", "no_position", "fixed_order", "too_few"]
    assert set(statuses) <= set(REASONS)
    short = drifting[(drifting["participant"] != 1) | (drifting["position"] < 5)]
    short = short[(short["participant"] != 2) | (short["position"] < 4)]
    by_name = {row["participant"]: row for row in rating_drift(short)["participants"]}
    assert by_name["1"]["slope"] is not None and np.isfinite(by_name["1"]["slope"])
    assert "2" not in by_name or by_name["2"]["slope"] is None
