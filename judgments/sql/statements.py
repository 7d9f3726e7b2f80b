"""Written-out SQL that PostgreSQL and SQLite share: running it, and turning its values into Python's.

Statements go through Django's ordinary cursors, which are kept by thread; PostgreSQL prepares those that come
again (``prepare_threshold`` and ``server_side_binding`` in :mod:`config.env`).
"""

import json
import threading
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections, models, transaction
from django.db.backends.utils import CursorWrapper

from experiments.models import Experiment, ExperimentVersion, MinimalPair
from judgments.models import Judgment, Session, Trial

MAX_PARAMETERS = 900  # SQLite before 3.32 takes 999 in one statement
IGNORE_CONFLICTS = " ON CONFLICT DO NOTHING"
MAX_CURSORS = 100  # of a thread; each holds the rows of its last statement
Key = TypeVar("Key")
TABLES = {
    model.__name__.lower(): f'"{model._meta.db_table}"'
    for model in (Session, Trial, Judgment, Experiment, ExperimentVersion, MinimalPair)
}


class _KeptCursors(threading.local):
    """The cursors of a thread by their statement, and the connection of the driver that they belong to."""

    def __init__(self) -> None:
        self.owner: object = None
        self.by_statement: dict[str, CursorWrapper] = {}


_kept = _KeptCursors()


def select(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Run a statement and return its rows."""
    return list(_executed(sql, values).fetchall())


def execute(sql: str, values: Sequence[Any]) -> int:
    """Run a statement and return the number of rows it wrote."""
    return int(_executed(sql, values).rowcount)


def _executed(sql: str, values: Sequence[Any]) -> CursorWrapper:
    """A cursor that has run a statement, the same one for the same text while the connection lasts.

    psycopg works out anew for each cursor how to convert parameters and columns, which takes as much CPU time
    as all else it does for one row; a cursor that gets the same text again keeps it.
    """
    database = connections[DEFAULT_DB_ALIAS]  # looked up once: the connection is of the thread
    if database.queries_logged:  # by cursors of another class
        cursor = database.cursor()
    else:
        database.ensure_connection()
        if _kept.owner is not database.connection or len(_kept.by_statement) >= MAX_CURSORS:
            _kept.owner, _kept.by_statement = database.connection, {}
        if sql not in _kept.by_statement:
            _kept.by_statement[sql] = database.cursor()
        cursor = _kept.by_statement[sql]
    cursor.execute(sql, values if _vendor() == "postgresql" else adapted(values))
    return cursor


def padded(keys: Sequence[Key]) -> list[Key]:
    """Some keys, the last of them several times, so that statements come in few lengths.

    >>> padded([4, 5, 6])
    [4, 5, 6, 6]
    """
    if not keys:
        return []
    # A power of two keys: with few different statements, PostgreSQL prepares each of them.
    n_missing = (1 << (len(keys) - 1).bit_length()) - len(keys)
    return [*keys, *[keys[-1]] * n_missing]


def adapted(values: Iterable[Any]) -> list[Any]:
    """Values as SQLite's driver takes them; PostgreSQL's takes them as they are."""
    adapt = connection.ops.adapt_datetimefield_value
    return [adapt(value) if isinstance(value, datetime) else value for value in values]


def as_bool(value: Any) -> bool | None:
    """A truth value; SQLite stores 0 and 1."""
    return None if value is None else bool(value)


def as_json(value: Any) -> Any:
    """A JSON document; Django's PostgreSQL cursor and SQLite return it as text."""
    return json.loads(value) if isinstance(value, str) else value


def as_datetime(value: Any) -> datetime | None:
    """An aware datetime; text without an offset, which SQLite stores, is in UTC."""
    parsed = datetime.fromisoformat(value) if isinstance(value, str) else value
    return parsed.replace(tzinfo=UTC) if parsed is not None and parsed.tzinfo is None else parsed


def insert_rows(
    model: type[models.Model], rows: Sequence[dict[str, Any]], *, ignore_conflicts: bool = False
) -> None:
    """Insert rows given by attribute name, all or none; columns that are left out get their default.

    Half the CPU time of ``bulk_create``, which builds SQL and adapts every field for each call. With
    ``ignore_conflicts`` a row that a unique constraint forbids is left out; else it is an ``IntegrityError``.
    """
    complete = [{**_defaults(model), **row} for row in rows]
    ending = IGNORE_CONFLICTS if ignore_conflicts else ""
    if len(complete) > 1 and _vendor() == "postgresql":
        document = json.dumps(complete, default=datetime.isoformat)
        execute(_insert_document_sql(model, ending), [document])
        return
    columns = _columns(model)
    size = max(1, MAX_PARAMETERS // len(columns))
    # One statement is its own transaction.
    with transaction.atomic() if len(complete) > size else nullcontext():
        for start in range(0, len(complete), size):
            batch = complete[start : start + size]
            values = [
                json.dumps(row[name]) if is_json else row[name] for row in batch for name, is_json in columns
            ]
            execute(_insert_sql(model, len(batch), ending), values)


def insert_instances(instances: Sequence[models.Model], *, key: str) -> None:
    """Insert new instances of one model within a transaction, and set their primary keys.

    ``key`` is a unique column. A row that a unique constraint forbids is an ``IntegrityError``.
    """
    if not instances:
        return
    model = type(instances[0])
    rows = [{name: getattr(instance, name) for name, _ in _columns(model)} for instance in instances]
    inserted = _inserted_keys(model, rows, key=key, ending="")
    for instance in instances:
        instance.pk = inserted[getattr(instance, key)]
        instance._state.adding, instance._state.db = False, DEFAULT_DB_ALIAS  # as bulk_create sets them


def insert_missing_rows(
    model: type[models.Model], rows: Sequence[dict[str, Any]], *, key: str
) -> dict[Any, int]:
    """Insert rows that no unique constraint forbids; returns their primary keys by the column ``key``."""
    complete = [{**_defaults(model), **row} for row in rows]
    return _inserted_keys(model, complete, key=key, ending=IGNORE_CONFLICTS) if complete else {}


def _inserted_keys(
    model: type[models.Model], rows: Sequence[dict[str, Any]], *, key: str, ending: str
) -> dict[Any, int]:
    if _vendor() == "postgresql":
        document = json.dumps(rows, default=datetime.isoformat)
        returning = f'{ending} RETURNING "{key}", "id"'
        return dict(select(_insert_document_sql(model, returning), [document]))
    inserted: dict[Any, int] = {}
    for row in rows:  # SQLite before 3.35 has no RETURNING
        values = [json.dumps(row[name]) if is_json else row[name] for name, is_json in _columns(model)]
        cursor = _executed(_insert_sql(model, 1, ending), values)
        if cursor.rowcount:
            inserted[row[key]] = int(cursor.lastrowid)
    return inserted


@cache
def _vendor() -> str:
    return connection.vendor


@cache
def _fields(model: type[models.Model]) -> "list[models.Field[Any, Any]]":
    return [field for field in model._meta.local_concrete_fields if not field.primary_key]


@cache
def _columns(model: type[models.Model]) -> list[tuple[str, bool]]:
    """Attribute names of the columns to insert, and whether each is a JSON document."""
    return [(field.attname, isinstance(field, models.JSONField)) for field in _fields(model)]


@cache
def _insert_sql(model: type[models.Model], n_rows: int, ending: str) -> str:
    row = f"({', '.join(['%s'] * len(_fields(model)))})"
    return f"{_insert_into(model)} VALUES {', '.join([row] * n_rows)}{ending}"


@cache
def _insert_document_sql(model: type[models.Model], ending: str) -> str:
    """One statement for any number of rows, so that PostgreSQL prepares it once."""
    columns = ", ".join(f'"{field.attname}" {field.db_type(connection)}' for field in _fields(model))
    names = ", ".join(f'"{field.attname}"' for field in _fields(model))
    return f"{_insert_into(model)} SELECT {names} FROM json_to_recordset(%s::json) AS x({columns}){ending}"


def _insert_into(model: type[models.Model]) -> str:
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(field.column)) for field in _fields(model))
    return f"INSERT INTO {quote(model._meta.db_table)} ({columns})"


@cache
def _defaults(model: type[models.Model]) -> dict[str, Any]:
    """Defaults by attribute name, except those that are drawn anew for each row."""
    return {
        field.attname: field.get_default()
        for field in _fields(model)
        if isinstance(field, models.JSONField) or not (field.has_default() and callable(field.default))
    }


_process_lock = threading.RLock()


def write_lock() -> AbstractContextManager[object]:
    """A process-wide lock for writers on SQLite; nothing on databases with row locks.

    SQLite lets a second writer sleep and retry, longer each time; with many at once that sleep is most of the
    wait. Other processes still queue at the file.
    """
    return _process_lock if _vendor() == "sqlite" else nullcontext()
