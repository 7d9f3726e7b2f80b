"""Laplace's approximation of the likelihood of a logistic model with one or two crossed intercepts.

The numerical core of :mod:`analysis.effects.logistic`. The factor with more groups is eliminated, so that
only the groups of the other meet in one dense matrix.
"""

from collections.abc import Sequence

import numpy as np
from scipy import linalg, sparse
from scipy.special import expit

from analysis.rows import Codes, Floats

LARGEST_SD = 6.0
"""On the logit scale: beyond it people, or items, give one answer throughout and nothing is estimated."""
_STEPS, _TOLERANCE, _NEAR = 100, 1e-10, 1e-4
_DENSE_CELLS = 4_000_000


class Laplace:
    """Outcomes, predictors and groups; the modes of one evaluation are where the next begins."""

    def __init__(self, y: Floats, design: Floats, *, groups: Sequence[Codes], sizes: Sequence[int]) -> None:
        self.y, self.design, self.p = y, design, design.shape[1]
        self.groups, self.sizes = list(groups), list(sizes)
        self.order = sorted(range(len(sizes)), key=lambda place: -sizes[place])
        self.modes: list[Floats] = [np.zeros(size) for size in sizes]

    def without_groups(self) -> Floats:
        """Give the coefficients of the plain logistic model, where the search begins."""
        beta = np.zeros(self.p)
        for _ in range(25):
            chance = expit(self.design @ beta)
            weights = chance * (1 - chance)
            curvature = self.design.T @ (weights[:, None] * self.design) + 1e-6 * np.eye(self.p)
            step = np.linalg.solve(curvature, self.design.T @ (self.y - chance))
            beta = beta + np.clip(step, -2, 2)
            if np.abs(step).max() < 1e-8:
                break
        return beta

    def deviance(self, parameters: Floats) -> float:
        """Give -2 log-likelihood at (β, σ).

        Parameters
        ----------
        parameters : array of float
            Coefficients, then the standard deviation of each factor's intercepts; signs do not matter.

        Returns
        -------
        float

        Notes
        -----
        -2 Σ log P(y | û) + û'û + log|H| with H = σZ'WZσ + I, W the variances at the mode û, which Newton's
        method finds with halved steps.
        """
        fixed, sd = self.design @ parameters[: self.p], np.abs(parameters[self.p :])
        value, eta = self._penalized(fixed, sd)
        log_det = 0.0
        for _ in range(_STEPS):
            chance = expit(eta)
            steps, log_det = self._newton(chance, sd)
            before, length, reached = self.modes, 1.0, value
            while True:
                self.modes = [mode + length * step for mode, step in zip(before, steps, strict=True)]
                value, eta = self._penalized(fixed, sd)
                if value <= reached + 1e-12 * abs(reached) or length < 1e-6:
                    break
                length /= 2
            if max(float(np.abs(step).max()) for step in steps) < _TOLERANCE:
                break
            if abs(reached - value) < _TOLERANCE * (1 + abs(value)) and length == 1.0:
                chance = expit(eta)
                _, log_det = self._newton(chance, sd)
                break
        return float(value + log_det)

    def slope(self, parameters: Floats) -> Floats:
        """Give the deviance's slope by central differences of a fixed step."""
        steps = _NEAR * np.eye(len(parameters))
        ends = [self.deviance(parameters + step) - self.deviance(parameters - step) for step in steps]
        return np.array(ends, dtype=np.float64) / (2 * _NEAR)

    def _penalized(self, fixed: Floats, sd: Floats) -> tuple[float, Floats]:
        eta = fixed.copy()
        for codes, size, modes in zip(self.groups, sd, self.modes, strict=True):
            eta += size * modes[codes]
        loss = np.logaddexp(0.0, eta).sum() - self.y @ eta
        return float(2 * loss + sum(modes @ modes for modes in self.modes)), eta

    def _newton(self, chance: Floats, sd: Floats) -> tuple[list[Floats], float]:
        """Give Newton's steps of every factor's modes, and log|H|."""
        weights, left = chance * (1 - chance), self.y - chance
        slopes, diagonals = [], []
        for codes, size, modes, n in zip(self.groups, sd, self.modes, self.sizes, strict=True):
            slopes.append(size * np.bincount(codes, weights=left, minlength=n) - modes)
            diagonals.append(size**2 * np.bincount(codes, weights=weights, minlength=n) + 1.0)
        big = self.order[0]
        if len(self.order) == 1:
            return [slopes[big] / diagonals[big]], float(np.log(diagonals[big]).sum())
        small = self.order[1]
        crossing = self._crossing(weights * sd[big] * sd[small], big, small)
        scaled = crossing / diagonals[big][:, None] if isinstance(crossing, np.ndarray) else (
            sparse.diags_array(1 / diagonals[big]) @ crossing
        )  # fmt: skip
        inner = crossing.T @ scaled
        square = np.diag(diagonals[small]) - (inner if isinstance(inner, np.ndarray) else inner.toarray())
        root = linalg.cho_factor(square, lower=True, check_finite=False)
        step_small = linalg.cho_solve(root, slopes[small] - scaled.T @ slopes[big], check_finite=False)
        step_big = slopes[big] / diagonals[big] - scaled @ step_small
        steps = [step_big, step_small] if big == 0 else [step_small, step_big]
        log_det = np.log(diagonals[big]).sum() + 2 * np.log(np.diag(root[0])).sum()
        return steps, float(log_det)

    def _crossing(self, weights: Floats, big: int, small: int):  # type: ignore[no-untyped-def]
        shape = (self.sizes[big], self.sizes[small])
        rows, columns = self.groups[big], self.groups[small]
        if shape[0] * shape[1] <= _DENSE_CELLS:
            cells = np.bincount(rows * shape[1] + columns, weights=weights, minlength=shape[0] * shape[1])
            return cells.reshape(shape)
        return sparse.csr_array(sparse.coo_array((weights, (rows, columns)), shape=shape).tocsr())
