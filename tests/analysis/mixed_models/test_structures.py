"""Random structures: fits against lme4 and lmerTest, and the path down from the largest."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.effects.report import effects_report
from analysis.mixed_models.linear import CROSSED, Random, mixed_model
from analysis.mixed_models.logistic import logistic_mixed_model
from analysis.mixed_models.structures import fit_largest, supported_slopes

REFERENCE = Path(__file__).resolve().parents[2] / "reference"  # made by mixed_models.R there
PERSON, ITEM = CROSSED
SLOPES = {name: Random(name, "condition") for name in ("participant", "item")}
WITH = {term.factor: replace(term, is_correlated=True) for term in CROSSED}
STRUCTURES = {
    "intercepts": CROSSED,
    "participant_slope": (*CROSSED, SLOPES["participant"]),
    "uncorrelated": (*CROSSED, *SLOPES.values()),
    "participant_correlated": (WITH["participant"], replace(SLOPES["participant"], is_correlated=True), ITEM),
    "correlated": (*WITH.values(), *(replace(term, is_correlated=True) for term in SLOPES.values())),
}


def reference_fits(model):
    """Return the fits of a model by R as parameters."""
    fits = json.loads((REFERENCE / "mixed_models.json").read_text())
    return [
        pytest.param(fit, id=f"{fit['design']}-{fit['structure']}") for fit in fits if fit["model"] == model
    ]


def reference_rows(design):
    rows = pd.read_csv(REFERENCE / "mixed_models.csv")
    return rows[rows["design"] == design]


def variance_names(fit):
    """Name R's variances as ours; grp is ``participant`` or ``participant.1``, var1 the effect."""
    slopes = {"(Intercept)": "", "condition": ":condition"}
    return {
        "residual" if row["grp"] == "Residual" else row["grp"].split(".")[0] + slopes[row["var1"]]: row[
            "vcov"
        ]
        for row in fit["variances"]
    }


def largest(rows, outcome="value"):
    return fit_largest(
        lambda terms, start: mixed_model(rows, outcome=outcome, random=terms, start=start),
        rows,
        slopes=("condition",),
    )


@pytest.mark.parametrize("expected", reference_fits("linear"))
def test_estimates_errors_df_and_variances_equal_lmer(expected):
    fit = mixed_model(
        reference_rows(expected["design"]), outcome="y", random=STRUCTURES[expected["structure"]]
    )
    effect = fit["condition"]
    assert fit.status == "ok" and not expected["singular"]
    assert fit.criterion == pytest.approx(expected["criterion"], abs=1e-6)
    assert effect.estimate == pytest.approx(expected["estimate"], rel=1e-6)
    assert effect.se == pytest.approx(expected["se"], rel=1e-6)
    assert effect.df == pytest.approx(expected["df"], rel=1e-5)
    assert effect.p == pytest.approx(expected["p"], rel=1e-5)
    assert fit.variances == pytest.approx(variance_names(expected), rel=1e-5)
    lmer_correlations = {row["grp"]: row["sdcor"] for row in expected["correlations"] or []}
    correlations = {name.split(",")[0]: value for name, value in fit.correlations.items()}
    assert correlations == pytest.approx(lmer_correlations, abs=1e-5)


@pytest.mark.parametrize("expected", reference_fits("logistic"))
def test_logistic_estimates_errors_and_variances_equal_glmer(expected):
    """Not to the last digit: glmer's deviance jumps where the number of its inner steps changes."""
    rows = reference_rows(expected["design"])
    fit = logistic_mixed_model(rows, outcome="yes", random=STRUCTURES[expected["structure"]])
    effect = fit["condition"]
    assert (fit.status == "singular") == expected["singular"]
    assert effect.estimate == pytest.approx(expected["estimate"], abs=5e-3)
    assert effect.se == pytest.approx(expected["se"], rel=0.02)
    assert fit.variances == pytest.approx(variance_names(expected), rel=5e-3, abs=1e-3)
    assert expected["criterion"] - 0.02 < fit.criterion < expected["criterion"] + 1e-3
    glmer_correlations = {row["grp"]: row["sdcor"] for row in expected["correlations"] or []}
    correlations = {name.split(",")[0]: value for name, value in fit.correlations.items()}
    assert correlations == pytest.approx(glmer_correlations, abs=2e-3)


@pytest.mark.parametrize(
    ("design", "structure"),
    [
        ("latin_square", "slopes by participant and item, correlated with the intercepts"),
        ("between_items", "slopes by participant, correlated with the intercepts"),
    ],
)
def test_the_largest_structure_that_the_data_support_is_chosen_and_named(design, structure):
    fit = largest(reference_rows(design), outcome="y")
    assert (fit.status, fit.structure, fit.path) == ("ok", structure, ())
    assert "(1 + condition | participant)" in fit.formula


def study(seed, *, people=20, items=10, sd_person=0.6, sd_slope=0.4, sd_item=0.4):
    """Simulate no effect on average; each person rates each item in both conditions, once or twice a cell."""
    rng = np.random.default_rng(seed)
    grid = [range(people), range(items), (-0.5, 0.5)]
    rows = pd.MultiIndex.from_product(grid, names=["participant", "item", "condition"]).to_frame(index=False)
    person, slope, item = (
        rng.normal(0, sd, n) for sd, n in ((sd_person, people), (sd_slope, people), (sd_item, items))
    )
    rows["value"] = (
        person[rows["participant"]]
        + item[rows["item"]]
        + slope[rows["participant"]] * rows["condition"]
        + rng.normal(0, 1, len(rows))
    )
    return rows


def test_slopes_without_variance_are_dropped_and_the_rest_is_the_smaller_model():
    rows = study(3)
    rows["value"] -= rows.groupby(["item", "condition"])["value"].transform(
        "mean"
    )  # no slope by item, by force
    fit = largest(rows)
    slopes = (*CROSSED, SLOPES["participant"])
    smaller = mixed_model(rows, random=slopes)
    assert fit.structure.startswith("slopes by participant,") and ":condition" not in str(fit.zero_terms)
    assert fit.path[0].endswith("(0 + condition | item): singular")
    assert fit["condition"].se == pytest.approx(smaller["condition"].se, rel=1e-5)
    assert fit.criterion == pytest.approx(smaller.criterion, abs=1e-6)


def test_correlations_that_are_degenerate_are_given_up_and_named():
    rows = study(5)
    rng = np.random.default_rng(1)
    person = rng.normal(size=20)
    rows["value"] = person[rows["participant"]] * (1 + rows["condition"]) + rng.normal(size=len(rows))
    fit = largest(rows)
    assert "without correlations" in fit.structure and fit.status in ("ok", "singular")
    assert any("(1 + condition | participant)" in step and "singular" in step for step in fit.path)


def test_a_contrast_between_items_has_no_slope_by_item_and_single_ratings_have_none():
    rows = study(1)
    between = rows[(rows["item"] % 2) == (rows["condition"] > 0)]
    assert [term.name for term in supported_slopes(between, ["condition"])] == ["participant:condition"]
    two_each = rows[rows["item"] < 1]  # as many rows as intercepts and slopes of participants
    assert [term.name for term in supported_slopes(two_each, ["condition"])] == []


def test_intercepts_alone_reject_too_often_where_people_differ_and_the_chosen_structure_does_not():
    """More studies, and the SD of the effect at which 14 % were wrong: bench_effects.py."""
    studies = [study(seed, people=10, items=12, sd_slope=0.8) for seed in range(16)]
    intercepts = sum(mixed_model(rows)["condition"].p < 0.05 for rows in studies)
    slopes = sum(largest(rows)["condition"].p < 0.05 for rows in studies)
    assert intercepts >= 6 and slopes <= 2


def test_the_effects_report_chooses_the_structure_and_accepts_none():
    rows = reference_rows("latin_square")
    rows = rows.assign(value=rows["y"], phenomenon="islands", task="slider")
    rows["expected"] = np.where(rows["condition"] > 0, "acceptable", "unacceptable")

    def mixed(**options):
        report = effects_report(rows.drop(columns="condition"), transform="raw", **options)
        return next(row for row in report["analyses"] if row["analysis"] == "mixed_model")

    chosen, none = mixed(), mixed(slopes="none")
    assert chosen["structure"] == "slopes by participant and item, correlated with the intercepts"
    assert chosen["se"] == pytest.approx(0.19622058661, rel=1e-6)
    assert none["structure"] == "" and none["se"] == pytest.approx(0.069030065323, rel=1e-6)
