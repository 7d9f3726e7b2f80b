"""Querysets whose SQL is composed once in a process.

Between the link and the first trial a participant waits for some fifteen queries, and Django takes longer to
compose one than the database to run it. The queries stay ordinary querysets and return what these return.

This uses parts of Django that are not documented (``get_compiler``, ``klass_info``, ``_iterable_class``,
``get_related_populators``). It serves the floors for opening sessions and for answers with 50 at once. The
tests compare its results with those of the querysets, so a Django release that changes them fails.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection, models
from django.db.models.query import ModelIterable, get_related_populators

MARKS: dict[type, Callable[[int], Any]] = {  # stand in for values while the SQL is worked out
    str: lambda place: f"\u29e2 {place}",
    int: lambda place: 1_804_289_383 + place,
    datetime: lambda place: datetime(1789, 7, 14, tzinfo=UTC) + timedelta(days=place),
}


class Compiled:
    """A queryset as a function of values (text, whole numbers, moments) and of named variants.

    >>> by_slug = Compiled(lambda slug: Experiment.objects.filter(slug=slug))
    >>> by_slug("agreement")  # doctest: +SKIP
    [<Experiment: Agreement>]
    """

    def __init__(self, build: Callable[..., models.QuerySet[Any, Any]]) -> None:
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
    def of(cls, queryset: models.QuerySet[Any, Any], marks: Sequence[Any]) -> "_Plan":
        compiler = queryset.query.get_compiler(using=queryset.db)
        sql, parameters = compiler.as_sql()
        sent = _adapt_values(marks)
        places = tuple(
            (at, sent.index(parameter)) for at, parameter in enumerate(parameters) if parameter in sent
        )
        if {which for _, which in places} != set(range(len(marks))):
            raise LookupError("a value does not reach the query as it is given")
        converters = compiler.get_converters([column[0] for column in compiler.select[: compiler.col_count]])
        return cls(sql, tuple(parameters), places, compiler, converters, _reader(queryset, compiler))

    def rows(self, values: Sequence[Any]) -> list[Any]:
        parameters = list(self.constants)
        for at, which in self.places:
            parameters[at] = values[which]
        with connection.cursor() as cursor:
            cursor.execute(self.sql, _adapt_values(parameters))
            rows: Iterable[Sequence[Any]] = cursor.fetchall()
        if self.converters:
            rows = self.compiler.apply_converters(rows, self.converters)
        return [self.read(row) for row in rows]


def _adapt_values(values: Sequence[Any]) -> list[Any]:
    """Values as the database's driver takes them."""
    adapt = connection.ops.adapt_datetimefield_value
    return [adapt(value) if isinstance(value, datetime) else value for value in values]


def _reader(queryset: models.QuerySet[Any, Any], compiler: Any) -> Callable[[Sequence[Any]], Any]:
    """Converter of a row to an instance with its relations and annotations, or a tuple."""
    if queryset._iterable_class is not ModelIterable:
        return tuple
    info, alias = compiler.klass_info, queryset.db
    first, end = info["select_fields"][0], info["select_fields"][-1] + 1
    names = [column[0].target.attname for column in compiler.select[first:end]]
    related = get_related_populators(info, compiler.select, alias)  # type: ignore[call-arg]  # stubs of Django 6
    annotations = (compiler.annotation_col_map or {}).items()

    def read(row: Sequence[Any]) -> Any:
        instance = info["model"].from_db(alias, names, row[first:end])
        for column in related:
            column.populate(row, instance)
        for name, place in annotations:
            setattr(instance, name, row[place])
        return instance

    return read
