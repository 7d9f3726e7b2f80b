"""Restoring a backup into an empty installation, on the same database or another.

1. The archive is verified and the database is brought to the migrations that the backup was made with.
2. One transaction inserts all rows and compares the checksum of every table with the backup's.
3. Files are stored; whatever fails until here leaves the installation empty.
4. Migrations that came later are applied.
"""

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, storages
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import DEFAULT_DB_ALIAS, connection, models, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from analysis.errors import BadInput
from analysis.text import plural
from experiments.operation import archive, tables
from experiments.operation.backup import (
    MANIFEST,
    BackupReport,
    key_fingerprints,
    replaced_migrations,
    stored_models,
    verify_backup,
)

#: Rows that migrations or Django itself make in an empty database; those of the backup replace them.
MADE_BY_MIGRATIONS = {"contenttypes.ContentType", "auth.Permission"}
READ_BYTES = 1 << 20
Progress = Callable[[str], None]


@dataclass(frozen=True)
class RestoreReport:
    """Result of a restore; ``other_keys`` names keys that differ from those of the backup."""

    backup: BackupReport
    database: str
    other_keys: list[str] = field(default_factory=list)


def restore_backup(path: Path, *, key: str = "", progress: Progress = lambda step: None) -> RestoreReport:
    """Restore a backup; the installation must be empty."""
    if not path.is_file():
        raise BadInput("there is no such file.", file=str(path))
    progress("verifying")
    report = verify_backup(path, key=key)
    manifest = _read_manifest(path, key)
    progress("preparing the database")
    registry = _prepare_database(manifest)
    restored = {model._meta.label: model for model in stored_models(registry)}
    _require_empty(restored)
    stored_files: list[tuple[str, str]] = []
    try:
        with transaction.atomic(), connection.constraint_checks_disabled():
            _delete_made_rows(restored)
            progress("restoring")
            _restore_members(path, key, manifest, restored, stored_files)
            progress("comparing checksums")
            _compare(manifest, restored)
            connection.check_constraints()
            _reset_sequences(restored)
    except BaseException:
        for alias, name in stored_files:
            storages[alias].delete(name)
        raise
    ContentType.objects.clear_cache()
    progress("applying later migrations")
    call_command("migrate", interactive=False, verbosity=0)
    fingerprints = key_fingerprints()
    other = [name for name, value in manifest["keys"].items() if fingerprints.get(name) != value]
    return RestoreReport(report, connection.vendor, other)


def _read_manifest(path: Path, key: str) -> dict[str, Any]:
    with archive.open_archive(path, key=key) as source:
        for member in source:
            if member.name == MANIFEST:
                content = source.extractfile(member)
                assert content is not None
                document: dict[str, Any] = json.load(content)
                return document
    raise BadInput("the backup has no manifest.", file=str(path))


def _prepare_database(manifest: dict[str, Any]) -> Any:
    """Bring the database to the backup's migrations and return the models of that state."""
    loader = MigrationLoader(connection)
    applied = {(app, name) for app, name in manifest["migrations"]}
    if unknown := sorted(applied - set(loader.disk_migrations) - replaced_migrations(loader)):
        raise BadInput(
            f"the backup has migrations that this version lacks, such as {'.'.join(unknown[0])}.",
            remedy=f"Install version {manifest['version']}, which made it, or a later one.",
        )
    nodes = {node for node in loader.graph.nodes if node in applied}
    if set(loader.applied_migrations) != applied:
        for app, name in _last_of_each_app(loader, nodes):
            call_command("migrate", app, name, interactive=False, verbosity=0)
    is_current = nodes == set(loader.graph.nodes)
    state = ProjectState.from_apps(apps) if is_current else loader.project_state(list(nodes))
    registry = state.apps  # copies of the models, which may be changed
    for model in registry.get_models(include_auto_created=True):
        tables.keep_stored_times(model)
    return registry


def _last_of_each_app(loader: MigrationLoader, nodes: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the last migrations of each app in a state; ``zero`` for apps that came later."""
    followed = {
        parent.key
        for node in nodes
        for parent in loader.graph.node_map[node].parents
        if parent.key[0] == node[0]
    }
    last = sorted(nodes - followed)
    new_apps = sorted({app for app, _ in loader.graph.nodes} - {app for app, _ in last})
    return [*((app, "zero") for app in new_apps), *last]


def _require_empty(restored: dict[str, type[models.Model]]) -> None:
    for label, model in restored.items():
        if label not in MADE_BY_MIGRATIONS and (n_rows := model._base_manager.count()):
            raise BadInput(
                f"the installation is not empty: {label} has {plural(n_rows, 'row')}.",
                remedy="Restore into a new database, before the first start and the first account.",
            )


def _delete_made_rows(restored: dict[str, type[models.Model]]) -> None:
    for label in sorted(MADE_BY_MIGRATIONS & set(restored)):  # permissions refer to content types
        restored[label]._base_manager.all()._raw_delete(DEFAULT_DB_ALIAS)


def _restore_members(
    path: Path,
    key: str,
    manifest: dict[str, Any],
    restored: dict[str, type[models.Model]],
    stored_files: list[tuple[str, str]],
) -> None:
    columns = {table["model"]: table["columns"] for table in manifest["tables"]}
    if lacking := sorted(label for label in columns if label not in restored):
        raise BadInput(f"this version has no table for {', '.join(lacking)}.")
    with archive.open_archive(path, key=key) as source:
        for member in source:
            content = source.extractfile(member)
            assert content is not None
            side, _, rest = member.name.partition("/")
            place, _, name = rest.partition("/")
            if side == "tables":
                tables.insert(restored[place], columns[place], content.read(), using=DEFAULT_DB_ALIAS)
            elif side == "files":
                _store_file(place, name, content, stored_files)


def _store_file(alias: str, name: str, content: IO[bytes], stored_files: list[tuple[str, str]]) -> None:
    """Store a file; one that an interrupted restore left is retained, or completed where it is cut off."""
    storage = storages[alias]
    # A copy first: a member of the archive can be read only forward, and S3 reads a part again that failed.
    with tempfile.SpooledTemporaryFile(max_size=16 << 20) as copy:
        shutil.copyfileobj(content, copy)
        if storage.exists(name):
            with storage.open(name) as existing:
                if not _begins_with(copy, existing):
                    raise BadInput(
                        f"the storage has another file {name} already.",
                        remedy=f"Empty {_place(alias)} and run restore again.",
                    )
            if storage.size(name) == copy.tell():
                return
            storage.delete(name)
        copy.seek(0)
        stored_files.append((alias, storage.save(name, File(copy))))


def _begins_with(copy: IO[bytes], existing: IO[bytes]) -> bool:
    """Whether a file has the beginning of the copy, or all of it; the copy is at its end afterwards."""
    copy.seek(0)
    while part := existing.read(READ_BYTES):
        if copy.read(len(part)) != part:
            return False
    copy.seek(0, 2)
    return True


def _place(alias: str) -> str:
    storage = storages[alias]
    return (
        f"the folder {storage.path('')}" if isinstance(storage, FileSystemStorage) else f"the bucket {alias}"
    )


def _compare(manifest: dict[str, Any], restored: dict[str, type[models.Model]]) -> None:
    for table in manifest["tables"]:
        model = restored[table["model"]]
        n_rows, digest = tables.table_checksum(model, using=DEFAULT_DB_ALIAS)
        if (n_rows, digest) != (table["rows"], table["sha256"]):
            raise BadInput(f"the restored rows of {table['model']} differ from the backup's.")


def _reset_sequences(restored: dict[str, type[models.Model]]) -> None:
    """Let new rows get ids after the restored ones."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), list(restored.values())):
            cursor.execute(statement)
