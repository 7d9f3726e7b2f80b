"""Always the same side."""

import numpy as np
import pandas as pd

from analysis.quality.base import Signal, answered, measured, session_codes
from analysis.rows import column_or_blank, flags
from analysis.undecided import is_undecided

LEAST_TRIALS = 20
MOST_SHARE = 0.95


def side_bias(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions that chose one side in at least .95 of at least 20 forced choices.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``value`` (1: the expected member was chosen) and ``expected_first`` of forced choice; answers of
        both or neither are left out.

    Returns
    -------
    DataFrame indexed by session
        ``value`` is the share of trials in which the sentence shown first was chosen.
    """
    session, labels = session_codes(judgments)
    rows, values = answered(judgments, of=("forced_choice",))
    expected_first = flags(column_or_blank(judgments, "expected_first"))
    rows &= np.isin(values, (0.0, 1.0)) & ~np.isnan(expected_first) & ~is_undecided(judgments)
    n = np.bincount(session[rows], minlength=len(labels))
    first = np.bincount(session[rows & (values == expected_first)], minlength=len(labels))
    share = first / np.maximum(n, 1)

    def reason(one: int) -> str:
        side, count = ("first", first[one]) if share[one] >= 0.5 else ("second", n[one] - first[one])
        return f"the sentence shown {side} was chosen in {count} of {n[one]} trials"

    return measured(
        labels,
        share,
        seen=n >= LEAST_TRIALS,
        flagged=np.maximum(share, 1 - share) >= MOST_SHARE,
        reason=reason,
    )


SIGNAL = Signal("side_bias", 1, "always the same side", side_bias)
