"""Definition of a quality signal, and functions that all signals share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..rows import Codes, Flags, Floats, column_or_blank, flags, group_codes, is_kind, numbers, tasks

ANALYSED = ("target", "filler")
RESULT = ("session", "participant", "signal", "version", "value", "reason")
Measure = Callable[[pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True)
class Signal:
    """A quality signal with its name and version.

    Parameters
    ----------
    name : str
        Name in exclusion plans: ``signal:<name>``.
    version : int
        Incremented with every change of a threshold or measure; a plan stores the version it uses.
    label : str
        Short description for tables.
    measure : callable
        From judgments to one row per session with evidence: ``value``, ``flagged``, ``reason``.
    scores_analysed : bool
        Whether the signal compares the answers to analysed items with those of others: excluding by it
        raises the reported agreement, which its reason states.
    """

    name: str
    version: int
    label: str
    measure: Measure
    scores_analysed: bool = False

    @property
    def reason(self) -> str:
        """Reason of exclusions by this signal."""
        stamp = "; it scores analysed items, which raises agreement" if self.scores_analysed else ""
        return f"{self.label} (signal, version {self.version}{stamp})"


def session_codes(judgments: pd.DataFrame) -> tuple[Codes, list[str]]:
    """Number the sessions; without a session column each participant has one."""
    name = "session" if "session" in judgments.columns else "participant"
    return group_codes(column_or_blank(judgments, name))


def column_numbers(judgments: pd.DataFrame, name: str) -> Floats:
    """Return a column as floats, NaN if absent, empty or not a number."""
    column = pd.to_numeric(column_or_blank(judgments, name), errors="coerce")
    values: Floats = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return values


def answered_rows(judgments: pd.DataFrame, *, of: Sequence[str]) -> tuple[Flags, Floats]:
    """Return which targets and fillers of the given tasks were answered, and all values."""
    values = numbers(judgments)
    codes, labels = group_codes(tasks(judgments))
    of_task = np.array([label in of for label in labels], dtype=bool)[codes]
    return is_kind(judgments, ANALYSED) & of_task & ~np.isnan(values), values


def signal_frame(
    labels: Sequence[str], value: Floats, *, has_data: Flags, flagged: Flags, reason: Callable[[int], str]
) -> pd.DataFrame:
    """Build the frame of a signal from arrays with one entry per session."""
    rows = [int(row) for row in np.flatnonzero(has_data)]
    marks = flagged[rows].astype(bool)
    return pd.DataFrame(
        {
            "value": value[rows].astype(np.float64),
            "flagged": marks,
            "reason": [reason(row) if mark else "" for row, mark in zip(rows, marks, strict=True)],
        },
        index=pd.Series([labels[row] for row in rows], name="session", dtype=object),
    )


def any_mark(
    judgments: pd.DataFrame, column: str, reason: Callable[[int, int], str], *, meaning: int = 1
) -> pd.DataFrame:
    """Flag sessions in which any answer has a mark; the value is the share of such answers."""
    session, labels = session_codes(judgments)
    marks = flags(column_or_blank(judgments, column))
    n = np.bincount(session[~np.isnan(marks)], minlength=len(labels))
    marked = np.bincount(session[marks == meaning], minlength=len(labels))
    return signal_frame(
        labels,
        marked / np.maximum(n, 1),
        has_data=n > 0,
        flagged=marked > 0,
        reason=lambda row: reason(int(marked[row]), int(n[row])),
    )
