"""Exact and analytic power of the sign test and the paired t test."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from ..choices import POWER_TARGET
from ..errors import BadInput
from ..pingouin_options import unrounded_pingouin
from ..rows import Floats

ALPHA = 0.05


def critical_count(n: int, *, alpha: float = ALPHA, bayes_cut: float | None = None) -> int | None:
    """Find the smallest k above n / 2 that is significant in a two-tailed exact sign test.

    Examples
    --------
    >>> [critical_count(n) for n in (5, 6, 10, 15, 20)]
    [None, 6, 9, 12, 15]
    """
    k = np.arange(n // 2 + 1, n + 1)
    if bayes_cut is None:
        significant = k[2 * scipy.stats.binom.sf(k - 1, n, 0.5) < alpha]
    else:
        significant = k[scipy.special.betaln(k + 1, n - k + 1) + n * np.log(2) > np.log(bayes_cut)]
    return int(significant[0]) if len(significant) else None


def sign_power(
    n: int, share: npt.ArrayLike, *, alpha: float = ALPHA, bayes_cut: float | None = None
) -> Floats:
    """Compute the exact power of the two-tailed sign test in the predicted direction.

    Notes
    -----
    Σ over the k that are significant and above half of Bin(k; n, share). Not monotonic in n but
    saw-toothed: use the smallest n from which it stays high (:func:`enough_participants`).

    Examples
    --------
    >>> round(float(sign_power(10, 0.9)), 6), float(sign_power(5, 0.9))
    (0.736099, 0.0)
    """
    p = np.asarray(share, dtype=np.float64)
    if ((p < 0) | (p > 1)).any():
        raise BadInput("a share is below 0 or above 1.", column="share")
    least = critical_count(n, alpha=alpha, bayes_cut=bayes_cut)
    if least is None:
        return np.zeros(p.shape)
    power: Floats = np.asarray(scipy.stats.binom.sf(least - 1, n, p), dtype=np.float64)
    return power


def inclusion_power(share: npt.ArrayLike, *, judgments: int = 20, needed: int = 4, items: int = 5) -> Floats:
    """Compute the probability that a paradigm is included, where every choice is right with one probability.

    Notes
    -----
    An item is right by strict majority of its judgments, q = P(Bin(judgments; share) > judgments / 2); the
    paradigm is included where at least ``needed`` of its items are, P(Bin(items; q) ≥ needed).

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8, §3.4: 20 judgments, 4 of 5.

    Examples
    --------
    >>> inclusion_power([0.5, 0.6, 0.75]).round(3).tolist()
    [0.097, 0.644, 0.998]
    """
    p = np.asarray(share, dtype=np.float64)
    if ((p < 0) | (p > 1)).any():
        raise BadInput("a share is below 0 or above 1.", column="share")
    right = scipy.stats.binom.sf(judgments // 2, judgments, p)
    return np.asarray(scipy.stats.binom.sf(needed - 1, items, right), dtype=np.float64)


def paired_t_power(n: int, d_z: npt.ArrayLike, *, alpha: float = ALPHA) -> Floats:
    """Compute the power of the two-tailed paired t test in the predicted direction.

    Notes
    -----
    P(T' > t_{1 - α/2}) with T' the noncentral t of n - 1 degrees of freedom and noncentrality d_z √n:
    ``pingouin.power_ttest`` one-tailed at α/2, because two-tailed power counts the wrong direction, too.

    Examples
    --------
    >>> round(float(paired_t_power(30, 0.5)), 6)
    0.753963
    """
    d = np.asarray(d_z, dtype=np.float64)
    if n < 2:
        return np.zeros(d.shape)
    with unrounded_pingouin() as pingouin:
        found = pingouin.power_ttest(d, n, alpha=alpha / 2, contrast="paired", alternative="greater")
    power: Floats = np.asarray(found, dtype=np.float64)
    # Where scipy's noncentral t is NaN, the noncentrality is so large that the power is 0 or 1.
    return np.where(np.isnan(power), (d > 0).astype(np.float64), power)


def enough_participants(
    task: str, effect: float, *, target: float = POWER_TARGET, alpha: float = ALPHA, most: int = 2_000
) -> int | None:
    """Find the smallest number of participants from which power stays at or above the target.

    Examples
    --------
    >>> enough_participants("forced_choice", 0.8), enough_participants("likert", 0.5)
    (23, 34)
    """
    power = sign_power if task == "forced_choice" else paired_t_power
    # Power of the sign test is saw-toothed: require it to stay high for this many further participants.
    ahead = max(most // 20, 40)
    run = 0
    for n in range(2, most + ahead + 1):
        run = run + 1 if float(power(n, effect, alpha=alpha)) >= target else 0
        if run >= ahead:
            return n - run + 1
        if run == 0 and n >= most:
            return None
    return None


def share_powered(powers: npt.ArrayLike, *, target: float = POWER_TARGET) -> float | None:
    """Compute the share of phenomena whose power reaches the target, as in published power curves.

    Examples
    --------
    >>> share_powered([0.5, 0.8, 0.95, np.nan])
    0.6666666666666666
    """
    estimated = np.asarray(powers, dtype=np.float64)
    estimated = estimated[~np.isnan(estimated)]
    return float((estimated >= target).mean()) if len(estimated) else None


def conventions(*, alpha: float, seed: int, draws: int) -> dict[str, Any]:
    """Return the conventions shared by all power reports.

    References
    ----------
    Gelman & Carlin (2014), Perspectives on Psychological Science 9: Type S and M.
    """
    return {
        "detection": f"p < {alpha:g} two-tailed and in the predicted direction",
        "type_s": "share of significant results in the wrong direction",
        "type_m": "mean size of significant estimates over the true effect",
        "target": f"power of at least {POWER_TARGET:g}",
        "draws": draws,
        "seed": seed,
        "error": "sqrt(p (1 - p) / draws): Monte Carlo only",
    }
