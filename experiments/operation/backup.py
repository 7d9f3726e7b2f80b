"""Backups of database and files as one consistent file, made while sessions run.

1. One read-only transaction sees one snapshot of the database; it blocks no writes.
2. Its tables, as its applied migrations made them, then the stored files, are written to the archive; the
   manifest with all checksums is last.
3. The whole archive is read again and compared with its manifest; only then does it get its name.

Notes
-----
Around an upgrade, code and database may be of different versions. Migrations that the database lacks: the
backup has the earlier tables, and is restored as they were. Migrations that only a later version has: the
backup has the tables and columns that this version knows, and names those migrations.
"""

import hashlib
import json
import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tarfile import TarFile
from typing import IO, Any

from django.apps import apps
from django.conf import settings
from django.core.files.storage import Storage, storages
from django.db import DEFAULT_DB_ALIAS, connection, connections, models, transaction
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone
from psycopg import IsolationLevel

from analysis.errors import BadInput
from analysis.text import plural
from config.version import code_version
from experiments.models import Job
from experiments.operation import archive, tables
from experiments.operation.backup_storage import forget_old, local_folder, store_backup
from experiments.operation.job_runner import IOFailure, Run, enqueue, job

FORMAT = "obelus-backup"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
KIND = "operation.backup"
SNAPSHOT = "snapshot"  # alias of the connection that reads
STORAGES = ("default", "releases")
#: Cookie sessions: users log in again after a restore. Counts of limits hold for an hour at most.
LEFT_OUT = {"experiments.LoginSession", "experiments.CacheEntry"}
CHUNK_BYTES = 1 << 20
SHOWN_FILES = 3  # of those that are missing, in a sentence


@dataclass(frozen=True)
class BackupReport:
    """Manifest of a backup; ``table_checksums`` are of all rows by table.

    It lacks the columns and tables of ``later_migrations``, which only a later version has.
    """

    file: str
    size: int
    created_at: str
    is_encrypted: bool
    tables: dict[str, int]
    table_checksums: dict[str, str]
    files: int
    missing_files: list[str]
    later_migrations: list[str]

    @property
    def n_rows(self) -> int:
        """Rows of all tables."""
        return sum(self.tables.values())


def missing_files_text(names: list[str]) -> str:
    """Say how many files were deleted while a backup was written, and name the first; empty for none."""
    if not names:
        return ""
    are, rest = "is" if len(names) == 1 else "are", len(names) - SHOWN_FILES
    shown = ", ".join(names[:SHOWN_FILES]) + (f" and {rest:,} more" if rest > 0 else "")
    return f"{plural(len(names), 'file')} deleted while the backup was written {are} not in it: {shown}."


def backup_key(file: str = "") -> str:
    """Return the key in a file, or the one that the settings name; empty for none."""
    if not file:
        return str(settings.BACKUP_KEY)
    try:
        key = Path(file).read_text().strip()
    except OSError as error:
        raise BadInput(f"the key cannot be read: {error.strerror}.", file=file) from error
    if not key:
        raise BadInput("the file of the key is empty.", file=file)
    return key


def create_backup(folder: Path, *, key: str = "") -> BackupReport:
    """Write a verified backup into a folder."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    moment = datetime.now(UTC)
    name = f"obelus-{moment:%Y%m%dT%H%M%SZ}-{uuid.uuid4().hex[:8]}.backup"
    partial = folder / f"{name}.part"
    try:
        with archive.create_archive(partial, key=key) as target:
            _write(target, moment)
        report = verify_backup(partial, key=key)
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        partial.rename(folder / name)
    except OSError as error:
        raise IOFailure(
            f"the backup cannot be written: {error.strerror or error}.", file=str(folder)
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    return BackupReport(**{**asdict(report), "file": str(folder / name)})


def _write(target: TarFile, moment: datetime) -> None:
    with snapshot():
        applied = AppliedMigrations(SNAPSHOT)
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "created_at": moment.isoformat(),
            "version": code_version(),
            "database": connection.vendor,
            "keys": key_fingerprints(),
            "migrations": [list(migration) for migration in applied.known],
            "later_migrations": [f"{app}.{name}" for app, name in applied.later],
            "tables": [_write_table(target, model) for model in stored_models(applied.models())],
        }
    # Files never change once they are stored, so those of later rows do no harm.
    manifest["files"], manifest["missing_files"] = _write_files(target)
    archive.add_member(target, MANIFEST, json.dumps(manifest, indent=1).encode())


class AppliedMigrations:
    """The migrations that were applied to a database, and the models that read its tables."""

    def __init__(self, using: str) -> None:
        self.loader = MigrationLoader(connections[using])
        of_code = set(self.loader.disk_migrations) | replaced_migrations(self.loader)
        applied = set(self.loader.applied_migrations)
        self.known = sorted(applied & of_code)
        #: Of a later version: it migrates while this one serves, or this one was taken again after it.
        self.later = sorted(applied - of_code)

    def models(self) -> Any:
        """Return a registry of models: those of the code where no migration is missing."""
        nodes = set(self.loader.graph.nodes)
        applied = nodes.intersection(self.known)
        if nodes and not applied:
            raise BadInput("the database has no tables yet.", remedy="Run manage.py migrate first.")
        return apps if applied == nodes else self.loader.project_state(list(applied)).apps


def replaced_migrations(loader: MigrationLoader) -> set[tuple[str, str]]:
    """Return the migrations that were squashed into others."""
    return {node for migration in loader.disk_migrations.values() for node in migration.replaces}


def stored_models(registry: Any) -> list[type[models.Model]]:
    """Return every table that a backup holds, in a fixed order."""
    return [
        model
        for model in registry.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and model._meta.label not in LEFT_OUT
    ]


def key_fingerprints() -> dict[str, str]:
    """Return what tells whether another installation has the same keys, and nothing about them."""
    keys = {"SECRET_KEY": str(settings.SECRET_KEY), "PLATFORM_KEY": settings.PLATFORM_KEY}
    return {
        name: hashlib.scrypt(key.encode(), salt=b"obelus backup " + name.encode(), n=2**14, r=8, p=1)[
            :12
        ].hex()
        for name, key in keys.items()
        if key
    }


@contextmanager
def snapshot() -> Iterator[None]:
    """Open a connection that sees the database as at its first query; writers go on."""
    reader = connection.copy(SNAPSHOT)
    if connection.vendor == "postgresql":
        reader.settings_dict["OPTIONS"].pop("pool", None)
        reader.settings_dict["OPTIONS"]["isolation_level"] = IsolationLevel.REPEATABLE_READ
    else:
        # The site's own connections take the lock of the writer when they begin.
        reader.settings_dict["OPTIONS"]["transaction_mode"] = "DEFERRED"
    connections[SNAPSHOT] = reader
    try:
        with transaction.atomic(using=SNAPSHOT):
            if connection.vendor == "postgresql":
                reader.cursor().execute("SET TRANSACTION READ ONLY")
            yield
    finally:
        reader.close()
        del connections[SNAPSHOT]


def _write_table(target: TarFile, model: type[models.Model]) -> dict[str, Any]:
    label, digest, n_rows = model._meta.label, hashlib.sha256(), 0
    members: list[dict[str, str]] = []
    for content, n_lines in tables.parts(tables.lines(model, using=SNAPSHOT)):
        members.append(
            {"name": f"tables/{label}/{len(members) + 1:06}.jsonl", "sha256": archive.checksum(content)}
        )
        archive.add_member(target, members[-1]["name"], content)
        digest.update(content)
        n_rows += n_lines
    return {
        "model": label,
        "columns": [column.attname for column in tables.stored_columns(model)],
        "rows": n_rows,
        "sha256": digest.hexdigest(),
        "members": members,
    }


def _write_files(target: TarFile) -> tuple[list[dict[str, Any]], list[str]]:
    """Append every stored file; names those that were deleted meanwhile."""
    entries, missing = [], []
    for alias in STORAGES:
        for name in file_names(storages[alias]):
            try:
                with storages[alias].open(name) as stored:
                    entries.append(
                        {"storage": alias, "name": name, **_write_file(target, alias, name, stored)}
                    )
            except FileNotFoundError:  # Race: an upload was discarded, or a cached report replaced
                missing.append(f"{alias}/{name}")
    return entries, missing


def _write_file(target: TarFile, alias: str, name: str, stored: IO[bytes]) -> dict[str, Any]:
    # A copy first: tar writes the size before the content, and a file of S3 has it only when it is read.
    with tempfile.SpooledTemporaryFile(max_size=16 << 20) as copy:
        digest = hashlib.sha256()
        while chunk := stored.read(CHUNK_BYTES):
            digest.update(chunk)
            copy.write(chunk)
        member = target.tarinfo(f"files/{alias}/{name}")
        member.size, member.mode = copy.tell(), 0o600
        copy.seek(0)
        target.addfile(member, copy)
    return {"size": member.size, "sha256": digest.hexdigest()}


def file_names(storage: Storage, folder: str = "") -> Iterator[str]:
    """Yield the names of all files of a storage."""
    try:
        folders, names = storage.listdir(folder)
    except FileNotFoundError:  # nothing was stored so far
        return
    for name in sorted(names):
        yield f"{folder}/{name}" if folder else name
    for name in sorted(folders):
        if name and not name.startswith("."):  # a release that is being written
            yield from file_names(storage, f"{folder}/{name}" if folder else name)


def verify_backup(path: Path, *, key: str = "") -> BackupReport:
    """Read a whole backup and compare it with its manifest."""
    checksums: dict[str, str] = {}
    manifest: dict[str, Any] = {}
    with archive.open_archive(path, key=key) as source:
        for member in source:
            content = source.extractfile(member)
            assert content is not None  # an archive of ours holds plain files only
            if member.name == MANIFEST:
                manifest = json.load(content)
            else:
                checksums[member.name] = hashlib.file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]
    if manifest.get("format") != FORMAT:
        raise BadInput("this is no backup of Obelus.", file=str(path))
    if manifest["format_version"] > FORMAT_VERSION:
        raise BadInput(
            f"version {manifest.get('version', 'unknown')}, which is newer, made this backup.",
            file=str(path),
            remedy="Install that version, or a later one, first.",
        )
    if checksums != _expected_checksums(manifest):
        raise BadInput("the content differs from the checksums of the manifest.", file=str(path))
    with path.open("rb") as start:
        is_encrypted = start.read(len(archive.MAGIC)) == archive.MAGIC
    return BackupReport(
        file=str(path),
        size=path.stat().st_size,
        created_at=manifest["created_at"],
        is_encrypted=is_encrypted,
        tables={table["model"]: table["rows"] for table in manifest["tables"]},
        table_checksums={table["model"]: table["sha256"] for table in manifest["tables"]},
        files=len(manifest["files"]),
        missing_files=manifest["missing_files"],
        later_migrations=manifest.get("later_migrations", []),
    )


def _expected_checksums(manifest: dict[str, Any]) -> dict[str, str]:
    expected = {
        member["name"]: member["sha256"] for table in manifest["tables"] for member in table["members"]
    }
    for file in manifest["files"]:
        expected[f"files/{file['storage']}/{file['name']}"] = file["sha256"]
    return expected


def back_up_to(address: str, *, key: str, keep: int = 0) -> BackupReport:
    """Write a backup to a folder or to the configured storage, and keep the newest so many there."""
    if "://" in address:
        raise BadInput(
            f"--to takes a folder, not {address}.",
            remedy="Set BACKUP_STORAGE to the address, and leave --to out.",
        )
    if address:
        return create_backup(Path(address), key=key)
    if folder := local_folder():
        report = create_backup(folder, key=key)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            report = create_backup(Path(temporary), key=key)
            store_backup(Path(report.file))
        address = f"{settings.BACKUP_STORAGE.rstrip('/')}/{Path(report.file).name}"
        report = BackupReport(**{**asdict(report), "file": address})
    forget_old(keep)
    return report


def record_backup(report: BackupReport) -> None:
    """Store that a backup was made by command, for the administrators' page and alerts."""
    now = timezone.now()
    stored_job = AppliedMigrations(DEFAULT_DB_ALIAS).models().get_model("experiments", "Job")
    stored_job.objects.create(
        kind=KIND, state=Job.State.DONE, result=_summary(report), started_at=now, finished_at=now
    )


def _summary(report: BackupReport) -> dict[str, Any]:
    return {
        "file": report.file,
        "size": report.size,
        "rows": report.n_rows,
        "files": report.files,
        "is_encrypted": report.is_encrypted,
        "created_at": report.created_at,
    }


def last_backup() -> Job | None:
    """Return the newest backup that succeeded."""
    return Job.objects.filter(kind=KIND, state=Job.State.DONE).order_by("-finished_at").first()


def enqueue_when_due() -> Job | None:
    """Queue a backup where one is due; of several schedulers, one job results."""
    hours = settings.BACKUP_HOURS
    last = last_backup()
    if not hours or (
        last and last.finished_at and last.finished_at > timezone.now() - timedelta(hours=hours)
    ):
        return None
    # Race: two hosts that find it due within the same quarter of an hour share one job.
    quarter = int(timezone.now().timestamp()) // 900
    return enqueue(KIND, {}, key=f"{KIND}:{quarter}")


@job(KIND)
def scheduled_backup(run: Run) -> None:
    """Write a backup to the configured storage."""
    run.progress(0, 1, "backing up")
    report = back_up_to("", key=backup_key(), keep=settings.BACKUP_KEEP)
    with run.finishing() as result:
        result.update(_summary(report))
