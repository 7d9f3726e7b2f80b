"""Likert ratings as ordered categories with random intercepts of participants and items."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
NEWTON_STEPS, SMALLEST_SD, STEP = 50, 1e-3, 1e-3


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

    Parameters
    ----------
    ratings : Series
        Scale points; their order is that of the numbers.
    predictor : Series, same length
        One number a rating, such as 1 for the acceptable condition.
    participants, items : sequences, same length

    Returns
    -------
    MixedCumulativeLink
        ``status`` is ``ok``, ``singular`` (a variance at 0), ``no_data``, ``no_variation`` (one
        scale point or a constant predictor) or ``not_converged``.

    Notes
    -----
    The likelihood is Laplace's approximation: for each θ, β, σ the intercepts are set to their mode
    by Newton's method and log|H| / 2 is taken off, H the curvature there. The standard error comes
    from the numerical Hessian in all parameters. It treats every point of the scale as a category,
    so it needs some ratings at each.

    References
    ----------
    Agresti (2010), *Analysis of Ordinal Categorical Data*; the values of R's ``ordinal::clmm``.

    Examples
    --------
    >>> nothing = pd.Series([], dtype=float)
    >>> mixed_cumulative_link(nothing, nothing, participants=[], items=[]).status
    'no_data'
    """
    frame = pd.DataFrame(
        {"y": np.asarray(ratings, float), "x": np.asarray(predictor, float), "u": participants, "w": items}
    ).dropna()
    if frame.empty:
        return MixedCumulativeLink("no_data")
    if frame["y"].nunique() < 2 or frame["x"].nunique() < 2:
        return MixedCumulativeLink("no_variation", n=len(frame))
    return _Fit(frame).result()


class _Fit:
    """One fit: parameters are θ_1, log gaps of the further θ, β, log σ of participants and of items."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.x = frame["x"].to_numpy(np.float64)
        self.y: Codes = np.unique(frame["y"], return_inverse=True)[1].astype(np.int64)
        self.n_points = int(self.y.max()) + 1
        blocks = [pd.get_dummies(frame[name]).to_numpy(np.float64) for name in ("u", "w")]
        self.sizes = [block.shape[1] for block in blocks]
        self.z = np.hstack(blocks)
        self.modes = np.zeros(self.z.shape[1])

    def result(self) -> MixedCumulativeLink:
        """Maximize and read off."""
        cumulative = np.cumsum(np.bincount(self.y))[:-1] / len(self.y)
        thresholds = np.log(cumulative / (1 - cumulative))
        start = np.concatenate([thresholds[:1], np.log(np.diff(thresholds)), [0.0, 0.0, 0.0]])
        bounds = [(None, None)] * (len(start) - 2) + [(np.log(SMALLEST_SD), None)] * 2
        found = scipy.optimize.minimize(self.negative_log_likelihood, start, method="L-BFGS-B", bounds=bounds)
        if not found.success:
            return MixedCumulativeLink("not_converged", n=len(self.y))
        sd = np.exp(found.x[-2:])
        free = np.concatenate([np.ones(len(start) - 2, bool), sd > 2 * SMALLEST_SD])
        covariance = np.linalg.pinv(self._hessian(found.x)[np.ix_(free, free)])
        variances = np.where(free[-2:], sd**2, 0.0)
        return MixedCumulativeLink(
            status="ok" if free.all() else "singular",
            beta=float(found.x[-3]),
            se=float(np.sqrt(covariance[len(start) - 3, len(start) - 3])),
            var_participant=float(variances[0]),
            var_item=float(variances[1]),
            log_likelihood=-float(found.fun),
            n=len(self.y),
        )

    def negative_log_likelihood(self, parameters: Floats) -> float:
        """Laplace's approximation; the modes of the last call are where the next begins."""
        thresholds = np.cumsum(np.concatenate([parameters[:1], np.exp(parameters[1:-3])]))
        edges = np.concatenate([[-np.inf], thresholds, [np.inf]])
        scaled = self.z * np.repeat(np.exp(parameters[-2:]), self.sizes)
        fixed = self.x * parameters[-3]
        value, curvature = self._at(edges, fixed, scaled)
        for _ in range(NEWTON_STEPS):
            step = np.linalg.solve(curvature, self._slope(edges, fixed, scaled))
            before, length, value_before = self.modes, 1.0, value
            while True:
                self.modes = before + length * step
                value, curvature = self._at(edges, fixed, scaled)
                if value >= value_before - 1e-12 or length < 1e-6:
                    break
                length /= 2
            if np.abs(length * step).max() < 1e-10:
                break
        return -float(value - 0.5 * np.linalg.slogdet(curvature)[1])

    def _ends(self, edges: Floats, fixed: Floats, scaled: Floats) -> tuple[Floats, Floats]:
        """P(Y ≤ y) and P(Y < y) of each rating."""
        middle = fixed + scaled @ self.modes
        return scipy.special.expit(edges[self.y + 1] - middle), scipy.special.expit(edges[self.y] - middle)

    def _at(self, edges: Floats, fixed: Floats, scaled: Floats) -> tuple[float, Floats]:
        """Penalized log-likelihood at the modes, and its negative curvature in them."""
        upper, lower = self._ends(edges, fixed, scaled)
        value = float(np.log(np.maximum(upper - lower, 1e-300)).sum() - 0.5 * self.modes @ self.modes)
        weights = upper * (1 - upper) + lower * (1 - lower)
        return value, scaled.T @ (weights[:, None] * scaled) + np.eye(len(self.modes))

    def _slope(self, edges: Floats, fixed: Floats, scaled: Floats) -> Floats:
        upper, lower = self._ends(edges, fixed, scaled)
        slope: Floats = scaled.T @ (upper + lower - 1) - self.modes
        return slope

    def _hessian(self, at: Floats) -> Floats:
        """Second central differences of the negative log-likelihood."""
        n, steps = len(at), np.eye(len(at)) * STEP
        hessian = np.empty((n, n))
        f = self.negative_log_likelihood
        for i in range(n):
            for j in range(i, n):
                a, b = steps[i], steps[j]
                second = f(at + a + b) - f(at + a - b) - f(at - a + b) + f(at - a - b)
                hessian[i, j] = hessian[j, i] = second / (4 * STEP**2)
        return hessian
