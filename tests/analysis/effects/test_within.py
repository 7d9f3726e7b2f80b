"""Analysis of variance with repeated measures, sphericity and normality, against sums over the table."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, stats

from analysis.effects.report import effects_report
from analysis.effects.within import within_designs


def rows_of(values):
    """Turn participants × conditions into one row per judgment."""
    rows = [(f"p{p}", f"c{c}", value) for p, row in enumerate(values) for c, value in enumerate(row)]
    frame = pd.DataFrame(rows, columns=["participant", "condition", "score"])
    return frame.assign(phenomenon="island", item="i").dropna()


def test_f_epsilon_and_mauchlys_w_are_those_of_the_covariances():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(12, 1)) + rng.normal(size=(12, 4)) * [1, 2, 1, 0.5] + [0, 0.3, 0.6, 1]
    (row,) = within_designs(rows_of(values))
    n, k = values.shape
    residuals = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    error = (residuals**2).sum() / ((n - 1) * (k - 1))
    f = n * values.mean(axis=0).var(ddof=1) / error
    contrasts = linalg.null_space(np.ones((1, k)))
    covariance = contrasts.T @ np.cov(values.T) @ contrasts
    epsilon = np.trace(covariance) ** 2 / ((k - 1) * np.trace(covariance @ covariance))
    w = linalg.det(covariance) / (np.trace(covariance) / (k - 1)) ** (k - 1)
    assert (row["levels"], row["n"], row["df1"], row["df2"], row["status"]) == (k, n, 3, 33, "ok")
    assert (row["F"], row["p"]) == pytest.approx((f, stats.f.sf(f, 3, 33)))
    assert (row["epsilon"], row["mauchly_w"]) == pytest.approx((epsilon, w))
    assert row["p_corrected"] == pytest.approx(stats.f.sf(f, 3 * epsilon, 33 * epsilon))
    assert row["p_normality"] == pytest.approx(stats.shapiro(residuals.ravel()).pvalue)
    assert 0 < row["p_sphericity"] < 1


def test_incomplete_participants_and_designs_of_two_conditions_stay_out():
    values = np.random.default_rng(4).normal(size=(6, 3))
    gap = values.copy()
    gap[0, 1] = np.nan
    assert within_designs(rows_of(gap))[0] == within_designs(rows_of(values[1:]))[0]
    assert within_designs(rows_of(values[:, :2])) == []
    few, same = within_designs(rows_of(values[:1]))[0], within_designs(rows_of([[1, 2, 3]] * 4))[0]
    assert (few["status"], few["F"], same["status"], same["p"]) == ("too_few", None, "no_variation", None)
    three = within_designs(rows_of(np.random.default_rng(6).normal(size=(3, 4))))[0]
    assert three["F"] > 0 and three["p_sphericity"] is None


def test_the_report_has_them_as_plain_values():
    rows = rows_of(np.random.default_rng(5).normal(size=(6, 3))).rename(columns={"score": "value"})
    rows["expected"] = np.where(rows["condition"] == "c0", "unacceptable", "acceptable")
    report = effects_report(rows.assign(task="likert"), transform="raw", slopes="none")
    assert report["within"][0]["df2"] == 10
    assert json.loads(json.dumps(report["within"], allow_nan=False)) == report["within"]
