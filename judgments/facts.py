"""Ids and answers of a study's judgments as columns: one row per judgment, by session and position.

PostgreSQL packs them (:mod:`judgments.packed`); other databases give rows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from django.db import connection
from django.db.models import Q

from experiments.models import Experiment
from judgments.models import Judgment, Session
from judgments.packed import DETAILS, KINDS, STATUSES, UNDECIDED, packed_blocks

_FETCHED = 100_000
Lookup = Callable[[np.ndarray], np.ndarray]
_FACTS = {
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


def answer_facts(
    experiment: Experiment,
    sittings: pd.DataFrame,
    lookups: Mapping[str, Lookup],
    *,
    kinds: Sequence[str] | None = None,
    include_tests: bool = False,
    narrow: bool = False,
) -> dict[str, Any]:
    """Ids and answers of the judgments in the given sessions, by the names of :data:`_FACTS`, in order.

    Ids of items, sentences and pairs come as rows of their tables, by ``lookups``; in place of the session
    stands ``sitting``, its row in ``sittings`` (``pk``, ``n_trials``). What is not there is −1. ``narrow``
    leaves out the :data:`DETAILS`.
    """
    if connection.vendor == "postgresql":
        blocks = packed_blocks(experiment, sittings, kinds=kinds, narrow=narrow)
    else:
        blocks = _rows(experiment, kinds=kinds, include_tests=include_tests, narrow=narrow)
    known = {**lookups, "session": pd.Index(sittings["pk"]).get_indexer}
    columns = _Columns(int(sittings["n_trials"].sum()))
    for block in chain([_of_rows([], narrow=narrow)], blocks):  # an empty one: every column is there
        for name in known:
            block[name] = known[name](block[name]).astype(np.int32)
        columns.add(block)
    facts = columns.filled()
    facts["sitting"] = facts.pop("session")
    return _in_order(facts)


class _Columns:
    """Columns that are filled block by block, so that no row is held twice."""

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
            if self.end > self.size:  # sessions went on since their trials were counted
                column = self.columns[name] = np.append(column[:start], np.empty(2 * self.end, cells.dtype))
            column[start : self.end] = cells
        self.size = max(len(column) for column in self.columns.values())

    def filled(self) -> dict[str, Any]:
        """Give what was added."""
        found: dict[str, Any] = {name: column[: self.end] for name, column in self.columns.items()}
        return {**found, "response": pa.chunked_array(self.texts)} if self.texts else found


def _in_order(facts: dict[str, Any]) -> dict[str, Any]:
    """Sort by session and position, if they are not; leave out sessions that are not listed."""
    sitting, position = facts["sitting"], facts["position"]
    later = np.diff(sitting)
    rises = (later > 0) | ((later == 0) & (np.diff(position) > 0))
    if rises.all() and (sitting[:1] >= 0).all():
        return facts
    order = np.lexsort((position, sitting))
    order = order[sitting[order] >= 0]
    found: dict[str, Any] = {}
    for name in list(facts):
        column = facts.pop(name)
        found[name] = column.take(pa.array(order)) if isinstance(column, pa.ChunkedArray) else column[order]
    return found


def _rows(
    experiment: Experiment, *, kinds: Sequence[str] | None, include_tests: bool, narrow: bool
) -> Iterator[dict[str, Any]]:
    """Fetch rows without making model values of them; every column is a plain number, text or flag."""
    wanted = Q(trial__session__experiment=experiment)
    if not include_tests:
        wanted &= Q(trial__session__is_test=False)
    if kinds is not None:
        wanted &= Q(trial__kind__in=list(kinds))
    rows = Judgment.objects.filter(wanted).exclude(trial__session__status=Session.Status.WITHDRAWN)
    ordered = rows.order_by("trial__session_id", "trial__position").values_list(*_FACTS.values())
    sql, parameters = ordered.query.sql_with_params()
    with connection.chunked_cursor() as cursor:
        cursor.execute(sql, parameters)
        while block := cursor.fetchmany(_FETCHED):
            yield _of_rows(block, narrow=narrow)


def _of_rows(block: Sequence[tuple], *, narrow: bool) -> dict[str, Any]:
    """Columns of rows as the driver gives them."""
    cells = dict(zip(_FACTS, zip(*block, strict=True) if block else [()] * len(_FACTS), strict=True))
    codes = {"kind": KINDS, "status": STATUSES}
    found: dict[str, Any] = {}
    for name, column in cells.items():
        if name in codes:
            found[name] = np.array([codes[name].index(word) for word in column], dtype=np.int8)
        elif name == "response":
            found[name] = pa.array(column, pa.large_string())
        elif name in ("expected_first", "correct"):
            found[name] = np.array([-1 if flag is None else int(flag) for flag in column], dtype=np.int8)
        elif name in ("value", "scale_low", "scale_high"):
            found[name] = np.array(column, dtype=np.float64)
        else:
            found[name] = np.array([-1 if number is None else number for number in column], dtype=np.int64)
    if narrow:
        places = {word: number for number, word in enumerate(UNDECIDED)}
        said = zip(cells["response"], found["chosen"], strict=True)
        undecided = [places.get(word, 0) if chosen < 0 else 0 for word, chosen in said]
        found = {name: column for name, column in found.items() if name not in DETAILS}
        found["undecided"] = np.array(undecided, dtype=np.int8)
    return found
