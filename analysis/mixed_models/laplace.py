"""Laplace approximation of the likelihood of a logistic model with one or two crossed factors.

The numerical core of :mod:`obelus.mixed_models.logistic`. The factor with more groups is eliminated, so
that only the groups of the other factor form a dense matrix.
"""

from collections.abc import Callable, Sequence

import numpy as np
import scipy

from ..rows import Floats
from .cross_products import Term, correlated_pairs

LARGEST_SD = 6.0
"""Upper bound on the logit scale: beyond it most groups answer uniformly and the SD is not estimable."""
_STEPS, _TOLERANCE = 100, 1e-10  # Newton steps for the mode, and the change at which they end
_NEAR = 1e-4  # step of the central differences, near the cube root of the rounding error
_DENSE_CELLS = 4_000_000  # 32 MB as float64; larger crossings are sparse


class Effects:
    """Intercepts and slopes of the groups of one factor: m covariates, each with an effect in every group."""

    def __init__(self, terms: Sequence[Term], places: Sequence[int]) -> None:
        self.codes, self.n_groups = terms[0].codes, terms[0].n_groups
        self.places = list(places)
        # None: an intercept, whose covariate is 1 throughout
        self.covariates = [None if (term.covariate == 1).all() else term.covariate for term in terms]
        self.shape = (self.n_groups, len(terms))

    def weight_rows(self, rows: Floats, place: int) -> Floats:
        """Multiply rows by one covariate."""
        covariate = self.covariates[place]
        return rows if covariate is None else rows * covariate

    def sums(self, rows: Floats) -> Floats:
        """Compute Z'x, groups × m, with one value of x per row."""
        if self.shape[1] == 1:
            sums = np.bincount(self.codes, weights=self.weight_rows(rows, 0), minlength=self.n_groups)
            return np.asarray(sums, dtype=np.float64)[:, None]
        columns = [
            np.bincount(self.codes, weights=self.weight_rows(rows, place), minlength=self.n_groups)
            for place in range(self.shape[1])
        ]
        return np.column_stack(columns)

    def products(self, weights: Floats) -> Floats:
        """Compute the blocks of Z'WZ, groups × m × m."""
        if self.shape[1] == 1:
            rows = self.weight_rows(self.weight_rows(weights, 0), 0)
            sums = np.bincount(self.codes, weights=rows, minlength=self.n_groups)
            return np.asarray(sums, dtype=np.float64)[:, None, None]
        blocks = np.empty((*self.shape, self.shape[1]))
        for a in range(self.shape[1]):
            for b in range(a + 1):
                rows = self.weight_rows(self.weight_rows(weights, a), b)
                sums = np.bincount(self.codes, weights=rows, minlength=self.n_groups)
                blocks[:, a, b] = blocks[:, b, a] = sums
        return blocks

    def predictor(self, effects: Floats) -> Floats:
        """Compute Zb, the contribution of effects (groups × m) to each row."""
        parts = self.weight_rows(effects[:, 0][self.codes], 0)
        for place in range(1, self.shape[1]):
            parts = parts + self.weight_rows(effects[:, place][self.codes], place)
        return parts


class Laplace:
    """Data of the model; the modes of one evaluation are the starting values of the next.

    Parameters are the coefficients β and then θ: the diagonal of the covariance factor T of the random
    effects, one element a term, and its elements below the diagonal, one for each of ``pairs``.
    """

    def __init__(self, y: Floats, design: Floats, *, terms: Sequence[Term]) -> None:
        self.y, self.design, self.p = y, design, design.shape[1]
        self.n_terms, self.pairs = len(terms), correlated_pairs(terms)
        places: dict[int, list[int]] = {}
        for place, term in enumerate(terms):
            places.setdefault(id(term.codes), []).append(place)
        self.factors = [
            Effects([terms[place] for place in term_places], term_places) for term_places in places.values()
        ]
        sizes = [effects.n_groups * effects.shape[1] for effects in self.factors]
        self.order = sorted(range(len(sizes)), key=lambda place: -sizes[place])
        self.modes: list[Floats] = [np.zeros(effects.shape) for effects in self.factors]

    def covariance_factor(self, theta: Floats) -> Floats:
        """Return T, terms × terms; the covariance of the random effects of a group is T T'."""
        factor = np.diag(theta[: self.n_terms])
        for value, pair in zip(theta[self.n_terms :], self.pairs, strict=True):
            factor[pair] = value
        return factor

    def roots(self, theta: Floats) -> list[Floats]:
        """Return the block of T of each factor."""
        if not self.pairs and self.n_terms == len(self.factors):
            return [theta[place].reshape(1, 1) for effects in self.factors for place in effects.places]
        factor = self.covariance_factor(theta)
        return [factor[np.ix_(effects.places, effects.places)] for effects in self.factors]

    def without_groups(self) -> Floats:
        """Fit the logistic model without random effects, as starting values of the search."""
        beta = np.zeros(self.p)
        for _ in range(25):
            chance = scipy.special.expit(self.design @ beta)
            weights = chance * (1 - chance)
            curvature = self.design.T @ (weights[:, None] * self.design) + 1e-6 * np.eye(self.p)  # invertible
            step = np.linalg.solve(curvature, self.design.T @ (self.y - chance))
            beta = beta + np.clip(step, -2, 2)
            if np.abs(step).max() < 1e-8:
                break
        return beta

    def deviance(self, parameters: Floats) -> float:
        """Compute -2 log-likelihood at (β, θ).

        Notes
        -----
        -2 Σ log P(y | û) + û'û + log|H| with H = T'Z'WZT + I, W the variances at the mode û, which Newton's
        method finds with halved steps.
        """
        fixed, roots = self.design @ parameters[: self.p], self.roots(parameters[self.p :])
        value, eta = self._penalized_likelihood(fixed, roots)
        log_det = 0.0
        for _ in range(_STEPS):
            chance = scipy.special.expit(eta)
            steps, log_det = self._newton(chance, roots)
            before, length, reached = self.modes, 1.0, value
            while True:
                self.modes = [mode + length * step for mode, step in zip(before, steps, strict=True)]
                value, eta = self._penalized_likelihood(fixed, roots)
                if value <= reached + 1e-12 * abs(reached) or length < 1e-6:
                    break
                length /= 2
            if max(float(np.abs(step).max()) for step in steps) < _TOLERANCE:
                break
            if abs(reached - value) < _TOLERANCE * (1 + abs(value)) and length == 1.0:
                chance = scipy.special.expit(eta)
                _, log_det = self._newton(chance, roots)
                break
        return float(value + log_det)

    def _penalized_likelihood(self, fixed: Floats, roots: Sequence[Floats]) -> tuple[float, Floats]:
        eta = fixed + self.random_predictor(self.modes, roots)
        loss = np.logaddexp(0.0, eta).sum() - self.y @ eta
        return float(2 * loss + sum((modes**2).sum() for modes in self.modes)), eta

    def _newton(self, chance: Floats, roots: Sequence[Floats]) -> tuple[list[Floats], float]:
        """Compute the Newton step of the modes of each factor, and log|H|."""
        curved = Curvature(self, chance * (1 - chance), roots)
        pulls = self.weighted_group_sums(self.y - chance, roots)
        return curved.solve(
            [pull - modes for pull, modes in zip(pulls, self.modes, strict=True)]
        ), curved.log_det

    def weighted_group_sums(self, rows: Floats, roots: Sequence[Floats]) -> list[Floats]:
        """Compute T'Z'x for each factor, with one value of x per row."""
        return [_times(effects.sums(rows), root) for effects, root in zip(self.factors, roots, strict=True)]

    def random_predictor(self, modes: Sequence[Floats], roots: Sequence[Floats]) -> Floats:
        """Compute ZTu, the contribution of the random effects to each row."""
        parts = [
            effects.predictor(_times(u, root.T))
            for effects, root, u in zip(self.factors, roots, modes, strict=True)
        ]
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]


class Curvature:
    """H = T'Z'WZT + I at given weights W, factored: ``log_det`` is log|H|."""

    def __init__(self, model: Laplace, weights: Floats, roots: Sequence[Floats]) -> None:
        self.big, self.small = model.order[0], model.order[-1]
        blocks = _block(model.factors[self.big], weights, roots[self.big])
        if blocks.shape[1] == 1:
            self.inverse: Floats = 1.0 / blocks
            determinants = blocks[:, 0, 0]
        else:
            self.inverse = np.asarray(np.linalg.inv(blocks), dtype=np.float64)
            determinants = np.linalg.det(blocks)
        self.log_det = float(np.log(determinants).sum())
        if self.big == self.small:
            return
        crossing = _crossing(model, weights, roots, self.big, self.small)
        self.scaled = _times_blocks(self.inverse, crossing)
        small = _block(model.factors[self.small], weights, roots[self.small])
        groups, m = small.shape[:2]
        inner = crossing.T @ self.scaled
        square = np.ascontiguousarray(-(inner if isinstance(inner, np.ndarray) else inner.toarray()))
        places = np.arange(groups)
        square.reshape(groups, m, groups, m)[places, :, places, :] += small
        self.root = scipy.linalg.cho_factor(square, lower=True, check_finite=False)
        self.log_det += float(2 * np.log(np.diag(self.root[0])).sum())

    def solve(self, sides: Sequence[Floats]) -> list[Floats]:
        """Solve H x = b, with groups × m per factor in b and x."""
        big_side = sides[self.big]
        if self.inverse.shape[1] == 1:
            alone = self.inverse[:, 0] * big_side
        else:
            alone = (self.inverse @ big_side[:, :, None])[:, :, 0]
        if self.big == self.small:
            return [alone]
        shape = sides[self.small].shape
        flat = scipy.linalg.cho_solve(
            self.root, sides[self.small].ravel() - self.scaled.T @ big_side.ravel(), check_finite=False
        )
        big, small = alone - (self.scaled @ flat).reshape(big_side.shape), flat.reshape(shape)
        return [big, small] if self.big == 0 else [small, big]


def _block(effects: Effects, weights: Floats, root: Floats) -> Floats:
    if len(root) == 1:
        single: Floats = effects.products(weights) * root[0, 0] ** 2 + 1.0
        return single
    blocks: Floats = root.T @ effects.products(weights) @ root + np.eye(len(root))
    return blocks


def _times(rows: Floats, root: Floats) -> Floats:
    """Multiply by a covariance factor; a number is quicker than a 1 × 1 matrix."""
    product: Floats = rows * root[0, 0] if len(root) == 1 else rows @ root
    return product


def _crossing(model: Laplace, weights: Floats, roots: Sequence[Floats], big: int, small: int):  # type: ignore[no-untyped-def]
    """Compute T'Z'WZT between both factors, (groups × m) × (groups × m): dense if small, else sparse."""
    first, second = model.factors[big], model.factors[small]
    (groups, m), (columns, k) = first.shape, second.shape
    if groups * m * columns * k <= _DENSE_CELLS:
        if m == k == 1:
            rows = second.weight_rows(
                first.weight_rows(weights * (roots[big][0, 0] * roots[small][0, 0]), 0), 0
            )
            place = first.codes * columns + second.codes
            return np.bincount(place, weights=rows, minlength=groups * columns).reshape(groups, columns)
        cells = np.empty((groups, m, columns, k))
        for a, b in np.ndindex(m, k):
            rows = second.weight_rows(first.weight_rows(weights, a), b)
            sums = np.bincount(first.codes * columns + second.codes, weights=rows, minlength=groups * columns)
            cells[:, a, :, b] = sums.reshape(groups, columns)
        if m > 1:
            cells = np.einsum("ab,gaok->gbok", roots[big], cells)
        else:
            cells *= roots[big][0, 0]
        cells = cells @ roots[small] if k > 1 else cells * roots[small][0, 0]
        return cells.reshape(groups * m, columns * k)
    places, values = [], []
    for a, b in np.ndindex(m, k):
        places.append((first.codes * m + a, second.codes * k + b))
        values.append(second.weight_rows(first.weight_rows(weights, a), b))
    where = tuple(np.concatenate(part) for part in zip(*places, strict=True))
    shape = (groups * m, columns * k)
    crossing = scipy.sparse.coo_array((np.concatenate(values), where), shape=shape).tocsr()
    left = scipy.sparse.kron(scipy.sparse.eye_array(groups), roots[big].T, format="csr")
    right = scipy.sparse.kron(scipy.sparse.eye_array(columns), roots[small], format="csr")
    return scipy.sparse.csr_array(left @ crossing @ right)


def _times_blocks(blocks: Floats, crossing):  # type: ignore[no-untyped-def]
    """Multiply the rows of each group by the matrix of that group."""
    groups, m = blocks.shape[:2]
    if isinstance(crossing, np.ndarray):
        if m == 1:
            return crossing * blocks[:, 0]
        return (blocks @ crossing.reshape(groups, m, -1)).reshape(groups * m, -1)
    diagonal = scipy.sparse.bsr_array(
        (blocks, np.arange(groups), np.arange(groups + 1)), shape=(groups * m, groups * m)
    )
    return scipy.sparse.csr_array(diagonal.tocsr() @ crossing)


def slope(deviance: Callable[[Floats], float], at: Floats) -> Floats:
    """Differentiate a deviance by central differences with a fixed step.

    Examples
    --------
    >>> slope(lambda at: float(at @ at), np.array([1.0, 3.0])).round(6).tolist()
    [2.0, 6.0]
    """
    ends = [deviance(at + step) - deviance(at - step) for step in _NEAR * np.eye(len(at))]
    return np.array(ends, dtype=np.float64) / (2 * _NEAR)
