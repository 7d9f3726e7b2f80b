"""A backup while people take part and things break, restored into an empty installation and compared."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.soak.people import Person
from benchmarks.soak.services import ROOT
from benchmarks.soak.study import step

JUDGMENTS = "judgments.Judgment"
TRIES, REST_S = 200, 3.0  # of a backup: the database is killed now and then while one is made


@dataclass(eq=False)  # a thread is hashed by identity
class Rehearsals(threading.Thread):
    """At each moment one backup, restored elsewhere; what differs is counted."""

    environment: dict[str, str]
    folder: Path
    elsewhere: str  # address of another database server, which nobody kills; empty for SQLite
    people: Callable[[], list[Person]]
    moments_s: list[float]
    say: Callable[[str], None]
    results: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)

    def run(self) -> None:
        """Wait for each moment."""
        start = time.monotonic()
        for number, moment_s in enumerate(self.moments_s):
            time.sleep(max(0.0, start + moment_s - time.monotonic()))
            try:
                self.results.append(self._rehearse(number))
            except Exception as error:  # noqa: BLE001 - a thread that ends early would look like a success
                self.say(f"backup and restore failed: {error}")
                self.results.append({"backups that were not restored": 1})
            self.say(f"backup and restore: {self.results[-1]}")

    def _rehearse(self, number: int) -> dict[str, Any]:
        promised = [
            (person.token, trial, person.answers[trial])
            for person in self.people()
            for trial in list(person.acknowledged)
        ]
        start = time.monotonic()
        backup, n_backups = self._manage(self.environment, "backup", "--to", str(self.folder / "backups"))
        backed_up = time.monotonic()
        elsewhere = self._empty_installation(number)
        if (restored := self._try(elsewhere, "restore", backup["file"])) is None:
            return {"backups that were not restored": 1}
        again, _ = self._manage(elsewhere, "backup", "--to", str(self.folder / "again"))
        stored = {
            (token, trial): response for token, trial, response in step("facts", elsewhere)["judgments"]
        }
        if self.elsewhere:
            self._execute(f"DROP DATABASE restored_{number}")
        checksums = (backup["table_checksums"][JUDGMENTS], again["table_checksums"][JUDGMENTS])
        return {
            "judgments": backup["tables"][JUDGMENTS],
            "MB": round(backup["size"] / 1e6, 1),
            "backup_s": round(backed_up - start, 1),
            "restore_s": round(time.monotonic() - backed_up, 1),
            "tries": n_backups,
            "tables restored": len(restored["backup"]["tables"]),
            "acknowledged before and not in it": sum(
                stored.get((token, trial)) != answer for token, trial, answer in promised
            ),
            "checksums that differ": int(checksums[0] != checksums[1]),
        }

    def _empty_installation(self, number: int) -> dict[str, str]:
        var = self.folder / f"restored-{number}"
        address = f"sqlite:///{var}/restored.sqlite3"
        if self.elsewhere:
            self._execute(f"CREATE DATABASE restored_{number}")
            address = f"{self.elsewhere.rsplit('/', 1)[0]}/restored_{number}"
        return {**self.environment, "VAR_DIR": str(var), "DATABASE_URL": address}

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self.elsewhere, autocommit=True) as connection:
            connection.execute(statement.encode())

    def _manage(self, environment: dict[str, str], *command: str) -> tuple[dict[str, Any], int]:
        for number in range(1, TRIES + 1):
            if (document := self._try(environment, *command)) is not None:
                return document, number
            time.sleep(REST_S)
        raise RuntimeError(f"{command} failed {TRIES} times")

    def _try(self, environment: dict[str, str], *command: str) -> dict[str, Any] | None:
        process = subprocess.run(
            ["nice", sys.executable, "manage.py", *command, "--json"],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode:
            self.say(f"{command[0]} was interrupted: {process.stderr.strip().splitlines()[-1:]}")
            return None
        document: dict[str, Any] = json.loads(process.stdout)
        return document
