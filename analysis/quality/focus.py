"""The page was left again and again."""

import numpy as np
import pandas as pd

from analysis.quality.base import Signal, column_numbers, measured, session_codes

LEAST_MS = 1000
LEAST_TRIALS = 3
MOST_SHARE = 0.2


def focus(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions that left the page for a second or more in at least a fifth of their trials.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``focus_lost_ms`` and ``page_hidden_ms``; the longer of both counts.

    Returns
    -------
    DataFrame indexed by session
        ``value`` is the share of trials in which the page was left.

    Notes
    -----
    Phones lock and messages arrive: at least three trials must be concerned.
    """
    session, labels = session_codes(judgments)
    both = np.vstack([column_numbers(judgments, name) for name in ("focus_lost_ms", "page_hidden_ms")])
    known = ~np.isnan(both).all(axis=0)
    away = np.nan_to_num(both).max(axis=0)
    n = np.bincount(session[known], minlength=len(labels))
    left = np.bincount(session[known & (away >= LEAST_MS)], minlength=len(labels))
    total_s = np.bincount(session[known], weights=away[known], minlength=len(labels)) / 1000
    share = left / np.maximum(n, 1)
    return measured(
        labels,
        share,
        seen=n > 0,
        flagged=(share >= MOST_SHARE) & (left >= LEAST_TRIALS),
        reason=lambda one: (
            f"the page was left in {left[one]} of {n[one]} trials, {total_s[one]:.0f} s in all"
        ),
    )


SIGNAL = Signal("focus", 1, "page left often", focus)
