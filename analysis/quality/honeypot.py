"""A field that people do not see was filled in."""

import pandas as pd

from analysis.quality.base import Signal
from analysis.quality.marks import any_mark


def honeypot(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions whose hidden field of the questionnaire came back filled.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``honeypot``, the same on every row of a session; empty where there was no such field.

    Returns
    -------
    DataFrame indexed by session
        ``value`` is 1 or 0.
    """
    return any_mark(
        judgments,
        "honeypot",
        lambda marked, n: (
            "a field that people do not see was filled in; browsers that fill in forms do so too"
        ),
    )


SIGNAL = Signal("honeypot", 1, "hidden field filled in", honeypot)
