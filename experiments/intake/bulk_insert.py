"""Bulk insertion of rows through the database driver, without a model object per row.

``bulk_create`` spends four fifths of a large import on model objects and on statements of 83 rows each
(SQLite allows 999 parameters); ``bench_import.py`` measures it. Constraints and indexes
apply. Values are inserted as given: model defaults, ``auto_now`` and signals are not applied.
"""

import json
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from django.db import connection, models, transaction

BATCH = 5_000  # rows per statement; the driver's wrapper keeps all rows of one
_encode = json.JSONEncoder().encode


def insert_rows(
    model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> list[int]:
    """Insert rows inside the current transaction and return their ids, in order.

    ``columns`` name every field without ``id``; a dict or list becomes JSON, a text in a JSON field is JSON.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("insert_rows works inside transaction.atomic() only")
    table = model._meta.db_table
    names = [_column(model, "pk"), *(_column(model, name) for name in columns)]
    quoted = ", ".join(connection.ops.quote_name(name) for name in names)
    json_places = [place for place, name in enumerate(columns, start=1) if _is_json(model, name)]
    ids: list[int] = []
    remaining = iter(rows)
    while batch := list(islice(remaining, BATCH)):
        reserved = _reserve(table, names[0], len(batch))
        cells = [reserved, *zip(*batch, strict=True)]
        for place in json_places:
            cells[place] = [_as_json(cell) for cell in cells[place]]
        complete_rows = list(zip(*cells, strict=True))
        ids += reserved
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                statement = f'COPY "{table}" ({quoted}) FROM STDIN'
                with connection.wrap_database_errors, cursor.copy(statement) as copy:
                    for row in complete_rows:
                        copy.write_row(row)
            else:
                placeholders = ", ".join(["%s"] * len(names))
                cursor.executemany(f'INSERT INTO "{table}" ({quoted}) VALUES ({placeholders})', complete_rows)
    return ids


def _column(model: type[models.Model], name: str) -> str:
    """Return the column of a concrete field."""
    field = model._meta.pk if name == "pk" else model._meta.get_field(name)
    assert isinstance(field, models.Field) and field.column
    return field.column


def _reserve(table: str, key: str, number: int) -> list[int]:
    """Allocate ids: from the sequence, or on SQLite after the last one."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
                [f'"{table}"', key, number],
            )
            return [row[0] for row in cursor.fetchall()]
        # No race: SQLite has one writer, and the caller's transaction holds the write lock.
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        last = (cursor.fetchone() or (0,))[0]
        return list(range(last + 1, last + number + 1))


def _is_json(model: type[models.Model], name: str) -> bool:
    return isinstance(model._meta.get_field(name), models.JSONField)


def _as_json(cell: Any) -> Any:
    """Serialize a value, unless it is a text already."""
    if cell is None or isinstance(cell, str):
        return cell
    return "{}" if cell == {} else _encode(cell)
