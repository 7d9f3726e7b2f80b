"""A cache of counts in the database, which all processes and hosts share.

Django's own database cache reads and writes a count in two steps, so that requests at once count as one, and
counts all rows at each write. Here every change is one statement.
"""

import json
import math
from time import time
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.db import connection
from django.utils.crypto import salted_hmac

from experiments.models.cache_entry import CacheEntry

TABLE = CacheEntry._meta.db_table
_INSERT = f"INSERT INTO {TABLE} (key, value, expires_epoch_s) VALUES (%s, %s, %s) ON CONFLICT (key) DO UPDATE"  # noqa: S608 - inserts the table's name; values are parameters
_REPLACE = " SET value = excluded.value, expires_epoch_s = excluded.expires_epoch_s"
SET = _INSERT + _REPLACE
ADD = f"{_INSERT}{_REPLACE} WHERE {TABLE}.expires_epoch_s <= %s RETURNING key"
INCREMENT = (
    f"UPDATE {TABLE} SET value = CAST(CAST(value AS integer) + CAST(%s AS integer) AS text)"  # noqa: S608 - inserts the table's name; values are parameters
    " WHERE key = %s AND expires_epoch_s > %s RETURNING value"
)


def hashed_key(key: str, key_prefix: str, version: int) -> str:
    """Return the key as it is stored: those of limits name networks and users."""
    return salted_hmac("cache", f"{key_prefix}:{version}:{key}", algorithm="sha256").hexdigest()


class DatabaseCache(BaseCache):
    """Small values as JSON: counts, and times of attempts."""

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        """Return the value, or the default once it has expired."""
        entries = CacheEntry.objects.filter(
            key=self.make_and_validate_key(key, version), expires_epoch_s__gt=time()
        )
        value = entries.values_list("value", flat=True).first()
        return default if value is None else json.loads(value)

    def set(
        self, key: str, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        """Store or replace a value."""
        self._execute(SET, [*self._row(key, value, timeout, version)])

    def add(
        self, key: str, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        """Store a value where there is none; whether it was stored."""
        return bool(self._execute(ADD, [*self._row(key, value, timeout, version), time()]))

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """Add to a count; raises ``ValueError`` where there is none."""
        rows = self._execute(INCREMENT, [delta, self.make_and_validate_key(key, version), time()])
        if not rows:
            raise ValueError(f"there is no count {key!r}")
        return int(rows[0][0])

    def touch(self, key: str, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Let a value expire later; whether there was one."""
        entries = CacheEntry.objects.filter(
            key=self.make_and_validate_key(key, version), expires_epoch_s__gt=time()
        )
        return bool(entries.update(expires_epoch_s=self._expiry(timeout)))

    def delete(self, key: str, version: int | None = None) -> bool:
        """Delete a value; whether there was one."""
        return bool(CacheEntry.objects.filter(key=self.make_and_validate_key(key, version)).delete()[0])

    def clear(self) -> None:
        """Delete everything."""
        CacheEntry.objects.all().delete()

    def _row(
        self, key: str, value: Any, timeout: float | None, version: int | None
    ) -> tuple[str, str, float]:
        return self.make_and_validate_key(key, version), json.dumps(value), self._expiry(timeout)

    def _expiry(self, timeout: float | None) -> float:
        expiry = self.get_backend_timeout(timeout)
        return math.inf if expiry is None else expiry

    def _execute(self, statement: str, values: list[Any]) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if "RETURNING" in statement else []


def delete_expired() -> None:
    """Delete counts that have expired."""
    CacheEntry.objects.filter(expires_epoch_s__lte=time()).delete()
