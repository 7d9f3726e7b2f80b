"""Catch trials: obvious sentences answered wrongly."""

import numpy as np
import pandas as pd

from analysis.quality.base import Signal, measured, session_codes
from analysis.rows import column_or_blank, flags, is_kind

MOST_WRONG = 0.25


def catch_trials(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions with more than a quarter of their catch trials wrong.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``correct`` of rows whose ``kind`` is catch.

    Returns
    -------
    DataFrame indexed by session
        ``value`` is the share answered wrongly.

    Notes
    -----
    Honest people fail catch trials too. Failing them may leave the analysis by a plan; on Prolific it is
    no ground for refusing pay, unless the trial was a permitted instruction check.
    """
    session, labels = session_codes(judgments)
    correct = flags(column_or_blank(judgments, "correct"))
    seen = is_kind(judgments, ("catch",)) & ~np.isnan(correct)
    n = np.bincount(session[seen], minlength=len(labels))
    wrong = np.bincount(session[seen & (correct == 0)], minlength=len(labels))
    share = wrong / np.maximum(n, 1)
    return measured(
        labels,
        share,
        seen=n > 0,
        flagged=share > MOST_WRONG,
        reason=lambda one: f"{wrong[one]} of {n[one]} catch trials wrong",
    )


SIGNAL = Signal("catch_trials", 1, "catch trials wrong", catch_trials)
