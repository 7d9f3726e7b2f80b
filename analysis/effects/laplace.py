"""Laplace's approximation of the likelihood of a logistic model with one or two crossed intercepts.

The numerical core of :mod:`analysis.effects.logistic`. The factor with more groups is eliminated, so that
only the groups of the other meet in one dense matrix.
"""

from collections.abc import Callable, Sequence

import numpy as np
import scipy

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
            chance = scipy.special.expit(self.design @ beta)
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
            chance = scipy.special.expit(eta)
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
                chance = scipy.special.expit(eta)
                _, log_det = self._newton(chance, sd)
                break
        return float(value + log_det)

    def _penalized(self, fixed: Floats, sd: Floats) -> tuple[float, Floats]:
        eta = fixed + self.spread(self.modes, sd)
        loss = np.logaddexp(0.0, eta).sum() - self.y @ eta
        return float(2 * loss + sum(modes @ modes for modes in self.modes)), eta

    def _newton(self, chance: Floats, sd: Floats) -> tuple[list[Floats], float]:
        """Give Newton's steps of every factor's modes, and log|H|."""
        curved = Curvature(self, chance * (1 - chance), sd)
        pulls = self.gathered(self.y - chance, sd)
        return curved.solve(
            [pull - modes for pull, modes in zip(pulls, self.modes, strict=True)]
        ), curved.log_det

    def gathered(self, rows: Floats, sd: Floats) -> list[Floats]:
        """Give σZ'x of every factor, for one value a row."""
        parts = zip(self.groups, sd, self.sizes, strict=True)
        return [size * np.bincount(codes, weights=rows, minlength=n) for codes, size, n in parts]

    def spread(self, modes: Sequence[Floats], sd: Floats) -> Floats:
        """Give Zσu, what the random effects add to each row."""
        parts = [size * u[codes] for codes, size, u in zip(self.groups, sd, modes, strict=True)]
        return np.asarray(np.sum(parts, axis=0), dtype=np.float64)


class Curvature:
    """H = σZ'WZσ + I at given weights W, factored: ``log_det`` is log|H|."""

    def __init__(self, model: Laplace, weights: Floats, sd: Floats) -> None:
        diagonals = [part + 1.0 for part in (
            size * found for size, found in zip(sd, model.gathered(weights, sd), strict=True)
        )]  # fmt: skip
        self.big, self.small = model.order[0], model.order[-1]
        self.diagonal = diagonals[self.big]
        self.log_det = float(np.log(self.diagonal).sum())
        if self.big == self.small:
            return
        crossing = _crossing(model, weights * sd[self.big] * sd[self.small], self.big, self.small)
        self.scaled = crossing / self.diagonal[:, None] if isinstance(crossing, np.ndarray) else (
            scipy.sparse.diags_array(1 / self.diagonal) @ crossing
        )  # fmt: skip
        inner = crossing.T @ self.scaled
        square = np.diag(diagonals[self.small]) - (
            inner if isinstance(inner, np.ndarray) else inner.toarray()
        )
        self.root = scipy.linalg.cho_factor(square, lower=True, check_finite=False)
        self.log_det += float(2 * np.log(np.diag(self.root[0])).sum())

    def solve(self, sides: Sequence[Floats]) -> list[Floats]:
        """Solve H x = b, b and x given factor by factor."""
        if self.big == self.small:
            return [sides[self.big] / self.diagonal]
        small = scipy.linalg.cho_solve(
            self.root, sides[self.small] - self.scaled.T @ sides[self.big], check_finite=False
        )
        big = sides[self.big] / self.diagonal - self.scaled @ small
        return [big, small] if self.big == 0 else [small, big]


def _crossing(model: Laplace, weights: Floats, big: int, small: int):  # type: ignore[no-untyped-def]
    shape = (model.sizes[big], model.sizes[small])
    rows, columns = model.groups[big], model.groups[small]
    if shape[0] * shape[1] <= _DENSE_CELLS:
        cells = np.bincount(rows * shape[1] + columns, weights=weights, minlength=shape[0] * shape[1])
        return cells.reshape(shape)
    return scipy.sparse.csr_array(scipy.sparse.coo_array((weights, (rows, columns)), shape=shape).tocsr())


def slope(deviance: Callable[[Floats], float], at: Floats) -> Floats:
    """Give a deviance's slope by central differences of a fixed step.

    Parameters
    ----------
    deviance : callable
        From an array of parameters to a number.
    at : array of float

    Returns
    -------
    array of float
        One derivative for each parameter.

    Examples
    --------
    >>> slope(lambda at: float(at @ at), np.array([1.0, 3.0])).round(6).tolist()
    [2.0, 6.0]
    """
    ends = [deviance(at + step) - deviance(at - step) for step in _NEAR * np.eye(len(at))]
    return np.array(ends, dtype=np.float64) / (2 * _NEAR)
