"""Storage of releases as whole folders, written completely or not at all, on disk or in S3.

On disk, a temporary folder in the same parent is filled, synced and renamed. S3 has no rename: there
``manifest.json`` is uploaded last, and a folder without it is not a release.
"""

import hashlib
import io
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from io import RawIOBase
from pathlib import Path
from typing import Any

import pandas as pd
import structlog
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages

from analysis.errors import BadInput
from experiments.operation.job_runner import FULL_DISK, IOFailure
from releases.models import Release

log = structlog.get_logger(__name__)
NUMBERS = {"human.csv": ("score", "n", "sd"), "judgments.csv": ("value", "position", "rt_ms")}
MANIFEST = "manifest.json"
Files = Mapping[str, bytes]
CHUNK = 1 << 16  # bytes


def checksum(content: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def release_storage() -> Storage:
    """The configured storage of releases."""
    return storages["releases"]


def store(key: str, files: Files, *, storage: Storage | None = None) -> bool:
    """Store a release under ``key``; False if the same release already exists."""
    place = storage or release_storage()
    try:
        return write_folder(Path(place.path(key)), files)
    except NotImplementedError:  # storages without local paths, such as S3
        return _upload(place, key, files)


def write_folder(folder: Path, files: Files) -> bool:
    """Write a whole folder or nothing; False if it already contains the same files."""
    if folder.exists():
        return _same_or_refuse(folder, files)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise _not_written(error, str(folder)) from error
    try:
        _fill(partial, files)
        _rename(partial, folder)
    except OSError as error:
        if folder.exists():  # race: another process renamed its folder first
            return _same_or_refuse(folder, files)
        raise _not_written(error, str(folder)) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return True


def read(key: str, name: str, *, storage: Storage | None = None) -> bytes:
    """One file of a stored release."""
    return b"".join(chunks(key, name, storage=storage))


def chunks(key: str, name: str, *, storage: Storage | None = None) -> Iterator[bytes]:
    """One file of a stored release, in chunks."""
    with (storage or release_storage()).open(f"{key}/{name}", "rb") as file:
        while piece := file.read(CHUNK):
            yield piece


def zip_chunks(key: str, names: list[str], *, folder: str, storage: Storage | None = None) -> Iterator[bytes]:
    """The release as one ZIP in chunks; sorted names and fixed timestamps make it reproducible."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(names):
            with archive.open(zip_entry(f"{folder}/{name}"), "w", force_zip64=True) as member:
                for piece in chunks(key, name, storage=storage):
                    member.write(piece)
                    yield sink.take()
    yield sink.take()


def zip_entry(name: str) -> zipfile.ZipInfo:
    """An entry with a fixed timestamp and owner, so that the same content has the same bytes."""
    # 1980-01-01 is the earliest time of the ZIP format; 3 is Unix, where the mode is in the upper 16 bits.
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
    return entry


class _Sink(RawIOBase):
    """Unseekable buffer between the archive and the response."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, piece: Any) -> int:
        self.pieces.append(bytes(piece))
        return len(piece)

    def take(self) -> bytes:
        content = b"".join(self.pieces)
        self.pieces.clear()
        return content


def _same_or_refuse(folder: Path, files: Files) -> bool:
    if folder.is_dir():
        paths = [path for path in folder.rglob("*") if path.is_file()]
        stored = {path.relative_to(folder).as_posix(): checksum(path.read_bytes()) for path in paths}
        if stored == {name: checksum(content) for name, content in files.items()}:
            return False
        if not any(folder.iterdir()):
            folder.rmdir()
            return write_folder(folder, files)
    raise BadInput(
        "holds something else; a release is never overwritten.",
        file=str(folder),
        remedy="Name another folder, or remove this one.",
    )


def _fill(partial: Path, files: Files) -> None:
    for name, content in files.items():
        (partial / name).parent.mkdir(exist_ok=True)
        with open(partial / name, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    for folder in {(partial / name).parent for name in files}:
        _sync(folder)
    # mkdtemp gives its owner all rights and others none, whatever UMASK says.
    partial.chmod(0o777 & ~settings.UMASK)
    _sync(partial)


def _rename(partial: Path, folder: Path) -> None:
    """Rename atomically; fails if another process created the folder meanwhile."""
    os.rename(partial, folder)
    _sync(folder.parent)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _upload(place: Storage, key: str, files: Files) -> bool:
    manifest = files[MANIFEST]
    if place.exists(f"{key}/{MANIFEST}"):
        if read(key, MANIFEST, storage=place) == manifest:
            return False
        raise BadInput("holds another release; a release is never overwritten.", file=key)
    written: list[str] = []
    try:
        for name in [*sorted(set(files) - {MANIFEST}), MANIFEST]:
            written.append(f"{key}/{name}")
            place.save(f"{key}/{name}", ContentFile(files[name]))
    except (OSError, ClientError, BotoCoreError) as error:
        _delete_uploaded(place, written)
        raise _not_written(error, key) from error
    return True


def _delete_uploaded(place: Storage, names: list[str]) -> None:
    for name in names:
        try:
            place.delete(name)
        except (OSError, ClientError, BotoCoreError):
            # Without its manifest the folder is not a release, so a remaining file does no harm.
            log.warning("uploaded file not deleted", file=name)


def _not_written(error: Exception, location: str) -> IOFailure:
    is_full = isinstance(error, OSError) and error.errno in FULL_DISK
    system_error = error.strerror if isinstance(error, OSError) else ""  # its text names the path, too
    reason = "no space is left" if is_full else system_error or str(error)
    remedy = f"Nothing was left behind{'; free space and build again' if is_full else ''}."
    return IOFailure(f"the release could not be written: {reason}.", file=location, remedy=remedy)


def release_table(release: Release, name: str) -> pd.DataFrame:
    """A CSV file of a release as a frame; ids and texts stay text, empty numbers are NaN."""
    frame = pd.read_csv(io.BytesIO(read(release.storage_key, name)), dtype=str, keep_default_na=False)
    for column in NUMBERS.get(name, ()):
        if column in frame.columns:
            frame[column] = pd.to_numeric(frame[column].replace("", None))
    return frame
