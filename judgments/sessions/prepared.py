"""A statement that PostgreSQL plans once for each connection instead of once for each answer.

Planning a statement that looks before it writes costs more than running it. Values go as text, so that the
statement's types, and with them its plan, are the same every time.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection
from psycopg import Cursor


def changed_rows(sql: str, values: Sequence[Any]) -> int:
    """Run a statement that writes; how many rows it wrote."""
    if connection.vendor != "postgresql" or not settings.DATABASE_PREPARES:
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.rowcount
    connection.ensure_connection()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        cursor.execute(sql, [_text(value) for value in values], prepare=True)
        return cursor.rowcount


def _text(value: Any) -> str | None:
    """A value as PostgreSQL reads it, whatever the column."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "dumps"):  # psycopg's wrapper of a JSON document
        return value.dumps(value.obj)
    return str(value)
