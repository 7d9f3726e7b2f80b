"""Statements that PostgreSQL plans once for each connection instead of once for each answer.

Planning a statement that looks before it writes costs more than running it. Values go as text, so that the
statement's types, and with them its plan, are the same every time; and they go past the driver's cursor,
which costs several times what most of these statements do. While queries are logged or wrapped, on SQLite,
and behind a pooler of transactions (``DATABASE_PREPARES=no``) a usual cursor runs the statement.
"""

import json
import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from itertools import count
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import connection
from psycopg import Connection, DataError, OperationalError, errors, pq
from psycopg.adapt import Transformer

_prepared: WeakKeyDictionary[Connection, set[bytes]] = WeakKeyDictionary()
_FORGOTTEN = b"26000"  # SQLSTATE: something made the server drop what was prepared
_DONE = {pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK}


def changed_rows(sql: str, values: Sequence[Any]) -> int:
    """Run a statement that writes; how many rows it wrote. Moments and documents may be given as they are."""
    if _is_prepared():
        return _result(sql, values).command_tuples or 0
    with connection.cursor() as cursor:
        cursor.execute(sql, [_plain(value) for value in values])
        return cursor.rowcount


def rows_of(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Run a statement; the rows it gives."""
    if _is_prepared():
        return _read(_result(sql, values))
    with connection.cursor() as cursor:
        cursor.execute(sql, [_plain(value) for value in values])
        return cursor.fetchall()


def named_rows(sql: str, values: Sequence[Any]) -> list[Any]:
    """The same, each column an attribute of its row."""
    if _is_prepared():
        result = _result(sql, values)
        names = [(result.fname(place) or b"").decode() for place in range(result.nfields)]
        rows = _read(result)
    else:
        with connection.cursor() as cursor:
            cursor.execute(sql, [_plain(value) for value in values])
            names, rows = [column[0] for column in cursor.description], cursor.fetchall()
    return [SimpleNamespace(**dict(zip(names, row, strict=True))) for row in rows]


def _is_prepared() -> bool:
    if connection.vendor != "postgresql" or not settings.DATABASE_PREPARES:
        return False
    if connection.queries_logged or connection.execute_wrappers:
        return False
    connection.ensure_connection()
    return connection.connection.isolation_level is None  # else the driver knows how a transaction begins


def _result(sql: str, values: Sequence[Any]) -> pq.abc.PGresult:
    """What the server answers to a statement, prepared where this connection did not do so before."""
    name, numbered = _numbered(sql)
    connected = connection.connection
    pgconn, known = connected.pgconn, _prepared.setdefault(connected, set())
    with connection.wrap_database_errors:
        sent = [None if value is None else _encoded(value) for value in values]
        if not connected.autocommit and pgconn.transaction_status == pq.TransactionStatus.IDLE:
            _checked(pgconn.exec_(b"BEGIN"), pgconn)  # as the driver does with its first statement
        for _ in range(2):
            if name not in known:
                _checked(pgconn.prepare(name, numbered), pgconn)
                known.add(name)
            result = pgconn.exec_prepared(name, sent)
            if result.error_field(pq.DiagnosticField.SQLSTATE) != _FORGOTTEN:
                break
            known.discard(name)
            if not connected.autocommit:
                break  # the transaction has failed with it; whoever asks again gets it prepared
        return _checked(result, pgconn)


def _read(result: pq.abc.PGresult) -> list[tuple[Any, ...]]:
    reader = Transformer.from_context(connection.connection)
    reader.set_pgresult(result)
    return reader.load_rows(0, result.ntuples, tuple)


def _checked(result: pq.abc.PGresult, pgconn: pq.abc.PGconn) -> pq.abc.PGresult:
    if result.status in _DONE:
        return result
    code = result.error_field(pq.DiagnosticField.SQLSTATE)
    kind = errors.lookup(code.decode()) if code else OperationalError
    raise kind(pgconn.get_error_message())


@lru_cache(maxsize=512)
def _numbered(sql: str) -> tuple[bytes, bytes]:
    """A name for a statement, and the statement with ``$1``, ``$2`` … in place of ``%s``."""
    numbers = count(1)
    numbered = re.sub("%s", lambda _: f"${next(numbers)}", sql).encode()
    return f"once_{sha256(numbered).hexdigest()[:16]}".encode(), numbered


def _plain(value: Any) -> Any:
    """A value as the driver takes it."""
    if isinstance(value, dict):
        return json.dumps(value)
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value


def _encoded(value: Any) -> bytes:
    """A value as PostgreSQL reads it, whatever the column."""
    if isinstance(value, bool):
        return b"t" if value else b"f"
    if isinstance(value, datetime):
        return value.isoformat().encode()
    text = json.dumps(value) if isinstance(value, dict) else str(value)
    if "\0" in text:
        raise DataError("PostgreSQL stores no NUL signs")  # it would end the text there
    return text.encode()
