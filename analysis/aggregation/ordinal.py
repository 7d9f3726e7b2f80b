"""Likert ratings as ordered categories: cumulative link models with and without random intercepts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..errors import UnknownName
from ..mixed_models.bayesian_ordinal import DRAWS, PRIORS, bayesian_ordinal_model, require_pymc
from ..mixed_models.cumulative_link import OrdinalFit, ordinal_mixed_model
from ..mixed_models.linear import Random
from ..mixed_models.reml import one_thread
from ..mixed_models.structures import INTERCEPTS, LARGEST, fit_largest
from ..rows import Floats, column_or_blank, is_kind, name_items_apart, none_if_nan, numbers, tasks


@dataclass(frozen=True)
class CumulativeLink:
    """A fitted cumulative link model; empty where it could not be fitted."""

    status: str
    beta: dict[str, float] = field(default_factory=dict)
    se: dict[str, float] = field(default_factory=dict)
    z: dict[str, float] = field(default_factory=dict)
    thresholds: list[float] = field(default_factory=list)
    n: int = 0


def cumulative_link(ratings: pd.Series, predictors: pd.DataFrame) -> CumulativeLink:
    """Fit logit P(Y ≤ j) = θ_j - xβ to ordered ratings.

    Notes
    -----
    ``beta``, ``se`` and ``z`` by predictor, and the thresholds θ_1 < … < θ_{J-1}. ``status`` is
    ``ok``, ``no_data``, ``no_variation`` (one scale point, or a constant predictor) or
    ``not_converged``.

    A fixed-effects model: it ignores the correlation of ratings of one participant, so its standard errors
    are too small and β is attenuated if participants differ;
    :func:`~obelus.aggregation.ordinal.mixed_cumulative_link` adds random intercepts.

    References
    ----------
    Agresti (2010), *Analysis of Ordinal Categorical Data*; Pratt (1981), JASA 76; Liddell & Kruschke (2018),
    JESP 79.
    """
    rows = ratings.notna() & predictors.notna().all(axis=1)
    outcome, exog = ratings[rows], predictors[rows].astype(float)
    if outcome.empty:
        return CumulativeLink("no_data")
    if outcome.nunique() < 2 or (exog.nunique() < 2).any():
        return CumulativeLink("no_variation", n=len(outcome))
    levels, category = np.unique(outcome.to_numpy(float), return_inverse=True)
    names, n_thresholds = list(predictors.columns), len(levels) - 1
    estimates = _maximize(category, exog.to_numpy(), n_thresholds)
    if estimates is None:
        return CumulativeLink("not_converged", n=len(outcome))
    parameters, errors = estimates
    if (errors[n_thresholds:] * exog.std(ddof=0).to_numpy() > SEPARATED).any():
        return CumulativeLink("not_converged", n=len(outcome))
    beta = dict(zip(names, parameters[n_thresholds:].tolist(), strict=True))
    se = dict(zip(names, errors[n_thresholds:].tolist(), strict=True))
    return CumulativeLink(
        "ok",
        beta=beta,
        se=se,
        z={name: beta[name] / se[name] for name in names},
        thresholds=parameters[:n_thresholds].tolist(),
        n=len(outcome),
    )


MAX_STEPS, MAX_HALVINGS, TOLERANCE = 100, 40, 1e-8
SEPARATED = 100.0  # standard error of β in logits a standard deviation of the predictor


def _maximize(category: np.ndarray, exog: np.ndarray, n_thresholds: int) -> tuple[Floats, Floats] | None:
    """Find thresholds and β by Newton's method, with standard errors; None where there is no maximum.

    The logarithm of the likelihood is concave (Pratt 1981), so halved steps never lead to another maximum.
    Categories separated by a predictor have none: β grows until the likelihood is flat, with a huge error.
    """
    shares = np.cumsum(np.bincount(category))[:-1] / len(category)
    parameters = np.concatenate([scipy.special.logit(shares), np.zeros(exog.shape[1])])
    value, gradient, information = _likelihood(parameters, category, exog, n_thresholds)
    for _ in range(MAX_STEPS):
        try:
            step = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            return None
        if float(gradient @ step) < TOLERANCE:  # twice what a full step would gain
            with np.errstate(invalid="ignore"):
                errors: Floats = np.sqrt(np.diag(np.linalg.inv(information)))
            return (parameters, errors) if np.isfinite(errors).all() else None
        for halving in range(MAX_HALVINGS):
            candidate = parameters + step / 2**halving
            tried = _likelihood(candidate, category, exog, n_thresholds)
            if tried[0] > value:
                break
        else:
            return None
        parameters, (value, gradient, information) = candidate, tried
    return None


def _likelihood(
    parameters: Floats, category: np.ndarray, exog: np.ndarray, n_thresholds: int
) -> tuple[float, Floats, Floats]:
    """Return the logarithm of the likelihood, its gradient and the observed information."""
    linear = exog @ parameters[n_thresholds:]
    padded = np.concatenate([[-np.inf], parameters[:n_thresholds], [np.inf]])
    upper, lower = (scipy.special.expit(padded[category + side] - linear) for side in (1, 0))
    p = upper - lower
    if not (p > 0).all():  # thresholds out of order
        return -np.inf, np.zeros_like(parameters), np.zeros((len(parameters), len(parameters)))
    bounds = np.eye(n_thresholds + 2)[:, 1:-1]  # no parameter belongs to -inf and inf
    above, below = (np.hstack([bounds[category + side], -exog]) for side in (1, 0))
    density_above, density_below = upper * (1 - upper), lower * (1 - lower)
    slopes = (density_above[:, None] * above - density_below[:, None] * below) / p[:, None]
    curve_above = density_above * (1 - 2 * upper) / p
    curve_below = density_below * (1 - 2 * lower) / p
    curvature = (above * curve_above[:, None]).T @ above - (below * curve_below[:, None]).T @ below
    return float(np.log(p).sum()), slopes.sum(axis=0), slopes.T @ slopes - curvature


@dataclass(frozen=True)
class MixedCumulativeLink:
    """A fitted mixed cumulative link model; None where it could not be fitted."""

    status: str
    beta: float | None = None
    se: float | None = None
    var_participant: float | None = None
    var_item: float | None = None
    log_likelihood: float | None = None
    n: int = 0


def mixed_cumulative_link(
    ratings: pd.Series, predictor: pd.Series, *, participants: Sequence[Any], items: Sequence[Any]
) -> MixedCumulativeLink:
    """Fit logit P(Y ≤ j) = θ_j - (β x + u_participant + w_item) with crossed random intercepts.

    Notes
    -----
    As :func:`obelus.mixed_models.cumulative_link.ordinal_mixed_model`, which also has slopes and
    participants' use of the scale. Every scale point is a category and needs ratings.

    References
    ----------
    Agresti (2010), *Analysis of Ordinal Categorical Data*; the values of R's ``ordinal::clmm``.

    Examples
    --------
    >>> nothing = pd.Series([], dtype=float)
    >>> mixed_cumulative_link(nothing, nothing, participants=[], items=[]).status
    'no_data'
    """
    rows = pd.DataFrame(
        {
            "value": np.asarray(ratings, float),
            "condition": np.asarray(predictor, float),
            "participant": participants,
            "item": items,
        }
    )
    fit = ordinal_mixed_model(rows)
    effect, variances = fit["condition"], fit.variances
    return MixedCumulativeLink(
        status=fit.status,
        beta=effect.estimate,
        se=effect.se,
        var_participant=variances.get("participant"),
        var_item=variances.get("item"),
        log_likelihood=None if fit.criterion is None else -fit.criterion / 2,
        n=fit.n,
    )


ORDINAL_SLOPES = ("auto", "none")
# Fits above this take minutes.
MAX_ROWS = 3_000
BAYESIAN = (
    "the mixed model with uncorrelated intercepts and slopes by participant and item; priors: "
    + "; ".join(f"{parameter} {prior}" for parameter, prior in PRIORS.items())
    + f"; NUTS by PyMC, 4 chains of {DRAWS:,} draws after as many for tuning; not_converged: R-hat "
    "above 1.01, fewer than 400 effective draws, or divergences"
)
REASONS = {
    "no_data": "no rating of a sentence with an expected status",
    "no_variation": "one point of the scale, or one side of the contrast, only",
    "not_converged": "no optimum was found",
    "too_many_rows": f"more than {MAX_ROWS:,} ratings: only the model without intercepts is fitted",
}


def ordinal_report(
    judgments: pd.DataFrame,
    *,
    by: str = "phenomenon",
    slopes: str = "auto",
    bayesian: bool = False,
    experiment: str = "",
) -> dict[str, Any]:
    """Fit the cumulative link model to every contrast: without and with random effects, and with scale use.

    Notes
    -----
    JSON-ready: ``rows`` with ``beta`` and ``se`` (logits, acceptable minus unacceptable) without and with
    random effects, the ``thresholds`` of the former, the variances, ``structure`` and ``path`` of the random
    effects (``slopes="auto"``: the largest that the data support, ``none``: intercepts), ``p`` (Wald),
    ``status`` (``ok``, ``singular`` with a variance of 0, ``not_estimable``) and ``reason``; ``scale_use``:
    the same contrast where participants also differ in discrimination, with the likelihood ratio of that;
    ``severity``: for each participant how much lower the ratings are, in logits; ``bayesian``: the posterior
    of :func:`~obelus.mixed_models.bayesian_ordinal.bayesian_ordinal_model`, or None; ``conventions``.

    References
    ----------
    Liddell & Kruschke (2018), JESP 79; Agresti (2010), *Analysis of Ordinal Categorical Data*.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": ["a"], "item": ["i"], "value": [3], "expected": ["acceptable"],
    ...     "task": ["likert"]})
    >>> ordinal_report(rows)["rows"][0]["status"]
    'not_estimable'
    """
    if slopes not in ORDINAL_SLOPES:
        raise UnknownName("choice of random slopes", slopes, ORDINAL_SLOPES)
    if bayesian:
        require_pymc()
    contrasts = []
    likert = (
        judgments[(tasks(judgments).astype(object) == "likert").to_numpy()] if len(judgments) else judgments
    )
    if len(likert) and "expected" in likert.columns:
        value = numbers(likert)
        selected = is_kind(likert, ("target",)) & ~np.isnan(value)
        selected &= likert["expected"].astype(object).isin(["acceptable", "unacceptable"]).to_numpy()
        rows = name_items_apart(likert)[selected].assign(rating=value[selected])
        with one_thread():
            groups = rows.groupby(column_or_blank(rows, by).astype(str), sort=True)
            contrasts = [{by: str(name), **_contrast_row(part, slopes=slopes)} for name, part in groups]
            if bayesian:
                for contrast, (_, part) in zip(contrasts, groups, strict=True):
                    contrast["bayesian"] = _posterior(part)
    return {
        "experiment": experiment,
        "by": by,
        "slopes": slopes,
        "has_posterior": bayesian,
        "rows": contrasts,
        "conventions": {
            "model": "logit P(rating <= j) = threshold_j - beta * condition; condition: 1 acceptable, 0 not",
            "fixed": "without intercepts: ratings of one person count as independent; beta is shrunken",
            "mixed": f"{LARGEST if slopes == 'auto' else 'crossed intercepts'}; condition coded by 1/2 and "
            "-1/2; Laplace, p by Wald",
            "scale_use": "(threshold_j - location) * exp(s), s of each participant normal with mean 0: a "
            "shift of the thresholds is the participant's intercept, s their spread; likelihood ratio "
            "against s = 0, p halved, because the variance is at its bound",
            "severity": "minus the participant's intercept at its mode, 95 % by its conditional variance: "
            "above 0, lower ratings of the same sentences",
        }
        | ({"bayesian": BAYESIAN} if bayesian else {}),
    }


def _contrast_row(rows: pd.DataFrame, *, slopes: str) -> dict[str, Any]:
    good = (rows["expected"].astype(object) == "acceptable").astype(float)
    ratings = rows["rating"].astype(float)
    fixed = cumulative_link(ratings, pd.DataFrame({"condition": good}))
    row: dict[str, Any] = {
        "n": len(rows),
        "participants": int(rows["participant"].nunique()),
        "items": int(rows["item"].nunique()),
        "beta_fixed": fixed.beta.get("condition"),
        "se_fixed": fixed.se.get("condition"),
        "thresholds": fixed.thresholds,
        **dict.fromkeys(("beta", "se", "p", "var_participant", "var_item")),
        "structure": "",
        "path": "",
        "variances": {},
        "correlations": {},
        "scale_use": _no_scale("not_estimable"),
        "severity": [],
        "bayesian": None,
    }
    if len(rows) > MAX_ROWS:
        return row | {"status": "not_estimable", "reason": REASONS["too_many_rows"]}
    coded = rows.assign(value=ratings, condition=good - 0.5)
    fit = _fit_mixed(coded, slopes=slopes)
    effect = fit["condition"]
    if effect.estimate is None or effect.se is None:
        return row | {"status": "not_estimable", "reason": REASONS.get(fit.status, fit.status)}
    scaled = ordinal_mixed_model(coded, has_scale=True, random=_terms(fit), start=fit)
    severity = (scaled if scaled.usable else fit).severity
    return row | {
        "beta": effect.estimate,
        "se": none_if_nan(effect.se),
        "p": _wald(effect.estimate, effect.se),
        "var_participant": fit.variances.get("participant"),
        "var_item": fit.variances.get("item"),
        "structure": fit.structure or INTERCEPTS,
        "path": "; ".join(fit.path),
        "variances": dict(fit.variances),
        "correlations": dict(fit.correlations),
        "scale_use": _scale_use(fit, scaled),
        "severity": _severity_rows(fit.severity, severity),
        "status": fit.status,
        "reason": f"a variance came out as 0 ({', '.join(fit.zero_terms)})"
        if fit.status == "singular"
        else "",
    }


def _posterior(rows: pd.DataFrame) -> dict[str, Any] | None:
    """Sample the posterior of a contrast; None without two scale points and both sides."""
    if rows["rating"].nunique() < 2 or rows["expected"].nunique() < 2:
        return None
    acceptable = (rows["expected"].astype(object) == "acceptable").astype(float)
    groups = {factor: rows[factor].tolist() for factor in ("participant", "item")}
    return bayesian_ordinal_model(rows["rating"].tolist(), (acceptable - 0.5).tolist(), groups=groups)


def _fit_mixed(rows: pd.DataFrame, *, slopes: str) -> OrdinalFit:
    if slopes == "none":
        return ordinal_mixed_model(rows)
    fit = fit_largest(
        lambda terms, start: ordinal_mixed_model(rows, random=terms, start=start), rows, slopes=("condition",)
    )
    assert isinstance(fit, OrdinalFit)  # fit_largest returns what its function returns
    return fit


def _terms(fit: OrdinalFit) -> tuple[Random, ...]:
    """Return the random terms of a fit."""
    correlated = {factor for pair in fit.correlations for factor in [pair.split(",")[0]]}
    return tuple(
        Random(name.partition(":")[0], name.partition(":")[2], name.partition(":")[0] in correlated)
        for name in fit.variances
    )


def _scale_use(fit: OrdinalFit, scaled: OrdinalFit) -> dict[str, Any]:
    """Compare the model with participants' discrimination to that without."""
    effect = scaled["condition"]
    if effect.estimate is None or effect.se is None or fit.criterion is None or scaled.criterion is None:
        return _no_scale(scaled.status)
    ratio = max(fit.criterion - scaled.criterion, 0.0)
    return {
        "beta": effect.estimate,
        "se": effect.se,
        "p": effect.p,
        "sd": float(scaled.variances["scale"] ** 0.5),
        "ratio": ratio,
        "p_ratio": float(scipy.stats.chi2.sf(ratio, 1) / 2) if ratio > 0 else 1.0,
        "status": scaled.status,
    }


def _no_scale(status: str) -> dict[str, Any]:
    return dict.fromkeys(("beta", "se", "p", "sd", "ratio", "p_ratio")) | {"status": status}


def _severity_rows(severity: pd.DataFrame, scaled: pd.DataFrame) -> list[dict[str, Any]]:
    """Return severity from the model without scale use, and discrimination from the one with it."""
    if severity.empty:
        return []
    table = severity.assign(participant=severity["participant"].astype(str))
    table["discrimination"] = scaled["discrimination"] if "discrimination" in scaled.columns else 1.0
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def _wald(beta: float, se: float) -> float | None:
    return float(2 * scipy.stats.norm.sf(abs(beta / se))) if se > 0 else None
