"""Backups in ``BACKUP_STORAGE``, a folder or S3: stored, listed, fetched, and deleted when they are old."""

import hashlib
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import structlog
from django.conf import settings
from django.core.files import File
from django.core.files.storage import Storage, storages

from analysis.errors import BadInput
from experiments.operation.job_runner import IOFailure

log = structlog.get_logger(__name__)
FILE_NAME = re.compile(r"obelus-(?P<moment>\d{8}T\d{6}Z)-[0-9a-f]{8}\.backup")
NEWEST = "newest"  # names the last backup of the storage
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class StoredBackup:
    """A backup in the storage."""

    name: str
    size: int
    created_at: str


def local_folder() -> Path | None:
    """Return the folder of the storage; None where it has no path, as S3."""
    try:
        return Path(storages["backups"].path(""))
    except NotImplementedError:
        return None


def stored_backups() -> list[StoredBackup]:
    """Return the backups of the storage, newest first."""
    storage = storages["backups"]
    with _failures("cannot be listed"):
        return [StoredBackup(name, storage.size(name), _moment(name)) for name in reversed(_names(storage))]


def _names(storage: Storage) -> list[str]:
    try:
        names = storage.listdir("")[1]
    except FileNotFoundError:  # no backup was made so far
        return []
    return sorted(name for name in names if FILE_NAME.fullmatch(name))


def _moment(name: str) -> str:
    stamp = FILE_NAME.fullmatch(name)
    assert stamp is not None  # the names were matched
    return datetime.strptime(stamp["moment"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).isoformat()


def store_backup(file: Path) -> None:
    """Copy a backup to the storage and compare what it returns; a copy that differs is deleted."""
    storage = storages["backups"]
    # S3 shows an object only when all its parts have arrived; boto3 discards those of a failed upload.
    with _failures("did not take the backup"), file.open("rb") as content:
        storage.save(file.name, File(content))
    with _failures("has the backup, which cannot be read again"), storage.open(file.name) as stored:
        is_equal = _sha256(stored.chunks(CHUNK_BYTES)) == _sha256(_chunks(file))
    if not is_equal:
        storage.delete(file.name)
        raise IOFailure(f"{settings.BACKUP_STORAGE} returned another file than the backup.")


def _chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as content:
        while chunk := content.read(CHUNK_BYTES):
            yield chunk


def _sha256(chunks: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()


def forget_old(keep: int) -> None:
    """Delete all but the newest backups; 0 keeps all. Other files are never deleted."""
    storage = storages["backups"]
    try:
        with _failures("keeps old backups"):
            for name in _names(storage)[:-keep] if keep else ():
                storage.delete(name)
                log.info("old backup deleted", file=name)
    except IOFailure as error:
        # The new backup is there: repeating it because of the old ones would only add another.
        log.error("old backups not deleted", reason=str(error))


@contextmanager
def local_copy(file: str) -> Iterator[Path]:
    """Give the path of a backup: a local file, or a copy of one in the storage, by its name or ``newest``."""
    if Path(file).is_file() or not (file == NEWEST or FILE_NAME.fullmatch(file)):
        yield Path(file)
        return
    storage = storages["backups"]
    with _failures("cannot be read"):
        names = _names(storage)
    if file != NEWEST and file not in names:
        raise BadInput(f"there is no such file here, nor in {settings.BACKUP_STORAGE}.", file=file)
    if not names:
        raise BadInput(f"{settings.BACKUP_STORAGE} has no backup.")
    name = names[-1] if file == NEWEST else file
    if folder := local_folder():
        yield folder / name
        return
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / name
        with _failures("cannot be read"), storage.open(name) as stored, path.open("wb") as copy:
            for chunk in stored.chunks(CHUNK_BYTES):
                copy.write(chunk)
        yield path


@contextmanager
def _failures(what: str) -> Iterator[None]:
    """Report what S3 or the disk answers as an error of the storage, which a job meets again later."""
    from botocore.exceptions import BotoCoreError, ClientError  # 0.3 s, and most installations use a folder

    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "unknown")
        raise IOFailure(
            f"{settings.BACKUP_STORAGE} {what}: {error.operation_name} was answered with {code}.",
            remedy="Check the bucket, its permissions and quota, and the AWS variables.",
        ) from error
    except BotoCoreError as error:
        raise IOFailure(
            f"{settings.BACKUP_STORAGE} {what}: {error}.",
            remedy="Check S3_ENDPOINT_URL, the network and the AWS variables.",
        ) from error
    except OSError as error:
        raise IOFailure(f"{settings.BACKUP_STORAGE} {what}: {error.strerror or error}.") from error
