"""The logistic mixed model against lme4's glmer, against brute force, and where it has no answer."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from analysis.effects.contrast_models import choice_model
from analysis.errors import BadInput
from analysis.mixed_models.cross_products import Term
from analysis.mixed_models.laplace import Laplace
from analysis.mixed_models.linear import CROSSED, Random
from analysis.mixed_models.logistic import logistic_mixed_model


def vector_rows(vector):
    return pd.DataFrame(vector["input"], columns=["participant", "item", "value"])


def dense_deviance(rows, parameters):
    """Laplace's approximation again, with full matrices and no elimination."""
    y = rows["value"].to_numpy()
    blocks = [pd.get_dummies(rows[name]).to_numpy(float) for name in ("participant", "item")]
    scaled = np.hstack([block * sd for block, sd in zip(blocks, parameters[1:], strict=True)])
    modes = np.zeros(scaled.shape[1])
    for _ in range(60):
        chance = expit(parameters[0] + scaled @ modes)
        curvature = scaled.T @ ((chance * (1 - chance))[:, None] * scaled) + np.eye(len(modes))
        modes = modes + np.linalg.solve(curvature, scaled.T @ (y - chance) - modes)
    eta = parameters[0] + scaled @ modes
    loss = 2 * (np.logaddexp(0, eta).sum() - y @ eta)
    return loss + modes @ modes + np.linalg.slogdet(curvature)[1]


def test_vector_fc_glmm(shared_vectors):
    vector = shared_vectors["fc_glmm"]
    expected, fit = vector["expected"], logistic_mixed_model(vector_rows(vector), fixed=())
    effect, close = fit["intercept"], {"abs": vector["tolerance"]}
    assert fit.status == "ok" and effect.df is None and "glmer" in fit.method
    assert effect.estimate == pytest.approx(expected["glmm_intercept"], **close)
    assert effect.se == pytest.approx(expected["glmm_se"], **close)
    assert effect.statistic == pytest.approx(expected["glmm_z"], **close)
    assert effect.p == pytest.approx(expected["glmm_p"], **close)
    assert fit.variances["participant"] == pytest.approx(expected["var_participant"], **close)
    assert fit.variances["item"] == pytest.approx(expected["var_item"], **close)
    # the exact optimum lies lower, and its error is another
    parameters = [expected["glmm_intercept"], expected["var_participant"] ** 0.5, expected["var_item"] ** 0.5]
    assert fit.criterion <= dense_deviance(vector_rows(vector), parameters)
    assert fit.exact["intercept"].se == pytest.approx(0.37895, abs=1e-5)


def glmer_deviance(rows, parameters, eta, *, joint=False):
    """Deviance as glmer takes it, from a linear predictor on: it stops at 1e-7 of the penalized deviance, and
    its determinant keeps the weights of the step before. ``joint`` estimates the intercept with the modes."""
    y = rows["value"].to_numpy(float)
    blocks = [pd.get_dummies(rows[name]).to_numpy(float) for name in ("participant", "item")]
    scaled = np.hstack([block * abs(sd) for block, sd in zip(blocks, parameters[1:], strict=True)])
    columns = np.column_stack([scaled, np.ones(len(y))]) if joint else scaled
    fixed = 0.0 if joint else parameters[0]
    ridge = np.diag(np.r_[np.ones(scaled.shape[1]), np.zeros(columns.shape[1] - scaled.shape[1])])
    before = np.inf
    while True:
        chance = expit(eta)
        weights = chance * (1 - chance)
        curvature = columns.T @ (weights[:, None] * columns) + ridge
        solution = np.linalg.solve(curvature, columns.T @ (weights * (eta - fixed) + y - chance))
        eta, modes = fixed + columns @ solution, solution[: scaled.shape[1]]
        penalized = 2 * (np.logaddexp(0, eta).sum() - y @ eta) + modes @ modes
        if abs(before - penalized) < 1e-7 * abs(penalized):
            inner = curvature[: len(modes), : len(modes)]
            return penalized + np.linalg.slogdet(inner)[1], eta
        before = penalized


def test_the_published_error_is_that_of_a_deviance_which_stops_early(shared_vectors):
    """glmer's .37539 against our .3789: with its stop and its lagging weights we get its very numbers."""
    expected, rows = shared_vectors["fc_glmm"]["expected"], vector_rows(shared_vectors["fc_glmm"])
    half = (rows["value"].to_numpy(float) + 0.5) / 2
    first = np.log(half / (1 - half))
    search = {"method": "Nelder-Mead", "options": {"xatol": 1e-7, "fatol": 1e-10}}
    quick = minimize(lambda sd: glmer_deviance(rows, [0, *sd], first, joint=True)[0], [0.6, 0.7], **search).x
    start = glmer_deviance(rows, [0, *quick], first, joint=True)[1]

    def deviance(point):
        return glmer_deviance(rows, point, start)[0]

    best = minimize(deviance, [0.9, *quick], **search).x
    assert best[0] == pytest.approx(expected["glmm_intercept"], abs=1e-4)
    assert best[1:] ** 2 == pytest.approx([expected["var_participant"], expected["var_item"]], abs=1e-4)
    step, hessian = 1e-3 * np.eye(3), np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            ends = [deviance(best + a * step[i] + b * step[j]) * a * b for a in (1, -1) for b in (1, -1)]
            hessian[i, j] = sum(ends) / 4e-6
    assert np.sqrt(2 * np.linalg.inv(hessian)[0, 0]) == pytest.approx(expected["glmm_se"], abs=1e-5)


def test_deviance_and_error_equal_those_of_full_matrices(shared_vectors):
    rows = vector_rows(shared_vectors["fc_glmm"])
    fit = logistic_mixed_model(rows, fixed=())
    start = [fit["intercept"].estimate, *(fit.variances[name] ** 0.5 for name in fit.variances)]
    search = {"method": "Nelder-Mead", "options": {"xatol": 1e-7, "fatol": 1e-10}}
    best = minimize(lambda at: dense_deviance(rows, at), start, **search).x
    assert fit.exact["intercept"].estimate == pytest.approx(best[0], abs=1e-5)
    assert fit.criterion == pytest.approx(dense_deviance(rows, best), abs=1e-8)
    steps, hessian = 1e-3 * np.eye(3), np.empty((3, 3))
    for i, step in enumerate(steps):
        for j, other in enumerate(steps):
            ends = [
                dense_deviance(rows, best + a * step + b * other) * a * b for a in (1, -1) for b in (1, -1)
            ]
            hessian[i, j] = sum(ends) / 4e-6
    error = np.sqrt(np.linalg.inv(hessian / 2)[0, 0])
    assert fit.exact["intercept"].se == pytest.approx(error, rel=1e-4)


def test_elimination_in_sparse_form_gives_the_same_deviance(monkeypatch, shared_vectors):
    rows = vector_rows(shared_vectors["fc_glmm"])
    codes = [pd.factorize(rows[name])[0] for name in ("participant", "item")]
    y, ones = rows["value"].to_numpy(), np.ones((len(rows), 1))
    terms = [Term(code, int(code.max()) + 1, np.ones(len(rows))) for code in codes]
    at = np.array([0.5, 0.8, 0.4])
    dense = Laplace(y, ones, terms=terms).deviance(at)
    monkeypatch.setattr("analysis.mixed_models.laplace._DENSE_CELLS", 1)
    swapped = Laplace(y, ones, terms=terms[::-1])
    assert swapped.deviance(at[[0, 2, 1]]) == pytest.approx(dense, abs=1e-9)
    assert dense == pytest.approx(dense_deviance(rows, at), abs=1e-8)


def simulated(seed=5, people=80, items=24, effect=1.2):
    rng = np.random.default_rng(seed)
    person, item = np.repeat(np.arange(people), items), np.tile(np.arange(items), people)
    good = ((person + item) % 2).astype(float)
    eta = effect * good - 0.5 + rng.normal(0, 1, people)[person] + rng.normal(0, 0.5, items)[item]
    value = (rng.random(len(eta)) < expit(eta)).astype(float)
    return pd.DataFrame({"participant": person, "item": item, "condition": good, "value": value})


def test_simulated_effect_and_spreads_are_recovered():
    fit = logistic_mixed_model(simulated(items=80))
    effect = fit["condition"]
    assert effect.ci_low < 1.2 < effect.ci_high and effect.ci_low > 0.8
    assert 0.6 < fit.variances["participant"] < 1.5 and 0.1 < fit.variances["item"] < 0.6


def test_a_factor_without_spread_is_singular_and_keeps_the_estimate():
    rows = simulated()
    fit = logistic_mixed_model(rows.assign(value=np.where(np.arange(len(rows)) % 10 < 7, 1.0, 0.0)))
    assert fit.status == "singular" and "participant" in fit.zero_terms
    assert fit.variances["participant"] == 0 and fit["condition"].p is not None


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (lambda rows: rows.iloc[:0], "no_data"),
        (lambda rows: rows.assign(participant=np.arange(len(rows))), "too_few"),
        (lambda rows: rows.assign(value=1.0), "separated"),
        (lambda rows: rows.assign(value=np.where(rows["condition"] == 1, 1.0, rows["value"])), "separated"),
        (lambda rows: rows.assign(condition=1.0), "no_variation"),
    ],
)
def test_models_without_a_finite_estimate_report_the_reason(change, status):
    fit = logistic_mixed_model(change(simulated(people=10)))
    assert (fit.status, fit["condition"].estimate) == (status, None)


def test_correlated_slopes_have_the_same_deviance_sparse_and_in_either_order(monkeypatch):
    rows = simulated(people=12)
    y, design = rows["value"].to_numpy(), np.column_stack([np.ones(len(rows)), rows["condition"]])
    condition = rows["condition"].to_numpy() - 0.5
    codes = {name: rows[name].to_numpy() for name in ("participant", "item")}

    def terms(name):
        n_groups = int(codes[name].max()) + 1
        return [
            Term(codes[name], n_groups, np.ones(len(rows)), is_correlated=True),
            Term(codes[name], n_groups, condition, is_correlated=True),
        ]

    beta, person, item = [-0.5, 1.2], ([0.9, 0.4], [0.3]), ([0.5, 0.6], [-0.2])
    laplace = Laplace(y, design, terms=[*terms("participant"), *terms("item")])
    dense = laplace.deviance(np.array([*beta, *person[0], *item[0], *person[1], *item[1]]))
    monkeypatch.setattr("analysis.mixed_models.laplace._DENSE_CELLS", 1)
    other = Laplace(y, design, terms=[*terms("item"), *terms("participant")])
    sparse = other.deviance(np.array([*beta, *item[0], *person[0], *item[1], *person[1]]))
    assert sparse == pytest.approx(dense, abs=1e-8)


def test_more_than_two_factors_and_scores_are_refused():
    rows = simulated(people=6)
    with pytest.raises(BadInput, match="factors"):
        logistic_mixed_model(rows, random=(*CROSSED, Random("condition")))
    with pytest.raises(BadInput, match="0 or 1"):
        logistic_mixed_model(rows.assign(value=3.0))


def test_the_side_enters_where_items_were_shown_both_ways_and_stays_out_elsewhere():
    rng = np.random.default_rng(7)
    rows = simulated(effect=0).rename(columns={"value": "score"})
    rows["expected_first"] = (rng.random(len(rows)) < 0.5).astype(float)
    rows["score"] = (rng.random(len(rows)) < np.where(rows["expected_first"] == 1, 0.9, 0.5)).astype(float)
    with_side = choice_model(rows, random=CROSSED)
    assert "side" in with_side["method"] and with_side["estimate"] == pytest.approx(1.1, abs=0.3)
    one_order = rows.assign(expected_first=(rows["item"] % 2).astype(float))
    assert "side" not in choice_model(one_order, random=CROSSED)["method"]


def test_with_inner_steps_run_to_their_end_both_ways_are_one(monkeypatch, shared_vectors):
    rows = vector_rows(shared_vectors["fc_glmm"])
    monkeypatch.setattr("analysis.mixed_models.logistic.GLMER_TOLERANCE", 1e-15)
    fit = logistic_mixed_model(rows, fixed=())
    assert fit["intercept"].estimate == pytest.approx(fit.exact["intercept"].estimate, abs=1e-6)
    assert fit["intercept"].se == pytest.approx(fit.exact["intercept"].se, abs=1e-5)


def test_one_factor_and_a_predictor_keep_both_answers_close():
    fit = logistic_mixed_model(simulated(people=40), random=CROSSED[:1])
    assert fit.status == "ok" and set(fit.variances) == {"participant"}
    for name in ("intercept", "condition"):
        assert fit[name].estimate == pytest.approx(fit.exact[name].estimate, abs=0.01)
        assert fit[name].se == pytest.approx(fit.exact[name].se, rel=0.05)
        assert fit[name].se != fit.exact[name].se
