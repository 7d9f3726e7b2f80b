"""Installations that move to another database and back, rows that a database refuses, and drills."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from experiments.operation import archive
from tests.database import database_url

ROOT = Path(__file__).resolve().parents[3]
PILOT = "tests.experiments.operation.pilot"
KEY = "the key of both installations, as the manual asks for"
OTHER = {"sqlite": "postgresql", "postgresql": "sqlite"}
WITH_ROWS = {  # the tables that a move must not leave empty
    *("auth.User", "experiments.Lab", "experiments.LabMembership", "experiments.ApiToken"),
    *("experiments.MaterialSet", "experiments.Sentence", "experiments.MinimalPair", "experiments.Experiment"),
    *("experiments.ExperimentVersion", "experiments.PresentationList", "experiments.PlannedTrial"),
    *("experiments.PlatformAccount", "experiments.PlatformAccount_experiments", "experiments.Campaign"),
    *("experiments.Job", "experiments.Upload", "experiments.Webhook", "experiments.AuditEntry"),
    *("judgments.Participant", "judgments.PlatformIdentity", "judgments.Consent", "judgments.Session"),
    *("judgments.SessionEvent", "judgments.Trial", "judgments.Judgment", "judgments.Flag"),
    *("judgments.Signal", "judgments.Submission", "judgments.Payment"),
    *("releases.Release", "releases.ScorerSpec", "releases.CachedScore"),
}


class Installation:
    """A database, a folder and the processes that work on them."""

    def __init__(self, kind: str, folder: Path, *, address: str) -> None:
        self.kind, self.folder, self.address = kind, folder, address
        folder.mkdir()
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.endswith(("_STORAGE", "_KEY"))},
            **{"DJANGO_SETTINGS_MODULE": "config.settings", "DATABASE_URL": address, "SECRET_KEY": KEY},
            **{"VAR_DIR": str(folder), "CELERY_BROKER_URL": "filesystem://"},
        }

    def run(self, *words: str, status: int = 0) -> str:
        """Run Python on this installation; what it prints, on stderr where it fails as expected."""
        command = [sys.executable, *words]
        process = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False
        )
        assert process.returncode == status, process.stderr[-3000:]
        return process.stderr if status else process.stdout

    def manage(self, *words: str) -> Any:
        """Run a command of the contract; its JSON document."""
        return json.loads(self.run("manage.py", *words, "--json"))

    def pilot(self, *steps: str) -> list[Any]:
        """Run steps of the pilot in one process; the JSON document of each that prints one."""
        return [json.loads(line) for line in self.run("-m", PILOT, *steps).splitlines()]

    def files(self) -> set[str]:
        """Files of uploads and releases."""
        return {
            str(file.relative_to(self.folder))
            for name in ("media", "releases")
            for file in (self.folder / name).rglob("*")
            if file.is_file()
        }


class Server:
    """The databases of these tests on a PostgreSQL server."""

    def __init__(self, address: str) -> None:
        self.address, self.names = address, []

    def create(self, *, template: str = "") -> str:
        """Create a database, empty or as another one; its address."""
        name = f"test_restore_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(self.address, autocommit=True, connect_timeout=5) as admin:
            admin.execute(f'CREATE DATABASE "{name}"' + (f' TEMPLATE "{template}"' if template else ""))
        self.names.append(name)
        return f"{self.address.rpartition('/')[0]}/{name}"

    def drop_all(self) -> None:
        """Drop every database that was created."""
        with psycopg.connect(self.address, autocommit=True) as admin:
            for name in self.names:
                admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    if connection.vendor != "postgresql":
        pytest.skip("needs PostgreSQL: set DATABASE_URL")
    server = Server(f"{database_url().rpartition('/')[0]}/postgres")
    server.create()
    yield server
    server.drop_all()


Create = Callable[..., Installation]


@pytest.fixture(scope="module")
def create(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Create:
    """Make an empty installation, with the tables of one that was started, or as yet without any."""
    folder, templates = tmp_path_factory.mktemp("installations"), {}

    def empty(kind: str, *, template: str = "") -> Installation:
        name = uuid.uuid4().hex[:8]
        address = f"sqlite:///{folder}/{name}.sqlite3"
        if kind == "postgresql":
            address = request.getfixturevalue("server").create(template=template.rpartition("/")[2])
        elif template:
            shutil.copy(template.removeprefix("sqlite:///"), address.removeprefix("sqlite:///"))
        return Installation(kind, folder / name, address=address)

    def create(kind: str, *, has_tables: bool = True, template: str = "") -> Installation:
        if template or not has_tables:
            return empty(kind, template=template)
        if kind not in templates:
            first = empty(kind)
            first.pilot("tables")
            templates[kind] = first.address
        return empty(kind, template=templates[kind])

    return create


def move(origin: Installation, target: Installation, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Back up one installation and restore it as another; both reports."""
    backup = origin.manage("backup", "--to", str(folder))
    return backup, target.manage("restore", backup["file"])


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_installation_moves_to_the_other_kind_of_database_and_back(create, server, tmp_path, kind):
    """There into tables that exist, back into a database without any."""
    origin = create(kind)
    [results] = origin.pilot("rows", "results")
    assert all(results["outputs"].values()) and len(results["files"]) > 5 and results["webhooks"]
    assert "Zoë “Z” Ó Briain" in [row[1].get("name") for row in results["vault"]]

    other = create(OTHER[kind])
    first, restored = move(origin, other, tmp_path)

    assert {label for label, n_rows in first["tables"].items() if n_rows} >= WITH_ROWS
    assert (restored["database"], restored["other_keys"]) == (OTHER[kind], [])
    again = create(kind, has_tables=False)
    second, restored = move(other, again, tmp_path)
    assert (restored["database"], restored["other_keys"]) == (kind, [])
    third = again.manage("backup", "--to", str(tmp_path))
    for report in (second, third):  # of all rows of all tables, read from the other database
        assert report["table_checksums"] == first["table_checksums"]
        assert (report["tables"], report["files"]) == (first["tables"], first["files"])
    assert again.files() == other.files() == origin.files()
    for installation in (other, again):
        shown, new_ids = installation.pilot("results", "next")
        assert shown == results
        for largest, new in new_ids.values():  # ids go on after the restored ones
            assert new[0] == largest + 1 and new == list(range(new[0], new[0] + len(new)))


@pytest.fixture(scope="module")
def pilot(create: Create) -> Installation:
    """A pilot on SQLite, which tests leave as it is."""
    installation = create("sqlite")
    installation.pilot("rows")
    return installation


@pytest.fixture(scope="module")
def backup(pilot: Installation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its backup."""
    return Path(pilot.manage("backup", "--to", str(tmp_path_factory.mktemp("backups")))["file"])


#: What SQLite stores and PostgreSQL refuses: table, column, value, name in messages, reason.
REFUSED = {
    "long text": ("judgments_signal", "reason", "x" * 301, "judgments.Signal", "value too long"),
    "NUL in a text": ("judgments_signal", "reason", "a\0b", "judgments.Signal", "NUL"),
    "NUL in JSON": (
        *("experiments_upload", "options", json.dumps({"deep": [{"text": "a\0b"}]})),
        *("experiments.Upload", "unsupported Unicode escape sequence"),
    ),
    "half a character in JSON": (
        *("experiments_upload", "options", json.dumps(["a", {"\ud800": 1}])),
        *("experiments.Upload", "invalid input syntax for type json"),
    ),
    "large number": (  # as Django binds it, psycopg sends its lower 32 bits, here a negative number
        *(
            "judgments_submission",
            "paid_bonus_minor",
            2**31,
            "judgments.Submission",
            "violates check constraint",
        ),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_row_that_postgresql_refuses_is_named_and_nothing_is_restored(
    create, server, pilot, tmp_path, case
):
    table, column, value, label, reason = REFUSED[case]
    changed = create("sqlite", template=pilot.address)
    shutil.copytree(pilot.folder, changed.folder, dirs_exist_ok=True)
    with closing(sqlite3.connect(changed.address.removeprefix("sqlite:///"))) as database, database:
        (pk,) = database.execute(f"SELECT max(id) FROM {table}").fetchone()
        database.execute(f"UPDATE {table} SET {column} = ? WHERE id = ?", [value, pk])
    file = changed.manage("backup", "--to", str(tmp_path))["file"]
    target = create("postgresql")

    message = target.run("manage.py", "restore", file, status=2)

    line = message.strip().splitlines()[-1]
    place = f"CommandError: row {pk} of {label}, column '{column}', cannot be stored in PostgreSQL: "
    assert line.startswith(place) and reason in line and "Traceback" not in message
    assert line.endswith(
        ". Nothing was restored. Correct or delete this row in the installation that was backed up,"
        " and back up again."
    )
    with psycopg.connect(target.address) as database:
        for name in ("auth_user", "experiments_experiment", table):
            assert database.execute(f"SELECT count(*) FROM {name}").fetchone() == (0,)
        assert database.execute("SELECT count(*) FROM auth_permission").fetchone() != (0,)
    assert target.files() == set()


def test_after_a_refused_row_the_corrected_backup_is_restored(create, server, backup, tmp_path):
    target = create("postgresql")
    wrong = rewritten(backup, tmp_path, change_row=("judgments.Signal", "reason", None))
    message = target.run("manage.py", "restore", str(wrong), status=2)
    assert "row 1 of judgments.Signal, column 'reason', cannot be stored in PostgreSQL: null value" in message
    report = target.manage("restore", str(backup))
    assert report["rows"] and len(target.files()) == report["backup"]["files"]


def rewritten(
    file: Path, folder: Path, *, change_row: tuple[str, str, Any] | None = None, change_sum: str = ""
) -> Path:
    """A whole backup with another value in the last row of a table, or another checksum of a table."""
    members, path = {}, folder / "rewritten.backup"
    with archive.open_archive(file, key="") as source:
        for member in source:
            members[member.name] = source.extractfile(member).read()
    manifest = json.loads(members.pop("manifest.json"))
    tables = {table["model"]: table for table in manifest["tables"]}
    if change_row:
        label, column, value = change_row
        (part,) = tables[label]["members"]
        rows = [json.loads(line) for line in members[part["name"]].splitlines()]
        rows[-1][tables[label]["columns"].index(column)] = value
        members[part["name"]] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        part["sha256"] = archive.checksum(members[part["name"]])
    if change_sum:
        tables[change_sum]["sha256"] = "0" * 64
    with archive.create_archive(path, key="") as target:
        for name, content in members.items():
            archive.add_member(target, name, content)
        archive.add_member(target, "manifest.json", json.dumps(manifest).encode())
    return path


class Drill:
    """A drill on a running installation, and what it leaves there and in the temporary folder."""

    def __init__(self, installation: Installation, temporary: Path) -> None:
        temporary.mkdir()
        self.installation, self.temporary = installation, temporary
        installation.environment["TMPDIR"] = str(temporary)
        self.former = self.state()

    def state(self) -> Any:
        """Every row and file of the installation."""
        with closing(sqlite3.connect(self.installation.address.removeprefix("sqlite:///"))) as database:
            rows = list(database.iterdump())
        files = [file for file in sorted(self.installation.folder.rglob("*")) if file.is_file()]
        return rows, [(file, archive.checksum(file.read_bytes())) for file in files]

    def run(self, file: Path, *words: str, status: int = 0) -> str:
        """Do it; what it prints."""
        output = self.installation.run("manage.py", "restore", str(file), "--drill", *words, status=status)
        assert list(self.temporary.iterdir()) == [] and self.state() == self.former
        return output


@pytest.fixture
def drill(pilot: Installation, tmp_path: Path) -> Iterator[Drill]:
    former = dict(pilot.environment)
    yield Drill(pilot, tmp_path / "temporary")
    pilot.environment = former


def test_a_drill_of_a_good_backup_compares_every_table_and_leaves_nothing(drill, backup, pilot, tmp_path):
    verified = pilot.manage("backup", "--verify", str(backup))
    output = drill.run(backup)
    assert output == (
        f"{verified['rows']} rows and {verified['files']} files in a temporary database (deleted again);\n"
        "every table has the checksum of the backup.\n"
    )


def test_a_drill_finds_rows_that_differ_from_their_checksum_and_leaves_nothing(drill, backup, tmp_path):
    file = rewritten(backup, tmp_path, change_sum="judgments.Judgment")
    output = drill.run(file, status=2)
    assert output == "CommandError: the restored rows of judgments.Judgment differ from the backup's.\n"


def test_a_drill_of_a_changed_backup_names_it_and_leaves_nothing(drill, backup, tmp_path):
    changed, content = tmp_path / "changed.backup", bytearray(backup.read_bytes())
    content[len(content) // 2] ^= 1
    changed.write_bytes(content)
    message = drill.run(changed, status=2)
    assert message.startswith(f"CommandError: {changed}: ") and message.count("\n") == 1
    changed.write_bytes(backup.read_bytes()[:-100])
    message = drill.run(changed, "--json", status=2)
    assert message.startswith(f"CommandError: {changed}: this is no whole backup: ")


def test_a_drill_of_content_that_differs_from_the_manifest_names_it(drill, backup, tmp_path):
    file = tmp_path / "other.backup"
    with archive.open_archive(backup, key="") as source, archive.create_archive(file, key="") as target:
        for member in source:
            content = source.extractfile(member).read()
            if member.name.startswith("tables/judgments.Judgment/"):
                content = content.replace(b"1", b"2", 1)
            archive.add_member(target, member.name, content)
    message = drill.run(file, status=2)
    assert message == f"CommandError: {file}: the content differs from the checksums of the manifest.\n"


def test_a_drill_without_a_file_or_key_says_what_is_missing(drill, pilot, tmp_path):
    absent = tmp_path / "absent.backup"
    assert drill.run(absent, status=2) == f"CommandError: {absent}: there is no such file.\n"
    key = tmp_path / "key"
    key.write_text("a key\n")
    with archive.create_archive(absent, key="a key") as target:
        archive.add_member(target, "manifest.json", b"{}")
    assert "the backup is encrypted. Name the key's file by --key." in drill.run(absent, status=2)
    assert "this is no backup of Obelus." in drill.run(absent, "--key", str(key), status=2)
