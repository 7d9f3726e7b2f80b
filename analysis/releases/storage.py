"""Where releases lie: whole folders, written at once or not at all, on disk or in S3.

On disk: a temporary folder beside the place, every file synced, then one rename. In S3 there is no
rename: ``manifest.json`` goes last, and a folder without it is no release.
"""

import errno
import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from io import RawIOBase
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError
from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages

from analysis.errors import BadInput

MANIFEST = "manifest.json"
Files = Mapping[str, bytes]
CHUNK = 1 << 16


def checksum(content: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def release_storage() -> Storage:
    """The configured storage of releases."""
    return storages["releases"]


def store(key: str, files: Files, *, storage: Storage | None = None) -> bool:
    """Store a release under ``key``; False when the very same one is already there."""
    place = storage or release_storage()
    try:
        return write_folder(Path(place.path(key)), files)
    except NotImplementedError:
        return _upload(place, key, files)


def write_folder(folder: Path, files: Files) -> bool:
    """Write a whole folder or nothing; False when it already holds these very files."""
    if folder.exists():
        return _same_or_refuse(folder, files)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise _unwritten(error, str(folder)) from error
    try:
        _fill(partial, files)
        _rename(partial, folder)
    except OSError as error:
        if folder.exists():  # another build was first
            return _same_or_refuse(folder, files)
        raise _unwritten(error, str(folder)) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return True


def read(key: str, name: str, *, storage: Storage | None = None) -> bytes:
    """One file of a stored release."""
    return b"".join(chunks(key, name, storage=storage))


def chunks(key: str, name: str, *, storage: Storage | None = None) -> Iterator[bytes]:
    """One file of a stored release, piece by piece."""
    with (storage or release_storage()).open(f"{key}/{name}", "rb") as file:
        while piece := file.read(CHUNK):
            yield piece


def zip_chunks(key: str, names: list[str], *, folder: str, storage: Storage | None = None) -> Iterator[bytes]:
    """The release as one ZIP, piece by piece: names in order and no clock, so the same each time."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(names):
            with archive.open(zip_entry(f"{folder}/{name}"), "w", force_zip64=True) as member:
                for piece in chunks(key, name, storage=storage):
                    member.write(piece)
                    yield sink.take()
    yield sink.take()


def zip_entry(name: str) -> zipfile.ZipInfo:
    """An entry without a clock or an owner, so that the same content gives the same bytes."""
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
    return entry


class _Sink(RawIOBase):
    """Takes what the archive writes and gives it on; it cannot be sought."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, piece) -> int:
        self.pieces.append(bytes(piece))
        return len(piece)

    def take(self) -> bytes:
        taken = b"".join(self.pieces)
        self.pieces.clear()
        return taken


def _same_or_refuse(folder: Path, files: Files) -> bool:
    if folder.is_dir():
        found = {path.name: checksum(path.read_bytes()) for path in folder.iterdir() if path.is_file()}
        if found == {name: checksum(content) for name, content in files.items()}:
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
        with open(partial / name, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    partial.chmod(0o755)
    _sync(partial)


def _rename(partial: Path, folder: Path) -> None:
    """Rename; a folder that another build has put there meanwhile makes this fail."""
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
        _take_back(place, written)
        raise _unwritten(error, key) from error
    return True


def _take_back(place: Storage, names: list[str]) -> None:
    for name in names:
        try:
            place.delete(name)
        except (OSError, ClientError, BotoCoreError):  # without its manifest it is no release
            continue


def _unwritten(error: Exception, place: str) -> BadInput:
    full = isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
    why = "no space is left" if full else str(error)
    return BadInput(
        f"the release could not be written: {why}.",
        file=place,
        remedy="Nothing was left behind; free space and build again." if full else "Nothing was left behind.",
    )
