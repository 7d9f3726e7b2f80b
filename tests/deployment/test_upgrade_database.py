"""`make upgrade` on a clone of this project: its own backup, migrations and database, from commit to commit.

Packages are recorded instead of installed, and static files are copied without compression.
"""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import uuid
from collections.abc import Iterator
from contextlib import closing
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from tests.database import database_url

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]
PARTS = ("analysis", "config", "experiments", "judgments", "releases", "static", "lock")
#: The last are the engines of the test settings.
FILES = (
    *("manage.py", "Makefile", "pyproject.toml", ".gitignore", "tools/upgrade.py"),
    *("tests/__init__.py", "tests/database.py"),
    *(f"tests/{engine}/{name}.py" for engine in ("postgresql", "sqlite") for name in ("__init__", "base")),
)
LOCK = "lock/base.txt"
MODEL = "experiments/models/job.py"
FIELD = '    {name} = models.CharField(max_length=9, db_default="")\n'
MIGRATION = """
from django.db import migrations, models

def fill(apps, schema_editor):
    apps.get_model("experiments", "Job").objects.update({filled})

class Migration(migrations.Migration):
    dependencies = [("experiments", "{parent}")]
    operations = [{operation}]
"""
ADD = 'migrations.AddField("job", "{name}", models.CharField(max_length=9, db_default=""))'
#: Tables of this version, and one row.
INSTALL = """
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from experiments.models import Job
Job.objects.create(kind="of the version before", message="kept")
"""


class Clone:
    """A clone of a repository with its own environment and database."""

    def __init__(self, origin: Path, folder: Path, database: str) -> None:
        self.folder, self.database = folder / "clone", database
        git(folder, "clone", "--quiet", str(origin), str(self.folder))
        git(self.folder, "checkout", "--quiet", "v1")
        _copy_bytecode(self.folder)
        _make_environment(self.folder / ".venv")
        installed = {"DATABASE_URL": database, "VAR_DIR": str(folder / "var"), "CELERY_BROKER_URL": ""}
        quick = {"DJANGO_SETTINGS_MODULE": "config.test_settings", "BACKUP_STORAGE": str(folder / "backups")}
        self.environment = {**os.environ, **installed, **quick, "SECRET_KEY": "0" * 50}

    def run(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            words, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )

    def manage(self, *words: str) -> str:
        process = self.run(".venv/bin/python", "manage.py", *words)
        assert process.returncode == 0, process.stderr
        return process.stdout

    def upgrade(self, version: str) -> tuple[int, str]:
        """Run the real target; the status and everything that it printed."""
        process = self.run(
            "make", "upgrade", f"VERSION={version}", f"PYTHON={sys.executable}", "PIP=@echo PACKAGES:"
        )
        return process.returncode, process.stdout + process.stderr

    def steps(self, text: str) -> list[str]:
        """The steps of an upgrade in their order."""
        lines = re.findall(r"^(?:\$ \S*(?:python manage.py|make) (\w+)|(PACKAGES):)", text, re.MULTILINE)
        return [command or packages.lower() for command, packages in lines]

    def jobs(self) -> list[dict[str, object]]:
        """The rows of the table of jobs, by column."""
        if self.database.startswith("sqlite"):
            opened = sqlite3.connect(self.database.removeprefix("sqlite:///"))
        else:
            opened = psycopg.connect(self.database)
        with closing(opened) as database:
            cursor = database.execute("SELECT * FROM experiments_job ORDER BY id")
            columns = [column[0] for column in cursor.description]
            return [dict(zip(columns, row, strict=True)) for row in cursor]

    def newest_backup(self) -> dict[str, Any]:
        """The report of the newest backup, read by the code of the clone."""
        return json.loads(self.manage("backup", "--verify", "newest", "--json"))


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def _copy_bytecode(folder: Path) -> None:
    """Give a clone the bytecode of this checkout, which spares compiling all of it."""
    for part in PARTS:
        for source in (ROOT / part).rglob("*.py"):
            copy = folder / source.relative_to(ROOT)
            bytecode, times = Path(cache_from_source(str(source))), source.stat()
            if copy.exists() and bytecode.exists():
                os.utime(copy, ns=(times.st_atime_ns, times.st_mtime_ns))  # as the bytecode names it
                (copy.parent / "__pycache__").mkdir(exist_ok=True)
                shutil.copy(bytecode, copy.parent / "__pycache__")


def _make_environment(folder: Path) -> None:
    """Make an environment that finds the installed packages and whose own folder is empty."""
    packages = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "installed.pth").write_text(
        f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    )
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    shutil.copy(Path(sys.prefix) / "pyvenv.cfg", folder)
    for name in (".made", ".base"):
        (folder / name).touch()


@pytest.fixture(scope="module")
def origin(tmp_path_factory) -> Path:
    """A repository whose versions add a column, fail in the migration after another one, and mend that."""
    folder = tmp_path_factory.mktemp("origin")
    for part in PARTS:
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file in FILES:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / file)
    git(folder, "init", "--quiet", "--initial-branch=main")
    release(folder, "v1")
    last = max(path.stem for path in (folder / "experiments" / "migrations").glob("0*.py"))
    add_column(folder, "note", parent=last)
    (folder / LOCK).write_text((folder / LOCK).read_text() + "# newer\n")
    release(folder, "v2")
    add_column(folder, "label", parent="9001_note")
    write_migration(folder, "9003_fill", parent="9002_label", filled='absent="x"')
    release(folder, "v3")
    write_migration(folder, "9003_fill", parent="9002_label", filled='label="x"')
    release(folder, "v4")
    return folder


def add_column(folder: Path, name: str, *, parent: str) -> None:
    model = folder / MODEL
    before, after = model.read_text().split("    message = ")
    model.write_text(f"{before}{FIELD.format(name=name)}    message = {after}")
    number = {"note": 9001, "label": 9002}[name]
    write_migration(folder, f"{number}_{name}", parent=parent, operation=ADD.format(name=name))


def write_migration(folder: Path, name: str, *, parent: str, operation: str = "", filled: str = "") -> None:
    operation = operation or "migrations.RunPython(fill, migrations.RunPython.noop)"
    text = MIGRATION.format(parent=parent, operation=operation, filled=filled)
    (folder / "experiments" / "migrations" / f"{name}.py").write_text(text)


def release(folder: Path, version: str) -> None:
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", version)
    git(folder, "tag", version)


@pytest.fixture
def clone(origin, tmp_path) -> Iterator[Clone]:
    """The first version of the project, with a row in an empty database of the kind that is tested."""
    database = f"sqlite:///{tmp_path}/upgraded.sqlite3"
    if connection.vendor == "sqlite":
        yield _installed(Clone(origin, tmp_path, database))
        return
    server, name = database_url().rpartition("/")[0], f"obelus_upgrade_{uuid.uuid4().hex[:8]}"
    with closing(psycopg.connect(f"{server}/postgres", autocommit=True)) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        yield _installed(Clone(origin, tmp_path, f"{server}/{name}"))
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _installed(clone: Clone) -> Clone:
    process = clone.run(".venv/bin/python", "-c", INSTALL)
    assert process.returncode == 0, process.stderr
    return clone


def test_the_files_that_are_here_are_backed_up_before_packages_and_tables_change(clone):
    git(clone.folder, "checkout", "--quiet", "v2")  # new code on the tables of the version before
    status, text = clone.upgrade("here")
    assert status == 0, text
    assert clone.steps(text) == ["backup", "install", "packages", "check", "migrate", "collectstatic"]
    assert [job["note"] for job in clone.jobs()] == ["", ""]  # of the version before, and of the backup
    assert clone.newest_backup()["tables"]["experiments.Job"] == 1


def test_a_failing_migration_is_left_by_the_command_that_the_message_names(clone):
    status, text = clone.upgrade("v3")
    assert status != 0
    assert "a migration failed" in text and "still run the version before" in text
    assert {"note", "label"} <= set(clone.jobs()[0])  # migrated half-way

    [version] = re.findall(r"To go back: make upgrade VERSION=(\w+)\.", text)
    status, text = clone.upgrade(version)  # the backup is by the code of v3, of tables between v1 and v3
    assert status == 0, text
    assert clone.steps(text)[0] == "backup"
    assert not (clone.folder / "experiments" / "migrations" / "9001_note.py").exists()

    status, text = clone.upgrade("v4")  # the backup is by the code of v1, of tables of a later version
    assert status == 0, text
    assert "migrations of a later version (experiments.9001_note, experiments.9002_label)" in text
    assert [job["label"] for job in clone.jobs() if job["message"] == "kept"] == ["x"]
    assert len(clone.jobs()) == 4  # one row before, and a backup in each upgrade
