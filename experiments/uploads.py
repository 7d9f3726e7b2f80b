"""Files kept between preview and import, bound to who sent them."""

import hashlib
import shutil
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from analysis.errors import BadInput
from experiments.models import Upload


@transaction.atomic
def keep_uploads(
    user, files: Iterable[UploadedFile], *, purpose: str, chosen: dict[str, Any]
) -> list[Upload]:
    """Keep the files of one upload under one batch; what was chosen for them stands with the first."""
    files = list(files)
    if not files:
        raise BadInput("no file was sent.", remedy="Choose one or more files.")
    if sum(file.size or 0 for file in files) > settings.MAX_UPLOAD_BYTES:
        limit = settings.MAX_UPLOAD_BYTES // 1_000_000
        raise BadInput(f"more than {limit} MB at once.", remedy="Send fewer files, or use the command line.")
    batch = uuid.uuid4()
    return [
        Upload.objects.create(
            owner=user,
            batch=batch,
            number=number,
            name=Path(file.name or "file").name[:255],
            file=file,
            sha256=checksum_of(file),
            purpose=purpose,
            options=chosen if number == 0 else {},
        )
        for number, file in enumerate(files)
    ]


def checksum_of(file: UploadedFile) -> str:
    """SHA-256 of a sent file."""
    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()


def batch_of(user, batch: uuid.UUID | str, *, purpose: str) -> list[Upload]:
    """The files of one upload, if this user sent them; else none."""
    return list(Upload.objects.filter(owner=user, batch=batch, purpose=purpose).order_by("number"))


@contextmanager
def local_copies(uploads: Sequence[Upload]) -> Iterator[list[Path]]:
    """Paths that bear the names as sent, for readers that look at names; gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for upload in uploads:
            path = Path(folder) / str(upload.number) / (Path(upload.name).name or "file")
            path.parent.mkdir()
            with upload.file.open("rb") as stored, path.open("wb") as copy:
                shutil.copyfileobj(stored, copy)
            paths.append(path)
        yield paths


def discard_uploads(uploads: Sequence[Upload]) -> None:
    """Remove the files of one upload and their rows."""
    for upload in uploads:
        upload.file.delete(save=False)
        upload.delete()
