"""Ids and answers of a study's judgments as columns: one row per judgment, by session and position.

PostgreSQL packs a block of rows into one string of bytes for each column, which becomes an array as it
stands; a Python value for each cell would cost many times the time and the memory. Other databases give rows.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import psycopg
import pyarrow as pa
from django.db import connection, transaction
from django.db.models import Max, Min, Q

from experiments.models import Experiment, TrialKind
from judgments.models import Judgment, Session, Trial

BLOCK = 100_000
_DENSE = 0.5
"""Share of all trials from which on a study is read along the trials' ids, not by sessions."""
_KINDS, _STATUSES = tuple(TrialKind.values), tuple(Judgment.Status.values)
_SEVERAL, _CONNECTIONS = 5, 2
"""Blocks from which on a study is read over several connections, and how many."""
_SAID = np.array([-1, 1, 0, -1], dtype=np.int8)
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


def _initials(words: Sequence[str]) -> np.ndarray:
    """Place of a word in our own list by the number of its first letter, which tells them apart."""
    places = np.full(256, -1, dtype=np.int8)
    places[[ord(word[0]) for word in words]] = np.arange(len(words))
    return places


def answer_facts(
    experiment: Experiment,
    sittings: pd.DataFrame,
    lookups: Mapping[str, Lookup],
    *,
    kinds: Sequence[str] | None = None,
    include_tests: bool = False,
) -> dict[str, Any]:
    """Ids and answers of the judgments in the given sessions, by the names of :data:`_FACTS`, in order.

    Ids of items, sentences and pairs come as rows of their tables, by ``lookups``; in place of the session
    stands ``sitting``, its row in ``sittings`` (``pk``, ``n_trials``). What is not there is −1.
    """
    if connection.vendor == "postgresql":
        blocks = _packed(experiment, sittings, kinds=kinds)
    else:
        blocks = _rows(experiment, kinds=kinds, include_tests=include_tests)
    known = {**lookups, "session": pd.Index(sittings["pk"]).get_indexer}
    columns = _Columns(int(sittings["n_trials"].sum()))
    for block in blocks:
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
        start, self.end = self.end, self.end + len(block["trial"])
        self.texts.append(block.pop("response"))
        for name, cells in block.items():
            column = self.columns.setdefault(name, np.empty(self.size, dtype=cells.dtype))
            if self.end > self.size:  # sessions went on since their trials were counted
                column = self.columns[name] = np.append(column[:start], np.empty(2 * self.end, cells.dtype))
            column[start : self.end] = cells
        self.size = max(len(column) for column in self.columns.values())

    def filled(self) -> dict[str, Any]:
        """Give what was added."""
        if not self.texts:
            self.add(_of_rows([]))
        found = {name: column[: self.end] for name, column in self.columns.items()}
        return {**found, "response": pa.chunked_array(self.texts)}


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
    experiment: Experiment, *, kinds: Sequence[str] | None, include_tests: bool
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
        while block := cursor.fetchmany(BLOCK):
            yield _of_rows(block)


def _of_rows(block: Sequence[tuple]) -> dict[str, Any]:
    """Columns of rows as the driver gives them."""
    cells = dict(zip(_FACTS, zip(*block, strict=True) if block else [()] * len(_FACTS), strict=True))
    codes = {"kind": _KINDS, "status": _STATUSES}
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
    return found


_LONG = {
    "trial": "t.id",
    "session": "t.session_id",
    "item": "t.item_id",
    "sentence": "t.sentence_id",
    "pair": "t.pair_id",
    "chosen": "j.chosen_id",
}
_FLOATS = {"value": "j.value", "scale_low": "j.scale_low", "scale_high": "j.scale_high"}
_MISSING = dict.fromkeys(_LONG, "-1") | dict.fromkeys(_FLOATS, "'NaN'::float8")
_OFTEN_MISSING = ("chosen", "value")
_FIRST = {"kind": _initials(_KINDS), "status": _initials(_STATUSES)}
_SHORT = {
    "position": "t.position",
    "rt_ms": "COALESCE(j.rt_ms, -1)",
    "length": "octet_length(j.response)",
    "small": "ascii(t.kind) + 256 * ascii(j.status) + CASE WHEN t.expected_first THEN 65536 "
    "WHEN NOT t.expected_first THEN 131072 ELSE 0 END + CASE WHEN j.is_correct THEN 262144 "
    "WHEN NOT j.is_correct THEN 524288 ELSE 0 END",
}
_TYPES = {**dict.fromkeys(_LONG, ">i8"), **dict.fromkeys(_SHORT, ">i4"), **dict.fromkeys(_FLOATS, ">f8")}


def _query(condition: str, *, filled: bool) -> str:
    """SQL for one block; ``filled`` puts a number where there is none, as without it rows are passed over."""
    cells = []
    for send, columns in (("int8send", _LONG), ("int4send", _SHORT), ("float8send", _FLOATS)):
        for name, cell in columns.items():
            blank = _MISSING.get(name) if filled or name in _OFTEN_MISSING else None
            cells.append(f"string_agg({send}({f'COALESCE({cell}, {blank})' if blank else cell}), ''::bytea)")
    return (
        f"SELECT count(*), {', '.join(cells)}, string_agg(convert_to(j.response, 'UTF8'), ''::bytea) "
        f"FROM {Judgment._meta.db_table} j JOIN {Trial._meta.db_table} t ON t.id = j.trial_id "
        f"WHERE {condition}"
    )


def _packed(
    experiment: Experiment, sittings: pd.DataFrame, *, kinds: Sequence[str] | None
) -> Iterator[dict[str, Any]]:
    """Blocks of columns; the order of rows within a block is the database's."""
    of_kind = " AND t.kind = ANY(%(kinds)s)" if kinds is not None else ""
    wanted = [
        (condition + of_kind, {**bounds, "kinds": list(kinds or [])})
        for condition, bounds in _ranges(sittings)
    ]
    if len(wanted) < _SEVERAL or connection.in_atomic_block:  # another connection sees what is committed
        yield from filter(None, (_block(*one) for one in wanted))
        return
    with ThreadPoolExecutor(_CONNECTIONS) as readers:
        blocks = deque(readers.submit(_apart, *one) for one in wanted)
        while blocks:
            if block := blocks.popleft().result():
                yield block


def _apart(condition: str, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read a block on a connection of this thread."""
    try:
        return _block(condition, parameters)
    finally:
        connection.close()


def _block(condition: str, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    with transaction.atomic(), connection.cursor():
        cursor = psycopg.Cursor(connection.connection)
        cursor.execute("SET LOCAL jit = off")
        cursor.execute("SET LOCAL max_parallel_workers_per_gather = 0")
        for filled in (
            False,
            True,
        ):  # planned anew for each block: a general plan does not see how narrow it is
            sql = _query(condition, filled=filled)
            n, *cells, text = cursor.execute(sql, parameters, binary=True, prepare=False).fetchone()
            if n == 0:
                return None
            whole = [n * int(kind[-1]) for kind in _TYPES.values()]
            if filled or all(
                cell is None or len(cell) == size for cell, size in zip(cells, whole, strict=True)
            ):
                return _unpacked(n, cells, text)
    return None


def _ranges(sittings: pd.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    """Blocks with the sessions: along the trials' ids where the study is most of them, or by session."""
    ends = Trial.objects.aggregate(low=Min("pk"), high=Max("pk"))
    sizes, pks = (sittings[name].to_numpy(dtype=np.int64) for name in ("n_trials", "pk"))
    if ends["low"] is None or not sizes.sum():
        return
    if sizes.sum() >= _DENSE * (ends["high"] - ends["low"] + 1):
        condition = (
            "t.id BETWEEN %(low)s AND %(high)s AND j.trial_id BETWEEN %(low)s AND %(high)s "
            "AND t.session_id BETWEEN %(first)s AND %(last)s"
        )
        bounds = {"first": int(pks.min()), "last": int(pks.max())}
        for low in range(ends["low"], ends["high"] + 1, BLOCK):
            yield condition, {**bounds, "low": low, "high": low + BLOCK - 1}
        return
    block = (np.cumsum(sizes) - sizes) // BLOCK
    for number in np.unique(block):
        yield "t.session_id = ANY(%(sessions)s)", {"sessions": pks[block == number].tolist()}


def _unpacked(n: int, cells: Sequence[bytes | None], text: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for (name, kind), packed in zip(_TYPES.items(), cells, strict=True):
        if packed is None:
            found[name] = np.full(n, np.nan if kind == ">f8" else -1, dtype=kind.replace(">", "="))
        else:
            found[name] = np.frombuffer(packed, dtype=kind).astype(kind.replace(">", "="))
    small, offsets = found.pop("small"), np.zeros(n + 1, dtype=np.int64)
    np.cumsum(found.pop("length"), out=offsets[1:])
    found["kind"], found["status"] = _FIRST["kind"][small & 255], _FIRST["status"][small >> 8 & 255]
    for name, bit in (("expected_first", 16), ("correct", 18)):
        found[name] = _SAID[small >> bit & 3]
    found["response"] = pa.LargeStringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(text))
    return found
