"""What every quality signal is, and the few steps that all of them share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.rows import Codes, Flags, Floats, column_or_blank, group_codes, is_kind, numbers, tasks

ANALYSED = ("target", "filler")
RESULT = ("session", "participant", "signal", "version", "value", "reason")
Measure = Callable[[pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True)
class Signal:
    """One signal under its name and version.

    Parameters
    ----------
    name : str
        As plans write it: ``signal:<name>``.
    version : int
        Raised with every change of a cut or of what is measured; a plan names the version it means.
    label : str
        In a few plain words.
    measure : callable
        From judgments to one row per session with evidence: ``value``, ``flagged``, ``reason``.
    scores_analysed : bool
        Whether it looks at how analysed items were answered beside others' answers: excluding by it
        raises the agreement that is then reported, and its reason says so.
    """

    name: str
    version: int
    label: str
    measure: Measure
    scores_analysed: bool = False

    @property
    def reason(self) -> str:
        """Why a plan removes by this signal."""
        stamp = "; it scores analysed items, which raises agreement" if self.scores_analysed else ""
        return f"{self.label} (signal, version {self.version}{stamp})"


def session_codes(judgments: pd.DataFrame) -> tuple[Codes, list[str]]:
    """Number the sessions; without a session column each participant has one.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment

    Returns
    -------
    codes : array of int
    labels : list of str
    """
    name = "session" if "session" in judgments.columns else "participant"
    return group_codes(column_or_blank(judgments, name))


def column_numbers(judgments: pd.DataFrame, name: str) -> Floats:
    """Give a column as floats, NaN where it is absent, empty or no number.

    Parameters
    ----------
    judgments : DataFrame
    name : str

    Returns
    -------
    array of float
    """
    column = pd.to_numeric(column_or_blank(judgments, name), errors="coerce")
    found: Floats = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return found


def answered(judgments: pd.DataFrame, *, of: Sequence[str]) -> tuple[Flags, Floats]:
    """Tell which targets and fillers of some tasks were answered, with their values.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
    of : sequence of str
        Names of tasks.

    Returns
    -------
    rows : array of bool
    values : array of float
    """
    values = numbers(judgments)
    codes, labels = group_codes(tasks(judgments))
    wanted = np.array([label in of for label in labels], dtype=bool)[codes]
    return is_kind(judgments, ANALYSED) & wanted & ~np.isnan(values), values


def measured(
    labels: Sequence[str], value: Floats, *, seen: Flags, flagged: Flags, reason: Callable[[int], str]
) -> pd.DataFrame:
    """Put a measure's arrays, one entry per session, into its frame.

    Parameters
    ----------
    labels : sequence of str
        Names of the sessions.
    value : array of float
    seen : array of bool
        Whether there is evidence; sessions without it are left out.
    flagged : array of bool
    reason : callable
        The reason of the session of that number; asked for flagged ones only.

    Returns
    -------
    DataFrame indexed by session
        ``value``, ``flagged``, ``reason``.
    """
    rows = [int(row) for row in np.flatnonzero(seen)]
    marks = flagged[rows].astype(bool)
    return pd.DataFrame(
        {
            "value": value[rows].astype(np.float64),
            "flagged": marks,
            "reason": [reason(row) if mark else "" for row, mark in zip(rows, marks, strict=True)],
        },
        index=pd.Series([labels[row] for row in rows], name="session", dtype=object),
    )
