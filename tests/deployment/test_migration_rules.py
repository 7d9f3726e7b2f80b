"""Migrations never break the version that still serves: add, then fill, then require (docs, *Upgrade*)."""

from collections.abc import Iterator

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import NOT_PROVIDED, Field

OURS = ("experiments", "judgments", "releases")
#: The last migrations before this rule. They came before the first release, so no server had to serve through
#: them; `tests/benchmarks/operate/migrations.py` measures what they lock.
BEFORE_THE_RULE = {"experiments": 24, "judgments": 17, "releases": 5}
#: Later ones that are safe for a reason that the rule cannot see: {"app.0099_name": "reason"}.
EXCEPTIONS: dict[str, str] = {}
#: Tables with millions of rows: a statement that reads or rewrites all of them must not lock them.
LARGE = {
    ("judgments", name)
    for name in ("judgment", "trial", "session", "sessionevent", "participant", "consent", "platformidentity")
} | {("releases", "sentencescore"), ("releases", "cachedscore"), ("experiments", "plannedtrial")}
DATA = (migrations.RunPython, migrations.RunSQL)
REMOVALS = (migrations.RemoveField, migrations.DeleteModel, migrations.RenameField, migrations.RenameModel)


@pytest.fixture(autouse=True)
def _with_migrations(settings) -> None:
    """Read the migrations, which the other tests leave out."""
    settings.MIGRATION_MODULES = {}


def violations(migration: migrations.Migration, before: ProjectState) -> Iterator[str]:
    """Yield what would break or stop a server of the version before."""
    has_data = any(isinstance(operation, DATA) for operation in migration.operations)
    if has_data and not all(isinstance(operation, DATA) for operation in migration.operations):
        yield "changes rows and tables in one migration: the tables stay locked while the rows are changed"
    state = before.clone()
    created = set()
    for operation in migration.operations:
        if isinstance(operation, migrations.CreateModel):
            created.add(operation.name_lower)
        elif getattr(operation, "model_name_lower", "") not in created:
            yield from _of_operation(operation, migration.app_label, state)
        operation.state_forwards(migration.app_label, state)


def _of_operation(operation: Operation, app: str, state: ProjectState) -> Iterator[str]:
    if isinstance(operation, REMOVALS):
        yield f"{operation.describe()}: the version before still reads it"
    elif isinstance(operation, migrations.AddField):
        field = operation.field
        is_column = not field.many_to_many
        if is_column and not field.null and field.db_default is NOT_PROVIDED:
            yield f"{operation.describe()} without db_default: the version before inserts rows without it"
    elif isinstance(operation, migrations.AlterField):
        old = state.models[app, operation.model_name_lower].fields[operation.name]
        if _column(old) == _column(operation.field):
            return
        if old.null and not operation.field.null and operation.field.db_default is NOT_PROVIDED:
            yield f"{operation.describe()}: requires a value that the version before may not give"
        if (app, operation.model_name_lower) in LARGE:
            yield f"{operation.describe()}: may rewrite or read a large table under a lock"
    elif (app, getattr(operation, "model_name_lower", "")) in LARGE:
        if isinstance(operation, AddIndexConcurrently):
            return
        if isinstance(operation, migrations.AddIndex | migrations.AddConstraint):
            yield f"{operation.describe()}: reads a large table under a lock; build it concurrently"


def _column(field: Field) -> tuple:
    """What of a field reaches the database."""
    _, path, args, options = field.deconstruct()
    return path, args, {name: value for name, value in options.items() if name not in field.non_db_attrs}


def test_migrations_after_the_rule_break_no_server_that_runs():
    loader = MigrationLoader(None)
    broken = {}
    for app, name in loader.graph.nodes:
        if app not in OURS or int(name[:4]) <= BEFORE_THE_RULE[app] or f"{app}.{name}" in EXCEPTIONS:
            continue
        migration = loader.graph.nodes[app, name]
        state = loader.project_state((app, name), at_end=False)
        if problems := list(violations(migration, state)):
            broken[f"{app}.{name}"] = problems
    assert broken == {}


def test_every_exception_names_a_migration_and_has_a_reason():
    names = {f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations}
    assert set(EXCEPTIONS) <= names
    assert all(len(reason.split()) > 4 for reason in EXCEPTIONS.values())


def migration(*operations: Operation) -> migrations.Migration:
    made = migrations.Migration("0099_made_up", "judgments")
    made.operations = list(operations)
    return made


def fill(apps, schema_editor) -> None:
    """A step on rows."""


@pytest.mark.parametrize(
    ("operations", "words"),
    [
        ([migrations.AddField("session", "note", models.CharField(max_length=9, default=""))], "db_default"),
        ([migrations.RemoveField("session", "seed")], "still reads it"),
        ([migrations.RenameField("session", "seed", "start")], "still reads it"),
        ([migrations.DeleteModel("Tombstone")], "still reads it"),
        (
            [migrations.AlterField("session", "token", models.CharField(max_length=70))],
            "rewrite or read a large table",
        ),
        (
            [migrations.AddIndex("trial", models.Index(fields=["kind"], name="trial_kind"))],
            "build it concurrently",
        ),
        (
            [
                migrations.AddField("session", "note", models.CharField(max_length=9, null=True)),
                migrations.RunPython(fill),
            ],
            "rows and tables in one migration",
        ),
    ],
)
def test_what_would_break_a_server_is_refused(operations, words):
    state = MigrationLoader(None).project_state()
    [violation] = violations(migration(*operations), state)
    assert words in violation


def test_requiring_a_column_that_the_version_before_leaves_empty_is_refused():
    state = MigrationLoader(None).project_state()
    operation = migrations.AlterField("payment", "decided_by", models.BigIntegerField())
    assert any("requires a value" in violation for violation in violations(migration(operation), state))


@pytest.mark.parametrize(
    "operations",
    [
        [migrations.AddField("session", "note", models.CharField(max_length=9, db_default=""))],
        [migrations.AddField("session", "note", models.CharField(max_length=9, null=True))],
        [
            AddIndexConcurrently("trial", models.Index(fields=["kind"], name="trial_kind")),
        ],
        [migrations.RunPython(fill)],
        [
            migrations.CreateModel("Note", [("id", models.BigAutoField(primary_key=True))]),
            migrations.AddField("note", "text", models.TextField()),
        ],
    ],
)
def test_adding_and_filling_are_accepted(operations):
    state = MigrationLoader(None).project_state()
    assert list(violations(migration(*operations), state)) == []


def test_other_words_of_a_field_are_no_change_of_its_column():
    state = MigrationLoader(None).project_state()
    field = state.models["judgments", "session"].fields["user_agent"].clone()
    field.help_text = "As the browser sent it."
    operation = migrations.AlterField("session", "user_agent", field)
    assert list(violations(migration(operation), state)) == []
