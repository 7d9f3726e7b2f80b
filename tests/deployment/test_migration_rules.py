"""Migrations never break the version that still serves: add, then fill, then require (docs, *Upgrade*)."""

import pytest
from django.contrib.postgres.operations import (
    AddConstraintNotValid,
    AddIndexConcurrently,
)
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.models.functions import Now

from tools.migration_rules import violations

OURS = ("experiments", "judgments", "releases")
#: Migrations that are safe for a reason that the rule cannot see: {"app.0099_name": "reason"}. For one that
#: requires a value the reason names the version that fills the column and always writes it.
EXCEPTIONS: dict[str, str] = {}


@pytest.fixture(autouse=True)
def _with_migrations(settings) -> None:
    """Read the migrations, which the other tests leave out."""
    settings.MIGRATION_MODULES = {}


def test_no_migration_breaks_a_server_that_runs():
    loader = MigrationLoader(None)
    broken = {}
    for app, name in loader.graph.nodes:
        if app not in OURS or name == "0001_initial" or f"{app}.{name}" in EXCEPTIONS:
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


POSITIVE = models.CheckConstraint(condition=models.Q(pk__gt=0), name="positive")
LINK = models.ForeignKey("experiments.job", models.CASCADE, null=True)
UNCHECKED_LINK = models.ForeignKey(
    "experiments.job", models.CASCADE, null=True, db_index=False, db_constraint=False
)


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
                migrations.RunSQL(migrations.RunSQL.noop),
            ],
            "rows and tables in one migration|cannot read SQL",
        ),
        ([migrations.RunSQL("UPDATE judgments_session SET seed = 1")], "cannot read SQL"),
        ([migrations.RunPython(fill)], "set atomic = False"),
        (
            [migrations.AlterUniqueTogether("payment", {("kind", "decided_by")})],
            "may refuse rows that the version before inserts",
        ),
        ([migrations.AlterUniqueTogether("session", {("seed", "token")})], "may refuse rows|under a lock"),
        ([migrations.AddConstraint("payment", POSITIVE)], "may refuse rows"),
        ([AddConstraintNotValid("session", POSITIVE)], "may refuse rows"),
        ([migrations.AddConstraint("session", POSITIVE)], "may refuse rows|under a lock"),
        (
            [migrations.AddField("trial", "note", models.CharField(max_length=9, null=True, db_index=True))],
            "index reads a large table",
        ),
        (
            [migrations.AddField("trial", "note", models.CharField(max_length=9, null=True, unique=True))],
            "index reads a large table",
        ),
        (
            [
                migrations.AddField(
                    "payment", "note", models.CharField(max_length=9, db_default="", unique=True)
                )
            ],
            "the same value",
        ),
        ([migrations.AddField("trial", "job", LINK)], "index reads a large table|foreign key reads"),
        (
            [migrations.AddField("trial", "n_pauses", models.PositiveIntegerField(null=True))],
            "check of its sign",
        ),
        (
            [migrations.AddField("trial", "noted_at", models.DateTimeField(db_default=Now()))],
            "rewrites a large",
        ),
        (
            [migrations.AlterField("alert", "title", models.CharField(max_length=100))],
            "may refuse values that the version before writes",
        ),
        (
            [migrations.AlterField("alert", "title", models.CharField(max_length=200, unique=True))],
            "may refuse values",
        ),
        ([migrations.AlterField("alert", "title", models.IntegerField())], "may refuse values"),
        (
            [migrations.AlterField("alert", "title", models.CharField(max_length=200, db_column="name"))],
            "renames the column",
        ),
        (
            [migrations.AlterField("alert", "dismissed_at", models.DateTimeField(db_default=Now()))],
            "requires a value",
        ),
        (
            [
                migrations.AddField("alert", "note", models.TextField(db_default="")),
                migrations.AlterField("alert", "note", models.TextField()),
            ],
            "leaves its value to db_default",
        ),
        ([migrations.AlterModelTable("alert", "alerts")], "still reads it"),
        ([migrations.AlterOrderWithRespectTo("alert", "experiment")], "does not know this operation"),
        (
            [migrations.SeparateDatabaseAndState([migrations.RemoveField("session", "seed")])],
            "still reads it",
        ),
        (
            [
                migrations.SeparateDatabaseAndState(
                    [migrations.AddField("session", "note", models.TextField(null=True))]
                ),
                migrations.SeparateDatabaseAndState([migrations.RunPython(fill)]),
            ],
            "rows and tables in one migration|set atomic = False",
        ),
    ],
)
def test_what_would_break_a_server_is_refused(operations, words):
    state = MigrationLoader(None).project_state()
    reported = list(violations(migration(*operations), state))
    assert len(reported) == len(words.split("|"))
    assert all(word in violation for word, violation in zip(words.split("|"), reported, strict=True))


@pytest.mark.parametrize(
    "operations",
    [
        [migrations.AddField("session", "note", models.CharField(max_length=9, db_default=""))],
        [migrations.AddField("session", "note", models.CharField(max_length=9, null=True))],
        [AddIndexConcurrently("trial", models.Index(fields=["kind"], name="trial_kind"))],
        [migrations.AlterField("alert", "title", models.CharField(max_length=300, default="none"))],
        [migrations.AlterField("alert", "title", models.TextField(null=True, db_default=""))],
        [migrations.AlterUniqueTogether("session", set())],
        [migrations.AddField("trial", "job", UNCHECKED_LINK)],
        [migrations.AddField("trial", "jobs", models.ManyToManyField("experiments.job"))],
        [migrations.RunPython(fill, atomic=False)],
        [
            # The code no longer reads the column, which stays for the version before.
            migrations.SeparateDatabaseAndState(state_operations=[migrations.RemoveField("session", "seed")])
        ],
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
