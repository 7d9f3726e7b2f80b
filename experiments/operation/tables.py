"""Rows of any table as JSON lines with exact values, the same from SQLite and PostgreSQL.

Notes
-----
A line is the list of a row's columns in the order of ``columns``. Numbers, texts and truth values are
themselves; decimals, dates, durations and UUIDs are texts; binary values are Base64; a JSON document stands
in a list of one element, because ``null`` is the absent value of the database.
"""

import base64
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, TypeAlias
from uuid import UUID

from django.db import DataError, IntegrityError, connections, models, transaction
from django.db.models import ExpressionWrapper, Q, Value
from django.db.models.functions import Cast
from django.utils.dateparse import parse_duration
from django.utils.duration import duration_string

from analysis.errors import BadInput
from experiments.encryption import Ciphertext, EncryptedJSONField, EncryptedTextField

READ_ROWS = 2_000  # fetched at once
PART_BYTES = 8 << 20  # of a table in one member of the archive
INSERT_ROWS = 1_000
ENCRYPTED = (EncryptedTextField, EncryptedJSONField)
#: Raised for a row that a database does not store: SQLite stores texts of any length and with NUL, and
#: numbers of 64 bits in any column of integers, PostgreSQL stores NaN. A larger number is an OverflowError.
REFUSALS = (DataError, IntegrityError, OverflowError, ValueError)
#: PostgreSQL stores JSON numbers as decimals: 1e16 comes back as a whole number, -0.0 as 0.0.
CHANGED_NUMBERS = re.compile(r"\de\+|-0\.0")

Column: TypeAlias = "models.Field[Any, Any]"
Write = Callable[[Any], Any]


def stored_columns(model: type[models.Model]) -> list[Column]:
    """Return the columns with values of their own; by name, because migrations order them differently."""
    columns = (column for column in model._meta.concrete_fields if not column.generated)
    return sorted(columns, key=lambda column: column.attname)


def lines(model: type[models.Model], *, using: str) -> Iterator[bytes]:
    """Yield every row as a JSON line, in the order of the primary key."""
    columns = stored_columns(model)
    writers = [_writer(column) for column in columns]
    nullable_json = [
        place for place, column in enumerate(columns) if column.null and isinstance(column, models.JSONField)
    ]
    # Django reads the absent value and JSON's null alike as None, so the query tells them apart.
    absence = {
        f"absent_{place}": ExpressionWrapper(
            Q(**{f"{columns[place].name}__isnull": True}), output_field=models.BooleanField()
        )
        for place in nullable_json
    }
    # Encrypted columns are backed up as stored: their fields decrypt, a cast does not.
    stored = {
        f"stored_{column.attname}": Cast(column.attname, models.TextField())
        for column in columns
        if isinstance(column, ENCRYPTED)
    }
    names = [
        f"stored_{column.attname}" if isinstance(column, ENCRYPTED) else column.attname for column in columns
    ]
    rows = (
        model._base_manager.using(using)
        .order_by("pk")
        .annotate(**absence, **stored)
        .values_list(*names, *absence)
    )
    n_columns = len(columns)
    for row in rows.iterator(chunk_size=READ_ROWS):
        values = [write(value) for write, value in zip(writers, row[:n_columns], strict=True)]
        for place, is_absent in zip(nullable_json, row[n_columns:], strict=True):
            values[place] = None if is_absent else values[place]
        yield json.dumps(values, separators=(",", ":"), sort_keys=True).encode() + b"\n"


def parts(rows: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """Collect lines into parts of some megabytes, each with its number of rows."""
    waiting: list[bytes] = []
    size = 0
    for line in rows:
        waiting.append(line)
        size += len(line)
        if size >= PART_BYTES:
            yield b"".join(waiting), len(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting), len(waiting)


def table_checksum(model: type[models.Model], *, using: str) -> tuple[int, str]:
    """Return the number of rows of a stored table and the SHA-256 of their lines."""
    digest, n_rows = hashlib.sha256(), 0
    for line in lines(model, using=using):
        digest.update(line)
        n_rows += 1
    return n_rows, digest.hexdigest()


def insert(model: type[models.Model], names: list[str], content: bytes, *, using: str) -> None:
    """Insert the rows of one part of a table."""
    columns = {column.attname: column for column in stored_columns(model)}
    readers = [(name, _reader(columns[name])) for name in names]
    rows = [
        model(**{name: read(value) for (name, read), value in zip(readers, json.loads(line), strict=True)})
        for line in content.splitlines()
    ]
    for start in range(0, len(rows), INSERT_ROWS):
        batch = rows[start : start + INSERT_ROWS]
        try:
            _insert_rows(model, batch, using=using)
        except REFUSALS as error:
            for row in batch:  # one by one up to the row that is refused
                _insert_or_explain(model, row, using=using)
            raise BadInput(f"{model._meta.label} cannot be stored here: {_reason(error)}.") from error


def _insert_rows(model: type[models.Model], rows: list[models.Model], *, using: str) -> None:
    with transaction.atomic(using=using):  # a savepoint, because PostgreSQL ends a transaction that failed
        model._base_manager.using(using).bulk_create(rows)


def _insert_or_explain(model: type[models.Model], row: models.Model, *, using: str) -> None:
    """Insert a row, or raise what names it, its column and the reason."""
    try:
        _insert_rows(model, [row], using=using)
    except REFUSALS as error:
        diagnosis = getattr(error.__cause__, "diag", None)  # psycopg's
        column = getattr(diagnosis, "column_name", None) or _refused_column(row, using=using)
        place = f", column {column!r}," if column else ""
        raise BadInput(
            f"row {row.pk} of {model._meta.label}{place} cannot be stored in"
            f" {connections[using].display_name}: {_reason(error)}. Nothing was restored.",
            remedy="Correct or delete this row in the installation that was backed up, and back up again.",
        ) from error


def _reason(error: Exception) -> str:
    # The first line alone: the further ones of PostgreSQL quote the values of the row.
    text = getattr(getattr(error.__cause__, "diag", None), "message_primary", None) or str(error)
    return str(text).partition("\n")[0].rstrip(".")


def _refused_column(row: models.Model, *, using: str) -> str:
    """Return the first column with a value that PostgreSQL refuses without naming the column."""
    for column in stored_columns(type(row)):
        if _is_refused(column, getattr(row, column.attname), using=using):
            return column.attname
    return ""


def _is_refused(column: Column, value: Any, *, using: str) -> bool:
    while isinstance(column, models.ForeignKey):
        column = column.target_field
    if isinstance(value, int) and not isinstance(column, models.JSONField | models.BooleanField):
        low, high = connections[using].ops.integer_field_range(column.get_internal_type())
        return (low is not None and value < low) or (high is not None and value > high)
    if isinstance(value, str) and column.max_length is not None and len(value) > column.max_length:
        return True
    return any(_is_broken(text) for text in _texts(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for entry in value.items() for part in entry for text in _texts(part))
    elif isinstance(value, list):
        yield from (text for part in value for text in _texts(part))


def _is_broken(text: str) -> bool:
    """Whether a text has NUL or half of a surrogate pair."""
    return any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text)


def keep_stored_times(model: type[models.Model]) -> None:
    """Let a historical model insert the times of the backup instead of now."""
    for column in model._meta.concrete_fields:
        if isinstance(column, models.DateField | models.TimeField):
            column.auto_now = column.auto_now_add = False


def _float_text(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _json_document(value: Any) -> list[Any]:
    if CHANGED_NUMBERS.search(json.dumps(value)):
        value = _as_decimals(value)
    return [value]


def _as_decimals(value: Any) -> Any:
    """Write numbers as PostgreSQL returns them."""
    if isinstance(value, dict):
        return {name: _as_decimals(content) for name, content in value.items()}
    if isinstance(value, list):
        return [_as_decimals(content) for content in value]
    if isinstance(value, float) and math.isfinite(value):
        return 0.0 if value == 0 else int(value) if abs(value) >= 1e16 else value
    return value


def _utc_text(value: datetime) -> str:
    return value.astimezone(UTC).isoformat()


def _file_name(value: Any) -> str:
    return str(value)


WRITERS: list[tuple[type[Any], Write]] = [
    (models.JSONField, _json_document),
    (models.FloatField, _float_text),
    (models.BinaryField, lambda value: base64.b64encode(bytes(value)).decode()),
    (models.DateTimeField, _utc_text),
    (models.DateField, date.isoformat),
    (models.TimeField, time.isoformat),
    (models.DurationField, duration_string),
    (models.DecimalField, str),
    (models.UUIDField, str),
    (models.FileField, _file_name),
]
READERS: list[tuple[type[Any], Write]] = [
    # An expression, because None alone would be stored as the absent value.
    (models.JSONField, lambda value: Value(None, models.JSONField()) if value == [None] else value[0]),
    (EncryptedTextField, Ciphertext),
    (EncryptedJSONField, Ciphertext),
    (models.FloatField, float),
    (models.BinaryField, base64.b64decode),
    (models.DateTimeField, datetime.fromisoformat),
    (models.DateField, date.fromisoformat),
    (models.TimeField, time.fromisoformat),
    (models.DurationField, parse_duration),
    (models.DecimalField, Decimal),
    (models.UUIDField, UUID),
]


def _converter(column: Column, converters: list[tuple[type[Any], Write]]) -> Write:
    while isinstance(column, models.ForeignKey):
        column = column.target_field
    for kind, convert in converters:
        if isinstance(column, kind):
            return lambda value: None if value is None else convert(value)
    return lambda value: value


def _writer(column: Column) -> Write:
    write = _converter(column, WRITERS)
    if isinstance(column, models.JSONField):  # None is JSON's null unless the query says that it is absent
        return _json_document
    return write


def _reader(column: Column) -> Write:
    return _converter(column, READERS)
