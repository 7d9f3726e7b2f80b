"""Intervals of independent and clustered shares, and signal detection measures of yes-no judgments."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from ..errors import BadInput
from ..rows import Floats


def wilson_interval(k: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Compute the Wilson score interval of each share k / n.

    Parameters
    ----------
    k : array of counts
        Number of successes, from 0 to ``n``.
    n : array of counts
        Number of judgments, same shape as ``k``.
    confidence : float
        Confidence level between 0 and 1.

    Returns
    -------
    low, high : arrays of float
        Ends of the interval of each share; NaN where n is 0, exactly 0 at k = 0 and exactly 1 at k = n.

    See Also
    --------
    clopper_pearson_interval : The conservative choice.

    Notes
    -----
    Centre (k + z²/2) / (n + z²), half-width z / (n + z²) √(k (n - k) / n + z² / 4). For one item
    with one judgment per participant; judgments pooled over items are clustered and need
    :mod:`obelus.agreement.bootstrap`.

    References
    ----------
    Brown, Cai & DasGupta (2001), Statistical Science 16.

    Examples
    --------
    >>> low, high = wilson_interval(3, 4)
    >>> round(float(low), 6), round(float(high), 6)
    (0.300642, 0.954413)
    """
    chosen, total = _counts(k, n)
    z = float(scipy.stats.norm.ppf(0.5 + confidence / 2))
    size = np.where(total > 0, total, np.nan)
    centre = (chosen + z * z / 2) / (size + z * z)
    half = z / (size + z * z) * np.sqrt(chosen * (size - chosen) / size + z * z / 4)
    low = np.where((chosen == 0) & (total > 0), 0.0, centre - half)
    high = np.where((chosen == total) & (total > 0), 1.0, centre + half)
    return low, high


def clopper_pearson_interval(
    k: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """Compute the exact binomial interval of each share k / n, which is conservative.

    References
    ----------
    Clopper & Pearson (1934), Biometrika 26.
    """
    chosen, total = _counts(k, n)
    tail = (1 - confidence) / 2
    low = np.where(chosen > 0, scipy.stats.beta.ppf(tail, chosen, total - chosen + 1), 0.0)
    high = np.where(chosen < total, scipy.stats.beta.ppf(1 - tail, chosen + 1, total - chosen), 1.0)
    return np.where(total > 0, low, np.nan), np.where(total > 0, high, np.nan)


def share_sd(share: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """Compute the SD (ddof 1) of zeros and ones from their share.

    Examples
    --------
    >>> share_sd([0.5, 1.0], [2, 1]).round(3).tolist()
    [0.707, nan]
    """
    p, total = np.asarray(share, dtype=np.float64), np.asarray(n, dtype=np.float64)
    inflation = np.divide(total, total - 1, out=np.full(total.shape, np.nan), where=total > 1)
    sd: Floats = np.sqrt(p * (1 - p) * inflation)
    return sd


@dataclass(frozen=True)
class Detection:
    """Sensitivity and bias of yes-no judgments; None where they are undefined."""

    d_prime: float | None
    criterion: float | None
    status: str


def signal_detection(
    yes_good: tuple[int, int], yes_bad: tuple[int, int], *, corrected: bool = True
) -> Detection:
    """Compare the share of yes to acceptable and to unacceptable sentences.

    Notes
    -----
    ``d_prime`` = z(hits) - z(false alarms), ``criterion`` = -(z(hits) + z(false alarms)) / 2.
    ``status`` is ``ok``, ``no_data``, or ``ceiling`` where an uncorrected share is 0 or 1.

    References
    ----------
    Hautus (1995), Behavior Research Methods 27; Huang & Ferreira (2020), Frontiers in Psychology 11:73.

    Examples
    --------
    >>> round(signal_detection((16, 20), (6, 20)).d_prime, 6)
    1.288839
    """
    if yes_good[1] == 0 or yes_bad[1] == 0:
        return Detection(None, None, "no_data")
    add, total = (0.5, 1.0) if corrected else (0.0, 0.0)  # log-linear correction (Hautus 1995)
    shares = [(yes + add) / (n + total) for yes, n in (yes_good, yes_bad)]
    if min(shares) <= 0 or max(shares) >= 1:
        return Detection(None, None, "ceiling")
    hits, false_alarms = (float(scipy.stats.norm.ppf(share)) for share in shares)
    return Detection(hits - false_alarms, -(hits + false_alarms) / 2, "ok")


def _counts(k: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats]:
    chosen, total = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if (chosen < 0).any() or (chosen > total).any():
        raise BadInput("a count k is below 0 or above its n.")
    return chosen, total


def clustered_share(
    k: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Compute a pooled share with an interval that treats each cluster as one observation.

    Notes
    -----
    The share is Σk / Σn. Its variance is that of a ratio of means, m / (m - 1) · Σ (k - share · n)² / (Σn)²
    with m clusters; the interval takes Student's t with m - 1 degrees of freedom and is cut at 0 and 1.
    It is close to the bootstrap over participants from about ten participants on; for fewer, or
    for a share near 0 or 1, it is a rough approximation.

    References
    ----------
    Cochran (1977), *Sampling Techniques*, 3rd ed., section 3.12.

    Examples
    --------
    >>> [round(value, 3) for value in clustered_share([6, 4, 5], [10, 10, 10])]
    [0.5, 0.252, 0.748]
    """
    right, total = (np.asarray(counts, dtype=np.float64) for counts in (k, n))
    right, total = right[total > 0], total[total > 0]
    return (
        _share_and_interval(right, total, confidence=confidence)
        if total.size
        else (math.nan, math.nan, math.nan)
    )


def _share_and_interval(right: Floats, total: Floats, *, confidence: float) -> tuple[float, float, float]:
    share, m = float(right.sum() / total.sum()), right.size
    if m < 2:
        return share, math.nan, math.nan
    error = math.sqrt(m / (m - 1) * float(((right - share * total) ** 2).sum())) / float(total.sum())
    half = float(scipy.stats.t.ppf((1 + confidence) / 2, m - 1)) * error
    return share, max(0.0, share - half), min(1.0, share + half)
