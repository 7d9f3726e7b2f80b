"""What is restored equals what was backed up, value by value, whatever happens during the backup."""

import gzip
import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import zlib
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage, storages
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from analysis.errors import BadInput
from config.job_queue import celery_settings
from experiments.models import Job, PlatformAccount
from experiments.operation import archive, backup, tables
from experiments.operation.backup import (
    SNAPSHOT,
    create_backup,
    enqueue_when_due,
    file_names,
    last_backup,
    snapshot,
    verify_backup,
)
from experiments.operation.backup_storage import forget_old
from experiments.operation.job_runner import run
from experiments.operation.restore import restore_backup
from judgments.models import Judgment, Session, SessionEvent, Signal
from releases.models import CachedScore, ScorerSpec
from tests import cast
from tests.experiments.operation.pilot import DOCUMENT

ROOT = Path(__file__).resolve().parents[3]
#: Settings and a package with the migrations of experiments and two more.
SETTINGS = """
from config.settings import *
MIGRATION_MODULES = {"experiments": "more_migrations"}
"""
PACKAGE = """
from experiments import migrations
__path__ += migrations.__path__
"""
MIGRATION = """
from django.db import migrations, models
class Migration(migrations.Migration):
    dependencies = [("experiments", "%s")]
    operations = [migrations.%s]
"""
MORE = {
    "9998_without_source": 'RemoveField("materialset", "source")',
    "9999_source": 'AddField("materialset", "source", models.CharField(max_length=500, blank=True))',
}
#: Migrate to the state before the last migration of experiments, with a login and materials.
FORMER = """
import django
django.setup()
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.executor import MigrationExecutor
executor = MigrationExecutor(connection)
nodes = executor.loader.graph.leaf_nodes()
(last,) = [node for node in nodes if node[0] == "experiments"]
parents = [parent.key for parent in executor.loader.graph.node_map[last].parents]
executor.migrate([node for node in nodes if node != last] + [key for key in parents if key[0] == last[0]])
loader = MigrationExecutor(connection).loader
assert last not in loader.applied_migrations
apps = loader.project_state(list(loader.applied_migrations)).apps
owner = apps.get_model("auth", "User").objects.create(username="ada")
materials = apps.get_model("experiments", "MaterialSet")
materials.objects.create(name="Islands", slug="islands", language="en", checksum="0" * 64, owner=owner)
"""
LATER = """
import django
django.setup()
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.executor import MigrationExecutor
from experiments.models import MaterialSet
executor = MigrationExecutor(connection)
n_waiting = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
print(n_waiting, MaterialSet.objects.get().owner.username)
"""
LATER_MIGRATION = ("experiments", "9999_later")
APPLIED_MIGRATIONS = MigrationRecorder.applied_migrations


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    place = {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    releases, backups = ({**place, "OPTIONS": {"location": tmp_path / name}} for name in ("releases", "kept"))
    settings.STORAGES = {**settings.STORAGES, "releases": releases, "backups": backups}
    settings.BACKUP_KEY = ""


def rows_of(model):
    """The rows as a backup writes them, by primary key."""
    keys = model.objects.order_by("pk").values_list("pk", flat=True)
    return dict(zip(keys, tables.lines(model, using="default"), strict=True))


def empty_installation():
    call_command("flush", interactive=False, verbosity=0)
    for alias in ("default", "releases"):
        for name in list(file_names(storages[alias])):
            storages[alias].delete(name)


@pytest.fixture
def odd_values(transactional_db):
    """A session with answers, and values that are easily changed on the way."""
    session = cast.sit(cast.study(), n=2)
    SessionEvent.objects.create(session=session, kind="paste", details=DOCUMENT)
    SessionEvent.objects.create(session=session, kind="paste", details="a text")
    Signal.objects.create(session=session, name="speed", version=1, value=0.1 + 0.2, reason="quick")
    PlatformAccount.objects.create(platform="prolific", label="lab", secrets=bytes(range(256)))
    spec = ScorerSpec.objects.create(spec_id="0" * 64, spec={"model": "arpa:x"})
    CachedScore.objects.create(
        **{"scorer": spec, "sentence_sha": b"\x00" * 32, "logprob": -1 / 3, "n_tokens": 1, "n_words": 1},
        **{"n_chars": 1, "n_unk": 0},
    )
    default_storage.save("uploads/sentences.csv", ContentFile("sentence\nÇa va ?\n".encode()))
    storages["releases"].save("agreement/manifest.json", ContentFile(b"\x00\xff" * 70_000))
    return session


def test_restored_rows_and_files_equal_the_former_ones(odd_values, tmp_path):
    models = [Session, SessionEvent, Signal, Judgment, PlatformAccount, CachedScore, get_user_model()]
    former = {model: rows_of(model) for model in models}
    judged_at = Judgment.objects.earliest("pk").received_at
    report = create_backup(tmp_path / "out", key="a key of the lab")
    assert report.is_encrypted and report.files == 2
    empty_installation()
    assert not Judgment.objects.exists()

    restore_backup(tmp_path / "out" / report.file, key="a key of the lab")

    assert {model: rows_of(model) for model in models} == former
    assert SessionEvent.objects.earliest("pk").details == DOCUMENT
    assert Judgment.objects.earliest("pk").received_at == judged_at
    assert bytes(PlatformAccount.objects.get().secrets) == bytes(range(256))
    assert default_storage.open("uploads/sentences.csv").read().decode() == "sentence\nÇa va ?\n"
    assert storages["releases"].open("agreement/manifest.json").read() == b"\x00\xff" * 70_000
    new = cast.ada()  # ids go on after the restored ones
    assert SessionEvent.objects.create(session_id=odd_values.pk, kind="blur").pk > 2 and new.pk


def test_json_null_and_absent_value_stay_apart(transactional_db, monkeypatch):
    column = SessionEvent._meta.get_field("details")
    monkeypatch.setattr(column, "null", True)
    session = cast.begin(cast.study())
    SessionEvent.objects.create(session=session, kind="null", details={})
    SessionEvent.objects.update(details=tables.Value(None, column))
    (line,) = rows_of(SessionEvent).values()
    place = [field.attname for field in tables.stored_columns(SessionEvent)].index("details")
    assert json.loads(line)[place] == [None]


def test_backup_under_load_holds_one_moment_and_every_earlier_answer(transactional_db, tmp_path):
    experiment = cast.study()
    cast.sit(experiment, "quentin", n=2)
    acknowledged, stop, started = set(Judgment.objects.values_list("pk", flat=True)), threading.Event(), []

    def answer(person):
        try:
            for number in itertools.count():
                if stop.is_set():
                    return
                cast.sit(experiment, f"{person}-{number}", n=2)
                started.append(number)
        finally:
            connection.close()

    threads = [threading.Thread(target=answer, args=(name,)) for name in ("pia", "rosa")]
    for thread in threads:
        thread.start()
    with snapshot():  # answers go on to be stored while a backup reads
        former = Judgment.objects.using(SNAPSHOT).count()
        n_finished = len(started)
        while len(started) < n_finished + 4 and any(thread.is_alive() for thread in threads):
            pass
        assert Judgment.objects.using(SNAPSHOT).count() == former
    report = create_backup(tmp_path)
    stop.set()
    for thread in threads:
        thread.join()
    assert Judgment.objects.count() > former
    lines = rows_of(Judgment)

    empty_installation()
    restore_backup(tmp_path / report.file)

    restored = rows_of(Judgment)
    assert acknowledged <= set(restored) <= set(lines)
    assert all(lines[pk] == line for pk, line in restored.items())
    assert report.tables["judgments.Judgment"] == len(restored) >= former


def test_installation_with_rows_is_left_alone(odd_values, tmp_path):
    report = create_backup(tmp_path)
    former = rows_of(Judgment)
    with pytest.raises(BadInput, match="not empty"):
        restore_backup(tmp_path / report.file)
    assert rows_of(Judgment) == former


def test_failed_restore_leaves_nothing_behind(odd_values, tmp_path, monkeypatch):
    report = create_backup(tmp_path)
    empty_installation()
    monkeypatch.setattr(tables, "table_checksum", lambda model, using: (0, "other"))
    with pytest.raises(BadInput, match="differ"):
        restore_backup(tmp_path / report.file)
    assert not Session.objects.exists() and not default_storage.exists("uploads/sentences.csv")


def test_an_interrupted_restore_continues_and_names_the_folder_of_other_files(odd_values, tmp_path, settings):
    report = create_backup(tmp_path)
    empty_installation()
    default_storage.save("uploads/sentences.csv", ContentFile("sentence\nÇa va ?\n".encode()))
    storages["releases"].save("agreement/manifest.json", ContentFile(b"\x00\xff" * 35_000))  # cut off
    restore_backup(tmp_path / report.file)
    assert Judgment.objects.count() == 2 and {
        alias: len(list(file_names(storages[alias]))) for alias in ("default", "releases")
    } == {"default": 1, "releases": 1}
    assert storages["releases"].open("agreement/manifest.json").read() == b"\x00\xff" * 70_000
    empty_installation()
    default_storage.save("uploads/sentences.csv", ContentFile(b"another"))
    with pytest.raises(
        BadInput, match=f"another file uploads/sentences.csv already. Empty the folder {settings.MEDIA_ROOT}"
    ):
        restore_backup(tmp_path / report.file)
    assert (
        not Judgment.objects.exists() and default_storage.open("uploads/sentences.csv").read() == b"another"
    )


MANY_FILES = """
import django, sys
django.setup()
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
call_command("migrate", verbosity=0)
User.objects.create(username="ada")
for number in range(int(sys.argv[1])):
    default_storage.save(f"many/{number}.txt", ContentFile(b"content of a file"))
call_command("backup", to=sys.argv[2])
"""


def test_a_restore_killed_while_it_stores_files_continues(tmp_path):
    n_files = 1_500
    without = {name: value for name, value in os.environ.items() if not name.endswith("_STORAGE")}

    def at(name):
        address = f"sqlite:///{tmp_path}/{name}.sqlite3"
        own = {
            "DATABASE_URL": address,
            "VAR_DIR": str(tmp_path / name),
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        return {"cwd": ROOT, "env": {**without, **own, "DEBUG": "1"}, "stderr": subprocess.PIPE}

    def stored():
        return [path for path in (tmp_path / "second").rglob("many/*") if path.is_file()]

    target = tmp_path / "backups"
    target.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", MANY_FILES, str(n_files), str(target)], **at("first"), check=False
    )
    assert done.returncode == 0, done.stderr
    (file,) = target.iterdir()
    words = [sys.executable, "manage.py", "restore", str(file)]
    with subprocess.Popen(words, **at("second")) as process:
        while process.poll() is None and len(stored()) < 100:
            time.sleep(0.01)
        process.kill()
        assert process.wait() == -signal.SIGKILL, process.stderr.read()
    assert 100 <= len(stored()) < n_files
    done = subprocess.run(words, **at("second"), check=False)
    assert done.returncode == 0, done.stderr
    assert len(stored()) == n_files and {path.read_bytes() for path in stored()} == {b"content of a file"}
    with sqlite3.connect(tmp_path / "second.sqlite3") as restored:
        assert restored.execute("SELECT username FROM auth_user").fetchall() == [("ada",)]


@pytest.mark.parametrize("key", ["", "a key"])
def test_changed_or_shortened_backup_is_refused(transactional_db, tmp_path, key):
    cast.ada()
    content = Path(create_backup(tmp_path / "out", key=key).file).read_bytes()
    changed = [
        content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        for place in range(100, len(content), len(content) // (10 if key else 40))
    ]
    # A changed bit may let gzip copy the same bytes from another place: then nothing of the backup changed.
    other = [broken for broken in changed if key or _unpacked(broken) != _unpacked(content)]
    assert len(other) > (7 if key else 30)  # deriving a key takes a fifth of a second
    for broken in [content[: len(content) // 2], content[:-1], *other]:
        (tmp_path / "broken").write_bytes(broken)
        with pytest.raises(BadInput):
            verify_backup(tmp_path / "broken", key=key)


def _unpacked(content: bytes) -> bytes | None:
    try:
        return gzip.decompress(content)
    except (gzip.BadGzipFile, zlib.error, EOFError):
        return None


def test_encrypted_backup_needs_its_own_key(transactional_db, tmp_path):
    report = create_backup(tmp_path, key="right")
    with pytest.raises(BadInput, match="is encrypted"):
        verify_backup(tmp_path / report.file)
    with pytest.raises(BadInput, match="key is another one"):
        verify_backup(tmp_path / report.file, key="wrong")


def test_pieces_of_an_encrypted_backup_cannot_be_exchanged(tmp_path):
    with open(tmp_path / "file", "wb") as target:
        writer = archive.EncryptedWriter(target, "key")
        writer.write(b"a" * archive.PIECE_BYTES + b"b" * archive.PIECE_BYTES + b"c")
        writer.close()
    content = (tmp_path / "file").read_bytes()
    start, size = len(writer.header), archive.PIECE_BYTES + archive.TAG_BYTES
    first, second, last = (
        content[start : start + size],
        content[start + size : start + 2 * size],
        content[-17:],
    )
    for pieces in ([first, second, last], [second, first, last], [first, last], [first, second]):
        (tmp_path / "file").write_bytes(writer.header + b"".join(pieces))
        with open(tmp_path / "file", "rb") as source:
            reader = archive.DecryptedReader(source, "key")
            if pieces == [first, second, last]:
                assert len(reader.readall()) == 2 * archive.PIECE_BYTES + 1
            else:
                with pytest.raises(BadInput, match="decrypted"):
                    reader.readall()


def write_two_more_migrations(folder):
    (folder / "more_settings.py").write_text(SETTINGS)
    package = folder / "more_migrations"
    package.mkdir()
    (package / "__init__.py").write_text(PACKAGE)
    parent = max(path.stem for path in (ROOT / "experiments" / "migrations").glob("0*.py"))
    for name, operation in MORE.items():
        (package / f"{name}.py").write_text(MIGRATION % (parent, operation))
        parent = name


def test_tables_of_an_earlier_version_are_backed_up_as_they_are_and_migrated_when_restored(tmp_path):
    write_two_more_migrations(tmp_path)

    def installation(name, *command):
        variables = {"DATABASE_URL": f"sqlite:///{tmp_path}/{name}.sqlite3", "VAR_DIR": str(tmp_path / name)}
        code = {"DJANGO_SETTINGS_MODULE": "more_settings", "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
        environment = {**os.environ, **code, **variables}
        process = subprocess.run(
            [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert process.returncode == 0, process.stderr[-2000:]
        return process.stdout.strip()

    installation("former", "-c", FORMER)
    report = json.loads(installation("former", "manage.py", "backup", "--to", str(tmp_path), "--json"))
    assert report["tables"]["experiments.MaterialSet"] == 1 and report["later_migrations"] == []
    file = report["file"]
    assert json.loads(installation("later", "manage.py", "restore", file, "--json"))["rows"]
    assert installation("later", "-c", LATER) == "0 ada"


def with_a_later_one(recorder):
    """The migrations of the test database, if it has any, and one that this code lacks."""
    return APPLIED_MIGRATIONS(recorder) | {LATER_MIGRATION: None}


def test_a_backup_of_a_later_version_names_the_version_to_install(transactional_db, tmp_path, monkeypatch):
    monkeypatch.setattr(backup, "code_version", lambda: "7.1")
    with monkeypatch.context() as at_backup:
        at_backup.setattr(MigrationRecorder, "applied_migrations", with_a_later_one)
        at_backup.setattr(backup, "replaced_migrations", lambda loader: {LATER_MIGRATION})  # of that code
        report = create_backup(tmp_path)
    empty_installation()
    with pytest.raises(BadInput, match=r"lacks, such as experiments\.9999_later.* Install version 7\.1"):
        restore_backup(tmp_path / report.file)
    monkeypatch.setattr(backup, "FORMAT_VERSION", 2)
    report = create_backup(tmp_path)
    monkeypatch.setattr(backup, "FORMAT_VERSION", 1)
    with pytest.raises(BadInput, match=r"version 7\.1, which is newer, .* Install that version"):
        restore_backup(tmp_path / report.file)


def test_a_backup_beside_a_later_version_names_its_migrations_and_is_restored(
    transactional_db, tmp_path, monkeypatch, capsys
):
    cast.ada()
    former = rows_of(get_user_model())
    with monkeypatch.context() as at_backup:
        at_backup.setattr(MigrationRecorder, "applied_migrations", with_a_later_one)
        call_command("backup", to=str(tmp_path), json=True)
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert report["later_migrations"] == ["experiments.9999_later"]
    assert "later version (experiments.9999_later)" in printed.err and "not in this backup" in printed.err
    assert verify_backup(Path(report["file"])).later_migrations == ["experiments.9999_later"]
    empty_installation()
    restore_backup(Path(report["file"]))
    assert rows_of(get_user_model()) == former


def test_command_writes_a_private_file_and_records_it(transactional_db, tmp_path):
    cast.ada()
    (tmp_path / "key").write_text("a key\n")
    out = StringIO()
    call_command("backup", to=str(tmp_path / "out"), key=str(tmp_path / "key"), json=True, stdout=out)
    document = json.loads(out.getvalue())
    (file,) = (tmp_path / "out").iterdir()
    assert document["file"] == str(file) and document["is_encrypted"] and file.stat().st_mode & 0o777 == 0o600
    assert document["tables"]["auth.User"] == 1 and last_backup().result["size"] == file.stat().st_size
    with pytest.raises(CommandError, match="no such file"):
        call_command("restore", str(tmp_path / "absent"))


@pytest.mark.parametrize(
    ("n_deleted", "sentence"),
    [
        (0, ""),
        (1, "1 file deleted while the backup was written is not in it: default/uploads/2.csv.\n"),
        (
            5,
            "5 files deleted while the backup was written are not in it:"
            " default/uploads/2.csv, default/uploads/3.csv, default/uploads/4.csv and 2 more.\n",
        ),
    ],
)
def test_files_deleted_while_the_backup_is_written_are_named(
    transactional_db, tmp_path, monkeypatch, n_deleted, sentence
):
    cast.ada()
    uploads, opened = [f"uploads/{number}.csv" for number in range(1, 8)], []
    for name in uploads:
        default_storage.save(name, ContentFile(b"sentence\n"))
    storage = storages["default"]
    open_file = storage.open

    def open_after_a_deletion(name, mode="rb"):
        if not opened:  # the names are listed, and no file was read so far
            for deleted in uploads[1 : 1 + n_deleted]:
                storage.delete(deleted)
        opened.append(name)
        return open_file(name, mode)

    monkeypatch.setattr(storage, "open", open_after_a_deletion)
    out = StringIO()
    call_command("backup", to=str(tmp_path / "out"), stdout=out)
    monkeypatch.undo()
    (file,) = (tmp_path / "out").iterdir()
    first, _, rest = out.getvalue().partition("\n")
    assert f", {7 - n_deleted} files, " in first and rest == sentence
    report = verify_backup(file)
    missing = [f"default/{name}" for name in uploads[1 : 1 + n_deleted]]
    assert (report.files, report.missing_files) == (7 - n_deleted, missing)

    empty_installation()
    out = StringIO()
    call_command("restore", str(file), stdout=out)
    assert out.getvalue().endswith(f"every table has the checksum of the backup.\n{sentence}")
    assert sorted(file_names(storages["default"])) == [
        name for name in uploads if f"default/{name}" not in missing
    ]


def test_scheduled_backup_is_made_once_and_old_ones_are_deleted(transactional_db, settings, monkeypatch):
    assert "experiments.back_up" in {row["task"] for row in celery_settings.beat_schedule.values()}
    monkeypatch.setattr("experiments.operation.job_runner.send", lambda job_id: None)
    assert enqueue_when_due() is None  # off by default
    settings.BACKUP_HOURS, settings.BACKUP_KEEP = 24, 2
    backups = storages["backups"]
    for day in (1, 2, 3):
        backups.save(f"obelus-2026010{day}T030000Z-0000000{day}.backup", ContentFile(b"old"))
    backups.save("notes.txt", ContentFile(b"mine"))
    job = enqueue_when_due()
    assert job is not None
    run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.error
    assert enqueue_when_due() is None
    names = sorted(backups.listdir("")[1])
    assert names[:2] == ["notes.txt", "obelus-20260103T030000Z-00000003.backup"] and len(names) == 3
    forget_old(0)
    assert len(backups.listdir("")[1]) == 3
