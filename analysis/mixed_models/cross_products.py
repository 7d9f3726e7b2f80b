"""Cross-products of a linear mixed model with crossed random effects and its solution at a given θ.

The numerical core of :mod:`obelus.mixed_models.linear`. The grouping factor with the most columns is
eliminated block by block, so that only the columns of the others meet in one dense matrix.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from ..rows import Codes, Floats

# Above about 5 % of non-zero cells a sparse product has no advantage; 20 million float64 cells are 160 MB.
_DENSE_SHARE = 0.05
_DENSE_CELLS = 20_000_000
_CLASS_CELLS = 20_000_000
_STACK_CELLS = 200_000
"""Cells of the largest array that several θ share: more do not fit a processor's cache."""


@dataclass(frozen=True)
class Term:
    """One random term: a covariate (constant 1 for an intercept) whose effect varies between groups."""

    codes: Codes
    n_groups: int
    covariate: Floats
    is_correlated: bool = False
    """Whether its effects correlate with those of the other such terms of the same groups."""


@dataclass(frozen=True)
class State:
    """Solutions of the penalized least squares problem at several θ, one in each row."""

    log_det: Floats
    log_det_fixed: Floats
    rss: Floats
    beta: Floats
    inverse: Floats
    """S⁻¹; σ² times it is the covariance of β."""


def correlated_pairs(terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Return the pairs (later, earlier) of correlated terms, the order of the off-diagonal elements of θ."""
    return [
        (late, early)
        for late, term in enumerate(terms)
        for early, other in enumerate(terms[:late])
        if term.is_correlated and other.is_correlated and term.codes is other.codes
    ]


class Crossed:
    """Cross-products of a mixed model, sufficient for its likelihood at any θ.

    θ holds the diagonal of the relative covariance factor T, one element a term, then its elements below the
    diagonal, one for each of ``pairs``: the covariance of the effects of a group is σ² T T'.
    """

    def __init__(self, outcome: Floats, fixed: Floats, *, terms: Sequence[Term]) -> None:
        self.n, self.p = fixed.shape
        self.n_terms, self.pairs = len(terms), correlated_pairs(terms)
        self.columns = np.column_stack([fixed, outcome])
        self.products = self.columns.T @ self.columns
        width: dict[int, int] = {}
        for term in terms:
            width[id(term.codes)] = width.get(id(term.codes), 0) + term.n_groups
        widest = max(width, key=lambda key: width[key]) if width else 0
        inner = [number for number, term in enumerate(terms) if id(term.codes) == widest]
        self.order = inner + [number for number in range(len(terms)) if number not in inner]
        self.inner = [terms[number] for number in inner]
        self.outer = [terms[number] for number in self.order[len(inner) :]]
        self._sum_inner()
        self._sum_outer()

    def _sum_inner(self) -> None:
        """Compute the blocks of the eliminated factor (groups × terms × terms), and with X and y."""
        groups = self.inner[0].n_groups if self.inner else 0
        m = len(self.inner)
        self.blocks = np.zeros((groups, m, m))
        self.inner_columns = np.zeros((groups, m, self.p + 1))
        for a, first in enumerate(self.inner):
            for b, second in enumerate(self.inner):
                weights = first.covariate * second.covariate
                self.blocks[:, a, b] = np.bincount(first.codes, weights=weights, minlength=groups)
            self.inner_columns[:, a, :] = _group_sums(first, self.columns)

    def _sum_outer(self) -> None:
        """Compute the products of the other factors among themselves, with X, y and the eliminated factor."""
        sizes = [term.n_groups for term in self.outer]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        q, groups, m = int(self.starts[-1]), self.blocks.shape[0], len(self.inner)
        places = [term.codes + self.starts[number] for number, term in enumerate(self.outer)]
        self.outer_square = np.zeros((q, q))
        for term, place in zip(self.outer, places, strict=True):
            for other, other_place in zip(self.outer, places, strict=True):
                sums = scipy.sparse.coo_array(
                    (term.covariate * other.covariate, (place, other_place)), shape=(q, q)
                )
                self.outer_square += sums.toarray()
        sums_of = [_group_sums(term, self.columns) for term in self.outer]
        self.outer_columns = np.concatenate(sums_of) if sums_of else np.zeros((0, self.p + 1))
        rows, cols, data = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        for a, term in enumerate(self.inner):
            for other, other_place in zip(self.outer, places, strict=True):
                rows.append(term.codes * m + a)
                cols.append(other_place)
                data.append(term.covariate * other.covariate)
        where = (np.concatenate(rows), np.concatenate(cols))
        crossing = scipy.sparse.csr_array(
            scipy.sparse.coo_array((np.concatenate(data), where), shape=(groups * m, q)).tocsr()
        )
        self._sum_classes(crossing, groups=groups, m=m, q=q)
        cells = groups * m * q
        dense = cells <= _DENSE_CELLS and crossing.nnz > _DENSE_SHARE * cells
        self.crossing: Any = crossing.toarray() if dense else crossing

    def _sum_classes(self, crossing: Any, *, groups: int, m: int, q: int) -> None:
        """Sum the squared crossing over groups with equal blocks, which are few in balanced designs."""
        kinds, self.first_of, class_of = np.unique(
            self.blocks.reshape(groups, m * m), axis=0, return_index=True, return_inverse=True
        )
        self.classes: list[Floats] = []
        # With more classes than columns of the crossing the plain product is the smaller work.
        if not m or not q or len(kinds) * m > groups or len(kinds) * (m * q) ** 2 > _CLASS_CELLS:
            return
        rows = np.repeat(class_of.reshape(-1), m)
        place = np.tile(np.arange(m), groups)
        for kind in range(len(kinds)):
            parts = [crossing[(rows == kind) & (place == a)] for a in range(m)]
            self.classes.append(np.array([[_dense(part.T @ other) for other in parts] for part in parts]))

    def _cross_square(self, inverse_roots: Floats) -> Floats:
        """Compute R'R for each θ, where R = L⁻¹ Λ'Z'Z crosses the eliminated factor with the others."""
        if not self.classes:
            crossings = (_scale_groups(inverse_root, self.crossing) for inverse_root in inverse_roots)
            return np.stack([_dense(crossing.T @ crossing) for crossing in crossings])
        n_points = len(inverse_roots)
        total = np.zeros((n_points, self.outer_square.size))
        for place, sums in zip(self.first_of, self.classes, strict=True):
            root = inverse_roots[:, place]
            weights = root.transpose(0, 2, 1) @ root
            total += weights.reshape(n_points, -1) @ sums.reshape(-1, self.outer_square.size)
        return total.reshape(n_points, *self.outer_square.shape)

    def relative_factor(self, theta: Floats) -> Floats:
        """Return T, terms × terms, in the order of the terms; one for each row of θ."""
        factor = np.zeros((*theta.shape[:-1], self.n_terms, self.n_terms))
        diagonal = np.arange(self.n_terms)
        factor[..., diagonal, diagonal] = theta[..., : self.n_terms]
        for place, (late, early) in enumerate(self.pairs, start=self.n_terms):
            factor[..., late, early] = theta[..., place]
        return factor

    def at(self, thetas: Floats) -> State:
        """Solve the penalized least squares problem at each θ, one in each row.

        Notes
        -----
        L L' = Λ'Z'Z Λ + I; S = X'X - R'R with R = L⁻¹ Λ'Z'X; β = S⁻¹ (X'y - R'c), c = L⁻¹ Λ'Z'y;
        r² = y'y - c'c - β'(X'y - R'c); Λ has the block T for each group. Derivatives ask for dozens of θ
        at a time, and on small designs the calls of NumPy cost more than the arithmetic.
        """
        groups, m = self.blocks.shape[:2]
        q = len(self.outer_square)
        cells = max(q * q, groups * m * max(m, self.p + 1), 1)
        size = max(_STACK_CELLS // cells, 1)
        parts = [self._solve(thetas[start : start + size]) for start in range(0, len(thetas), size)]
        if len(parts) == 1:
            return parts[0]
        return State(*(np.concatenate(values) for values in zip(*map(_fields, parts), strict=True)))

    def _solve(self, thetas: Floats) -> State:
        groups, m = self.blocks.shape[:2]
        n_points, has_far = len(thetas), m < self.n_terms
        if self.pairs:
            factor = self.relative_factor(thetas)[:, self.order][:, :, self.order]
            near, far = factor[:, None, :m, :m], factor[:, m:, m:]
            near_transposed = near.transpose(0, 1, 3, 2)
        else:  # elementwise products are quicker than those of diagonal matrices
            ordered = thetas[:, self.order]
            near = ordered[:, None, None, :m]
            scale = np.repeat(ordered[:, m:], np.diff(self.starts), axis=1)
        log_det = np.zeros(n_points)
        left = np.broadcast_to(self.products, (n_points, *self.products.shape))
        outer_columns = np.broadcast_to(self.outer_columns, (n_points, *self.outer_columns.shape))
        square = np.broadcast_to(self.outer_square, (n_points, *self.outer_square.shape))
        if m:
            if self.pairs:
                scaled = near_transposed @ self.blocks @ near
            else:
                scaled = self.blocks * near.transpose(0, 1, 3, 2) * near
            root = np.linalg.cholesky(scaled + np.eye(m))
            log_det += 2 * np.log(np.diagonal(root, axis1=2, axis2=3)).sum(axis=(1, 2))
            inverse_root = np.linalg.inv(root)
            inverse_root = inverse_root @ near_transposed if self.pairs else inverse_root * near  # L⁻¹ Λ'
            inner = inverse_root @ self.inner_columns
            flat = inner.reshape(n_points, groups * m, -1)
            left = left - flat.transpose(0, 2, 1) @ flat
            if has_far:
                back = (inverse_root.transpose(0, 1, 3, 2) @ inner).reshape(n_points, groups * m, -1)
                # One product for all θ, which a sparse crossing takes as well
                joined = self.crossing.T @ back.transpose(1, 0, 2).reshape(groups * m, -1)
                outer_columns = outer_columns - joined.reshape(-1, n_points, self.p + 1).transpose(1, 0, 2)
                square = square - self._cross_square(inverse_root)
        if has_far:
            if self.pairs:
                outer_columns = apply_lambda_transpose(outer_columns, far, self.starts)
                square = apply_lambda_transpose(
                    apply_lambda_transpose(square, far, self.starts).transpose(0, 2, 1), far, self.starts
                )
            else:
                outer_columns = outer_columns * scale[:, :, None]
                square = square * scale[:, :, None] * scale[:, None, :]
            square = square + np.eye(square.shape[1])
            root = np.linalg.cholesky(square)
            log_det += 2 * np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
            triangles = zip(root, outer_columns, strict=True)
            solved = np.stack([scipy.linalg.lapack.dtrtrs(*each, lower=1)[0] for each in triangles])
            left = left - solved.transpose(0, 2, 1) @ solved
        return self._fixed_state(left, log_det)

    def _fixed_state(self, left: Floats, log_det: Floats) -> State:
        p = self.p
        against = left[:, :p, p]
        inverse = np.asarray(np.linalg.inv(left[:, :p, :p]), dtype=np.float64)
        beta = (inverse @ against[:, :, None])[:, :, 0]
        rss = left[:, p, p] - (beta * against).sum(axis=1)
        return State(log_det, np.linalg.slogdet(left[:, :p, :p])[1], rss, beta, inverse)

    def criteria(self, thetas: Floats, *, reml: bool = True) -> Floats:
        """Compute minus twice the profiled log-likelihood at each θ, restricted (REML) or not (ML)."""
        try:
            state = self.at(thetas)
        except np.linalg.LinAlgError:
            # Not positive definite at one of them: the optimizer has to avoid that one.
            if len(thetas) == 1:
                return np.array([np.inf])
            return np.concatenate([self.criteria(theta[None], reml=reml) for theta in thetas])
        freedom = self.n - self.p if reml else self.n
        penalty = state.log_det + (state.log_det_fixed if reml else 0.0)
        spread = np.where(state.rss > 0, state.rss, np.inf)
        return np.asarray(penalty + freedom * (1 + np.log(2 * np.pi * spread / freedom)), dtype=np.float64)

    def criterion(self, theta: Floats, *, reml: bool = True) -> float:
        """Compute minus twice the profiled log-likelihood at one θ."""
        return float(self.criteria(theta[None], reml=reml)[0])


def _fields(state: State) -> tuple[Floats, ...]:
    return state.log_det, state.log_det_fixed, state.rss, state.beta, state.inverse


def apply_lambda_transpose(rows: Floats, factor: Floats, starts: Codes) -> Floats:
    """Compute Λ'M with Λ made of T, for M with one row a random effect, term after term from ``starts``.

    Of several M and T, along leading axes.
    """
    diagonal = np.repeat(np.diagonal(factor, axis1=-2, axis2=-1), np.diff(starts), axis=-1)
    product: Floats = rows * diagonal[..., None]
    below_diagonal = np.tril(factor, -1).reshape(-1, *factor.shape[-2:]).any(axis=0)
    for late, early in np.argwhere(below_diagonal):
        block, below = (slice(starts[k], starts[k + 1]) for k in (early, late))
        product[..., block, :] += factor[..., late, early, None, None] * rows[..., below, :]
    return product


def _group_sums(term: Term, columns: Floats) -> Floats:
    sums = [
        np.bincount(term.codes, weights=term.covariate * column, minlength=term.n_groups)
        for column in columns.T
    ]
    return np.column_stack(sums)


def _scale_groups(inverse_root: Floats, crossing: Any) -> Any:
    """Multiply the rows of each group by the matrix of that group."""
    groups, m = inverse_root.shape[:2]
    if isinstance(crossing, np.ndarray):
        if m == 1:
            return crossing * inverse_root[:, 0]
        return (inverse_root @ crossing.reshape(groups, m, -1)).reshape(groups * m, -1)
    places = np.arange(groups)
    blocks = scipy.sparse.bsr_array(
        (inverse_root, places, np.arange(groups + 1)), shape=(groups * m, groups * m)
    )
    return scipy.sparse.csr_array(blocks.tocsr() @ crossing)


def _dense(matrix: Any) -> Floats:
    full: Floats = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return full
