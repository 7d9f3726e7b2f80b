"""Where the criterion of a mixed model is smallest, and how it curves there."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache

import numpy as np
from threadpoolctl import ThreadpoolController

from analysis.effects.crossed import Crossed
from analysis.rows import Flags, Floats

ZERO = 1e-3
"""Below this ratio of standard deviations a random term is tried at exactly 0."""
MAX_STEPS = 60
SHRINK = 0.1
STARTS = (0.1, 0.3, 1.0, 3.0)
_SAME_FIT = 1e-6
_ONE_THREAD = 2_000
"""Up to this many columns in the dense matrix, threads cost more than they bring."""


def minimize(model: Crossed, n_terms: int, *, reml: bool = True) -> tuple[Floats, bool]:
    """Find the θ of the smallest criterion.

    Parameters
    ----------
    model : Crossed
    n_terms : int
    reml : bool

    Returns
    -------
    theta : array of float
        Exactly 0 where a term has no variance.
    converged : bool

    Notes
    -----
    The criterion is an even, smooth function of each θ, so 0 needs no bound. Terms that come out
    below :data:`ZERO` are set to 0 where that fits as well, and the others are fitted again.

    References
    ----------
    Bates et al. (2015), Journal of Statistical Software 67(1).
    """
    free = np.ones(n_terms, dtype=bool)
    converged = True
    theta = min((np.full(n_terms, size) for size in STARTS), key=lambda at: model.criterion(at, reml=reml))
    while free.any():
        found, converged = _minimize_free(model, theta, free, reml=reml)
        theta = np.where(free, np.abs(found), 0.0)
        gone = _vanishing(model, theta, free, reml=reml)
        if not gone.any():
            break
        free &= ~gone
        theta = np.where(free, theta, 0.0)
    return theta, converged


def single_threaded(model: Crossed) -> AbstractContextManager[object]:
    """Keep small matrices on one core, where threads would wait for each other.

    Parameters
    ----------
    model : Crossed
        Its size decides.

    Returns
    -------
    context manager

    See Also
    --------
    one_thread : Without a condition.
    """
    if len(model.outer_square) > _ONE_THREAD:
        return nullcontext()
    return one_thread()


def one_thread() -> AbstractContextManager[object]:
    """Keep linear algebra on one core.

    Returns
    -------
    context manager

    See Also
    --------
    single_threaded : For small models only.
    """
    limits: AbstractContextManager[object] = _threads().limit(limits=1)
    return limits


@lru_cache(maxsize=1)
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


def _minimize_free(model: Crossed, theta: Floats, free: Flags, *, reml: bool) -> tuple[Floats, bool]:
    """Take Newton steps, at most as long as θ (or 1), halved until the criterion falls, never onto 0."""

    def deviance(part: Floats) -> Floats:
        whole = np.zeros(len(theta))
        whole[free] = part
        return np.array([model.criterion(whole, reml=reml)])

    here = theta[free]
    value = deviance(here)[0]
    for _ in range(MAX_STEPS):
        with np.errstate(invalid="ignore"):
            first, second = differences(deviance, here, steps=2e-4 * np.maximum(np.abs(here), 0.1))
        if not (np.isfinite(first).all() and np.isfinite(second).all()):
            return _whole(theta, free, here), False
        reach = max(1.0, float(np.linalg.norm(here)))
        step = _downhill(first[:, 0], second[:, :, 0], reach=reach)
        promised = float(-first[:, 0] @ step)
        for halving in range(20):
            trial = np.maximum(
                here + step * 0.5**halving, SHRINK * here
            )  # a step onto 0 would be stuck there
            found = deviance(trial)[0]
            if found <= value:
                break
        else:
            return _whole(theta, free, here), promised < 1e-6
        moved = np.abs(trial - here).max()
        here, value = trial, found
        if moved < 1e-7 * reach or promised < 1e-13:
            return _whole(theta, free, here), bool(np.isfinite(value))
    return _whole(theta, free, here), False


def _downhill(slope: Floats, curvature: Floats, *, reach: float) -> Floats:
    """Give the Newton step, turned downhill where the curvature is negative, no longer than ``reach``."""
    values, vectors = np.linalg.eigh(curvature)
    sizes = np.maximum(np.abs(values), 1e-8 * max(float(np.abs(values).max()), 1e-300))
    step: Floats = -vectors @ ((vectors.T @ slope) / sizes)
    return step / max(1.0, float(np.linalg.norm(step)) / reach)


def _whole(theta: Floats, free: Flags, part: Floats) -> Floats:
    filled = np.zeros(len(theta))
    filled[free] = part
    return filled


def _vanishing(model: Crossed, theta: Floats, free: Flags, *, reml: bool) -> Flags:
    gone = np.zeros(len(theta), dtype=bool)
    best = model.criterion(theta, reml=reml)
    for place in np.flatnonzero(free & (theta < ZERO)):
        without = theta.copy()
        without[place] = 0.0
        gone[place] = model.criterion(without, reml=reml) <= best + _SAME_FIT
    return gone


def differences(
    function: Callable[[Floats], Floats], point: Floats, *, steps: Floats
) -> tuple[Floats, Floats]:
    """Give first and second derivatives by central differences.

    Parameters
    ----------
    function : callable
        From a point to an array of values.
    point, steps : arrays of float, one entry per coordinate

    Returns
    -------
    first : array, coordinates × values
    second : array, coordinates × coordinates × values

    Examples
    --------
    >>> first, second = differences(lambda x: x**2, np.array([3.0]), steps=np.array([1e-3]))
    >>> round(float(first[0, 0]), 4), round(float(second[0, 0, 0]), 4)
    (6.0, 2.0)
    """
    k, centre = len(point), function(point)
    shifts = np.diag(steps)
    ups = [function(point + shift) for shift in shifts]
    downs = [function(point - shift) for shift in shifts]
    first, second = np.zeros((k, len(centre))), np.zeros((k, k, len(centre)))
    for a in range(k):
        first[a] = (ups[a] - downs[a]) / (2 * steps[a])
        second[a, a] = (ups[a] - 2 * centre + downs[a]) / steps[a] ** 2
        for b in range(a):
            both = function(point + shifts[a] + shifts[b]) + function(point - shifts[a] - shifts[b])
            mixed = (both - ups[a] - downs[a] - ups[b] - downs[b] + 2 * centre) / (2 * steps[a] * steps[b])
            second[a, b] = second[b, a] = mixed
    return first, second
