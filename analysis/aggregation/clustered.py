"""A share of answers that come in clusters, such as the answers of one person."""

import math

import numpy as np
import numpy.typing as npt
import scipy

from analysis.rows import Floats


def clustered_share(
    k: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Give a pooled share with an interval that treats each cluster as one draw.

    Parameters
    ----------
    k, n : arrays of counts, one per cluster
        Answers of the kind counted, and all answers, of each person. Clusters without an answer are left out.
    confidence : float

    Returns
    -------
    share, low, high : float
        NaN where undefined: the share without any answer, the interval with fewer than two clusters.

    See Also
    --------
    analysis.aggregation.proportions.wilson_interval : For one answer per person.

    Notes
    -----
    The share is Σk / Σn. Its variance is that of a ratio of means, m / (m - 1) · Σ (k - share · n)² / (Σn)²
    with m clusters; the interval takes Student's t with m - 1 degrees of freedom and is cut at 0 and 1.
    It is quick and follows the bootstrap over people closely from about ten people on; for fewer, or
    for a share near 0 or 1, read it as rough.

    References
    ----------
    Cochran (1977), *Sampling Techniques*, 3rd ed., section 3.12.

    Examples
    --------
    >>> [round(one, 3) for one in clustered_share([6, 4, 5], [10, 10, 10])]
    [0.5, 0.252, 0.748]
    """
    right, total = (np.asarray(one, dtype=np.float64) for one in (k, n))
    right, total = right[total > 0], total[total > 0]
    return _with_ends(right, total, confidence=confidence) if total.size else (math.nan, math.nan, math.nan)


def _with_ends(right: Floats, total: Floats, *, confidence: float) -> tuple[float, float, float]:
    share, m = float(right.sum() / total.sum()), right.size
    if m < 2:
        return share, math.nan, math.nan
    error = math.sqrt(m / (m - 1) * float(((right - share * total) ** 2).sum())) / float(total.sum())
    half = float(scipy.stats.t.ppf((1 + confidence) / 2, m - 1)) * error
    return share, max(0.0, share - half), min(1.0, share + half)
