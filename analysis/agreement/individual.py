"""Individual agreement: the chance that one person's judgment agrees with the expected label."""

import numpy as np
import numpy.typing as npt
import pandas as pd


def pooled_share(k: npt.ArrayLike, n: npt.ArrayLike) -> float | None:
    """Give Σk / Σn: every judgment counts alike (micro).

    Parameters
    ----------
    k, n : arrays of counts, one entry per item

    Returns
    -------
    float or None
        None without judgments.

    Examples
    --------
    >>> round(pooled_share([9, 1, 4, 0], [10, 2, 4, 1]), 6)
    0.823529
    """
    chosen, total = np.asarray(k), np.asarray(n)
    return float(chosen.sum() / total.sum()) if total.sum() > 0 else None


def mean_of_item_shares(k: npt.ArrayLike, n: npt.ArrayLike) -> float | None:
    """Give the mean of k / n over the items with judgments: every item counts alike (macro).

    Parameters
    ----------
    k, n : arrays of counts, one entry per item

    Returns
    -------
    float or None
        None where no item has a judgment.

    Notes
    -----
    BLiMP's released ``total_mean`` is this mean, not the pooled share.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8.

    Examples
    --------
    >>> mean_of_item_shares([9, 1, 4, 0], [10, 2, 4, 1])
    0.6
    """
    chosen, total = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    judged = total > 0
    return float((chosen[judged] / total[judged]).mean()) if judged.any() else None


def mean_of_group_means(shares: npt.ArrayLike, groups: npt.ArrayLike) -> float | None:
    """Average within groups, then over groups: paradigms within phenomena, for instance.

    Parameters
    ----------
    shares : array of float
        NaN is left out.
    groups : array of labels, same length

    Returns
    -------
    float or None
        None where nothing is left.

    Examples
    --------
    >>> mean_of_group_means([1.0, 1.0, 0.0], ["x", "x", "y"])
    0.5
    """
    values = pd.Series(np.asarray(shares, dtype=np.float64)).dropna()
    if values.empty:
        return None
    return float(values.groupby(np.asarray(groups, dtype=object)[values.index]).mean().mean())
