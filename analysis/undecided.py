"""Answers of forced choice that chose no member: "both" and "neither", and how a study counts them.

The answer itself stays in ``response``; ``sentence_id`` is empty. ``value`` is what the study declared.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.errors import UnknownName
from analysis.rows import Flags, column_or_blank

ANSWERS = ("both", "neither")


@dataclass(frozen=True)
class Treatment:
    """One way to count an answer that chose no member."""

    value: float
    words: str


TREATMENTS = {
    "disagreement": Treatment(0.0, "as disagreement with the expected member"),
    "half": Treatment(0.5, "as one half for each member"),
    "leave_out": Treatment(float("nan"), "not at all: left out of shares and majorities"),
}


def is_undecided(judgments: pd.DataFrame, *, answer: str | None = None) -> Flags:
    """Tell which rows of forced choice answered both or neither.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``response``, and where known ``task`` and ``sentence_id``: a row with a chosen sentence is decided.
    answer : {"both", "neither"}, optional
        Only this answer.

    Returns
    -------
    array of bool

    Examples
    --------
    >>> is_undecided(pd.DataFrame({"response": ["k7", "both"], "task": "forced_choice"})).tolist()
    [False, True]
    """
    found = np.zeros(len(judgments), dtype=bool)
    if "response" not in judgments.columns:
        return found
    open_rows = np.ones(len(judgments), dtype=bool)
    if "sentence_id" in judgments.columns:  # looks at few rows only, where there are millions
        chosen = judgments["sentence_id"]
        open_rows = (chosen.isna() | (chosen == "")).to_numpy()
    places = np.flatnonzero(open_rows)
    if not len(places):
        return found
    rows = judgments.iloc[places]
    wanted = (answer,) if answer else ANSWERS
    said = rows["response"].astype(object).isin(wanted).to_numpy()
    task = column_or_blank(rows, "task").astype(object)
    found[places] = said & task.isin(["forced_choice", ""]).to_numpy()
    return found


def treated(judgments: pd.DataFrame, treatment: str) -> pd.Series:
    """Give ``value`` with both and neither counted as a study declares.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``response`` and ``value``.
    treatment : {"disagreement", "half", "leave_out"}

    Returns
    -------
    Series of float, same index
        0, one half or NaN for both and neither; every other value as it is.

    Raises
    ------
    UnknownName
        If there is no such treatment.

    Examples
    --------
    >>> rows = pd.DataFrame({"response": ["k7", "both"], "value": [1.0, 0.5]})
    >>> treated(rows, "disagreement").tolist()
    [1.0, 0.0]
    """
    if treatment not in TREATMENTS:
        raise UnknownName("treatment of both and neither", treatment, list(TREATMENTS))
    return judgments["value"].mask(is_undecided(judgments), TREATMENTS[treatment].value)


def undecided_block(judgments: pd.DataFrame, treatment: str = "") -> dict[str, object] | None:
    """Count the answers both and neither, and say how they count.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        The kept rows.
    treatment : str
        As the study declares it; empty where it offers neither answer.

    Returns
    -------
    dict or None
        ``both``, ``neither``, ``treatment`` and ``statement``; None where nothing was offered and nothing
        of the kind was answered.
    """
    counts = {one: int(is_undecided(judgments, answer=one).sum()) for one in ANSWERS}
    if not treatment and not any(counts.values()):
        return None
    how = TREATMENTS[treatment].words if treatment in TREATMENTS else "as their values say"
    said = " and ".join(f"{n} × {one}" for one, n in counts.items())
    return {**counts, "treatment": treatment or None, "statement": f"{said}, counted {how}"}
