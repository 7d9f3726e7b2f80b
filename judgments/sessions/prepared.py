"""A statement that PostgreSQL plans once for each connection instead of once for each answer.

Planning a statement that looks before it writes costs more than running it. Values go as text, so that the
statement's types, and with them its plan, are the same every time.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection
from psycopg import Cursor


def changed_rows(sql: str, values: Sequence[Any]) -> int:
    """Run a statement that writes; how many rows it wrote. Moments and documents may be given as they are."""
    if connection.vendor != "postgresql" or not settings.DATABASE_PREPARES:
        with connection.cursor() as cursor:
            cursor.execute(sql, [_plain(value) for value in values])
            return cursor.rowcount
    connection.ensure_connection()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        cursor.execute(sql, [_text(value) for value in values], prepare=True)
        return cursor.rowcount


def _plain(value: Any) -> Any:
    """A value as the driver takes it."""
    if isinstance(value, dict):
        return json.dumps(value)
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value


def _text(value: Any) -> str | None:
    """A value as PostgreSQL reads it, whatever the column."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value) if isinstance(value, dict) else str(value)
