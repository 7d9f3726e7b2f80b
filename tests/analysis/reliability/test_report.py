"""The reliability page's document: numbers of the references, and a reason for each that is missing."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.errors import UnknownName
from analysis.reliability.chance_corrected import krippendorff_alpha
from analysis.reliability.icc import intraclass_correlation
from analysis.reliability.kappa import cohen_kappa, light_kappa
from analysis.reliability.report import reliability_report
from analysis.scales import zscore_by_participant


def ratings(people=16, items=12, seed=1):
    rng = np.random.default_rng(seed)
    good, noise = rng.normal(0, 1.2, items), rng.normal(0, 0.8, (people, items))
    rows = [(f"p{p}", f"s{i}", f"s{i}", float(np.clip(round(4 + good[i] + noise[p, i]), 1, 7)))
            for p in range(people) for i in range(items)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["participant", "item", "sentence_id", "value"])
    return frame.assign(task="likert", paradigm=[f"par{int(i[1:]) % 4}" for i in frame["item"]])


def choices(people=20, items=10):
    rng = np.random.default_rng(3)
    chance = rng.uniform(0.5, 1, items)
    rows = [(f"p{p}", f"i{i}", float(rng.random() < chance[i])) for p in range(people) for i in range(items)]
    return pd.DataFrame(rows, columns=["participant", "item", "value"]).assign(task="forced_choice")


def measure(report, name, of=None):
    rows = [row for row in report["coefficients"] if row["measure"] == name and of in (None, row["of"])]
    return rows[0]


def test_ratings_have_every_measure_but_those_their_scale_forbids():
    rows = ratings()
    report = reliability_report(rows, splits=100, groups=5)
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    z = zscore_by_participant(rows)
    raw = pd.DataFrame({"unit": rows["sentence_id"], "value": rows["value"]})
    expected = krippendorff_alpha(raw.assign(value=z), level="interval").value
    assert measure(report, "alpha_interval")["value"] == pytest.approx(expected)
    assert measure(report, "alpha_ordinal")["value"] == krippendorff_alpha(raw, level="ordinal").value
    ratio = measure(report, "alpha_ratio")
    assert (ratio["value"], ratio["status"]) == (None, "not_estimable") and "no zero" in ratio["reason"]
    assert measure(report, "fleiss_kappa")["value"] is not None
    icc = {row["form"]: row["value"] for row in report["icc"]["forms"]}
    assert icc["ICC(C,1)"] == pytest.approx(intraclass_correlation(rows.assign(value=z))["ICC(C,1)"])
    half = report["split_half"][0]
    assert half["ceiling_model"] == pytest.approx(half["spearman_brown"] ** 0.5)
    assert half["ci_low"] < half["spearman_brown"] < half["ci_high"] < 1


def test_choices_are_coded_blind_to_the_label_unless_asked():
    rows = choices()
    blind, expected = (reliability_report(rows, coding=word, splits=20, groups=0) for word in
                       ("label_blind", "expected"))  # fmt: skip
    assert blind["coding"] == "label_blind" and expected["coding"] == "expected"
    assert measure(blind, "percent")["value"] == measure(expected, "percent")["value"]
    coefficient = measure(blind, "alpha_nominal", "expected")["value"]
    assert coefficient == measure(expected, "alpha_nominal", "expected")["value"]
    assert measure(blind, "alpha_nominal", "label_blind")["value"] != coefficient
    assert blind["icc"]["status"] == "not_estimable" and "categories" in blind["icc"]["reason"]
    assert "nominal value" in measure(blind, "alpha_interval")["reason"]


def test_unequal_numbers_of_answers_leave_fleiss_kappa_undefined_with_the_reason():
    row = measure(reliability_report(choices().iloc[:-1], splits=10, groups=0), "fleiss_kappa")
    assert row["value"] is None and "unequal" in row["reason"]


def test_nothing_at_all_is_no_data():
    report = reliability_report(ratings().iloc[:0], splits=10, groups=0)
    assert {row["status"] for row in report["coefficients"]} == {"not_estimable"}


def test_light_kappa_of_two_people_is_cohens():
    rng = np.random.default_rng(5)
    first, other = rng.integers(1, 5, 30), rng.integers(1, 5, 30)
    rows = pd.DataFrame({"participant": ["a"] * 30 + ["b"] * 30, "unit": [*range(30)] * 2,
                         "value": [*first, *other]})  # fmt: skip
    for weights in ("none", "linear", "quadratic"):
        expected = cohen_kappa(pd.Series(first), pd.Series(other), weights=weights).value
        assert light_kappa(rows, weights=weights)["value"] == pytest.approx(expected)
    assert light_kappa(rows, min_common=31)["status"] == "too_few"


def test_unknown_codings_are_named():
    with pytest.raises(UnknownName, match="label_blind"):
        reliability_report(choices(), coding="label-blind")


def test_coefficients_over_included_paradigms_are_those_of_their_rows_alone():
    rows = choices().assign(paradigm=lambda frame: ["a" if item < "i5" else "b" for item in frame["item"]])
    report = reliability_report(rows, splits=20, groups=0, included=["a"])
    alone = reliability_report(rows[rows["paradigm"] == "a"], splits=20, groups=0)
    assert report["included"] == {"paradigms": 1, "judgments": alone["judgments"]}
    for row, row_alone in zip(report["coefficients"], alone["coefficients"], strict=True):
        assert row["value_included"] == row_alone["value"] and row_alone["value_included"] is None
    assert measure(report, "alpha_nominal")["value"] != measure(report, "alpha_nominal")["value_included"]


def test_magnitude_estimates_are_no_categories():
    rows = pd.DataFrame(
        [(p, i, 100.0 * 2**i + p % 2) for p in range(4) for i in range(12)],
        columns=["participant", "item", "value"],
    ).assign(task="magnitude_estimation")
    values = {row["measure"]: row["value"] for row in reliability_report(rows, groups=0)["coefficients"]}
    assert [name for name, value in values.items() if value is not None] == [
        "alpha_ordinal", "alpha_interval", "alpha_ratio", "cohen_kappa_quadratic",
    ]  # fmt: skip
