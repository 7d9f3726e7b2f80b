"""The exercise with lines before magnitude estimation was not passed."""

import pandas as pd

from analysis.quality.base import Signal
from analysis.quality.marks import any_mark


def line_training(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions whose estimates of line lengths did not follow the lengths in two attempts.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``lines_failed``, the same on every row of a session; empty where there was no such exercise, or
        where the person went on without it.

    Returns
    -------
    DataFrame indexed by session
        ``value`` is 1 or 0.
    """
    return any_mark(
        judgments,
        "lines_failed",
        lambda marked, n: "the exercise with lines was not passed in two attempts",
    )


SIGNAL = Signal("line_training", 1, "exercise with lines not passed", line_training)
