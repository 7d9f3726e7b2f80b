"""Signals of coherence: whether the times and facts of a session fit each other and the server's clock."""

import numpy as np
import pandas as pd

from ..rows import Flags, Floats, joint_codes
from .base import Signal, any_mark, column_numbers, session_codes, signal_frame

CLOCK_DRIFT, CLOCK_TOLERANCE_MS = 0.01, 1000  # between the clocks of browser and server
MS_PER_MIN = 60_000


def impossible_time(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions whose response times add up to more than the time that the session lasted.

    Notes
    -----
    Trials follow each other, so the sum of the response times is at most the time from the start of the
    session to its last answer, both by the server's clock. Answers that wait on a device without a network
    arrive later, which only lengthens that time.
    """
    session, labels = session_codes(judgments)
    rt, received, started = _columns(judgments, "rt_ms", "received_ms", "started_ms")
    rows = _first_row_of_trial(judgments, session) & ~np.isnan(rt + received + started)
    total = np.bincount(session[rows], weights=rt[rows], minlength=len(labels))
    start, end = np.full(len(labels), np.inf), np.full(len(labels), -np.inf)
    np.minimum.at(start, session[rows], started[rows])
    np.maximum.at(end, session[rows], received[rows])
    has_data = np.isfinite(end)
    lasted = np.where(has_data, end - np.where(has_data, start, 0), np.nan)
    return signal_frame(
        labels,
        total / np.maximum(lasted, 1),
        has_data=has_data,
        flagged=total > lasted * (1 + CLOCK_DRIFT) + CLOCK_TOLERANCE_MS,
        reason=lambda row: (
            f"response times add up to {total[row] / MS_PER_MIN:.1f} min, "
            f"but the session lasted {lasted[row] / MS_PER_MIN:.1f} min by the server's clock"
        ),
    )


IMPOSSIBLE_TIME = Signal("impossible_time", 1, "response times longer than the session", impossible_time)


BURST_MS = 100  # shorter than the guard against answers given by mistake, so not between two answers
MIN_ANSWERS = 5
BURST_SHARE = 0.9


def one_delivery(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions of which at least nine tenths of the answers reached the server in one moment.

    Notes
    -----
    The engine sends each answer when it is given. A participant without a network for the whole session sends
    all of them at its end, so the flag is for review.
    """
    session, labels = session_codes(judgments)
    received, measured = _columns(judgments, "received_ms", "is_measured")
    rows = np.flatnonzero(_first_row_of_trial(judgments, session) & ~np.isnan(received + measured))
    rows = rows[np.lexsort((received[rows], session[rows]))]
    codes, times = session[rows], received[rows]
    is_start = np.ones(len(rows), dtype=bool)
    is_start[1:] = (np.diff(codes) != 0) | (np.diff(times) > BURST_MS)
    sizes = np.bincount(np.cumsum(is_start) - 1, minlength=int(is_start.sum()))
    largest = np.zeros(len(labels), dtype=np.int64)
    np.maximum.at(largest, codes[is_start], sizes[: int(is_start.sum())])
    n = np.bincount(codes, minlength=len(labels))
    share = largest / np.maximum(n, 1)
    return signal_frame(
        labels,
        share,
        has_data=n >= MIN_ANSWERS,
        flagged=(n >= MIN_ANSWERS) & (share >= BURST_SHARE),
        reason=lambda row: (
            f"{largest[row]} of {n[row]} answers arrived in one moment; "
            "a session without a network until its end does so too"
        ),
    )


ONE_DELIVERY = Signal("one_delivery", 1, "all answers delivered at once", one_delivery)


def engine_facts(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions with answers that lack what the trial engine measures beside each of them.

    Notes
    -----
    Plain forms, imported judgments and simulated participants are not evaluated.
    """
    return any_mark(
        judgments,
        "is_measured",
        lambda marked, n: f"{marked} of {n} answers lack what the page measures beside every answer",
        meaning=0,
    )


ENGINE_FACTS = Signal("engine_facts", 1, "measurements of the page missing", engine_facts)


START_TOLERANCE_MS = 5000  # the network's delay enters the offset between the clocks
MIN_EARLY = 2  # one may come from a change of device or of its clock


def before_onset(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions with answers given before their trial can have been on the screen.

    Notes
    -----
    The onset of a trial is the time of its answer minus its response time, by the browser's clock. It cannot
    be earlier than the answer to the trial before, nor than the start of the session. Answers during which
    the browser's clock was set back are left out, and a single early one is not flagged.
    """
    session, labels = session_codes(judgments)
    answered, rt, offset, started, position, set_back = _columns(
        judgments, "answered_ms", "rt_ms", "clock_offset_ms", "started_ms", "position", "clock_backwards"
    )
    rows = np.flatnonzero(_first_row_of_trial(judgments, session) & ~np.isnan(answered + rt))
    rows = rows[np.lexsort((position[rows], session[rows]))]
    codes, onset = session[rows], answered[rows] - rt[rows]
    overlaps = np.zeros(len(rows), dtype=bool)
    overlaps[1:] = (np.diff(codes) == 0) & (onset[1:] < answered[rows][:-1] - CLOCK_TOLERANCE_MS)
    precedes = onset + offset[rows] < started[rows] - START_TOLERANCE_MS  # NaN compares as False
    is_early = (overlaps | precedes) & ~(set_back[rows] == 1)
    n = np.bincount(codes, minlength=len(labels))
    early = np.bincount(codes[is_early], minlength=len(labels))
    return signal_frame(
        labels,
        early / np.maximum(n, 1),
        has_data=n > 0,
        flagged=early >= MIN_EARLY,
        reason=lambda row: (
            f"{early[row]} of {n[row]} answers were given before their trial can have been shown"
        ),
    )


BEFORE_ONSET = Signal("before_onset", 1, "answers before their trial", before_onset)


def _columns(judgments: pd.DataFrame, *names: str) -> list[Floats]:
    return [column_numbers(judgments, name) for name in names]


def _first_row_of_trial(judgments: pd.DataFrame, session: np.ndarray) -> Flags:
    """Mark one row of each trial, because a judged set has a row for each sentence."""
    position = column_numbers(judgments, "position")
    if np.isnan(position).all():
        return np.ones(len(judgments), dtype=bool)
    places = np.unique(position, return_inverse=True)[1]
    first = np.zeros(len(judgments), dtype=bool)
    first[np.unique(joint_codes(session, places)[0], return_index=True)[1]] = True
    return first
