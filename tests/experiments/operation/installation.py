"""The age of the installation that a test runs on."""

from datetime import timedelta

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone


def installed(*, days_ago: float) -> None:
    """Record that the first migration was applied then, also where the test database has none.

    The table is made by a statement, because Django's editor makes none in a transaction of SQLite.
    """
    row = MigrationRecorder.Migration
    columns = ", ".join(f"{field.column} {field.cast_db_type(connection)}" for field in row._meta.fields)
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE IF NOT EXISTS {row._meta.db_table} ({columns})")
    applied = timezone.now() - timedelta(days=days_ago)
    if not row.objects.update(applied=applied):
        row.objects.create(pk=1, app="experiments", name="0001_initial", applied=applied)
