"""Agreement of each judgment with the expected label, for all tasks.

Forced choice: the expected member was chosen; the item is the minimal pair. Yes-no: yes to a
sentence expected acceptable, no to one expected unacceptable; the item is the sentence. Rating
tasks: the participant rated the acceptable member of an item above its unacceptable member; undefined
for participants who did not rate both.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from ..columns import require_columns
from ..rows import (
    RATING_TASKS,
    Floats,
    column_or_blank,
    flags,
    group_codes,
    is_kind,
    joint_codes,
    numbers,
    rows_where,
    tasks,
)
from ..scales import usable_ratings
from .undecided import is_undecided

COLUMNS = (
    "participant",
    "paradigm",
    "phenomenon",
    "item",
    "agrees",
    "expected_first",
    "undecided",
    "coding",
    "task",
)


def decisions(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return one row per decision: whether a participant agreed with the expected label on an item.

    Notes
    -----
    ``participant``, ``paradigm``, ``phenomenon``, ``item``, ``agrees`` (1, 0, or NaN where the
    answer is missing; both and neither by their ``value``), ``expected_first`` (1, 0, or NaN where
    no member was chosen), ``undecided`` (both or neither was answered), ``coding`` (how annotators are
    compared with each other: ``label_blind`` in forced choice; in yes-no ``as_is`` where agreeing
    is saying yes, ``turned`` where it is saying no; ``none`` for ratings) and ``task``.

    Within one participant z-scoring keeps the order of ratings, so comparing a participant's own
    ratings of two members is comparing their z-scores. Equal ratings do not agree. An item with
    several acceptable or unacceptable sentences is compared by the means of each side.
    """
    require_columns(judgments, "participant", "value")
    targets = rows_where(judgments, is_kind(judgments, ("target",)))
    task = tasks(targets)
    parts = [part for part in _by_task(targets, task) if len(part)]
    if not parts:
        return pd.DataFrame({name: pd.Series(dtype=object) for name in COLUMNS}).astype(
            {"agrees": float, "expected_first": float, "undecided": bool}
        )
    return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)


def _by_task(targets: pd.DataFrame, task: pd.Series) -> Iterator[pd.DataFrame]:
    codes, labels = group_codes(task)
    for number, name in enumerate(labels):
        rows = targets if len(labels) == 1 else targets[codes == number]
        if name == "yes_no":
            yield yes_no_decisions(rows)
        elif name in RATING_TASKS:
            yield rating_decisions(rows, task=name)
        else:
            yield forced_choice_decisions(rows)


def forced_choice_decisions(judgments: pd.DataFrame) -> pd.DataFrame:
    """Read forced choices: ``value`` 1 chose the expected member, 0 the other.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": ["a", "b"], "pair_id": "p", "value": [1, None]})
    >>> forced_choice_decisions(rows)["agrees"].tolist()
    [1.0, nan]
    """
    if "pair_id" in judgments.columns:
        pair = judgments["pair_id"]
        unnamed = pair.isna() | (pair == "")
        if unnamed.any():
            pair = pair.astype(object).where(~unnamed, column_or_blank(judgments, "item").astype(object))
    else:
        require_columns(judgments, "item")
        pair = judgments["item"]
    coding = _constant_category("label_blind", len(judgments))
    return _decision_frame(judgments, pair, numbers(judgments), coding=coding, task="forced_choice")


def yes_no_decisions(judgments: pd.DataFrame) -> pd.DataFrame:
    """Read yes-no answers: yes to an acceptable or no to an unacceptable sentence agrees.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": "a", "sentence_id": ["s", "t"], "value": [1, 1],
    ...     "expected": ["acceptable", "unacceptable"]})
    >>> yes_no_decisions(rows)["agrees"].tolist()
    [1.0, 0.0]
    """
    require_columns(judgments, "sentence_id", "expected")
    status = judgments["expected"].astype(object)
    labelled = status.isin(["acceptable", "unacceptable"]).to_numpy()
    rows = judgments[labelled]
    says_yes = numbers(rows)
    acceptable = (status[labelled] == "acceptable").to_numpy(dtype=np.int8)
    agrees = np.where(np.isnan(says_yes), np.nan, (says_yes == acceptable).astype(float))
    coding = pd.Categorical.from_codes(1 - acceptable, pd.Index(["as_is", "turned"]))
    return _decision_frame(rows, rows["sentence_id"], agrees, coding=coding, task="yes_no")


def rating_decisions(judgments: pd.DataFrame, *, task: str = "likert") -> pd.DataFrame:
    """Compare each participant's own ratings of the two sides of an item.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": ["a", "a", "b"], "item": "i", "value": [6, 2, 5],
    ...     "expected": ["acceptable", "unacceptable", "acceptable"]})
    >>> rating_decisions(rows)["agrees"].tolist()
    [1.0, nan]
    """
    require_columns(judgments, "item", "expected")
    status = judgments["expected"].astype(object)
    rows = judgments[status.isin(["acceptable", "unacceptable"]).to_numpy()]
    acceptable = (rows["expected"].astype(object) == "acceptable").to_numpy()
    paradigm, _ = group_codes(column_or_blank(rows, "paradigm"))
    item, _ = group_codes(rows["item"])
    person, _ = group_codes(rows["participant"])
    cell, _, _ = joint_codes(person, joint_codes(paradigm, item)[0])
    size = int(cell.max()) + 1 if len(cell) else 0
    first_row = np.zeros(size, dtype=np.int64)
    first_row[cell[::-1]] = np.arange(len(cell))[::-1]
    ratings = usable_ratings(rows, scope=("target",))
    means = []
    for side in (acceptable, ~acceptable):
        is_rated = side & ~np.isnan(ratings)
        n = np.bincount(cell[is_rated], minlength=size)
        total = np.bincount(cell[is_rated], weights=ratings[is_rated], minlength=size)
        means.append(np.divide(total, n, out=np.full(size, np.nan), where=n > 0))
    rated_both = ~np.isnan(means[0]) & ~np.isnan(means[1])
    agrees = np.where(rated_both, (means[0] > means[1]).astype(float), np.nan)
    cell_rows = rows.iloc[first_row]
    return _decision_frame(
        cell_rows, cell_rows["item"], agrees, coding=_constant_category("none", size), task=task
    )


def _decision_frame(
    rows: pd.DataFrame, item: pd.Series, agrees: Floats, *, coding: Any, task: str
) -> pd.DataFrame:
    undecided = is_undecided(rows) if task == "forced_choice" else np.zeros(len(rows), dtype=bool)
    first = np.full(len(rows), np.nan)
    if "expected_first" in rows.columns and task == "forced_choice":
        first = np.where(undecided, np.nan, flags(rows["expected_first"]))
    names = ("participant", "paradigm", "phenomenon")
    return pd.DataFrame(
        {
            **{name: column_or_blank(rows, name).array for name in names},
            "item": item.array,
            "agrees": agrees,
            "expected_first": first,
            "undecided": undecided,
            "coding": coding,
            "task": _constant_category(task, len(rows)),
        },
        copy=False,
    )


def _constant_category(word: str, size: int) -> Any:
    return pd.Categorical.from_codes(np.zeros(size, dtype=np.int8), pd.Index([word]))
