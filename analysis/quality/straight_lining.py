"""The same answer over and over."""

import numpy as np
import pandas as pd

from analysis.quality.base import Signal, answered, column_numbers, measured, session_codes
from analysis.rows import RATING_TASKS, Floats

LEAST_ANSWERS = 10
MOST_MODAL = 0.9
LONGEST_RUN = 10


def straight_lining(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions with one answer throughout, nearly throughout, or ten times in a row.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``value`` and ``position`` of rating and yes-no tasks; forced choice is looked at by
        :func:`~analysis.quality.side_bias.side_bias`, because always choosing the expected sentence is
        no straight line.

    Returns
    -------
    DataFrame indexed by session
        ``value`` is the share of the commonest answer. Sessions with fewer than 10 answers are left out.

    Notes
    -----
    Three signs: standard deviation 0, commonest answer in at least .9, a run of at least 10.

    References
    ----------
    Curran (2016), "Methods for the detection of carelessly invalid responses", JESP 66: long strings.
    """
    session, labels = session_codes(judgments)
    rows, values = answered(judgments, of=(*RATING_TASKS, "yes_no"))
    position = np.nan_to_num(column_numbers(judgments, "position"))
    order = np.lexsort((position, session))
    order = order[rows[order]]
    ends = np.searchsorted(session[order], np.arange(len(labels) + 1))
    share, n, reasons = np.zeros(len(labels)), np.diff(ends), [""] * len(labels)
    for one in np.flatnonzero(n >= LEAST_ANSWERS):
        share[one], reasons[one] = _line(values[order[ends[one] : ends[one + 1]]])
    flagged = np.array([reason != "" for reason in reasons], dtype=bool)
    return measured(labels, share, seen=n >= LEAST_ANSWERS, flagged=flagged, reason=lambda one: reasons[one])


def _line(values: Floats) -> tuple[float, str]:
    """Share of the commonest answer, and what is odd about the answers."""
    answers, counts = np.unique(values, return_counts=True)
    most = int(counts.max())
    common = f"{answers[counts.argmax()]:g}"
    changes = np.flatnonzero(np.diff(values)) + 1
    run = int(np.diff(np.concatenate([[0], changes, [len(values)]])).max())
    if most == len(values):
        reason = f"all {most} answers are {common}"
    elif most / len(values) >= MOST_MODAL:
        reason = f"{most} of {len(values)} answers are {common}"
    else:
        reason = f"{run} equal answers in a row" if run >= LONGEST_RUN else ""
    return most / len(values), reason


SIGNAL = Signal("straight_lining", 1, "the same answer over and over", straight_lining)
