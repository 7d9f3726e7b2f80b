"""Answers as input of reliability statistics: one task, one row per answer, with its category."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..aggregation.decisions import forced_choice_decisions
from ..aggregation.ratings import transform_ratings
from ..errors import BadInput, UnknownName
from ..rows import RATING_TASKS, column_or_blank, is_kind, numbers, tasks
from .chance_corrected import is_reversed

CODINGS = ("label_blind", "expected")


@dataclass(frozen=True)
class Answers:
    """Answered targets of one task."""

    task: str
    table: pd.DataFrame
    """``participant``, ``list``, ``unit``, ``paradigm``, ``value`` (as answered), ``score``
    (transformed) and ``category`` (compared between annotators)."""
    unit: str
    """What is judged: pair, sentence or item."""
    coding: str

    @property
    def is_rating(self) -> bool:
        """Whether the answers are points of a scale."""
        return self.task in RATING_TASKS

    def of_paradigms(self, paradigms: Collection[str]) -> "Answers":
        """Return the answers to these paradigms; scores stay those of all answers."""
        return replace(self, table=self.table[self.table["paradigm"].isin(set(paradigms))])


def code_answers(judgments: pd.DataFrame, *, transform: str = "z", coding: str = "label_blind") -> Answers:
    """Prepare the answers of a study for reliability statistics.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": ["a", "b"], "item": ["x", "x"], "value": [1, 0]})
    >>> code_answers(rows, coding="expected").table["category"].tolist()
    [1.0, 0.0]
    """
    if coding not in CODINGS:
        raise UnknownName("coding", coding, CODINGS)
    task_names = [str(name) for name in pd.unique(tasks(judgments).dropna())] if len(judgments) else [""]
    if len(task_names) != 1:
        message = f"the judgments are of {len(task_names)} tasks."
        raise BadInput(message, column="task", remedy="Give one task.")
    task = task_names[0]
    if task in RATING_TASKS or task == "yes_no":
        table = _rating_answers(judgments, transform="raw" if task == "yes_no" else transform)
        has_ids = bool((column_or_blank(judgments, "sentence_id").astype(str) != "").any())
        return Answers(task, table, "sentence" if has_ids else "item", "as answered")
    return Answers(task, _choice_answers(judgments, coding=coding), "pair", coding)


def _rating_answers(judgments: pd.DataFrame, *, transform: str) -> pd.DataFrame:
    score = transform_ratings(judgments, transform=transform).to_numpy(dtype=np.float64)
    value = numbers(judgments)
    answered = is_kind(judgments, ("target",)) & ~np.isnan(value)
    rows = judgments[answered]
    unit = column_or_blank(rows, "sentence_id")
    if (unit.astype(str) == "").all():
        unit = column_or_blank(rows, "item")
    table = _answer_frame(rows, unit)
    return table.assign(value=value[answered], score=score[answered], category=value[answered])


def _choice_answers(judgments: pd.DataFrame, *, coding: str) -> pd.DataFrame:
    rows = judgments[is_kind(judgments, ("target",))]
    decided = forced_choice_decisions(rows)
    table = _answer_frame(rows, decided["item"]).assign(value=decided["agrees"].to_numpy(dtype=np.float64))
    table["score"] = table["value"]
    names = table["paradigm"].astype(str) + "\t" + table["unit"].astype(str)
    reverse = names.map({name: is_reversed(name) for name in names.unique()}).to_numpy(dtype=bool)
    table["blind"] = np.where(reverse, 1 - table["value"], table["value"])
    table["category"] = table["blind"] if coding == "label_blind" else table["value"]
    return table[table["value"].notna()].reset_index(drop=True)


def _answer_frame(rows: pd.DataFrame, unit: pd.Series) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "participant": rows["participant"].to_numpy(),
            "list": column_or_blank(rows, "list").astype(str).to_numpy(),
            "unit": unit.astype(object).to_numpy(),
            "paradigm": column_or_blank(rows, "paradigm").astype(str).to_numpy(),
        }
    )
