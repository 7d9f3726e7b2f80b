"""Queries and inserts whose SQL is worked out once in a process.

Between the link and the first trial a participant waits for every query, and Django takes many times longer
to work one out than the database takes to answer it. The queries stay ordinary querysets, and yield what
the queryset itself would yield.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from django.db import connection, models
from django.db.models.query import ModelIterable, get_related_populators

from judgments.sessions.prepared import rows_of

MARKS: dict[type, Callable[[int], Any]] = {  # stand in for values while the SQL is worked out
    str: lambda place: f"\u29e2 {place}",
    int: lambda place: 1_804_289_383 + place,
    datetime: lambda place: datetime(1789, 7, 14, tzinfo=UTC) + timedelta(days=place),
}
AS_THEY_ARE = (models.CharField, models.BooleanField, models.IntegerField, models.ForeignKey)  # no conversion
MOST_PARAMETERS = 900  # SQLite before 3.32 takes no more in one statement


class Compiled:
    """A queryset as a function of values (text, whole numbers, moments) and of named variants.

    >>> by_slug = Compiled(lambda slug: Experiment.objects.filter(slug=slug))
    >>> by_slug("agreement")  # doctest: +SKIP
    [<Experiment: Agreement>]
    """

    def __init__(self, build: Callable[..., models.QuerySet]) -> None:
        self.build = build
        self.plans: dict[tuple[Any, ...], _Plan] = {}

    def __call__(self, *values: Any, **variants: Any) -> list[Any]:
        """Rows for these values; a variant (a flag, None) has SQL of its own."""
        kinds = tuple(map(type, values))
        key = (connection.vendor, kinds, tuple(variants.items()))
        plan = self.plans.get(key)
        if plan is None:
            marks = [MARKS[kind](place) for place, kind in enumerate(kinds)]
            plan = self.plans[key] = _Plan.of(self.build(*marks, **variants), marks)
        return plan.rows(values)

    def first(self, *values: Any, **variants: Any) -> Any:
        """The first row, or None."""
        return next(iter(self(*values, **variants)), None)


@dataclass(frozen=True)
class _Plan:
    """The SQL of one queryset, which parameter each value becomes, and how rows become what it yields."""

    sql: str
    constants: tuple[Any, ...]
    places: tuple[tuple[int, int], ...]
    compiler: Any
    converters: dict[int, Any]
    read: Callable[[Sequence[Any]], Any]

    @classmethod
    def of(cls, queryset: models.QuerySet, marks: Sequence[Any]) -> "_Plan":
        compiler = queryset.query.get_compiler(using=queryset.db)
        sql, parameters = compiler.as_sql()
        sent = [_sent(mark) for mark in marks]
        places = tuple((at, sent.index(one)) for at, one in enumerate(parameters) if one in sent)
        if {which for _, which in places} != set(range(len(marks))):
            raise LookupError("a value does not reach the query as it is given")
        converters = compiler.get_converters([one[0] for one in compiler.select[: compiler.col_count]])
        return cls(sql, tuple(parameters), places, compiler, converters, _reader(queryset, compiler))

    def rows(self, values: Sequence[Any]) -> list[Any]:
        parameters = list(self.constants)
        for at, which in self.places:
            parameters[at] = _sent(values[which])
        rows: Iterable[Sequence[Any]] = rows_of(self.sql, parameters)
        if self.converters:
            rows = self.compiler.apply_converters(rows, self.converters)
        return [self.read(row) for row in rows]


def padded(keys: Sequence[int]) -> list[int]:
    """Some keys, the last of them several times, so that statements come in few lengths.

    >>> padded([4, 5, 6])
    [4, 5, 6, 6]
    """
    return [*keys, *keys[-1:] * ((1 << (len(keys) - 1).bit_length()) - len(keys))] if keys else []


def _sent(value: Any) -> Any:
    """A value as the database's driver gets it."""
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value


def _reader(queryset: models.QuerySet, compiler: Any) -> Callable[[Sequence[Any]], Any]:
    """How a row becomes an instance with its relations and annotations, or a tuple."""
    if queryset._iterable_class is not ModelIterable:
        return tuple
    info, alias = compiler.klass_info, queryset.db
    first, end = info["select_fields"][0], info["select_fields"][-1] + 1
    names = [one[0].target.attname for one in compiler.select[first:end]]
    related = get_related_populators(info, compiler.select, alias)
    annotations = (compiler.annotation_col_map or {}).items()

    def read(row: Sequence[Any]) -> Any:
        instance = info["model"].from_db(alias, names, row[first:end])
        for one in related:
            one.populate(row, instance)
        for name, place in annotations:
            setattr(instance, name, row[place])
        return instance

    return read


def insert_all(instances: Sequence[models.Model], *, known_by: str, unless_there: bool = False) -> None:
    """Store new rows and give the instances their keys, as ``save(force_insert=True)`` does without signals.

    ``known_by`` is a column that tells these instances apart. With ``unless_there`` a row that a unique
    constraint forbids is left out, and its instance stays without a key.
    """
    if not instances:
        return
    model = type(instances[0])
    _, fields = _insert_sql(model, 1)
    add = " ON CONFLICT DO NOTHING" if unless_there else ""
    keys: dict[Any, int] = {}
    if connection.vendor == "postgresql":
        rows = [{field.attname: field.pre_save(one, True) for field in fields} for one in instances]
        sql = f'{_insert_document_sql(model)}{add} RETURNING "{known_by}", "id"'
        keys = dict(rows_of(sql, [_document(rows)]))
    else:
        with connection.cursor() as cursor:
            for instance in instances:
                cursor.execute(_insert_sql(model, 1)[0] + add, _values(instance, fields))
                if cursor.rowcount:
                    keys[getattr(instance, known_by)] = cursor.lastrowid
    for instance in instances:
        if (pk := keys.get(getattr(instance, known_by))) is not None:
            instance.pk = pk
            instance._state.adding, instance._state.db = False, connection.alias


def insert_rows(
    model: type[models.Model], rows: Sequence[dict[str, Any]], *, known_by: str = "id"
) -> dict[Any, int]:
    """Store new rows by attribute; columns that are not given get their defaults.

    A row that a unique constraint forbids is left out. Gives the keys of the others by their ``known_by``, a
    column that tells them apart; a database that cannot say gives none.
    """
    if not rows:
        return {}
    _, fields = _insert_sql(model, 1)
    usual = _usual(model)
    filled = [{**usual, **row} for row in rows]
    unless_there = " ON CONFLICT DO NOTHING"
    if connection.features.can_return_rows_from_bulk_insert:
        unless_there += f' RETURNING "{known_by}", "id"'
    if connection.vendor == "postgresql":
        return dict(rows_of(_insert_document_sql(model) + unless_there, [_document(filled)]))
    keys: dict[Any, int] = {}
    documents = {field.attname for field in fields if isinstance(field, models.JSONField)}
    most = max(1, MOST_PARAMETERS // len(fields))
    with connection.cursor() as cursor:
        for start in range(0, len(filled), most):
            batch = filled[start : start + most]
            values = [
                json.dumps(row[field.attname]) if field.attname in documents else _sent(row[field.attname])
                for row in batch
                for field in fields
            ]
            cursor.execute(_insert_sql(model, len(batch))[0] + unless_there, values)
            if connection.features.can_return_rows_from_bulk_insert:
                keys |= dict(cursor.fetchall())
    return keys


@cache
def _insert_sql(model: type[models.Model], n: int) -> tuple[str, list[models.Field]]:
    """An insert of ``n`` rows, and the fields it stores."""
    fields = [field for field in model._meta.local_concrete_fields if not field.primary_key]
    quote = connection.ops.quote_name
    columns = ", ".join(quote(field.column) for field in fields)
    row = f"({', '.join(['%s'] * len(fields))})"
    return f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES {', '.join([row] * n)}", fields


def _document(rows: Sequence[dict[str, Any]]) -> str:
    return json.dumps(rows, default=datetime.isoformat)


@cache
def _insert_document_sql(model: type[models.Model]) -> str:
    """An insert of all rows of a JSON document, which costs less to write than arrays, for PostgreSQL."""
    single, fields = _insert_sql(model, 1)
    columns = ", ".join(f'"{field.attname}" {field.db_type(connection)}' for field in fields)
    chosen = ", ".join(f'"{field.attname}"' for field in fields)
    return (
        f"{single.partition(' VALUES ')[0]} SELECT {chosen} FROM json_to_recordset(%s::json) AS x({columns})"
    )


@cache
def _usual(model: type[models.Model]) -> dict[str, Any]:
    """What stands in a column that is not given; what is drawn anew has to be given."""
    usual = {}
    for field in _insert_sql(model, 1)[1]:
        if isinstance(field, models.JSONField) or not (field.has_default() and callable(field.default)):
            usual[field.attname] = field.get_default()
    return usual


def _values(instance: models.Model, fields: list[models.Field]) -> list[Any]:
    return [
        getattr(instance, field.attname)
        if isinstance(field, AS_THEY_ARE)
        else field.get_db_prep_save(field.pre_save(instance, True), connection)
        for field in fields
    ]
