"""Written-out SQL that PostgreSQL and SQLite share: running it, and turning its values into Python's.

Statements go through Django's ordinary cursor; PostgreSQL prepares those that come again
(``prepare_threshold`` and ``server_side_binding`` in :mod:`config.env`).
"""

import json
import threading
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import connection, models

from experiments.models import Experiment, ExperimentVersion, MinimalPair
from judgments.models import Judgment, Session, Trial

MAX_PARAMETERS = 900  # SQLite before 3.32 takes 999 in one statement
TABLES = {
    model.__name__.lower(): f'"{model._meta.db_table}"'
    for model in (Session, Trial, Judgment, Experiment, ExperimentVersion, MinimalPair)
}


def select(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Run a statement and return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql, adapted(values))
        return list(cursor.fetchall())


def execute(sql: str, values: Sequence[Any]) -> int:
    """Run a statement and return the number of rows it wrote."""
    with connection.cursor() as cursor:
        cursor.execute(sql, adapted(values))
        return int(cursor.rowcount)


def adapted(values: Iterable[Any]) -> list[Any]:
    """Values as the database's driver takes them."""
    adapt = connection.ops.adapt_datetimefield_value  # looked up once: the connection is of the thread
    return [adapt(value) if isinstance(value, datetime) else value for value in values]


def as_bool(value: Any) -> bool | None:
    """A truth value; SQLite stores 0 and 1."""
    return None if value is None else bool(value)


def as_json(value: Any) -> Any:
    """A JSON document; Django's PostgreSQL cursor and SQLite return it as text."""
    return json.loads(value) if isinstance(value, str) else value


def as_datetime(value: Any) -> datetime | None:
    """An aware datetime; SQLite stores text in UTC without an offset."""
    parsed = datetime.fromisoformat(value) if isinstance(value, str) else value
    return parsed.replace(tzinfo=UTC) if parsed is not None and parsed.tzinfo is None else parsed


def insert_rows(
    model: type[models.Model], rows: Sequence[dict[str, Any]], *, ignore_conflicts: bool = False
) -> None:
    """Insert rows given by attribute name; columns that are left out get their default.

    Half the CPU time of ``bulk_create``, which builds SQL and adapts every field for each call. With
    ``ignore_conflicts`` a row that a unique constraint forbids is left out; else it is an ``IntegrityError``.
    """
    complete = [{**_defaults(model), **row} for row in rows]
    on_conflict = " ON CONFLICT DO NOTHING" if ignore_conflicts else ""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql" and len(complete) > 1:
            document = json.dumps(complete, default=datetime.isoformat)
            # Names are of models; values are parameters.
            # nosemgrep: sql-from-text
            cursor.execute(_insert_document_sql(model) + on_conflict, [document])
            return
        columns = _columns(model)
        size = max(1, MAX_PARAMETERS // len(columns))
        for start in range(0, len(complete), size):
            batch = complete[start : start + size]
            values = [
                json.dumps(row[name]) if is_json else row[name] for row in batch for name, is_json in columns
            ]
            # As above.
            # nosemgrep: sql-from-text
            cursor.execute(_insert_sql(model, len(batch)) + on_conflict, adapted(values))


def insert_missing_rows(
    model: type[models.Model], rows: Sequence[dict[str, Any]], *, key: str
) -> dict[Any, int]:
    """Insert rows that no unique constraint forbids; returns their primary keys by the column ``key``."""
    complete = [{**_defaults(model), **row} for row in rows]
    inserted: dict[Any, int] = {}
    if not complete:
        return inserted
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            document = json.dumps(complete, default=datetime.isoformat)
            sql = f'{_insert_document_sql(model)} ON CONFLICT DO NOTHING RETURNING "{key}", "id"'
            cursor.execute(sql, [document])
            return dict(cursor.fetchall())
        for row in complete:  # SQLite before 3.35 has no RETURNING
            values = [json.dumps(row[name]) if is_json else row[name] for name, is_json in _columns(model)]
            # Names are of models; values are parameters.
            # nosemgrep: sql-from-text
            cursor.execute(f"{_insert_sql(model, 1)} ON CONFLICT DO NOTHING", adapted(values))
            if cursor.rowcount:
                inserted[row[key]] = int(cursor.lastrowid)
    return inserted


@cache
def _fields(model: type[models.Model]) -> "list[models.Field[Any, Any]]":
    return [field for field in model._meta.local_concrete_fields if not field.primary_key]


@cache
def _columns(model: type[models.Model]) -> list[tuple[str, bool]]:
    """Attribute names of the columns to insert, and whether each is a JSON document."""
    return [(field.attname, isinstance(field, models.JSONField)) for field in _fields(model)]


@cache
def _insert_sql(model: type[models.Model], n_rows: int) -> str:
    row = f"({', '.join(['%s'] * len(_fields(model)))})"
    return f"{_insert_into(model)} VALUES {', '.join([row] * n_rows)}"


@cache
def _insert_document_sql(model: type[models.Model]) -> str:
    """One statement for any number of rows, so that PostgreSQL prepares it once."""
    columns = ", ".join(f'"{field.attname}" {field.db_type(connection)}' for field in _fields(model))
    names = ", ".join(f'"{field.attname}"' for field in _fields(model))
    return f"{_insert_into(model)} SELECT {names} FROM json_to_recordset(%s::json) AS x({columns})"


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
    return _process_lock if connection.vendor == "sqlite" else nullcontext()
