"""Signals that a mark on single answers makes: the share of answers that carry it."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from analysis.quality.base import measured, session_codes
from analysis.rows import column_or_blank, flags


def any_mark(
    judgments: pd.DataFrame, column: str, reason: Callable[[int, int], str], *, meaning: int = 1
) -> pd.DataFrame:
    """Flag sessions in which any answer carries a mark.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
    column : str
        A yes-or-no column; rows that do not say are no evidence.
    reason : callable
        From the number of marked answers and of answers with evidence to a sentence.
    meaning : int
        Which of 1 (yes) and 0 (no) is the mark.

    Returns
    -------
    DataFrame indexed by session
        ``value`` is the share of answers with the mark.
    """
    session, labels = session_codes(judgments)
    said = flags(column_or_blank(judgments, column))
    n = np.bincount(session[~np.isnan(said)], minlength=len(labels))
    marked = np.bincount(session[said == meaning], minlength=len(labels))
    return measured(
        labels,
        marked / np.maximum(n, 1),
        seen=n > 0,
        flagged=marked > 0,
        reason=lambda one: reason(int(marked[one]), int(n[one])),
    )
