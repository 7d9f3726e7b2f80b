"""Answers that no key, mouse or finger gave."""

import pandas as pd

from analysis.quality.base import Signal
from analysis.quality.marks import any_mark


def untrusted(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions with answers whose browser event was made by a program.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``is_trusted``; empty for plain forms and imported answers.

    Returns
    -------
    DataFrame indexed by session
        ``value`` is the share of such answers.

    Notes
    -----
    Some assistive programs also act for their user: look at the session before you decide anything.
    """
    return any_mark(
        judgments,
        "is_trusted",
        lambda marked, n: f"{marked} of {n} answers were given by a program; some assistive programs do so",
        meaning=0,
    )


SIGNAL = Signal("untrusted", 1, "answers given by a program", untrusted)
