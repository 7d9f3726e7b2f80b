"""Logistic mixed models with crossed random intercepts, for choices and yes-no judgments."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import optimize, stats

from analysis.columns import require_columns
from analysis.effects.laplace import LARGEST_SD, Laplace
from analysis.effects.mixed import CROSSED, Estimate, MixedFit, Random
from analysis.effects.reml import one_thread
from analysis.errors import BadInput
from analysis.rows import Floats, group_codes

METHOD = "Laplace, Wald z"
_SMALL_SD, _NOTHING = 0.2, 1e-4
_STEP = 1e-3


def logistic_mixed_model(
    rows: pd.DataFrame,
    *,
    outcome: str = "value",
    fixed: Sequence[str] = ("condition",),
    random: Sequence[Random] = CROSSED,
    confidence: float = 0.95,
) -> MixedFit:
    """Fit logit P(outcome = 1) with fixed effects and crossed random intercepts.

    Parameters
    ----------
    rows : DataFrame, one row per judgment
        Needs the outcome (0 or 1), the fixed columns (numbers) and the random factors' columns; rows with a
        gap in one of them are left out.
    outcome : str
    fixed : sequence of str
        Numeric predictors; an intercept is always added, and none may be given. Code sides as -½ and ½, so
        that the intercept is their middle.
    random : sequence of Random
        One or two intercepts; slopes are not fitted here.
    confidence : float
        Of the Wald intervals.

    Returns
    -------
    MixedFit
        On the logit scale; ``df`` is None. ``status``: ``ok``; ``singular`` (a variance is 0); ``separated``
        (one answer throughout a cell of the predictors: the estimate would be infinite);
        ``not_converged`` (also where an SD grows beyond 6: people answer all alike); ``no_data``;
        ``too_few`` (a factor has one group, or as many as rows); ``no_variation`` (redundant predictors).

    Raises
    ------
    MissingColumns
        If a column is absent.
    BadInput
        If the outcome is not 0 or 1, or a random slope is asked for.

    See Also
    --------
    analysis.effects.mixed.mixed_model : The same for scores on a scale.

    Notes
    -----
    Laplace's approximation, as lme4's ``glmer`` with ``nAGQ = 1``: minimize over β and the SDs σ
    -2 [Σ log P(y | û) - ½ û'û] + log|H|, û the mode of the spherical random effects and H the curvature
    there. Standard errors come from the numerical Hessian in all parameters. The Wald test is rough
    with few participants or items; the sign test and the t of participants' shares stand first.

    References
    ----------
    Bates, Mächler, Bolker & Walker (2015), Journal of Statistical Software 67(1); Jaeger (2008), Journal of
    Memory and Language 59.

    Examples
    --------
    >>> rng = np.random.default_rng(2)
    >>> rows = pd.DataFrame({
    ...     "participant": np.repeat(np.arange(30), 12), "item": np.tile(np.arange(12), 30)})
    >>> rows["condition"] = (rows["participant"] + rows["item"]) % 2
    >>> chance = 1 / (1 + np.exp(-(2.0 * rows["condition"] - 1 + rng.normal(size=30)[rows["participant"]])))
    >>> rows["value"] = (rng.random(360) < chance).astype(float)
    >>> fit = logistic_mixed_model(rows)
    >>> fit.usable, 1.2 < fit["condition"].estimate < 2.8
    (True, True)
    """
    _check(random)
    names = [outcome, *fixed, *(term.factor for term in random)]
    require_columns(rows, *names)
    kept = rows.loc[rows[names].notna().all(axis=1)]
    y = kept[outcome].to_numpy(dtype=np.float64)
    if not np.isin(y, (0.0, 1.0)).all():
        raise BadInput("the outcome is not 0 or 1 throughout.", column=outcome, remedy="Score the answers.")
    coded = [group_codes(kept[term.factor]) for term in random]
    n_groups = {term.factor: len(labels) for term, (_, labels) in zip(random, coded, strict=True)}
    formula = " + ".join([f"logit {outcome} ~ 1", *fixed, *(term.formula for term in random)])
    empty = MixedFit("no_data", formula, method=METHOD, n=len(kept), n_groups=n_groups)
    design = np.column_stack([np.ones(len(y)), *(kept[name].to_numpy(dtype=np.float64) for name in fixed)])
    status = _estimable(y, design, n_groups)
    if status != "ok":
        return replace(empty, status=status)
    model = Laplace(y, design, groups=[codes for codes, _ in coded], sizes=list(n_groups.values()))
    with one_thread():
        return _fit(model, random, empty, names=["intercept", *fixed], confidence=confidence)


def _check(random: Sequence[Random]) -> None:
    if not 1 <= len(random) <= 2 or len({term.factor for term in random}) < len(random):
        raise BadInput("one or two different random factors are fitted.", remedy="Give intercepts only.")
    slopes = [term.formula for term in random if term.slope]
    if slopes:
        raise BadInput(
            f"{', '.join(slopes)} is a slope.", remedy="Logistic models have intercepts only here."
        )


def _estimable(y: Floats, design: Floats, n_groups: dict[str, int]) -> str:
    n = len(y)
    if n == 0:
        return "no_data"
    if any(groups < 2 or groups >= n for groups in n_groups.values()):
        return "too_few"
    spread = np.linalg.svd(design, compute_uv=False)
    if n <= design.shape[1] or spread[-1] < 1e-10 * spread[0]:
        return "no_variation"
    cells, place = np.unique(design, axis=0, return_inverse=True)
    if len(cells) > 2 * design.shape[1]:
        return "ok" if 0 < y.mean() < 1 else "separated"
    shares = np.bincount(place.ravel(), weights=y) / np.bincount(place.ravel())
    return "separated" if ((shares == 0) | (shares == 1)).any() else "ok"


def _fit(
    model: Laplace, random: Sequence[Random], empty: MixedFit, *, names: Sequence[str], confidence: float
) -> MixedFit:
    p, q = model.p, len(random)
    start = np.concatenate([model.without_groups(), np.full(q, 0.5)])
    bounds = [(None, None)] * p + [(0.0, LARGEST_SD)] * q
    found = optimize.minimize(
        model.deviance, start, method="L-BFGS-B", jac=model.slope, bounds=bounds,
        options={"ftol": 1e-11, "gtol": 1e-5, "maxiter": 500},
    )  # fmt: skip
    at = _without_empty(model, np.asarray(found.x, dtype=np.float64))
    sd = at[p:]
    if not np.isfinite(found.fun) or (sd >= 0.999 * LARGEST_SD).any():
        return replace(empty, status="not_converged")
    free = np.concatenate([np.ones(p, dtype=bool), sd > 0])
    covariance = _covariance(model, at, free)
    if covariance is None:
        return replace(empty, status="not_converged")
    errors = np.sqrt(np.diag(covariance)[:p])
    zero = tuple(term.name for term, inside in zip(random, free[p:], strict=True) if not inside)
    return replace(
        empty,
        status="singular" if zero else "ok",
        estimates=_estimates(at[:p], errors, names=names, confidence=confidence),
        variances={t.name: float(s**2) for t, s in zip(random, sd, strict=True)},
        criterion=model.deviance(at),
        zero_terms=zero,
    )


def _without_empty(model: Laplace, at: Floats) -> Floats:
    """Set to 0 the spreads that explain nothing: the deviance is flat there, and a search stops short."""
    for place in range(model.p, len(at)):
        trial = at.copy()
        trial[place] = 0.0
        if at[place] < _SMALL_SD and model.deviance(trial) <= model.deviance(at) + _NOTHING:
            at = trial
    return at


def _covariance(model: Laplace, at: Floats, free: np.ndarray) -> Floats | None:
    """Invert the Hessian of half the deviance in the free parameters."""
    places = np.flatnonzero(free)
    hessian = np.empty((len(places), len(places)))
    for a, i in enumerate(places):
        for b, j in enumerate(places[: a + 1]):
            one, other = np.zeros(len(at)), np.zeros(len(at))
            one[i], other[j] = _STEP, _STEP
            second = (
                model.deviance(at + one + other) - model.deviance(at + one - other)
                - model.deviance(at - one + other) + model.deviance(at - one - other)
            )  # fmt: skip
            hessian[a, b] = hessian[b, a] = second / (8 * _STEP**2)
    try:
        covariance = np.asarray(np.linalg.inv(hessian), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    return covariance if (np.diag(covariance) > 0).all() else None


def _estimates(
    beta: Floats, errors: Floats, *, names: Sequence[str], confidence: float
) -> dict[str, Estimate]:
    half = float(stats.norm.ppf(0.5 + confidence / 2))
    return {
        name: Estimate(
            name,
            estimate=float(estimate),
            se=float(error),
            statistic=float(estimate / error),
            p=float(2 * stats.norm.sf(abs(estimate / error))),
            ci_low=float(estimate - half * error),
            ci_high=float(estimate + half * error),
        )
        for name, estimate, error in zip(names, beta, errors, strict=True)
    }
