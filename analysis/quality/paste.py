"""Answers pasted into a text field."""

import pandas as pd

from analysis.quality.base import Signal
from analysis.quality.marks import any_mark


def paste(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions in which an answer was pasted rather than typed.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``pasted``.

    Returns
    -------
    DataFrame indexed by session
        ``value`` is the share of pasted answers.
    """
    return any_mark(judgments, "pasted", lambda marked, n: f"{marked} of {n} answers were pasted, not typed")


SIGNAL = Signal("paste", 1, "answers pasted", paste)
