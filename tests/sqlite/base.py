"""The database of the tests on SQLite."""

from typing import Any

from django.db.backends.sqlite3 import base
from django.db.backends.sqlite3.operations import DatabaseOperations as Operations

from tests.database import ROWS_OF_MIGRATIONS


class DatabaseOperations(Operations):
    """Leaves the rows that migrations make."""

    def sql_flush(self, style: Any, tables: Any, **how: bool) -> list[str]:
        """Return the statements that empty the tables of the tests."""
        return super().sql_flush(style, [name for name in tables if name not in ROWS_OF_MIGRATIONS], **how)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's, with these operations."""

    ops_class = DatabaseOperations
