"""Choices without a mixed model: the local optimum of glmer, CR2 of clubSandwich, Firth's penalty."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.effects.contrast_models import choice_model, contrast_model
from analysis.mixed_models.cluster_robust import cluster_robust_logistic, penalized_logistic

REFERENCE = Path(__file__).resolve().parents[2] / "reference"  # made by choices.R there


def reference(model):
    return [fit for fit in json.loads((REFERENCE / "choices.json").read_text()) if fit["model"] == model]


def choices(paradigm):
    rows = pd.read_csv(REFERENCE / "choices.csv")
    return rows[rows["paradigm"] == paradigm].rename(columns={"value": "score"})


@pytest.mark.parametrize("expected", reference("CR2"), ids=lambda fit: f"{fit['design']}-{fit['cluster']}")
def test_errors_and_degrees_of_freedom_equal_club_sandwich(expected):
    rows = pd.read_csv(REFERENCE / "mixed_models.csv")
    rows = rows[rows["design"] == expected["design"]]
    rows = rows.assign(pair=rows["participant"].astype(str) + " " + rows["item"].astype(str))
    fit = cluster_robust_logistic(rows, outcome="yes", fixed=("condition",), clusters=(expected["cluster"],))
    estimates = list(fit.estimates.values())
    assert [estimate.estimate for estimate in estimates] == pytest.approx(expected["estimate"], rel=1e-8)
    assert [estimate.se for estimate in estimates] == pytest.approx(expected["se"], rel=1e-8)
    assert [estimate.df for estimate in estimates] == pytest.approx(expected["df"], rel=1e-8)


def test_two_clusterings_add_up_and_no_error_is_below_that_of_either():
    rows = pd.read_csv(REFERENCE / "mixed_models.csv").query("design == 'incomplete'")
    errors = {
        fit["cluster"]: np.array(fit["se"]) for fit in reference("CR2") if fit["design"] == "incomplete"
    }
    total = errors["participant"] ** 2 + errors["item"] ** 2 - errors["pair"] ** 2
    expected = np.maximum(total, np.maximum(errors["participant"], errors["item"]) ** 2) ** 0.5
    fit = cluster_robust_logistic(rows, outcome="yes", fixed=("condition",))
    assert [estimate.se for estimate in fit.estimates.values()] == pytest.approx(expected, rel=1e-8)
    assert fit["condition"].df == pytest.approx(18.7831981546, rel=1e-8)


@pytest.mark.parametrize("paradigm", ["determiner_noun_agreement_1", "ellipsis_n_bar_1"])
def test_choices_that_glmer_fits_tamely_are_fitted(paradigm):
    expected = next(fit for fit in reference("glmer") if fit["paradigm"] == paradigm)
    fit = choice_model(choices(paradigm), random=None)
    assert fit["status"] == "singular" and "local optimum" in fit["method"]
    assert fit["estimate"] == pytest.approx(expected["estimate"], abs=0.01)
    if paradigm.startswith("determiner"):  # in the other glmer's own error is .0075, of a failed Hessian
        assert fit["se"] == pytest.approx(expected["se"], rel=1e-3)


def test_choices_with_endless_variances_have_a_cluster_robust_estimate_and_its_reason():
    expected = next(fit for fit in reference("glmer") if fit["paradigm"] == "principle_A_domain_3")
    assert min(expected["variances"]) > 400  # what glmer says
    rows = choices("principle_A_domain_3")
    fit = choice_model(rows, random=None)
    share = rows["score"].mean()
    assert (fit["status"], fit["structure"]) == ("cluster_robust", "none, cluster-robust")
    assert fit["estimate"] == pytest.approx(np.log(share / (1 - share)))
    assert "no optimum" in fit["path"] and "CR2" in fit["method"] and 0 < fit["p"] < 1


def test_answers_that_all_agree_have_a_penalized_estimate_in_which_a_person_counts_once():
    rows = pd.DataFrame({"participant": np.repeat(np.arange(15), 4), "item": np.tile(np.arange(4), 15)})
    fit = choice_model(rows.assign(score=1.0), random=None)
    assert (fit["status"], fit["structure"]) == ("penalized", "none, penalized")
    assert fit["estimate"] == pytest.approx(np.log(15.5 / 0.5))
    # by hand: the penalized likelihood of an intercept is that of half an answer more on each side
    ratio = 2 * (15.5 * np.log(15.5 / 16) + 0.5 * np.log(0.5 / 16) - 16 * np.log(0.5))
    assert fit["statistic"] ** 2 == pytest.approx(ratio)


def test_a_separated_contrast_has_half_an_answer_more_in_each_cell():
    rows = pd.DataFrame({"participant": np.repeat(np.arange(20), 2), "condition": np.tile([0, 1], 20)})
    rows["value"] = np.where((rows["condition"] == 1) | (rows["participant"] < 6), 1.0, 0.0)
    fit = penalized_logistic(rows, fixed=("condition",))
    assert fit["condition"].estimate == pytest.approx(np.log(20.5 / 0.5) - np.log(6.5 / 14.5), abs=1e-8)
    coded = rows.assign(score=rows["value"], item=rows["participant"] % 5)
    model = contrast_model(coded, (rows["condition"] == 1).to_numpy(), task="yes_no", random=None)
    assert model["status"] == "penalized" and model["estimate"] == pytest.approx(fit["condition"].estimate)


def test_yes_no_contrasts_have_slopes_where_the_data_allow():
    rows = pd.read_csv(REFERENCE / "mixed_models.csv").query("design == 'latin_square'")
    fit = contrast_model(
        rows.assign(score=rows["yes"]), (rows["condition"] > 0).to_numpy(), task="yes_no", random=None
    )
    assert fit["structure"] == "slopes by participant and item, correlated with the intercepts"
    assert fit["estimate"] == pytest.approx(1.3306, abs=2e-3) and fit["se"] == pytest.approx(0.4312, abs=2e-3)
