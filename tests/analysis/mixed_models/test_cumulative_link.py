"""Mixed cumulative link models against R's clmm and clm, and participants' use of the scale."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from analysis.aggregation.ordinal import ordinal_report
from analysis.mixed_models.cumulative_link import _ratings, ordinal_mixed_model
from analysis.mixed_models.linear import Random
from tests.analysis.mixed_models.test_structures import (
    REFERENCE,
    STRUCTURES,
    reference_fits,
    reference_rows,
    variance_names,
)


@pytest.mark.parametrize("expected", reference_fits("ordinal"))
def test_estimates_errors_variances_and_severity_equal_clmm(expected):
    rows = reference_rows(expected["design"])
    fit = ordinal_mixed_model(rows, outcome="rating", random=STRUCTURES[expected["structure"]])
    effect = fit["condition"]
    assert (fit.status == "singular") == expected["singular"]
    assert effect.estimate == pytest.approx(expected["estimate"], abs=2e-4)
    assert effect.se == pytest.approx(expected["se"], rel=1e-4)
    assert fit.criterion == pytest.approx(expected["criterion"], abs=1e-4)
    assert fit.thresholds == pytest.approx(expected["thresholds"], abs=5e-4)
    if expected["structure"] in ("intercepts", "participant_correlated", "correlated"):
        # clmm's variances of uncorrelated terms of one factor are not told apart by VarCorr
        assert fit.variances == pytest.approx(variance_names(expected), rel=1e-3)
        clmm_correlations = {
            row["grp"]: row["sdcor"] for row in expected["correlations"] if row["sdcor"] is not None
        }
        correlations = {name.split(",")[0]: value for name, value in fit.correlations.items()}
        assert correlations == pytest.approx(clmm_correlations, abs=1e-3)
    if expected.get("severity"):
        table = fit.severity.assign(number=fit.severity["participant"].astype(int)).sort_values("number")
        half = norm.ppf(0.975) * np.sqrt(expected["severity"]["variance"])
        assert table["severity"].to_numpy() == pytest.approx(
            -np.array(expected["severity"]["mode"]), abs=1e-3
        )
        assert (table["ci_high"] - table["severity"]).to_numpy() == pytest.approx(half, rel=1e-3)


def test_the_likelihood_with_scale_effects_equals_clm():
    reference = json.loads((REFERENCE / "scale_use.json").read_text())
    rows = reference_rows("latin_square")
    y = np.unique(rows["rating"], return_inverse=True)[1]
    edges = np.r_[-np.inf, reference["thresholds"], np.inf]
    location = reference["beta"] * rows["condition"].to_numpy()
    scale = -reference["zeta"] * (rows["participant"] % 2).to_numpy()
    value, first, second = _ratings(y, edges, location, scale)
    assert value == pytest.approx(reference["log_likelihood"], abs=1e-7)
    # it is the maximum: derivatives add up to 0
    assert abs((first[0] * rows["condition"]).sum()) < 1e-3
    assert abs((first[1] * (rows["participant"] % 2)).sum()) < 1e-3
    step = 1e-5

    def near(by_location, by_scale):
        return _ratings(y, edges, location + by_location, scale + by_scale)

    for k, (up, down) in enumerate(((near(step, 0), near(-step, 0)), (near(0, step), near(0, -step)))):
        assert (up[0] - down[0]) / (2 * step) == pytest.approx(first[k].sum(), abs=1e-4)
        assert (up[1][k] - down[1][k]) / (2 * step) == pytest.approx(-second[2 * k], abs=1e-5)
        assert (up[1][1 - k] - down[1][1 - k]) / (2 * step) == pytest.approx(-second[1], abs=1e-5)


def test_the_likelihood_keeps_its_slope_far_from_the_data():
    # A probability that underflows would be flat there, and the search for the mode would stand still.
    y, edges = np.array([0, 1, 2]), np.array([-np.inf, -1.0, 0.5, np.inf])
    value, (by_location, _), (curvature, _, _) = _ratings(y, edges, np.full(3, 900.0), np.zeros(3))
    expected = (-1 - 900) + (0.5 - 900 + np.log(1 - np.exp(-1.5)))
    assert value == pytest.approx(expected, rel=1e-12)
    assert by_location == pytest.approx([-1, -1, 0])
    assert np.isfinite(curvature).all() and (curvature >= 0).all()


def scale_users(people=60, items=24, sd_scale=0.6, seed=4):
    """Simulate people who spread the same latent differences differently over five points."""
    rng = np.random.default_rng(seed)
    person, item = np.repeat(np.arange(people), items), np.tile(np.arange(items), people)
    condition = (person + item) % 2 - 0.5
    location = 1.5 * condition + rng.normal(0, 0.7, people)[person] + rng.normal(0, 0.5, items)[item]
    spread = rng.normal(0, sd_scale, people)
    latent = location + rng.logistic(size=len(person)) * np.exp(-spread)[person]
    rating = np.digitize(latent, [-2, -0.7, 0.7, 2]) + 1
    rows = pd.DataFrame({"participant": person, "item": item, "condition": condition, "value": rating})
    return rows, spread


def test_use_of_the_scale_is_recovered_and_is_singular_where_all_use_it_alike():
    rows, spread = scale_users()
    fit = ordinal_mixed_model(rows, has_scale=True)
    assert fit.status == "ok" and 0.4 < fit.variances["scale"] ** 0.5 < 0.8
    assert fit["condition"].ci_low < 1.5 < fit["condition"].ci_high
    table = fit.severity.assign(number=fit.severity["participant"].astype(int)).sort_values("number")
    assert np.corrcoef(np.log(table["discrimination"]), spread)[0, 1] > 0.7
    alike = ordinal_mixed_model(scale_users(people=20, sd_scale=0)[0], has_scale=True)
    assert alike.variances["scale"] < 0.1


def test_the_report_names_structure_status_scale_use_and_severity():
    rows, _ = scale_users(people=30, items=12)
    rows["expected"] = np.where(rows["condition"] > 0, "acceptable", "unacceptable")
    report = ordinal_report(rows.assign(task="likert", phenomenon="islands"))
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    (row,) = report["rows"]
    zero = any(size == 0 for size in row["variances"].values())
    assert row["status"] == ("singular" if zero else "ok") and row["structure"]
    assert row["scale_use"]["ratio"] > 3 and row["scale_use"]["p_ratio"] < 0.05
    assert len(row["severity"]) == 30
    assert {"participant", "severity", "ci_low", "ci_high", "discrimination"} == set(row["severity"][0])


def test_a_variance_of_zero_is_not_ok():
    rng = np.random.default_rng(2)
    rows = pd.DataFrame({"participant": np.repeat(np.arange(20), 10), "item": np.tile(np.arange(10), 20)})
    good = (rows["participant"] + rows["item"]) % 2 == 0
    rows["value"] = np.digitize(1.5 * good + rng.logistic(size=200), [-1, 0.5, 2]) + 1
    rows["value"] = rng.permutation(rows["value"])
    rows["expected"] = np.where(good, "acceptable", "unacceptable")
    report = ordinal_report(rows.assign(task="likert", phenomenon="x"), slopes="none")
    (row,) = report["rows"]
    assert 0 in (row["var_participant"], row["var_item"])
    assert row["status"] == "singular" and "variance" in row["reason"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", [3, 10])
def test_participants_who_use_only_the_ends_of_the_scale_end_a_fit_without_overflow(seed):
    rng = np.random.default_rng(seed)
    rows = [
        (
            f"p{person}",
            f"i{item}",
            condition,
            rng.choice([1, 2]) + 5 * condition if person < 3 else rng.choice([1, 7]),
        )
        for person in range(4)
        for item in range(4)
        for condition in (0, 1)
    ]
    table = pd.DataFrame(rows, columns=["participant", "item", "condition", "value"])
    fit = ordinal_mixed_model(table, random=(Random("participant"),), has_scale=True)
    assert fit.status in ("ok", "singular", "not_converged")
