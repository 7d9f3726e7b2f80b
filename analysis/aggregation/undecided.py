"""The answers "both" and "neither" in forced choice, and how a study counts them.

The answer is stored in ``response``, and ``sentence_id`` is empty; ``value`` follows the study's setting.
"""

import numpy as np
import pandas as pd

from ..errors import UnknownName
from ..rows import Flags, column_or_blank
from .treatments import ANSWERS, TREATMENTS


def is_undecided(judgments: pd.DataFrame, *, answer: str | None = None) -> Flags:
    """Return which rows of forced choice answered "both" or "neither".

    Examples
    --------
    >>> is_undecided(pd.DataFrame({"response": ["k7", "both"], "task": "forced_choice"})).tolist()
    [False, True]
    """
    mask = np.zeros(len(judgments), dtype=bool)
    if "response" not in judgments.columns:
        return mask
    open_rows = np.ones(len(judgments), dtype=bool)
    if "sentence_id" in judgments.columns:  # comparing texts only of rows without a choice is fast
        chosen = judgments["sentence_id"]
        open_rows = (chosen.isna() | (chosen == "")).to_numpy()
    positions = np.flatnonzero(open_rows)
    if not len(positions):
        return mask
    rows = judgments.iloc[positions]
    answers = (answer,) if answer else ANSWERS
    matches = rows["response"].astype(object).isin(answers).to_numpy()
    task = column_or_blank(rows, "task").astype(object)
    mask[positions] = matches & task.isin(["forced_choice", ""]).to_numpy()
    return mask


def apply_treatment(judgments: pd.DataFrame, treatment: str) -> pd.Series:
    """Return ``value`` with "both" and "neither" counted by a treatment.

    Examples
    --------
    >>> rows = pd.DataFrame({"response": ["k7", "both"], "value": [1.0, 0.5]})
    >>> apply_treatment(rows, "disagreement").tolist()
    [1.0, 0.0]
    """
    if treatment not in TREATMENTS:
        raise UnknownName("treatment of both and neither", treatment, list(TREATMENTS))
    return judgments["value"].mask(is_undecided(judgments), TREATMENTS[treatment].value)


def undecided_summary(judgments: pd.DataFrame, treatment: str = "") -> dict[str, object] | None:
    """Count the answers "both" and "neither", and describe how they are counted."""
    counts = {answer: int(is_undecided(judgments, answer=answer).sum()) for answer in ANSWERS}
    if not treatment and not any(counts.values()):
        return None
    treatment_text = TREATMENTS[treatment].words if treatment in TREATMENTS else "as their values say"
    counts_text = " and ".join(f"{n} × {answer}" for answer, n in counts.items())
    return {**counts, "treatment": treatment or None, "statement": f"{counts_text}, counted {treatment_text}"}
