"""Intervals of standardized effects, from the noncentral t."""

import numpy as np
import scipy


def d_z_interval(d_z: float, n: int, *, confidence: float = 0.95) -> tuple[float, float] | None:
    """Give the interval of d_z = mean(D) / sd(D) of n paired differences.

    Parameters
    ----------
    d_z : float
    n : int
        Pairs, at least two.
    confidence : float

    Returns
    -------
    tuple of float, or None
        None with fewer than two pairs, or where the distribution cannot be computed.

    Notes
    -----
    The two noncentralities λ at which t = d_z √n is the upper and the lower tail of a noncentral t with n - 1
    degrees of freedom, over √n. Assumes normal differences.

    References
    ----------
    Cumming & Finch (2001), Educational and Psychological Measurement 61; Steiger & Fouladi (1997).

    Examples
    --------
    >>> [round(end, 3) for end in d_z_interval(0.5, 30)]
    [0.116, 0.876]
    """
    if n < 2 or not np.isfinite(d_z):
        return None
    t, df, tail = d_z * np.sqrt(n), n - 1, (1 - confidence) / 2
    reach = 5 * np.sqrt(1 + t**2 / (2 * df))  # five standard errors of t

    def end(share: float) -> float:
        def gap(centre: float) -> float:
            return float(scipy.stats.nct.cdf(t, df, centre)) - share

        if not (gap(t - reach) > 0 > gap(t + reach)):
            return float("nan")
        return float(scipy.optimize.brentq(gap, t - reach, t + reach)) / float(np.sqrt(n))

    low, high = end(1 - tail), end(tail)
    return None if np.isnan(low) or np.isnan(high) else (low, high)
