"""The database of the tests: the few rows of a test are deleted instead of truncating ninety tables."""

from typing import Any

from django.db.backends.postgresql import base
from django.db.backends.postgresql.operations import DatabaseOperations as Operations

from tests.database import ROWS_OF_MIGRATIONS


class DatabaseOperations(Operations):
    """Empties tables by DELETE, but those with rows that migrations make.

    TRUNCATE makes new files for every table and index and waits until the disk has them: 0.4 s for each test
    that commits, and 3 s on a busy disk.
    """

    def sql_flush(
        self, style: Any, tables: Any, *, reset_sequences: bool = False, allow_cascade: bool = False
    ) -> list[str]:
        """Return one text, sent at once; Django's foreign keys are checked at the end of its transaction."""
        tables = [table for table in tables if table not in ROWS_OF_MIGRATIONS]
        if reset_sequences:
            return super().sql_flush(style, tables, reset_sequences=True, allow_cascade=allow_cascade)
        return ["; ".join(f"DELETE FROM {self.quote_name(table)}" for table in tables)]


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's, with these operations."""

    ops_class = DatabaseOperations
