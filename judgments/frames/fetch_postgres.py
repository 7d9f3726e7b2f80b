"""Blocks of a study's judgments, packed by PostgreSQL into one byte string for each column.

numpy reads the bytes without conversion; Python values for all cells would take many times the time and
memory.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import psycopg
import pyarrow as pa
from django.db import connection, transaction
from django.db.models import Max, Min

from analysis.aggregation.treatments import ANSWERS
from experiments.models import Experiment, TrialKind
from judgments.models import Judgment, Trial

Array = np.ndarray[Any, Any]
BLOCK = 100_000  # rows
_DENSE = 0.5
"""Share of all trials from which a study is read in order of trial ids, not session by session."""
KINDS, STATUSES = tuple(TrialKind.values), tuple(Judgment.Status.values)
UNDECIDED = ("", *ANSWERS)
"""Codes of ``undecided``: any other answer, then the answers that chose no member."""
DETAILS = ("trial", "rt_ms", "scale_low", "scale_high", "response")
"""Columns that agreement does not read; ``undecided`` replaces the response."""
_SEVERAL, _CONNECTIONS = 5, 2
"""Number of blocks from which a study is read over several connections, and their number."""
_FLAGS = np.array([-1, 1, 0, -1], dtype=np.int8)  # by two bits: missing, true, false


def _code_by_initial(values: Sequence[str]) -> Array:
    """Place of each value in its list by the character code of its first letter, which is unique."""
    codes = np.full(256, -1, dtype=np.int8)
    codes[[ord(value[0]) for value in values]] = np.arange(len(values))
    return codes


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
_CODES = {"kind": _code_by_initial(KINDS), "status": _code_by_initial(STATUSES)}
_SHORT = {
    "position": "t.position",
    "rt_ms": "COALESCE(j.rt_ms, -1)",
    "length": "octet_length(j.response)",
    # one integer: bits 0-7 kind, 8-15 status, 16-17 expected_first, 18-19 is_correct, 20- undecided
    "small": "ascii(t.kind) + 256 * ascii(j.status) + CASE WHEN t.expected_first THEN 65536 "
    "WHEN NOT t.expected_first THEN 131072 ELSE 0 END + CASE WHEN j.is_correct THEN 262144 "
    "WHEN NOT j.is_correct THEN 524288 ELSE 0 END",
}
_UNDECIDED = (
    " + CASE WHEN j.chosen_id IS NULL THEN CASE j.response "
    + " ".join(f"WHEN '{answer}' THEN {code << 20}" for code, answer in enumerate(ANSWERS, start=1))
    + " ELSE 0 END ELSE 0 END"
)
_SENDERS = (("int8send", ">i8", _LONG), ("int4send", ">i4", _SHORT), ("float8send", ">f8", _FLOATS))


def _number_columns(*, narrow: bool) -> dict[str, tuple[str, str, str]]:
    """The requested columns of numbers: PostgreSQL's function, numpy's type and the SQL of each."""
    left_out = (*DETAILS, "length") if narrow else ()
    return {
        name: (send, kind, cell + _UNDECIDED if narrow and name == "small" else cell)
        for send, kind, columns in _SENDERS
        for name, cell in columns.items()
        if name not in left_out
    }


def _query(condition: str, *, filled: bool, narrow: bool) -> str:
    """SQL for one block; ``filled`` replaces nulls by a number, because ``string_agg`` skips nulls."""
    cells = []
    for name, (send, _, cell) in _number_columns(narrow=narrow).items():
        blank = _MISSING.get(name) if filled or name in _OFTEN_MISSING else None
        cells.append(f"string_agg({send}({f'COALESCE({cell}, {blank})' if blank else cell}), ''::bytea)")
    text = [] if narrow else ["string_agg(convert_to(j.response, 'UTF8'), ''::bytea)"]
    return (
        f"SELECT count(*), {', '.join(cells + text)} "
        f"FROM {Judgment._meta.db_table} j JOIN {Trial._meta.db_table} t ON t.id = j.trial_id "
        f"WHERE {condition}"
    )


def packed_blocks(
    experiment: Experiment, sessions: pd.DataFrame, *, kinds: Sequence[str] | None, narrow: bool
) -> Iterator[dict[str, Any]]:
    """Blocks of columns; rows within a block are in the database's order."""
    of_kind = " AND t.kind = ANY(%(kinds)s)" if kinds is not None else ""
    ranges = [
        (condition + of_kind, {**bounds, "kinds": list(kinds or [])})
        for condition, bounds in _ranges(sessions)
    ]
    # another connection does not see the uncommitted rows of an open transaction
    if len(ranges) < _SEVERAL or connection.in_atomic_block:
        yield from filter(None, (_block(*bounds, narrow=narrow) for bounds in ranges))
        return
    with ThreadPoolExecutor(_CONNECTIONS) as readers:
        blocks = deque(readers.submit(_block_in_thread, *bounds, narrow=narrow) for bounds in ranges)
        while blocks:
            if block := blocks.popleft().result():
                yield block


def _block_in_thread(condition: str, parameters: Mapping[str, Any], *, narrow: bool) -> dict[str, Any] | None:
    """Read a block over a connection of the current thread."""
    try:
        return _block(condition, parameters, narrow=narrow)
    finally:
        connection.close()


def _block(condition: str, parameters: Mapping[str, Any], *, narrow: bool) -> dict[str, Any] | None:
    with transaction.atomic(), connection.cursor():
        cursor = psycopg.Cursor(connection.connection)
        cursor.execute("SET LOCAL jit = off")
        cursor.execute("SET LOCAL max_parallel_workers_per_gather = 0")
        # a generic plan does not know how few ids a block covers, and takes four times as long
        cursor.execute("SET LOCAL plan_cache_mode = force_custom_plan")
        for filled in (False, True):
            sql = _query(condition, filled=filled, narrow=narrow)
            n, *row = cursor.execute(sql, parameters, binary=True, prepare=False).fetchone() or (0,)
            if n == 0:
                return None
            kinds = {name: kind for name, (_, kind, _) in _number_columns(narrow=narrow).items()}
            cells = dict(zip(kinds, row, strict=False))
            # a column shorter than its rows has nulls: the block is fetched again with nulls filled
            if filled or all(
                cell is None or len(cell) == n * int(kinds[name][-1]) for name, cell in cells.items()
            ):
                return _unpack_cells(n, cells, kinds, text=None if narrow else row[-1])
    return None


def _ranges(sessions: pd.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    """Conditions of the blocks: ranges of trial ids where the study has most of them, else sessions."""
    ids = Trial.objects.aggregate(low=Min("pk"), high=Max("pk"))
    sizes, pks = (sessions[name].to_numpy(dtype=np.int64) for name in ("n_trials", "pk"))
    if ids["low"] is None or not sizes.sum():
        return
    if sizes.sum() >= _DENSE * (ids["high"] - ids["low"] + 1):
        condition = (
            "t.id BETWEEN %(low)s AND %(high)s AND j.trial_id BETWEEN %(low)s AND %(high)s "
            "AND t.session_id BETWEEN %(first)s AND %(last)s"
        )
        bounds = {"first": int(pks.min()), "last": int(pks.max())}
        for low in range(ids["low"], ids["high"] + 1, BLOCK):
            yield condition, {**bounds, "low": low, "high": low + BLOCK - 1}
        return
    block = (np.cumsum(sizes) - sizes) // BLOCK
    for number in np.unique(block):
        yield "t.session_id = ANY(%(sessions)s)", {"sessions": pks[block == number].tolist()}


def _unpack_cells(
    n: int, cells: Mapping[str, bytes | None], kinds: Mapping[str, str], *, text: bytes | None
) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for name, packed in cells.items():
        native = kinds[name].replace(">", "=")
        if packed is None:
            columns[name] = np.full(n, np.nan if native == "=f8" else -1, dtype=native)
        else:
            columns[name] = np.frombuffer(packed, dtype=kinds[name]).astype(native)
    small = columns.pop("small")
    columns["kind"], columns["status"] = _CODES["kind"][small & 255], _CODES["status"][small >> 8 & 255]
    for name, bit in (("expected_first", 16), ("correct", 18)):
        columns[name] = _FLAGS[small >> bit & 3]
    if text is None:
        return {**columns, "undecided": (small >> 20).astype(np.int8)}
    offsets = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(columns.pop("length"), out=offsets[1:])
    response = pa.LargeStringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(text))
    return {**columns, "response": response}
