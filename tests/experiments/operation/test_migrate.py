"""`manage.py migrate` of several hosts at once: one migrates, the others wait and have nothing to do."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from experiments.management.commands.migrate import LOCK
from tests.database import database_url, empty_database

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[3]
APP = "contenttypes"  # two migrations; the lock is the same for all


@pytest.fixture
def address():
    """The address of a database of this test alone."""
    if connection.vendor != "postgresql":
        pytest.skip("advisory locks are PostgreSQL's: set DATABASE_URL to run this test")
    with empty_database(database_url()) as address:
        yield address


def migrate(address: str) -> subprocess.Popen[str]:
    """A host that starts."""
    words = [sys.executable, "manage.py", "migrate", APP, "--no-input", "--no-color"]
    environment = {**os.environ, "DATABASE_URL": address, "SECRET_KEY": "x" * 50}
    return subprocess.Popen(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def test_hosts_that_start_at_once_migrate_once(address):
    with psycopg.connect(address, autocommit=True) as earlier:
        earlier.execute("SELECT pg_advisory_lock(%s)", [LOCK])  # a host that migrates already
        hosts = [migrate(address) for _ in range(2)]
        lines = [host.stdout.readline() for host in hosts]
        assert lines == ["Another process migrates this database; waiting for it.\n"] * 2
        tables = earlier.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
        assert tables == (0,)
    outputs = [host.communicate(timeout=120)[0] for host in hosts]
    assert [host.returncode for host in hosts] == [0, 0]
    assert sorted("No migrations to apply" in output for output in outputs) == [False, True]
    with psycopg.connect(address) as database:
        applied = database.execute("SELECT name FROM django_migrations WHERE app = %s", [APP]).fetchall()
        # The view has the locks of all databases of the server.
        locks = database.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
            " WHERE locktype = 'advisory' AND datname = current_database()"
        ).fetchone()
    assert len(applied) == len(set(applied)) == 2
    assert locks == (0,)
