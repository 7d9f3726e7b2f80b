"""Correlation within participants who have several rows each."""

from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..pingouin_options import unrounded_pingouin
from ..rows import Floats

MOST = 1 - 1e-12  # Fisher's z of 1 is infinite


def repeated_measures_correlation(x: Floats, y: Floats, participant: "pd.Series[Any]") -> dict[str, Any]:
    """Correlate two columns within participants: ``n``, ``participants``, ``r``, interval, ``df`` and ``p``.

    Notes
    -----
    r of the deviations from each participant's means; df = n - participants - 1; Fisher's z with df + 2
    for the interval. ``pingouin.rm_corr`` gives the same numbers from a regression with a column for each
    participant, whose time and memory grow with rows times participants. ``status``: ``ok``, ``too_few``
    (df below 2) or ``no_variation``.

    References
    ----------
    Bland & Altman (1995), BMJ 310; Bakdash & Marusich (2017), Frontiers in Psychology 8.

    Examples
    --------
    >>> x, y = np.array([1.0, 2, 3, 4, 6, 5]), np.array([2.0, 3, 5, 1, 2, 4])
    >>> found = repeated_measures_correlation(x, y, pd.Series(list("aaabbb")))
    >>> round(found["r"], 3), found["df"]
    (0.655, 3)
    """
    complete = ~(np.isnan(x) | np.isnan(y))
    rows = pd.DataFrame({"x": x, "y": y})[complete]
    groups = rows.groupby(participant.astype(str).to_numpy()[complete])
    n, n_groups = len(rows), groups.ngroups
    df = n - n_groups - 1
    found: dict[str, Any] = {"n": n, "participants": n_groups, "df": df}
    found |= dict.fromkeys(("r", "ci_low", "ci_high", "p"))
    if df < 2:
        return found | {"df": None, "status": "too_few"}
    within = rows - groups.transform("mean")
    if (within.abs().max() <= 1e-12 * rows.abs().max().clip(lower=1)).any():
        return found | {"df": None, "status": "no_variation"}
    with unrounded_pingouin() as pingouin:
        r = float(np.clip(pingouin.corr(within["x"], within["y"])["r"].iloc[0], -MOST, MOST))
        low, high = pingouin.compute_esci(r, nx=df + 2, eftype="pearson", decimals=15)
    p = 2 * float(scipy.stats.t.sf(abs(r) * np.sqrt(df / (1 - r**2)), df))
    return found | {"r": r, "ci_low": float(low), "ci_high": float(high), "p": p, "status": "ok"}
