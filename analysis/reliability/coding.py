"""Answers as input of reliability statistics: one task, one row per answer, with its category."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..aggregation.decisions import forced_choice_decisions
from ..aggregation.ratings import transform_ratings
from ..choices import CODINGS
from ..errors import BadInput, UnknownName
from ..rows import (
    RATING_TASKS,
    average_repeats,
    column_or_blank,
    group_codes,
    is_kind,
    numbers,
    own_majority,
    tasks,
)
from .chance_corrected import is_reversed


@dataclass(frozen=True)
class Answers:
    """Answered targets of one task."""

    task: str
    table: pd.DataFrame
    """``participant``, ``list``, ``unit``, ``paradigm``, ``value`` (as answered), ``score``
    (transformed) and ``category`` (compared between annotators); one row per participant and unit."""
    showings: pd.DataFrame
    """The same columns, one row per answer."""
    unit: str
    """What is judged: pair, sentence or item."""
    coding: str

    @property
    def is_rating(self) -> bool:
        """Whether the answers are points of a scale."""
        return self.task in RATING_TASKS

    def of_paradigms(self, paradigms: Collection[str]) -> "Answers":
        """Return the answers to these paradigms; scores stay those of all answers."""
        names = set(paradigms)
        return replace(
            self,
            table=self.table[self.table["paradigm"].isin(names)],
            showings=self.showings[self.showings["paradigm"].isin(names)],
        )


def code_answers(judgments: pd.DataFrame, *, transform: str = "z", coding: str = "label_blind") -> Answers:
    """Prepare the answers of a study for reliability statistics.

    Notes
    -----
    A participant counts once for a unit: several ratings are averaged after their transformation; of several
    choices the more frequent counts. Two choices given equally often are no category, and score one half.

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
        merged = _merge_repeats(table, is_rating=task in RATING_TASKS)
        return Answers(task, merged, table, "sentence" if has_ids else "item", "as answered")
    table = _choice_answers(judgments, coding=coding)
    return Answers(task, _merge_repeats(table, is_rating=False), table, "pair", coding)


def _merge_repeats(table: pd.DataFrame, *, is_rating: bool) -> pd.DataFrame:
    """Merge the answers of one participant to one unit of one paradigm."""
    names = [name for name in ("value", "score", "category", "blind") if name in table.columns]
    columns = [table[name].to_numpy(dtype=np.float64, copy=True) for name in names]
    units, cells = group_codes(table["paradigm"].astype(str) + "\t" + table["unit"].astype(str))
    is_repeat = average_repeats(columns, units, group_codes(table["participant"])[0], n_groups=len(cells))
    if not is_repeat.any():
        return table
    if not is_rating:
        is_new = columns[0] != table["value"].to_numpy(dtype=np.float64)
        columns = [np.where(is_new, own_majority(column), column) for column in columns]
        for place, name in enumerate(names):
            if name in ("category", "blind"):
                columns[place][is_new & (columns[place] == 0.5)] = np.nan
    merged = table.assign(**dict(zip(names, columns, strict=True)))
    return merged[~is_repeat].reset_index(drop=True)


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
