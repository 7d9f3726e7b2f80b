"""The answers whose reliability is asked: one task, one row each, coded without regard to the label."""

import hashlib
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.aggregation.transforms import transformed
from analysis.agreement.decisions import forced_choice_decisions
from analysis.errors import BadInput, UnknownName
from analysis.rows import RATING_TASKS, column_or_blank, is_kind, numbers, tasks

CODINGS = ("label_blind", "expected")


@dataclass(frozen=True)
class Answers:
    """Answered targets of one task."""

    task: str
    table: pd.DataFrame
    """``participant``, ``list``, ``unit``, ``paradigm``, ``value`` (as answered), ``score`` (put on the
    scale that is averaged) and ``category`` (what annotators are compared by)."""
    unit: str
    """What is judged: pair, sentence or item."""
    coding: str

    @property
    def is_rating(self) -> bool:
        """Whether the answers are points of a scale."""
        return self.task in RATING_TASKS


def answers_of(judgments: pd.DataFrame, *, transform: str = "z", coding: str = "label_blind") -> Answers:
    """Read the answers of a study whose reliability is asked.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment of one task
        Needs ``participant``, ``item`` and ``value``; units are ``sentence_id``, in forced choice the pair.
    transform : str
        Of ratings.
    coding : {"label_blind", "expected"}
        Of forced choices: which member was chosen, or whether it was the expected one.

    Returns
    -------
    Answers

    Raises
    ------
    BadInput
        If the judgments are of several tasks.
    UnknownName
        If coding or transform are other words.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": ["a", "b"], "item": ["x", "x"], "value": [1, 0]})
    >>> answers_of(rows, coding="expected").table["category"].tolist()
    [1.0, 0.0]
    """
    if coding not in CODINGS:
        raise UnknownName("coding", coding, CODINGS)
    named = [str(name) for name in pd.unique(tasks(judgments).dropna())] if len(judgments) else [""]
    if len(named) != 1:
        raise BadInput(f"the judgments are of {len(named)} tasks.", column="task", remedy="Give one task.")
    task = named[0]
    if task in RATING_TASKS or task == "yes_no":
        table = _rated(judgments, transform="raw" if task == "yes_no" else transform)
        has_ids = bool((column_or_blank(judgments, "sentence_id").astype(str) != "").any())
        return Answers(task, table, "sentence" if has_ids else "item", "as answered")
    return Answers(task, _chosen(judgments, coding=coding), "pair", coding)


def _rated(judgments: pd.DataFrame, *, transform: str) -> pd.DataFrame:
    score = transformed(judgments, transform=transform).to_numpy(dtype=np.float64)
    value = numbers(judgments)
    used = is_kind(judgments, ("target",)) & ~np.isnan(value)
    rows = judgments[used]
    unit = column_or_blank(rows, "sentence_id")
    if (unit.astype(str) == "").all():
        unit = column_or_blank(rows, "item")
    table = _named(rows, unit)
    return table.assign(value=value[used], score=score[used], category=value[used])


def _chosen(judgments: pd.DataFrame, *, coding: str) -> pd.DataFrame:
    rows = judgments[is_kind(judgments, ("target",))]
    decided = forced_choice_decisions(rows)
    table = _named(rows, decided["item"]).assign(value=decided["agrees"].to_numpy(dtype=np.float64))
    table["score"] = table["value"]
    names = table["paradigm"].astype(str) + "\t" + table["unit"].astype(str)
    turned = names.map({name: _turned(name) for name in names.unique()}).to_numpy(dtype=bool)
    table["blind"] = np.where(turned, 1 - table["value"], table["value"])
    table["category"] = table["blind"] if coding == "label_blind" else table["value"]
    return table[table["value"].notna()].reset_index(drop=True)


def _turned(name: str) -> bool:
    """Draw a side by a hash of the pair's name, as in the agreement report."""
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


def _named(rows: pd.DataFrame, unit: pd.Series) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "participant": rows["participant"].to_numpy(),
            "list": column_or_blank(rows, "list").astype(str).to_numpy(),
            "unit": unit.astype(object).to_numpy(),
            "paradigm": column_or_blank(rows, "paradigm").astype(str).to_numpy(),
        }
    )
