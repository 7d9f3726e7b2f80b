"""Blocks of a study's judgments, packed by PostgreSQL: one string of bytes for each column.

numpy reads it as it stands; a Python value for each cell would cost many times the time and the memory.
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

from analysis.undecided import ANSWERS
from experiments.models import Experiment, TrialKind
from judgments.models import Judgment, Trial

BLOCK = 100_000
_DENSE = 0.5
"""Share of all trials from which on a study is read along the trials' ids, not by sessions."""
KINDS, STATUSES = tuple(TrialKind.values), tuple(Judgment.Status.values)
UNDECIDED = ("", *ANSWERS)
"""What ``undecided`` numbers: no such answer, then the answers that chose no member."""
DETAILS = ("trial", "rt_ms", "scale_low", "scale_high", "response")
"""What agreement does not read; ``undecided`` stands in place of the response."""
_SEVERAL, _CONNECTIONS = 5, 2
"""Blocks from which on a study is read over several connections, and how many."""
_SAID = np.array([-1, 1, 0, -1], dtype=np.int8)


def _initials(words: Sequence[str]) -> np.ndarray:
    """Place of a word in our own list by the number of its first letter, which tells them apart."""
    places = np.full(256, -1, dtype=np.int8)
    places[[ord(word[0]) for word in words]] = np.arange(len(words))
    return places


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
_FIRST = {"kind": _initials(KINDS), "status": _initials(STATUSES)}
_SHORT = {
    "position": "t.position",
    "rt_ms": "COALESCE(j.rt_ms, -1)",
    "length": "octet_length(j.response)",
    "small": "ascii(t.kind) + 256 * ascii(j.status) + CASE WHEN t.expected_first THEN 65536 "
    "WHEN NOT t.expected_first THEN 131072 ELSE 0 END + CASE WHEN j.is_correct THEN 262144 "
    "WHEN NOT j.is_correct THEN 524288 ELSE 0 END",
}
_UNDECIDED = (
    " + CASE WHEN j.chosen_id IS NULL THEN CASE j.response "
    + " ".join(f"WHEN '{word}' THEN {place << 20}" for place, word in enumerate(ANSWERS, start=1))
    + " ELSE 0 END ELSE 0 END"
)
_SENDERS = (("int8send", ">i8", _LONG), ("int4send", ">i4", _SHORT), ("float8send", ">f8", _FLOATS))


def _sent(*, narrow: bool) -> dict[str, tuple[str, str, str]]:
    """The columns of numbers that are asked for: how each is sent and read, and its SQL."""
    left_out = (*DETAILS, "length") if narrow else ()
    found = {
        name: (send, kind, cell + _UNDECIDED if narrow and name == "small" else cell)
        for send, kind, columns in _SENDERS
        for name, cell in columns.items()
        if name not in left_out
    }
    return found


def _query(condition: str, *, filled: bool, narrow: bool) -> str:
    """SQL for one block; ``filled`` puts a number where there is none, as without it rows are passed over."""
    cells = []
    for name, (send, _, cell) in _sent(narrow=narrow).items():
        blank = _MISSING.get(name) if filled or name in _OFTEN_MISSING else None
        cells.append(f"string_agg({send}({f'COALESCE({cell}, {blank})' if blank else cell}), ''::bytea)")
    text = [] if narrow else ["string_agg(convert_to(j.response, 'UTF8'), ''::bytea)"]
    return (
        f"SELECT count(*), {', '.join(cells + text)} "
        f"FROM {Judgment._meta.db_table} j JOIN {Trial._meta.db_table} t ON t.id = j.trial_id "
        f"WHERE {condition}"
    )


def packed_blocks(
    experiment: Experiment, sittings: pd.DataFrame, *, kinds: Sequence[str] | None, narrow: bool
) -> Iterator[dict[str, Any]]:
    """Blocks of columns; the order of rows within a block is the database's."""
    of_kind = " AND t.kind = ANY(%(kinds)s)" if kinds is not None else ""
    wanted = [
        (condition + of_kind, {**bounds, "kinds": list(kinds or [])})
        for condition, bounds in _ranges(sittings)
    ]
    if len(wanted) < _SEVERAL or connection.in_atomic_block:  # another connection sees what is committed
        yield from filter(None, (_block(*one, narrow=narrow) for one in wanted))
        return
    with ThreadPoolExecutor(_CONNECTIONS) as readers:
        blocks = deque(readers.submit(_apart, *one, narrow=narrow) for one in wanted)
        while blocks:
            if block := blocks.popleft().result():
                yield block


def _apart(condition: str, parameters: Mapping[str, Any], *, narrow: bool) -> dict[str, Any] | None:
    """Read a block on a connection of this thread."""
    try:
        return _block(condition, parameters, narrow=narrow)
    finally:
        connection.close()


def _block(condition: str, parameters: Mapping[str, Any], *, narrow: bool) -> dict[str, Any] | None:
    with transaction.atomic(), connection.cursor():
        cursor = psycopg.Cursor(connection.connection)
        cursor.execute("SET LOCAL jit = off")
        cursor.execute("SET LOCAL max_parallel_workers_per_gather = 0")
        # a general plan does not see how narrow a block is, and takes four times as long
        cursor.execute("SET LOCAL plan_cache_mode = force_custom_plan")
        for filled in (False, True):
            sql = _query(condition, filled=filled, narrow=narrow)
            n, *row = cursor.execute(sql, parameters, binary=True, prepare=False).fetchone()
            if n == 0:
                return None
            kinds = {name: kind for name, (_, kind, _) in _sent(narrow=narrow).items()}
            cells = dict(zip(kinds, row, strict=False))
            if filled or all(
                cell is None or len(cell) == n * int(kinds[name][-1]) for name, cell in cells.items()
            ):
                return _unpacked(n, cells, kinds, text=None if narrow else row[-1])
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


def _unpacked(
    n: int, cells: Mapping[str, bytes | None], kinds: Mapping[str, str], *, text: bytes | None
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, packed in cells.items():
        native = kinds[name].replace(">", "=")
        if packed is None:
            found[name] = np.full(n, np.nan if native == "=f8" else -1, dtype=native)
        else:
            found[name] = np.frombuffer(packed, dtype=kinds[name]).astype(native)
    small = found.pop("small")
    found["kind"], found["status"] = _FIRST["kind"][small & 255], _FIRST["status"][small >> 8 & 255]
    for name, bit in (("expected_first", 16), ("correct", 18)):
        found[name] = _SAID[small >> bit & 3]
    if text is None:
        return {**found, "undecided": (small >> 20).astype(np.int8)}
    offsets = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(found.pop("length"), out=offsets[1:])
    response = pa.LargeStringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(text))
    return {**found, "response": response}
