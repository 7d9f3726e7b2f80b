"""Migrations make the tables that the models make, in which the suite runs."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from tests.database import ROWS_OF_MIGRATIONS, database_url, empty_database

ROOT = Path(__file__).resolve().parents[2]
#: Keys of Django's own tables between two models: its migrations make them as DEFAULT_AUTO_FIELD says
#: (bigint), its models as their app says (integer).
KEYS_OF_DJANGO = {
    (table, "id") for table in ("auth_group_permissions", "auth_user_groups", "auth_user_user_permissions")
}
COLUMNS = """
    SELECT relname, attname, format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated,
           attcollation, pg_get_expr(adbin, adrelid)
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
         LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
"""
CONSTRAINTS = """
    SELECT conrelid::regclass::text, conname, convalidated, pg_get_constraintdef(pg_constraint.oid)
    FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
    WHERE connamespace = 'public'::regnamespace AND relkind = 'r'
"""
INDEXES = "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"
SQLITE_INDEXES = "SELECT tbl_name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
Query = Callable[[str], list[tuple]]


def migrate(address: str, folder: Path) -> None:
    """Apply all migrations, as an installation does."""
    environment = {**os.environ, "DATABASE_URL": address, "VAR_DIR": str(folder), "SECRET_KEY": "x" * 50}
    command = [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity", "0"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def query_suite(sql: str) -> list[tuple]:
    """Ask the database of the suite."""
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def postgresql_tables(query: Query) -> set[tuple]:
    """Columns, constraints and indexes; the order of columns differs, and nothing reads by it."""
    rows = [*query(COLUMNS), *query(CONSTRAINTS), *query(INDEXES)]
    return {row for row in rows if row[0] != "django_migrations" and row[:2] not in KEYS_OF_DJANGO}


def sqlite_tables(query: Query) -> set[tuple]:
    """Lines of each table's definition, and the indexes."""
    tables = query("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    lines = {(name, line) for name, sql in tables for line in lines_of(sql)}
    return {row for row in lines | set(query(SQLITE_INDEXES)) if row[0] != "django_migrations"}


def lines_of(definition: str) -> Iterator[str]:
    """Split ``CREATE TABLE t (line, line)`` at the commas that are in no further parentheses."""
    depth, line = 0, ""
    for sign in definition:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if (sign in "()" and depth == (sign == "(")) or (sign == "," and depth == 1):
            yield line.strip()
            line = ""
        else:
            line += sign


def assert_alike(tables_of: Callable[[Query], set[tuple]], query: Query) -> None:
    """The migrated database has the tables of the suite, and rows in no other of them."""
    tables = tables_of(query)
    assert tables == tables_of(query_suite)
    names = {table for table, *_ in tables}
    assert {name for name in names if query(f'SELECT 1 FROM "{name}" LIMIT 1')} == ROWS_OF_MIGRATIONS


@pytest.mark.django_db
def test_migrations_make_the_tables_of_the_models_on_postgresql(tmp_path):
    if connection.vendor != "postgresql":
        pytest.skip("set DATABASE_URL to PostgreSQL to run this test")
    with empty_database(database_url()) as address:
        migrate(address, tmp_path)
        with closing(psycopg.connect(address)) as migrated:
            assert_alike(postgresql_tables, lambda sql: migrated.execute(sql).fetchall())


@pytest.mark.django_db
def test_migrations_make_the_tables_of_the_models_on_sqlite(tmp_path):
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL's tables are compared by the other test")
    migrate("", tmp_path)
    (file,) = tmp_path.glob("*.sqlite3")
    with closing(sqlite3.connect(file)) as migrated:
        assert_alike(sqlite_tables, lambda sql: migrated.execute(sql).fetchall())
