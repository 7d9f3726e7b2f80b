"""Logistic mixed models with crossed random intercepts, for choices and yes-no judgments."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy

from analysis.columns import require_columns
from analysis.effects.laplace import LARGEST_SD, Laplace, slope
from analysis.effects.mixed import CROSSED, Estimate, MixedFit, Random
from analysis.effects.reml import one_thread
from analysis.effects.working import WorkingDeviance
from analysis.errors import BadInput
from analysis.rows import Codes, Floats, group_codes

METHOD = "Laplace as glmer takes it, Wald z"
EXACT_METHOD = "Laplace, Wald z"
"""Where glmer's deviance has no lowest point near the exact one."""
_SMALL_SD, _NOTHING = 0.2, 1e-4
_STEP = 1e-3

Deviance = Callable[[Floats], float]


@dataclass(frozen=True)
class _Optimum:
    at: Floats
    errors: Floats


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
    there. ``estimates`` and ``variances`` belong to this deviance as glmer takes it
    (:class:`analysis.effects.working.WorkingDeviance`), so that they are the numbers of glmer's summary;
    ``exact`` and ``criterion`` belong to the optimum with û at its mode and H taken there. Estimates
    differ by some thousandths, errors by one per cent or so. Both errors come from the numerical Hessian
    in all parameters. The Wald test is rough with few participants or items; the sign test and the t of
    participants' shares stand first.

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
    start = np.concatenate([model.without_groups(), np.full(len(random), 0.5)])
    exact = _optimum(model.deviance, start, p=model.p)
    if exact is None:
        return replace(empty, status="not_converged")
    working = _optimum(WorkingDeviance(model, exact.at), exact.at, p=model.p)
    best, method = (exact, EXACT_METHOD) if working is None else (working, METHOD)
    sd = best.at[model.p :]
    zero = tuple(term.name for term, size in zip(random, sd, strict=True) if size == 0)
    return replace(
        empty,
        status="singular" if zero else "ok",
        method=method,
        estimates=_estimates(best, names=names, confidence=confidence),
        exact=_estimates(exact, names=names, confidence=confidence),
        variances={term.name: float(size**2) for term, size in zip(random, sd, strict=True)},
        criterion=model.deviance(exact.at),
        zero_terms=zero,
    )


def _optimum(deviance: Deviance, start: Floats, *, p: int) -> _Optimum | None:
    """Search from a start, an SD of 0 staying there; None where there is no lowest point in reach."""

    def downhill(at: Floats) -> Floats:
        return slope(deviance, at)

    held = [(0.0, LARGEST_SD if sd else 0.0) for sd in start[p:]]
    bounds = [(-np.inf, np.inf)] * p + held
    found = scipy.optimize.minimize(
        deviance, start, method="L-BFGS-B", jac=downhill, bounds=bounds,
        options={"ftol": 1e-11, "gtol": 1e-5, "maxiter": 500},
    )  # fmt: skip
    at = _without_empty(deviance, np.asarray(found.x, dtype=np.float64), p=p)
    if not np.isfinite(found.fun) or (at[p:] >= 0.999 * LARGEST_SD).any():
        return None
    covariance = _covariance(deviance, at, free=np.r_[np.arange(p), p + np.flatnonzero(at[p:])])
    return None if covariance is None else _Optimum(at, np.sqrt(np.diag(covariance)[:p]))


def _without_empty(deviance: Deviance, at: Floats, *, p: int) -> Floats:
    """Set to 0 the spreads that explain nothing: the deviance is flat there, and a search stops short."""
    for place in range(p, len(at)):
        trial = at.copy()
        trial[place] = 0.0
        if at[place] < _SMALL_SD and deviance(trial) <= deviance(at) + _NOTHING:
            at = trial
    return at


def _covariance(deviance: Deviance, at: Floats, *, free: Codes) -> Floats | None:
    """Invert the Hessian of half the deviance in the free parameters."""
    hessian = np.empty((len(free), len(free)))
    for a, i in enumerate(free):
        for b, j in enumerate(free[: a + 1]):
            one, other = np.zeros(len(at)), np.zeros(len(at))
            one[i], other[j] = _STEP, _STEP
            second = (
                deviance(at + one + other) - deviance(at + one - other)
                - deviance(at - one + other) + deviance(at - one - other)
            )  # fmt: skip
            hessian[a, b] = hessian[b, a] = second / (8 * _STEP**2)
    try:
        covariance = np.asarray(np.linalg.inv(hessian), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    return covariance if (np.diag(covariance) > 0).all() else None


def _estimates(best: _Optimum, *, names: Sequence[str], confidence: float) -> dict[str, Estimate]:
    half = float(scipy.stats.norm.ppf(0.5 + confidence / 2))
    return {
        name: Estimate(
            name,
            estimate=float(estimate),
            se=float(error),
            statistic=float(estimate / error),
            p=float(2 * scipy.stats.norm.sf(abs(estimate / error))),
            ci_low=float(estimate - half * error),
            ci_high=float(estimate + half * error),
        )
        for name, estimate, error in zip(names, best.at[: len(names)], best.errors, strict=True)
    }
