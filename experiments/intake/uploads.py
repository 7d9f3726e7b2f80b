"""Uploaded files, stored between preview and import and visible to their owner only."""

import contextlib
import errno
import hashlib
import itertools
import shutil
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import DatabaseError, transaction
from django.utils import timezone

from analysis.errors import BadInput
from experiments.materials.encoding import BINARY_SUFFIXES, Encoding, InferredEncoding, read_text
from experiments.models import Job, Lab, Upload
from experiments.models.upload import upload_path

#: Purposes of uploads that are deleted once imported; files of scores stay with their runs.
PASSING = ("materials", "judgments")


@transaction.atomic
def save_uploads(
    user: Any,
    files: "Iterable[UploadedFile[Any]]",
    *,
    purpose: str,
    options: dict[str, Any],
    lab: Lab | None = None,
) -> list[Upload]:
    """Save the files of one upload as one batch; the first file holds the options of all.

    They count towards the quota of the lab, or else of the user.
    """
    files = list(files)
    if not files:
        raise BadInput("no file was sent.", remedy="Choose one or more files.")
    if sum(file.size or 0 for file in files) > settings.MAX_UPLOAD_BYTES:
        limit = settings.MAX_UPLOAD_BYTES // 1_000_000
        raise BadInput(f"more than {limit} MB at once.", remedy="Send fewer files, or use the command line.")
    _check_quota(user, files, lab)
    batch = uuid.uuid4()
    uploads: list[Upload] = []
    try:
        for number, file in enumerate(files):
            upload = Upload(
                owner=user,
                lab=lab,
                batch=batch,
                number=number,
                name=Path(file.name or "file").name[:255],
                file=file,
                sha256=checksum_of(file),
                purpose=purpose,
                options=options if number == 0 else {},
            )
            uploads.append(upload)
            upload.save()
    except (OSError, DatabaseError) as error:
        # The transaction removes the rows, but not the files of this batch.
        for name in [upload_path(upload, "") for upload in uploads]:
            with contextlib.suppress(OSError):
                default_storage.delete(name)
        if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise BadInput(
                "the server’s disk is full.", remedy="Tell an administrator; nothing was stored."
            ) from error
        raise
    return uploads


@dataclass(frozen=True)
class Quota:
    """Bytes of unfinished uploads, and the most that a researcher or a lab may have."""

    used: int
    limit: int
    lab: Lab | None = None


def quota_of(user: Any, lab: Lab | None = None) -> Quota:
    """Return the quota of a lab, or of a user's uploads for no lab."""
    owned = {"lab": lab} if lab else {"owner": user, "lab": None}
    used = 0
    for upload in Upload.objects.filter(purpose__in=PASSING, **owned):
        with contextlib.suppress(OSError):
            used += upload.file.size
    if lab is None:
        return Quota(used, settings.UPLOAD_QUOTA_BYTES)
    own_limit = lab.upload_quota_bytes
    return Quota(used, settings.LAB_UPLOAD_QUOTA_BYTES if own_limit is None else own_limit, lab)


def quotas_of(user: Any) -> list[Quota]:
    """Return the quotas that uploads of a user may count towards."""
    return [quota_of(user), *(quota_of(user, lab) for lab in Lab.objects.taking_studies_of(user))]


def _check_quota(user: Any, files: "Sequence[UploadedFile[Any]]", lab: Lab | None) -> None:
    """Refuse files beyond what a researcher or a lab may have waiting between upload and import."""
    if lab is not None:
        Lab.objects.select_for_update().get(pk=lab.pk)  # Race: two members at once would exceed the quota.
    quota = quota_of(user, lab)
    if quota.used + sum(file.size or 0 for file in files) > quota.limit:
        whose = f"the unfinished uploads of {lab}" if lab else "your unfinished uploads"
        raise BadInput(
            f"{whose} would exceed {quota.limit // 1_000_000} MB.",
            remedy="Import or discard earlier ones first.",
        )


def discard_unfinished(*, older_than: datetime | None = None) -> int:
    """Delete uploads that nobody imported or discarded for ``UPLOAD_DAYS`` days; returns their number."""
    limit = older_than or timezone.now() - timedelta(days=settings.UPLOAD_DAYS)
    active = Job.objects.exclude(state__in=Job.State.final()).values_list("arguments__batch", flat=True)
    in_use = {str(batch) for batch in active if batch}
    old = Upload.objects.filter(created_at__lt=limit, purpose__in=PASSING).order_by("batch", "number")
    n_deleted = 0
    for batch, uploads in itertools.groupby(list(old), key=lambda upload: upload.batch):
        if str(batch) not in in_use:
            rows = list(uploads)
            discard_uploads(rows)
            n_deleted += len(rows)
    return n_deleted


def checksum_of(file: "UploadedFile[Any]") -> str:
    """Return the SHA-256 of an uploaded file."""
    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()


def batch_of(user: Any, batch: uuid.UUID | str, *, purpose: str) -> list[Upload]:
    """Return the files of one upload; none if another user sent them."""
    return list(Upload.objects.filter(owner=user, batch=batch, purpose=purpose).order_by("number"))


def upload_encoding(options: Mapping[str, Any]) -> Encoding:
    """Return the encoding chosen for all files of an upload, or those confirmed for single files."""
    return options.get("encoding") or dict(options.get("encodings") or {})


def inferred_encoding(upload: Upload) -> InferredEncoding | None:
    """Return what is to be confirmed of a text file; None where it is no text or cannot be decoded."""
    with local_copies([upload]) as (path,):
        if BINARY_SUFFIXES & {suffix.lower() for suffix in path.suffixes}:
            return None
        try:
            return read_text(path, encoding=upload_encoding(upload.options)).check
        except BadInput:
            return None


@contextlib.contextmanager
def local_copies(uploads: Sequence[Upload], *, n_bytes: int | None = None) -> Iterator[list[Path]]:
    """Copy uploads, or their first bytes, to temporary files of the same names; deleted afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for upload in uploads:
            path = Path(folder) / str(upload.number) / (Path(upload.name).name or "file")
            path.parent.mkdir()
            with upload.file.open("rb") as stored, path.open("wb") as copy:
                if n_bytes is None:
                    shutil.copyfileobj(stored, copy)
                else:
                    copy.write(stored.read(n_bytes))
            paths.append(path)
        yield paths


def preview_folder(upload: Upload) -> str:
    """Return the folder of the previews of an upload."""
    return f"uploads/{upload.owner_id}/{upload.batch}/previews"


def discard_uploads(uploads: Sequence[Upload]) -> None:
    """Delete the files of one upload with their previews and rows."""
    for upload in uploads[:1]:
        with contextlib.suppress(FileNotFoundError):  # small uploads have none
            for name in default_storage.listdir(preview_folder(upload))[1]:
                default_storage.delete(f"{preview_folder(upload)}/{name}")
    for upload in uploads:
        upload.file.delete(save=False)
        upload.delete()
