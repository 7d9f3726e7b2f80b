"""``manage.py migrate`` by one process at a time, so that every replica may run it when it starts."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.checks import Tags
from django.core.management.commands import migrate
from django.db import connections

LOCK = 0x6F62656C7573  # "obelus" in ASCII; any number that nothing else locks in this database
POLL_S = 0.5


class Command(migrate.Command):
    """Django's command under an advisory lock of PostgreSQL: a second process waits and has nothing to do."""

    help = f"{migrate.Command.help} On PostgreSQL one process migrates, others wait for it."
    # Not those of addresses, which import every page and take longer than all migrations.
    requires_system_checks = (Tags.database, Tags.models, Tags.security)

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate once this process has the lock."""
        with self._lock(options["database"], verbosity=options["verbosity"]):
            super().handle(*args, **options)

    @contextmanager
    def _lock(self, alias: str, *, verbosity: int) -> Iterator[None]:
        connection = connections[alias]
        if connection.vendor != "postgresql":  # SQLite: one host, whose processes are started by one command
            yield
            return
        has_waited = False
        # Polling, because a statement that waits for the lock holds a snapshot, and CREATE INDEX CONCURRENTLY
        # of the process that migrates would wait for the end of that snapshot: neither would go on.
        while not _run(alias, "SELECT pg_try_advisory_lock(%s)"):
            if not has_waited and verbosity:
                self.stdout.write("Another process migrates this database; waiting for it.")
                self.stdout.flush()
            has_waited = True
            time.sleep(POLL_S)
        try:
            yield
        finally:
            # A lost connection has released its lock; a new one has none, and PostgreSQL warns of it.
            _run(alias, "SELECT pg_advisory_unlock(%s)")


def _run(alias: str, statement: str) -> bool:
    with connections[alias].cursor() as cursor:
        cursor.execute(statement, [LOCK])
        return bool(cursor.fetchone()[0])
