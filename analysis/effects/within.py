"""Within-participant confidence intervals of condition means."""

import numpy as np
import pandas as pd
import scipy

from ..columns import require_columns
from ..rows import group_codes


def within_intervals(
    rows: pd.DataFrame,
    *,
    condition: str = "condition",
    unit: str = "participant",
    value: str = "value",
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Compute condition means with Cousineau–Morey within-participant intervals.

    Notes
    -----
    ``condition``, ``n`` (units), ``mean``, ``se``, ``ci_low``, ``ci_high`` and ``status``: ``ok``,
    ``too_few`` (one complete unit) or ``no_data``. Units that lack a condition are left out.

    y' = y - mean of the unit + grand mean, on the unit's condition means; variance times M / (M - 1) for M
    conditions; t with n - 1 degrees of freedom. For comparing conditions within participants:
    two conditions differ clearly if the intervals, divided by √2, do not overlap. Not an interval of the
    population mean of one condition.

    References
    ----------
    Cousineau (2005), TQMP 1; Morey (2008), TQMP 4.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": list("aabbcc"), "condition": ["x", "y"] * 3,
    ...     "value": [1.0, 2.0, 4.0, 5.5, 7.0, 8.0]})
    >>> within_intervals(rows)[["condition", "mean", "se"]].round(3).values.tolist()
    [['x', 4.0, 0.118], ['y', 5.167, 0.118]]
    """
    require_columns(rows, condition, unit, value)
    answered = rows[rows[value].notna()]
    codes, names = group_codes(answered[condition])
    people, labels = group_codes(answered[unit])
    m = len(names)
    cell = people * max(m, 1) + codes
    count = np.bincount(cell, minlength=len(labels) * m).reshape(len(labels), m)
    total = np.bincount(cell, weights=answered[value].to_numpy(dtype=float), minlength=count.size)
    complete = (count > 0).all(axis=1)
    means = total.reshape(count.shape)[complete] / count[complete]
    n = len(means)
    table = pd.DataFrame({"condition": names, "n": n})
    if n < 2 or m < 2:
        blank = dict.fromkeys(("se", "ci_low", "ci_high"), np.nan)
        centre = means.mean(axis=0) if n else np.full(m, np.nan)
        return table.assign(mean=centre, **blank, status="too_few" if n else "no_data")
    level = means - means.mean(axis=1, keepdims=True) + means.mean()
    se = np.sqrt(level.var(axis=0, ddof=1) * m / (m - 1) / n)
    half, centre = scipy.stats.t.ppf(0.5 + confidence / 2, n - 1) * se, means.mean(axis=0)
    return table.assign(mean=centre, se=se, ci_low=centre - half, ci_high=centre + half, status="ok")
