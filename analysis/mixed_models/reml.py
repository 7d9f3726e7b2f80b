"""Minimize the criterion of a mixed model, and differentiate it numerically."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache

import numpy as np
import scipy
from threadpoolctl import ThreadpoolController

from ..rows import Flags, Floats
from .cross_products import Crossed

ZERO = 1e-3
"""Ratio of a random SD to the residual SD below which the term is tested at exactly 0."""
MAX_STEPS = 60
SHRINK = 0.1
# The search starts at the best of these θ (the same for all terms).
STARTS = (0.1, 0.3, 1.0, 3.0)
_SAME_FIT = 1e-6  # increase of the criterion that is within rounding error
_ONE_THREAD = 2_000
"""Columns of the dense matrix up to which BLAS threads are slower than one."""


def minimize(model: Crossed, *, reml: bool = True, start: Floats | None = None) -> tuple[Floats, bool]:
    """Find the θ that minimizes the criterion, from a start or from the best of :data:`STARTS`.

    Notes
    -----
    The criterion is an even, smooth function of each θ on the diagonal, so 0 needs no bound. Terms below
    :data:`ZERO` are set to 0 if that fits as well, and the others are fitted again.

    References
    ----------
    Bates et al. (2015), Journal of Statistical Software 67(1).
    """
    n, n_pairs = model.n_terms, len(model.pairs)
    free = np.ones(n + n_pairs, dtype=bool)
    converged = True
    starts = np.array([np.r_[np.full(n, size), np.zeros(n_pairs)] for size in STARTS])
    theta = starts[model.criteria(starts, reml=reml).argmin()] if start is None else start
    while free.any():
        values, converged = _minimize_free(model, theta, free, reml=reml)
        theta = np.where(free, np.r_[np.abs(values[:n]), values[n:]], 0.0)
        vanished = _vanishing(model, theta, free, reml=reml)
        if not vanished.any():
            break
        free &= ~vanished
        theta = np.where(free, theta, 0.0)
    return theta, converged


def single_threaded(model: Crossed) -> AbstractContextManager[object]:
    """Limit BLAS to one thread for small matrices, for which synchronization dominates."""
    if len(model.outer_square) > _ONE_THREAD:
        return nullcontext()
    return one_thread()


def one_thread() -> AbstractContextManager[object]:
    """Limit BLAS to one thread."""
    limits: AbstractContextManager[object] = _threads().limit(limits=1)
    return limits


@lru_cache(maxsize=1)
def _threads() -> ThreadpoolController:
    # scipy loads a BLAS of its own with its first use of LAPACK; a controller made before does not limit it.
    _ = scipy.linalg.lapack.dtrtrs
    return ThreadpoolController()


def _minimize_free(model: Crossed, theta: Floats, free: Flags, *, reml: bool) -> tuple[Floats, bool]:
    """Take Newton steps, at most as long as θ (or 1), halved until the criterion falls, never onto 0."""

    def deviance(parts: Floats) -> Floats:
        full_thetas = np.zeros((len(parts), len(theta)))
        full_thetas[:, free] = parts
        return model.criteria(full_thetas, reml=reml)[:, None]

    here = theta[free]
    # A step of a diagonal element onto 0 would be stuck there; elements below the diagonal may have any sign.
    on_diagonal = (np.arange(len(theta)) < model.n_terms)[free]
    value = deviance(here[None])[0, 0]
    for _ in range(MAX_STEPS):
        with np.errstate(invalid="ignore"):
            first, second = differences(deviance, here, steps=2e-4 * np.maximum(np.abs(here), 0.1))
        if not (np.isfinite(first).all() and np.isfinite(second).all()):
            return _expand(theta, free, here), False
        reach = max(1.0, float(np.linalg.norm(here)))
        step = _downhill(first[:, 0], second[:, :, 0], reach=reach)
        promised = float(-first[:, 0] @ step)
        for halving in range(20):
            trial = here + step * 0.5**halving
            trial = np.where(on_diagonal, np.maximum(trial, SHRINK * here), trial)
            trial_value = deviance(trial[None])[0, 0]
            if trial_value <= value:
                break
        else:
            return _expand(theta, free, here), promised < 1e-6
        moved = np.abs(trial - here).max()
        here, value = trial, trial_value
        if moved < 1e-7 * reach or promised < 1e-13:
            return _expand(theta, free, here), bool(np.isfinite(value))
    return _expand(theta, free, here), False


def _downhill(slope: Floats, curvature: Floats, *, reach: float) -> Floats:
    """Compute the Newton step, with negative curvature reversed and its length limited to ``reach``."""
    values, vectors = np.linalg.eigh(curvature)
    sizes = np.maximum(np.abs(values), 1e-8 * max(float(np.abs(values).max()), 1e-300))
    step: Floats = -vectors @ ((vectors.T @ slope) / sizes)
    return step / max(1.0, float(np.linalg.norm(step)) / reach)


def _expand(theta: Floats, free: Flags, part: Floats) -> Floats:
    filled = np.zeros(len(theta))
    filled[free] = part
    return filled


def _vanishing(model: Crossed, theta: Floats, free: Flags, *, reml: bool) -> Flags:
    vanishes = np.zeros(len(theta), dtype=bool)
    best = model.criterion(theta, reml=reml)
    for place in np.flatnonzero(free[: model.n_terms] & (theta[: model.n_terms] < ZERO)):
        without = theta.copy()
        without[place] = 0.0
        vanishes[place] = model.criterion(without, reml=reml) <= best + _SAME_FIT
    return vanishes


def differences(
    function: Callable[[Floats], Floats], point: Floats, *, steps: Floats
) -> tuple[Floats, Floats]:
    """Compute first and second derivatives by central differences.

    ``function`` takes the points of all differences at once, one in each row, and returns as many rows.

    Examples
    --------
    >>> first, second = differences(lambda x: x**2, np.array([3.0]), steps=np.array([1e-3]))
    >>> round(float(first[0, 0]), 4), round(float(second[0, 0, 0]), 4)
    (6.0, 2.0)
    """
    k, shifts = len(point), np.diag(steps)
    pairs = [(a, b) for a in range(k) for b in range(a)]
    corners = np.array([shifts[a] + shifts[b] for a, b in pairs]).reshape(len(pairs), k)
    moves = np.concatenate([np.zeros((1, k)), shifts, -shifts, corners, -corners])
    centre, ups, downs, highs, lows = np.split(
        function(point + moves), np.cumsum([1, k, k, len(pairs)]), axis=0
    )
    first = (ups - downs) / (2 * steps[:, None])
    second = np.zeros((k, k, centre.shape[1]))
    second[np.arange(k), np.arange(k)] = (ups - 2 * centre + downs) / steps[:, None] ** 2
    for (a, b), high, low in zip(pairs, highs, lows, strict=True):
        mixed = high + low - ups[a] - downs[a] - ups[b] - downs[b] + 2 * centre[0]
        second[a, b] = second[b, a] = mixed / (2 * steps[a] * steps[b])
    return first, second
