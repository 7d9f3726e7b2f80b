"""Logistic mixed models with crossed random effects, for choices and yes-no judgments.

:mod:`obelus.mixed_models.laplace` computes the exact Laplace deviance, with the random effects at their
mode. R's glmer stops its inner iterations early and uses the weights of the last one for the determinant
(:class:`WorkingDeviance`). The two deviances have nearly the same minimum, and curvatures that differ by
about one per cent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy

from ..columns import require_columns
from ..errors import BadInput
from ..rows import Codes, Floats
from .laplace import LARGEST_SD, Curvature, Laplace, slope
from .linear import (
    CROSSED,
    Estimate,
    MixedFit,
    Random,
    effect_correlations,
    random_formula,
    random_terms,
)
from .reml import one_thread

GLMER_TOLERANCE = 1e-7
"""``tolPwrss`` of lme4: relative change of the penalized deviance at which inner iterations stop."""
_MOST_STEPS = 30


class WorkingDeviance:
    """Deviance of glmer near one point, with the start and number of inner iterations fixed at that point.

    Notes
    -----
    The start is the joint mode of coefficients and random effects at the SDs of the point, as after the
    first stage of glmer (``nAGQ = 0``). glmer determines the number of iterations at every point, so its
    deviance jumps where the number changes; with a fixed number the deviance is smooth.

    References
    ----------
    Bates, Mächler, Bolker & Walker (2015), Journal of Statistical Software 67(1); lme4 1.1, ``pwrssUpdate``.
    """

    def __init__(self, model: Laplace, parameters: Floats) -> None:
        self.model = model
        self.start = self._joint_predictor(model.roots(parameters[model.p :]))
        self.steps = self._steps_at(parameters)

    def __call__(self, parameters: Floats) -> float:
        """Compute the penalized deviance plus log|H|, H with the weights of the last iteration."""
        eta, value, log_det = self.start, 0.0, 0.0
        for _ in range(self.steps):
            eta, value, log_det = self._step(eta, parameters)
        return value + log_det

    def _step(self, eta: Floats, parameters: Floats) -> tuple[Floats, float, float]:
        """Take one penalized least-squares step; return predictor, penalized deviance and log|H|."""
        model, chance = self.model, scipy.special.expit(eta)
        fixed, roots = model.design @ parameters[: model.p], model.roots(parameters[model.p :])
        weights = chance * (1 - chance)
        curved = Curvature(model, weights, roots)
        modes = curved.solve(model.weighted_group_sums(weights * (eta - fixed) + model.y - chance, roots))
        eta = fixed + model.random_predictor(modes, roots)
        loss = np.logaddexp(0.0, eta).sum() - model.y @ eta
        return eta, float(2 * loss + sum((u**2).sum() for u in modes)), curved.log_det

    def _steps_at(self, parameters: Floats) -> int:
        eta, before = self.start, np.inf
        for step in range(1, _MOST_STEPS + 1):
            eta, value, _ = self._step(eta, parameters)
            if abs(before - value) < GLMER_TOLERANCE * abs(value):
                return step
            before = value
        return _MOST_STEPS

    def _joint_predictor(self, roots: Sequence[Floats]) -> Floats:
        """Compute the predictor at the joint mode of coefficients and random effects."""
        model = self.model
        beta = model.without_groups()
        eta = model.design @ beta
        for _ in range(_MOST_STEPS):
            chance = scipy.special.expit(eta)
            weights = chance * (1 - chance)
            working = weights * eta + model.y - chance
            curved = Curvature(model, weights, roots)
            borders = [model.weighted_group_sums(weights * column, roots) for column in model.design.T]
            inner = curved.solve(model.weighted_group_sums(working, roots))
            sides = [curved.solve(border) for border in borders]
            square = model.design.T @ (weights[:, None] * model.design)
            square -= np.array([[_product(border, side) for side in sides] for border in borders])
            pull = model.design.T @ working - np.array([_product(border, inner) for border in borders])
            beta = np.linalg.solve(square, pull)
            modes = [
                mode - sum(b * side[place] for b, side in zip(beta, sides, strict=True))
                for place, mode in enumerate(inner)
            ]
            before, eta = eta, model.design @ beta + model.random_predictor(modes, roots)
            if np.abs(eta - before).max() < 1e-9:
                break
        return np.asarray(eta, dtype=np.float64)


def _product(left: list[Floats], right: list[Floats]) -> float:
    return float(sum((a * b).sum() for a, b in zip(left, right, strict=True)))


METHOD = "Laplace as glmer takes it, Wald z"
EXACT_METHOD = "Laplace, Wald z"
"""Method of the fits for which the deviance of glmer has no minimum near the exact one."""
LOCAL = "; local optimum: with one or two answers a group, Laplace's deviance falls again for SDs above 6"
# An SD below 0.2 is set to 0 if that raises the deviance by at most 1e-4, a negligible loss of fit.
_SMALL_SD, _NOTHING = 0.2, 1e-4
_RESTART = 0.1  # SD of the second search, where the first ran to the largest SD
_STEP = 1e-3  # of the numerical Hessian: second differences need larger steps than gradients

Deviance = Callable[[Floats], float]


@dataclass(frozen=True)
class _Optimum:
    at: Floats
    errors: Floats
    is_local: bool = False
    """Whether the deviance falls again beyond the largest SD."""


def logistic_mixed_model(
    rows: pd.DataFrame,
    *,
    outcome: str = "value",
    fixed: Sequence[str] = ("condition",),
    random: Sequence[Random] = CROSSED,
    confidence: float = 0.95,
    start: MixedFit | None = None,
) -> MixedFit:
    """Fit logit P(outcome = 1) with fixed effects, crossed random intercepts and slopes.

    Notes
    -----
    On the logit scale; ``df`` is None. ``status``: ``ok``; ``singular`` (a variance is 0); ``separated``
    (all answers in a cell of the predictors are equal: the estimate would be infinite);
    ``not_converged`` (also if an SD exceeds 6: nearly all groups answer uniformly); ``no_data``;
    ``too_few`` (a factor has one group, or as many as rows); ``no_variation`` (redundant predictors).

    Laplace's approximation, as lme4's ``glmer`` with ``nAGQ = 1``: minimize over β and θ (as in
    :func:`~obelus.mixed_models.linear.mixed_model`, at whose variances a ``start`` begins the search)
    -2 [Σ log P(y | û) - ½ û'û] + log|H|, û the mode of the spherical random effects and H the curvature
    there. ``estimates`` and ``variances`` are those of the deviance of glmer
    (:class:`obelus.mixed_models.logistic.WorkingDeviance`), so that they equal the summary of glmer;
    ``exact`` and ``criterion`` belong to the optimum with û at its mode and H taken there. Estimates
    differ by some thousandths, errors by one per cent or so. Both errors come from the numerical Hessian
    in all parameters. The Wald test is approximate with few participants or items; the sign test and the t
    test of participants' shares are reported first.

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
    names = [outcome, *fixed, *(column for term in random for column in (term.factor, term.slope) if column)]
    require_columns(rows, *names)
    complete = rows.loc[rows[list(dict.fromkeys(names))].notna().all(axis=1)]
    y = complete[outcome].to_numpy(dtype=np.float64)
    if not np.isin(y, (0.0, 1.0)).all():
        raise BadInput("the outcome is not 0 or 1 throughout.", column=outcome, remedy="Score the answers.")
    terms, n_groups = random_terms(complete, random)
    formula = " + ".join([f"logit {outcome} ~ 1", *fixed, random_formula(random)])
    empty = MixedFit("no_data", formula, method=METHOD, n=len(complete), n_groups=n_groups)
    design = np.column_stack(
        [np.ones(len(y)), *(complete[name].to_numpy(dtype=np.float64) for name in fixed)]
    )
    status = _estimable(y, design, n_groups)
    if status != "ok":
        return replace(empty, status=status)
    model = Laplace(y, design, terms=terms)
    first = _start(model, random, start)
    with one_thread():
        return _fit(model, random, empty, start=first, names=["intercept", *fixed], confidence=confidence)


def _check(random: Sequence[Random]) -> None:
    factors = dict.fromkeys(term.factor for term in random)
    if not 1 <= len(factors) <= 2:
        raise BadInput(
            "one or two random factors are fitted.", remedy="Give terms of participants and items."
        )
    if len({term.name for term in random}) < len(random):
        raise BadInput("a random term is given twice.", remedy="Give each of them once.")


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


def _start(model: Laplace, random: Sequence[Random], fit: MixedFit | None) -> Floats:
    """Return θ to start from: SDs of an earlier fit, at least .1, or .5; uncorrelated."""
    diagonal = [0.5 if fit is None else max(fit.variances[term.name] ** 0.5, 0.1) for term in random]
    return np.array([*diagonal, *[0.0] * len(model.pairs)])


def _fit(
    model: Laplace,
    random: Sequence[Random],
    empty: MixedFit,
    *,
    start: Floats,
    names: Sequence[str],
    confidence: float,
) -> MixedFit:
    beta = model.without_groups()
    exact = _optimum(model, model.deviance, np.concatenate([beta, start]))
    if exact is None:
        # From small SDs the search ends in the optimum that is next to no variance at all, if there is such.
        small = np.where(np.arange(len(start)) < model.n_terms, _RESTART, 0.0)
        exact = _optimum(model, model.deviance, np.concatenate([beta, small]))
        exact = None if exact is None else replace(exact, is_local=True)
    if exact is None:
        return replace(empty, status="not_converged")
    working = _optimum(model, WorkingDeviance(model, exact.at), exact.at)
    best, method = (exact, EXACT_METHOD) if working is None else (working, METHOD)
    theta = best.at[model.p :]
    zero = tuple(term.name for term, size in zip(random, theta, strict=False) if size == 0)
    factor = model.covariance_factor(theta)
    covariance = factor @ factor.T
    return replace(
        empty,
        status="singular" if zero else "ok",
        method=method + (LOCAL if exact.is_local else ""),
        estimates=_estimates(best, names=names, confidence=confidence),
        exact=_estimates(exact, names=names, confidence=confidence),
        variances={term.name: float(size) for term, size in zip(random, np.diag(covariance), strict=True)},
        correlations=effect_correlations(random, covariance, model.pairs),
        criterion=model.deviance(exact.at),
        zero_terms=zero,
    )


def _optimum(model: Laplace, deviance: Deviance, start: Floats) -> _Optimum | None:
    """Minimize from a start, keeping an SD of 0 fixed; None if there is no minimum within the bounds."""

    def downhill(at: Floats) -> Floats:
        return slope(deviance, at)

    p, end = model.p, model.p + model.n_terms
    sd_bounds = [(0.0, LARGEST_SD if sd else 0.0) for sd in start[p:end]]
    bounds = [(-np.inf, np.inf)] * p + sd_bounds + [(-LARGEST_SD, LARGEST_SD)] * len(model.pairs)
    result = scipy.optimize.minimize(
        deviance, start, method="L-BFGS-B", jac=downhill, bounds=bounds,
        options={"ftol": 1e-11, "gtol": 1e-5, "maxiter": 500},
    )  # fmt: skip
    at = _without_empty(deviance, np.asarray(result.x, dtype=np.float64), places=range(p, end))
    if not np.isfinite(result.fun) or (np.abs(at[p:]) >= 0.999 * LARGEST_SD).any():
        return None
    covariance = hessian_inverse(deviance, at, free=np.r_[np.arange(p), p + np.flatnonzero(at[p:])])
    return None if covariance is None else _Optimum(at, np.sqrt(np.diag(covariance)[:p]))


def _without_empty(deviance: Deviance, at: Floats, *, places: Sequence[int]) -> Floats:
    """Set SDs that do not improve the fit to 0; the deviance is flat there and the search stops early."""
    for place in places:
        trial = at.copy()
        trial[place] = 0.0
        if at[place] < _SMALL_SD and deviance(trial) <= deviance(at) + _NOTHING:
            at = trial
    return at


def hessian_inverse(deviance: Deviance, at: Floats, *, free: Codes) -> Floats | None:
    """Invert the numerical Hessian of half the deviance in the free parameters."""
    hessian = np.empty((len(free), len(free)))
    for a, i in enumerate(free):
        for b, j in enumerate(free[: a + 1]):
            step_i, step_j = np.zeros(len(at)), np.zeros(len(at))
            step_i[i], step_j[j] = _STEP, _STEP
            second = (
                deviance(at + step_i + step_j) - deviance(at + step_i - step_j)
                - deviance(at - step_i + step_j) + deviance(at - step_i - step_j)
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
