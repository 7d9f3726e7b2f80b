"""The container of a backup: a tar file, compressed and perhaps encrypted, written and read as a stream.

Notes
-----
Encryption is the STREAM construction over AES-256-GCM: pieces of 1 MiB, each sealed with a nonce that holds
its number and whether it is the last one, so pieces can be neither changed, exchanged nor cut off.
"""

import gzip
import hashlib
import io
import json
import os
import secrets
import struct
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from analysis.errors import BadInput

MAGIC = b"obelus-encrypted-backup-1\n"
SALT_BYTES, PREFIX_BYTES = 16, 7
PIECE_BYTES = 1 << 20
TAG_BYTES = 16
COMPRESSION = 4  # gzip's level: half the time of 6 for files a twentieth larger


def _cipher(key: str, salt: bytes) -> AESGCM:
    # n, r and p as RFC 7914 and OWASP recommend for interactive use (64 MiB, some 0.2 s).
    return AESGCM(Scrypt(salt=salt, length=32, n=2**16, r=8, p=1).derive(key.encode()))


def _nonce(prefix: bytes, number: int, *, is_last: bool) -> bytes:
    return prefix + struct.pack(">I?", number, is_last)


class EncryptedWriter(io.RawIOBase):
    """Encrypts what is written to it, piece by piece."""

    def __init__(self, target: IO[bytes], key: str) -> None:
        salt, self.prefix = secrets.token_bytes(SALT_BYTES), secrets.token_bytes(PREFIX_BYTES)
        self.target, self.cipher, self.number = target, _cipher(key, salt), 0
        self.header = MAGIC + salt + self.prefix
        self.waiting = bytearray()
        target.write(self.header)

    def writable(self) -> bool:
        """Whether it can be written to."""
        return True

    def write(self, data: object) -> int:
        """Collect bytes and write every full piece."""
        self.waiting += memoryview(data)  # type: ignore[arg-type]
        while len(self.waiting) > PIECE_BYTES:
            self._seal(self.waiting[:PIECE_BYTES], is_last=False)
            del self.waiting[:PIECE_BYTES]
        return memoryview(data).nbytes  # type: ignore[arg-type]

    def _seal(self, piece: bytes | bytearray, *, is_last: bool) -> None:
        nonce = _nonce(self.prefix, self.number, is_last=is_last)
        self.target.write(self.cipher.encrypt(nonce, bytes(piece), self.header))
        self.number += 1

    def close(self) -> None:
        """Write the last piece."""
        if not self.closed:
            self._seal(self.waiting, is_last=True)
        super().close()


class DecryptedReader(io.RawIOBase):
    """Decrypts an encrypted backup as it is read."""

    def __init__(self, source: IO[bytes], key: str) -> None:
        self.header = source.read(len(MAGIC) + SALT_BYTES + PREFIX_BYTES)
        salt = self.header[len(MAGIC) : len(MAGIC) + SALT_BYTES]
        self.prefix = self.header[-PREFIX_BYTES:]
        self.source, self.cipher, self.number = source, _cipher(key, salt), 0
        self.ahead = source.read(PIECE_BYTES + TAG_BYTES)
        self.opened = memoryview(b"")

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill a buffer with decrypted bytes."""
        if not self.opened and self.ahead:
            sealed, self.ahead = self.ahead, self.source.read(PIECE_BYTES + TAG_BYTES)
            nonce = _nonce(self.prefix, self.number, is_last=not self.ahead)
            try:
                self.opened = memoryview(self.cipher.decrypt(nonce, sealed, self.header))
            except InvalidTag:
                reason = "the key is another one" if not self.number else "it was changed or cut off"
                raise BadInput(f"the backup cannot be decrypted: {reason}.") from None
            self.number += 1
        view = memoryview(buffer)  # type: ignore[arg-type]
        size = min(len(view), len(self.opened))
        view[:size] = self.opened[:size]
        self.opened = self.opened[size:]
        return size


@contextmanager
def create_archive(path: Path, *, key: str) -> Iterator[tarfile.TarFile]:
    """Write an archive to a new file that only its owner can read."""
    with open(path, "xb", opener=_private) as raw:
        sealed = EncryptedWriter(raw, key) if key else raw
        # No time and no name in gzip's header: they would tell what the archive holds.
        with (
            gzip.GzipFile("", "wb", COMPRESSION, sealed, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
        ):
            yield archive
        if sealed is not raw:
            sealed.close()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


#: What reading raises where bytes changed: until the checksum at the end, they reach tar, JSON and text.
DAMAGE = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, json.JSONDecodeError, UnicodeDecodeError)


@contextmanager
def open_archive(path: Path, *, key: str) -> Iterator[tarfile.TarFile]:
    """Read an archive from its start; members are visited in their order."""
    try:
        with path.open("rb") as raw:
            is_encrypted = raw.read(len(MAGIC)) == MAGIC
            raw.seek(0)
            if is_encrypted and not key:
                raise BadInput(
                    "the backup is encrypted.", file=str(path), remedy="Name the key's file by --key."
                )
            source: IO[bytes] = raw
            if is_encrypted:
                source = io.BufferedReader(DecryptedReader(raw, key), PIECE_BYTES)
            with gzip.GzipFile(fileobj=source, mode="rb") as packed:
                with tarfile.open(fileobj=packed, mode="r|") as archive:
                    yield archive
                while packed.read(PIECE_BYTES):  # up to gzip's checksum, and the last sealed piece
                    pass
    except DAMAGE as error:
        raise BadInput(f"this is no whole backup: {error}.", file=str(path)) from error
    except OSError as error:
        raise BadInput(f"the backup cannot be read: {error}.", file=str(path)) from error


def add_member(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    """Append a member with these bytes."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o600
    archive.addfile(member, io.BytesIO(content))


def checksum(content: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()
