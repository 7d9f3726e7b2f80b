"""Signals of response patterns: straight-lining, side bias, and answers faster than reading."""

from math import floor
from unicodedata import east_asian_width

import numpy as np
import pandas as pd

from ..aggregation.undecided import is_undecided
from ..rows import RATING_TASKS, Floats, column_or_blank, flags
from .base import Signal, answered_rows, column_numbers, session_codes, signal_frame

MIN_ANSWERS = 10
MAX_MODAL_SHARE = 0.9
MAX_RUN = 10  # equal answers in a row


def straight_lining(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions with one answer in all or nearly all trials, or ten times in a row.

    Notes
    -----
    Three criteria: standard deviation 0, modal answer in at least .9 of the trials, a run of at least 10.

    References
    ----------
    Curran (2016), "Methods for the detection of carelessly invalid responses", JESP 66: long strings.
    """
    session, labels = session_codes(judgments)
    rows, values = answered_rows(judgments, of=(*RATING_TASKS, "yes_no"))
    position = np.nan_to_num(column_numbers(judgments, "position"))
    order = np.lexsort((position, session))
    order = order[rows[order]]
    ends = np.searchsorted(session[order], np.arange(len(labels) + 1))
    share, n, reasons = np.zeros(len(labels)), np.diff(ends), [""] * len(labels)
    for code in np.flatnonzero(n >= MIN_ANSWERS):
        share[code], reasons[code] = _modal_answer(values[order[ends[code] : ends[code + 1]]])
    flagged = np.array([reason != "" for reason in reasons], dtype=bool)
    return signal_frame(
        labels, share, has_data=n >= MIN_ANSWERS, flagged=flagged, reason=lambda code: reasons[code]
    )


def _modal_answer(values: Floats) -> tuple[float, str]:
    """Return the share of the modal answer, and the reason for a flag or an empty string."""
    answers, counts = np.unique(values, return_counts=True)
    most = int(counts.max())
    common = f"{answers[counts.argmax()]:g}"
    changes = np.flatnonzero(np.diff(values)) + 1
    run = int(np.diff(np.concatenate([[0], changes, [len(values)]])).max())
    if most == len(values):
        reason = f"all {most} answers are {common}"
    elif most / len(values) >= MAX_MODAL_SHARE:
        reason = f"{most} of {len(values)} answers are {common}"
    else:
        reason = f"{run} equal answers in a row" if run >= MAX_RUN else ""
    return most / len(values), reason


STRAIGHT_LINING = Signal(
    "straight_lining", 1, "straight-lining: the same answer in nearly all trials", straight_lining
)


SIDE_BIAS_TRIALS = 20
MAX_SIDE_SHARE = 0.95


def side_bias(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions that chose one side in at least .95 of at least 20 forced choices."""
    session, labels = session_codes(judgments)
    rows, values = answered_rows(judgments, of=("forced_choice",))
    expected_first = flags(column_or_blank(judgments, "expected_first"))
    rows &= np.isin(values, (0.0, 1.0)) & ~np.isnan(expected_first) & ~is_undecided(judgments)
    n = np.bincount(session[rows], minlength=len(labels))
    first = np.bincount(session[rows & (values == expected_first)], minlength=len(labels))
    share = first / np.maximum(n, 1)

    def reason(code: int) -> str:
        side, count = ("first", first[code]) if share[code] >= 0.5 else ("second", n[code] - first[code])
        return f"the sentence shown {side} was chosen in {count} of {n[code]} trials"

    return signal_frame(
        labels,
        share,
        has_data=n >= SIDE_BIAS_TRIALS,
        flagged=np.maximum(share, 1 - share) >= MAX_SIDE_SHARE,
        reason=reason,
    )


SIDE_BIAS = Signal("side_bias", 1, "side bias: nearly always the same side", side_bias)


SPEED_TRIALS = 10
MIN_MS_PER_CHARACTER = 15
# A wide character takes about as long to read as three narrow ones.
WIDE = 3


def reading_length(text: str) -> int:
    """Count the characters of a sentence, with wide (East Asian) characters counted as three.

    Examples
    --------
    >>> reading_length("The cat"), reading_length("猫が")
    (7, 6)
    """
    return sum(WIDE if east_asian_width(character) in "WF" else 1 for character in text)


def too_fast(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions with a median response time too short to read the sentence.

    Notes
    -----
    The threshold is 15 ms per character, about 700 words per minute: three times the mean silent reading
    rate of adults. It comes from reading research, not from judgment tasks; every reason also gives the
    study's own median. Fast answers need not be wrong: in BLiMP's batch the fastest assignments were among
    the most accurate. Do not exclude participants by this signal alone.

    References
    ----------
    Brysbaert (2019), "How many words do we read per minute?", Journal of Memory and Language 109: 238 words
    per minute for non-fiction.
    """
    return _fast_sessions(judgments, "rt_ms", "n_characters")


def fast_contexts(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions with a median time too short to read the contexts before the sentences.

    Notes
    -----
    Contexts that participants leave themselves, on a separate screen; the threshold is that of
    :func:`too_fast`.
    """
    return _fast_sessions(judgments, "context_read_ms", "n_context_characters")


def _fast_sessions(judgments: pd.DataFrame, time: str, length: str) -> pd.DataFrame:
    session, labels = session_codes(judgments)
    pace = column_numbers(judgments, time) / column_numbers(judgments, length)
    valid = np.isfinite(pace)
    by_session = pd.Series(pace[valid]).groupby(session[valid]).agg(["median", "size"])
    median, n = np.full(len(labels), np.nan), np.zeros(len(labels))
    median[by_session.index], n[by_session.index] = by_session["median"], by_session["size"]
    usual = float(np.median(pace[valid])) if valid.any() else np.nan
    return signal_frame(
        labels,
        median,
        has_data=n >= SPEED_TRIALS,
        flagged=median < MIN_MS_PER_CHARACTER,
        reason=lambda code: (
            f"median {_pace_text(median[code])} ms per character, below {MIN_MS_PER_CHARACTER} "
            f"(a threshold from reading research; this study's median is {usual:.0f})"
        ),
    )


def _pace_text(pace: float) -> str:
    """Format a pace to a tenth, rounded down so that a value below the threshold is not shown as equal."""
    return f"{floor(pace * 10) / 10:g}"


SPEED = Signal("speed", 1, "faster than reading", too_fast)
CONTEXT_SPEED = Signal("context_speed", 1, "contexts left faster than reading", fast_contexts)
