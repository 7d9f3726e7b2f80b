"""Hundreds of thousands of rows at once: the driver's own bulk door, without an object per row.

``bulk_create`` spends four fifths of a large import making model objects and compiling statements of 83
rows each (SQLite allows 999 parameters); ``tests/benchmarks/bench_import.py`` has the figures. Constraints
and indexes hold as ever. Values go in as given: model defaults, ``auto_now`` and signals do not run here.
"""

import json
from collections.abc import Sequence
from typing import Any

from django.db import connection, models, transaction


def insert_rows(
    model: type[models.Model], columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> list[int]:
    """Insert rows inside the current transaction and give their ids, in order.

    ``columns`` name every field without ``id``; a dict or list becomes JSON.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("insert_rows works inside transaction.atomic() only")
    if not rows:
        return []
    table = model._meta.db_table
    names = [model._meta.pk.column, *(model._meta.get_field(name).column for name in columns)]
    quoted = ", ".join(connection.ops.quote_name(name) for name in names)
    ids = _reserve(table, names[0], len(rows))
    full = ((row_id, *map(_plain, row)) for row_id, row in zip(ids, rows, strict=True))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            statement = f'COPY "{table}" ({quoted}) FROM STDIN'
            with connection.wrap_database_errors, cursor.copy(statement) as copy:
                for row in full:
                    copy.write_row(row)
        else:
            holes = ", ".join(["%s"] * len(names))
            cursor.executemany(f'INSERT INTO "{table}" ({quoted}) VALUES ({holes})', full)
    return ids


def _reserve(table: str, key: str, number: int) -> list[int]:
    """Take ids that nobody else gets: from the sequence, or under SQLite's one write lock."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
                [f'"{table}"', key, number],
            )
            return [row[0] for row in cursor.fetchall()]
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        last = (cursor.fetchone() or (0,))[0]
        return list(range(last + 1, last + number + 1))


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value
