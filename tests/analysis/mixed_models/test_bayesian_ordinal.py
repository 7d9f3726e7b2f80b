"""The Bayesian cumulative link model, beside its posterior on a grid."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
import scipy

from analysis.aggregation.ordinal import ordinal_report
from analysis.errors import BadInput
from analysis.mixed_models import bayesian_ordinal
from analysis.mixed_models.bayesian_ordinal import bayesian_ordinal_model
from analysis.report.page_findings import posterior_sentence

needs_pymc = pytest.mark.skipif(find_spec("pymc") is None, reason="an extra: make install-bayes")
RATINGS = [1, 1, 2, 2, 3, 1, 2, 2, 3, 3, 1, 2, 3, 3, 3]
CONDITION = [-0.5] * 8 + [0.5] * 7


def posterior_on_a_grid():
    """Multiply prior and likelihood at 81 × 81 × 81 points of β and both thresholds; mean and SD of each."""
    axes = np.linspace(-4, 8, 81), np.linspace(-7, 3, 81), np.linspace(-4, 6, 81)
    beta, low, high = np.meshgrid(*axes, indexing="ij")
    log = scipy.stats.norm.logpdf(beta, 0, 2.5)
    log += scipy.stats.t.logpdf(low / 2.5, 3) + scipy.stats.t.logpdf(high / 2.5, 3)
    log[high <= low] = -np.inf
    cells = pd.Series(RATINGS).groupby([pd.Series(RATINGS), pd.Series(CONDITION)]).size()
    with np.errstate(divide="ignore", invalid="ignore"):
        for (rating, x), n in cells.items():
            first, second = scipy.special.expit(low - beta * x), scipy.special.expit(high - beta * x)
            log += n * np.log({1: first, 2: second - first, 3: 1 - second}[rating])
    weight = np.nan_to_num(np.exp(log - np.nanmax(log)))
    weight /= weight.sum()
    means = [(weight * grid).sum() for grid in (beta, low, high)]
    return means, np.sqrt((weight * (beta - means[0]) ** 2).sum()), weight[axes[0] > 0].sum()


@needs_pymc
def test_posterior_without_groups_is_that_of_a_grid():
    means, deviation, above = posterior_on_a_grid()
    posterior = bayesian_ordinal_model(RATINGS, CONDITION, groups={}, draws=2000)
    assert posterior["status"] == "ok" and posterior["deviations"] == []
    assert [posterior["beta"], *posterior["thresholds"]] == pytest.approx(means, abs=0.06)
    assert posterior["sd"] == pytest.approx(deviation, abs=0.05)
    assert posterior["above_zero"] == pytest.approx(above, abs=0.02)


@needs_pymc
def test_report_adds_the_posterior_with_effects_of_participants_and_items():
    rng = np.random.default_rng(1)
    rows = [
        (f"p{person}", f"i{item}", side, (side == "acceptable") + shift + rng.logistic())
        for person, shift in enumerate(rng.normal(0, 1, 8))
        for item in range(4)
        for side in ("acceptable", "unacceptable")
    ]
    frame = pd.DataFrame(rows, columns=["participant", "item", "expected", "value"])
    frame["value"] = np.searchsorted([-1, 0, 1, 2], frame["value"]) + 1.0
    report = ordinal_report(frame.assign(task="likert", phenomenon="islands"), bayesian=True)
    (row,) = report["rows"]
    posterior = row["bayesian"]
    assert abs(posterior["beta"] - row["beta"]) < posterior["sd"]
    assert [term["term"] for term in posterior["deviations"]] == [
        "participant",
        "participant:condition",
        "item",
        "item:condition",
    ]
    assert "PyMC" in report["conventions"]["bayesian"]


def test_without_pymc_the_package_to_install_is_named(monkeypatch):
    monkeypatch.setattr(bayesian_ordinal, "find_spec", lambda name: None)
    with pytest.raises(BadInput, match="make install-bayes"):
        ordinal_report(pd.DataFrame(), bayesian=True)


def test_posterior_that_did_not_converge_is_not_for_use():
    posterior = {
        "beta": 1.0,
        "ci_low": 0.1,
        "ci_high": 1.9,
        "above_zero": 0.98,
        "r_hat": 1.2,
        "ess": 80.4,
        "divergences": 1,
        "status": "not_converged",
    }
    text = posterior_sentence(posterior)
    assert "R-hat 1.200, 80 effective draws, 1 divergence; do not use it" in text
    assert "converged" not in posterior_sentence(posterior | {"status": "ok"})
