"""Ids and values of a study's judgments as columns: one row per judgment, by session and position.

PostgreSQL packs whole columns (:mod:`judgments.frames.fetch_postgres`); other databases return rows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Q, QuerySet

from experiments.models import Experiment
from judgments.frames.data_source import data_condition
from judgments.frames.fetch_postgres import DETAILS, KINDS, STATUSES, UNDECIDED, Array, packed_blocks
from judgments.models import Judgment, Session, Trial

_FETCHED = 100_000  # rows per fetch
Lookup = Callable[[Array], Array]
_FIELDS = {
    "trial": "trial_id",
    "session": "trial__session_id",
    "position": "trial__position",
    "item": "trial__item_id",
    "sentence": "trial__sentence_id",
    "pair": "trial__pair_id",
    "chosen": "chosen_id",
    "rt_ms": "rt_ms",
    "value": "value",
    "scale_low": "scale_low",
    "scale_high": "scale_high",
    "kind": "trial__kind",
    "status": "status",
    "expected_first": "trial__expected_first",
    "correct": "is_correct",
    "response": "response",
}


def answer_columns(
    experiment: Experiment,
    sessions: pd.DataFrame,
    lookups: Mapping[str, Lookup],
    *,
    kinds: Sequence[str] | None = None,
    narrow: bool = False,
    trials: QuerySet[Trial] | None = None,
) -> dict[str, Any]:
    """Columns of the judgments in the given sessions, by the names of :data:`_FIELDS`, in order.

    Ids of items, sentences and pairs are replaced by the rows of their tables (``lookups``), the session by
    ``session_row``, its row in ``sessions`` (``pk``, ``n_trials``). A missing value is −1. ``narrow`` leaves
    out the :data:`DETAILS`; ``trials`` restricts the judgments to these trials.
    """
    if connection.vendor == "postgresql" and trials is None:
        blocks = packed_blocks(experiment, sessions, kinds=kinds, narrow=narrow)
    else:
        blocks = _row_blocks(experiment, kinds=kinds, narrow=narrow, trials=trials)
    row_of = {**lookups, "session": pd.Index(sessions["pk"]).get_indexer}
    columns = _Columns(int(sessions["n_trials"].sum()))
    # the first block is empty, so that every column exists in a study without judgments
    for block in chain([_convert_columns([], narrow=narrow)], blocks):
        for name in row_of:
            block[name] = row_of[name](block[name]).astype(np.int32)
        columns.add(block)
    answers = columns.used_columns()
    answers["session_row"] = answers.pop("session")
    return _in_order(answers)


class _Columns:
    """Columns that are filled block by block, so that no row is in memory twice."""

    def __init__(self, size: int) -> None:
        self.columns: dict[str, Any] = {}
        self.texts: list[Any] = []
        self.size, self.end = size, 0

    def add(self, block: dict[str, Any]) -> None:
        """Copy a block to the end."""
        start, self.end = self.end, self.end + len(block["session"])
        if "response" in block:
            self.texts.append(block.pop("response"))
        for name, cells in block.items():
            column = self.columns.setdefault(name, np.empty(self.size, dtype=cells.dtype))
            if self.end > self.size:  # trials were added since they were counted
                column = self.columns[name] = np.append(column[:start], np.empty(2 * self.end, cells.dtype))
            column[start : self.end] = cells
        self.size = max(len(column) for column in self.columns.values())

    def used_columns(self) -> dict[str, Any]:
        """The columns without their unused ends."""
        columns: dict[str, Any] = {name: column[: self.end] for name, column in self.columns.items()}
        return {**columns, "response": pa.chunked_array(self.texts)} if self.texts else columns


def _in_order(answers: dict[str, Any]) -> dict[str, Any]:
    """Sort by session and position unless sorted already; drop judgments of unlisted sessions."""
    session_row, position = answers["session_row"], answers["position"]
    step = np.diff(session_row)
    rises = (step > 0) | ((step == 0) & (np.diff(position) > 0))
    if rises.all() and (session_row[:1] >= 0).all():
        return answers
    order = np.lexsort((position, session_row))
    order = order[session_row[order] >= 0]
    ordered: dict[str, Any] = {}
    for name in list(answers):
        column = answers.pop(name)
        ordered[name] = column.take(pa.array(order)) if isinstance(column, pa.ChunkedArray) else column[order]
    return ordered


def _row_blocks(
    experiment: Experiment,
    *,
    kinds: Sequence[str] | None,
    narrow: bool,
    trials: QuerySet[Trial] | None,
) -> Iterator[dict[str, Any]]:
    """Fetch rows in blocks; every column is a plain number, text or flag."""
    condition = Q(trial__session__experiment=experiment) & data_condition(experiment, "trial__session__")
    if kinds is not None:
        condition &= Q(trial__kind__in=list(kinds))
    if trials is not None:
        condition &= Q(trial__in=trials)
    rows = Judgment.objects.filter(condition).exclude(trial__session__status=Session.Status.WITHDRAWN)
    ordered = rows.order_by("trial__session_id", "trial__position").values_list(*_FIELDS.values())
    # the plain cursor skips Django's conversion of each cell, which takes longer than the query
    try:
        sql, parameters = ordered.query.sql_with_params()
    except EmptyResultSet:  # no version has such data: a study without a pilot or dry run
        return
    with connection.chunked_cursor() as cursor:
        cursor.execute(sql, parameters)
        while block := cursor.fetchmany(_FETCHED):
            yield _convert_columns(block, narrow=narrow)


def _convert_columns(block: Sequence[tuple[Any, ...]], *, narrow: bool) -> dict[str, Any]:
    """Columns of rows as the driver returns them."""
    cells = dict(zip(_FIELDS, zip(*block, strict=True) if block else [()] * len(_FIELDS), strict=True))
    codes = {"kind": KINDS, "status": STATUSES}
    columns: dict[str, Any] = {}
    for name, column in cells.items():
        if name in codes:
            columns[name] = np.array([codes[name].index(word) for word in column], dtype=np.int8)
        elif name == "response":
            columns[name] = pa.array(column, pa.large_string())
        elif name in ("expected_first", "correct"):
            columns[name] = np.array([-1 if flag is None else int(flag) for flag in column], dtype=np.int8)
        elif name in ("value", "scale_low", "scale_high"):
            columns[name] = np.array(column, dtype=np.float64)
        else:
            columns[name] = np.array([-1 if number is None else number for number in column], dtype=np.int64)
    if narrow:
        code_of = {word: number for number, word in enumerate(UNDECIDED)}
        responses = zip(cells["response"], columns["chosen"], strict=True)
        undecided = [code_of.get(word, 0) if chosen < 0 else 0 for word, chosen in responses]
        columns = {name: column for name, column in columns.items() if name not in DETAILS}
        columns["undecided"] = np.array(undecided, dtype=np.int8)
    return columns
