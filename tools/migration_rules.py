"""Rules of migrations that never break the version that still serves: add, then fill, then require.

``tests/deployment/test_migration_rules.py`` applies them to the migrations of the platform.
"""

from collections.abc import Iterable, Iterator

from django.contrib.postgres.operations import (
    AddConstraintNotValid,
    AddIndexConcurrently,
    RemoveIndexConcurrently,
    ValidateConstraint,
)
from django.db import migrations, models
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import NOT_PROVIDED, Field

#: Tables with millions of rows: a statement that reads or rewrites all of them must not lock them.
LARGE = {
    ("judgments", name)
    for name in ("judgment", "trial", "session", "sessionevent", "participant", "consent", "platformidentity")
} | {("releases", "sentencescore"), ("releases", "cachedscore"), ("experiments", "plannedtrial")}
DATA = (migrations.RunPython, migrations.RunSQL)
REMOVALS = (
    *(migrations.RemoveField, migrations.DeleteModel, migrations.RenameField, migrations.RenameModel),
    migrations.AlterModelTable,
)
#: They take nothing from the version before, and lock for the moment of one change of the catalogue.
HARMLESS = (
    *(migrations.CreateModel, migrations.AlterModelOptions, migrations.AlterModelManagers),
    *(migrations.RemoveIndex, migrations.RenameIndex, migrations.RemoveConstraint),
    *(migrations.AlterModelTableComment, AddIndexConcurrently, RemoveIndexConcurrently, ValidateConstraint),
)
#: Fields whose values all fit those of the other.
WIDER = {
    ("CharField", "TextField"),
    ("SmallIntegerField", "IntegerField"),
    ("SmallIntegerField", "BigIntegerField"),
    ("IntegerField", "BigIntegerField"),
    ("PositiveSmallIntegerField", "PositiveIntegerField"),
    ("PositiveSmallIntegerField", "PositiveBigIntegerField"),
    ("PositiveIntegerField", "PositiveBigIntegerField"),
}


def violations(migration: migrations.Migration, before: ProjectState) -> Iterator[str]:
    """Yield what would break or stop a server of the version before."""
    are_data = [isinstance(operation, DATA) for operation in _database_operations(migration.operations)]
    if any(are_data) and not all(are_data):
        yield "changes rows and tables in one migration: the tables stay locked while the rows are changed"
    yield from _of_operations(migration.operations, migration, before.clone(), created=set())


def _database_operations(operations: Iterable[Operation]) -> Iterator[Operation]:
    """Yield the operations that reach the database."""
    for operation in operations:
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            yield from _database_operations(operation.database_operations)
        else:
            yield operation


def _of_operations(
    operations: Iterable[Operation],
    migration: migrations.Migration,
    state: ProjectState,
    *,
    created: set[str],
) -> Iterator[str]:
    """Yield what operations would break; tables that they created themselves may be changed freely."""
    for operation in operations:
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            # The database may differ from the state after it, so its operations have a state of their own.
            yield from _of_operations(
                operation.database_operations, migration, state.clone(), created=created
            )
        elif isinstance(operation, migrations.CreateModel):
            created.add(operation.name_lower)
        elif isinstance(operation, DATA):
            yield from _of_rows(operation, migration)
        elif getattr(operation, "model_name_lower", getattr(operation, "name_lower", "")) not in created:
            yield from _of_table(operation, migration.app_label, state)
        operation.state_forwards(migration.app_label, state)


def _of_rows(operation: Operation, migration: migrations.Migration) -> Iterator[str]:
    if isinstance(operation, migrations.RunSQL):
        yield f"{operation.describe()}: the rule cannot read SQL"
    elif migration.atomic if operation.atomic is None else operation.atomic:
        yield (
            f"{operation.describe()}: locks every row that it changes until all are changed; "
            "set atomic = False and commit some thousands at a time"
        )


def _of_table(operation: Operation, app: str, state: ProjectState) -> Iterator[str]:
    is_large = (app, getattr(operation, "model_name_lower", getattr(operation, "name_lower", ""))) in LARGE
    refuses = f"{operation.describe()}: may refuse rows that the version before inserts"
    locks = f"{operation.describe()}: reads or rewrites a large table under a lock; build it concurrently"
    match operation:
        case migrations.AddField():
            yield from _of_new_column(operation, is_large=is_large)
        case migrations.AlterField():
            old = state.models[app, operation.model_name_lower].fields[operation.name]
            yield from _of_changed_column(operation, old, is_large=is_large)
        case migrations.AlterUniqueTogether():
            former = state.models[app, operation.name_lower].options.get("unique_together") or set()
            if set(operation.option_value) - set(former):
                yield refuses
                if is_large:
                    yield locks
        case migrations.AddConstraint():
            yield refuses
            if is_large and not isinstance(operation, AddConstraintNotValid):
                yield locks
        case _ if isinstance(operation, REMOVALS):
            yield f"{operation.describe()}: the version before still reads it"
        case _ if isinstance(operation, HARMLESS):
            pass
        case migrations.AddIndex():
            if is_large:
                yield locks
        case _:
            yield f"{operation.describe()}: the rule does not know this operation"


def _of_new_column(operation: migrations.AddField, *, is_large: bool) -> Iterator[str]:
    field = operation.field
    if field.many_to_many:  # a table of its own
        return
    is_generated = isinstance(field, models.GeneratedField)
    has_default = field.db_default is not NOT_PROVIDED
    if not field.null and not has_default and not is_generated:
        yield f"{operation.describe()} without db_default: the version before inserts rows without it"
    if field.unique and has_default:
        yield f"{operation.describe()}: each row of the version before has the same value"
    if not is_large:
        return
    if field.unique or field.db_index:
        yield f"{operation.describe()}: its index reads a large table under a lock; build it concurrently"
    if field.remote_field and field.db_constraint:
        yield f"{operation.describe()}: its foreign key reads a large table under a lock"
    if field.get_internal_type().startswith("Positive"):
        yield f"{operation.describe()}: the check of its sign reads a large table under a lock"
    if is_generated or hasattr(field.db_default, "resolve_expression"):
        yield f"{operation.describe()}: computing its value rewrites a large table under a lock"


def _of_changed_column(operation: migrations.AlterField, old: Field, *, is_large: bool) -> Iterator[str]:
    new = operation.field
    if old.db_column != new.db_column:
        yield f"{operation.describe()}: renames the column, and the version before still reads it"
    if _column(old) == _column(new):
        return
    if old.null and not new.null:
        yield (
            f"{operation.describe()}: requires a value that the version before may not give; "
            "a version before must fill the column and always write it"
        )
    if old.db_default is not NOT_PROVIDED and new.db_default is NOT_PROVIDED:
        yield f"{operation.describe()}: the version before leaves its value to db_default"
    if not _takes_all_values(old, new):
        yield f"{operation.describe()}: may refuse values that the version before writes"
    if is_large:
        yield f"{operation.describe()}: may rewrite or read a large table under a lock"


def _takes_all_values(old: Field, new: Field) -> bool:
    """Whether a changed column takes every value of the former one; absent ones aside."""
    kinds = (old.get_internal_type(), new.get_internal_type())
    is_long_enough = new.max_length is None or (old.max_length or new.max_length + 1) <= new.max_length
    aside = {"null", "max_length", "db_default", "db_index", "unique"}
    rests = [
        {name: value for name, value in _column(field)[-1].items() if name not in aside}
        for field in (old, new)
    ]
    same_kind = type(old) is type(new) or kinds in WIDER
    return same_kind and is_long_enough and rests[0] == rests[1] and (old.unique or not new.unique)


def _column(field: Field) -> tuple:
    """What of a field reaches the database."""
    _, path, args, options = field.deconstruct()
    aside = {*field.non_db_attrs, "default"}
    return path, args, {name: value for name, value in options.items() if name not in aside}
