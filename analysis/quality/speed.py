"""Faster than anybody reads."""

from math import floor
from unicodedata import east_asian_width

import numpy as np
import pandas as pd

from analysis.quality.base import Signal, column_numbers, measured, session_codes

LEAST_TRIALS = 10
LEAST_MS_PER_CHARACTER = 15
WIDE = 3


def reading_length(text: str) -> int:
    """Count the characters of a sentence as a reader meets them.

    Parameters
    ----------
    text : str

    Returns
    -------
    int
        Wide characters (Chinese, Japanese, Korean) count three, because each says as much.

    Examples
    --------
    >>> reading_length("The cat"), reading_length("猫が")
    (7, 6)
    """
    return sum(WIDE if east_asian_width(character) in "WF" else 1 for character in text)


def speed(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions whose median answer came before the sentence can have been read.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``rt_ms`` and ``n_characters`` (the longer sentence of a pair).

    Returns
    -------
    DataFrame indexed by session
        ``value`` is the median of ms per character, over at least 10 trials.

    Notes
    -----
    The cut is 15 ms per character, about 700 words per minute: three times the mean of adults reading
    silently. It comes from research on reading, not from another judgment task, and every reason names
    it beside the study's own median. Fast is not wrong: in BLiMP's batch the fastest assignments were among
    the most accurate. So this alone should exclude nobody.

    References
    ----------
    Brysbaert (2019), "How many words do we read per minute?", Journal of Memory and Language 109: 238 words
    per minute for non-fiction.
    """
    session, labels = session_codes(judgments)
    pace = column_numbers(judgments, "rt_ms") / column_numbers(judgments, "n_characters")
    known = np.isfinite(pace)
    by_session = pd.Series(pace[known]).groupby(session[known]).agg(["median", "size"])
    median, n = np.full(len(labels), np.nan), np.zeros(len(labels))
    median[by_session.index], n[by_session.index] = by_session["median"], by_session["size"]
    usual = float(np.median(pace[known])) if known.any() else np.nan
    return measured(
        labels,
        median,
        seen=n >= LEAST_TRIALS,
        flagged=median < LEAST_MS_PER_CHARACTER,
        reason=lambda one: (
            f"median {_said(median[one])} ms per character, below {LEAST_MS_PER_CHARACTER} "
            f"(a cut from reading research; this study's median is {usual:.0f})"
        ),
    )


def _said(pace: float) -> str:
    """A pace to a tenth, rounded down: what lies below the cut never reads as the cut itself."""
    return f"{floor(pace * 10) / 10:g}"


SIGNAL = Signal("speed", 1, "faster than reading", speed)
