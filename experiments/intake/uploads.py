"""Uploaded files, stored between preview and import and visible to their owner only."""

import contextlib
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

import structlog
from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from analysis.errors import BadInput
from config.http.unavailable import is_of_a_store
from experiments.materials.encoding import BINARY_SUFFIXES, Encoding, InferredEncoding, read_text
from experiments.models import Job, Lab, Upload
from experiments.models.upload import UPLOADS, upload_path
from experiments.operation.job_runner import FULL_DISK

log = structlog.get_logger(__name__)
PREVIEWS = "previews"  # folder in that of an upload
#: Purposes of uploads that are deleted once imported; files of scores stay with their runs.
PASSING = ("materials", "judgments")


@transaction.atomic
def save_uploads(
    user: Any,
    files: "Iterable[File[Any]]",
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
    _check_quota(user, files, lab, purpose)
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
                size=file.size,
                sha256=file_checksum(file),
                purpose=purpose,
                options=options if number == 0 else {},
            )
            uploads.append(upload)
            upload.save()
    except Exception as error:  # storages raise their own types
        # The transaction removes the rows, but not the files of this batch.
        _delete_files(uploads)
        if isinstance(error, OSError) and error.errno in FULL_DISK:
            raise BadInput(
                "the server’s disk is full.", remedy="Tell an administrator; nothing was stored."
            ) from error
        if is_of_a_store(error):
            log.warning("upload not stored", exc_info=error)
            raise BadInput(
                "the storage of files did not take it.",
                remedy="Try again later, or tell an administrator; nothing was stored.",
            ) from error
        raise
    return uploads


@contextlib.contextmanager
def deleted_on_error(uploads: Sequence[Upload]) -> Iterator[None]:
    """Delete the files of new uploads where the block fails: its transaction removes only their rows."""
    try:
        yield
    except BaseException:
        _delete_files(uploads)
        raise


def _delete_files(uploads: Sequence[Upload]) -> None:
    for upload in uploads:
        # Not even OSError alone: a storage that failed to save may fail again. The sweep deletes the rest.
        with contextlib.suppress(Exception):
            default_storage.delete(upload_path(upload, ""))


@dataclass(frozen=True)
class Quota:
    """Bytes of uploads that count together, and the most that a researcher or a lab may have."""

    used: int
    limit: int
    lab: Lab | None = None


def upload_quota(user: Any, lab: Lab | None = None, *, purpose: str = PASSING[0]) -> Quota:
    """Return the quota of a lab, or of a user's uploads for no lab; files that stay have one of their own."""
    owned = {"lab": lab} if lab else {"owner": user, "lab": None}
    is_passing = purpose in PASSING
    purposes = PASSING if is_passing else (purpose,)
    uploads = Upload.objects.filter(purpose__in=purposes, **owned)
    used = uploads.aggregate(bytes=Sum("size"))["bytes"] or 0
    used += sum(map(_store_size, uploads.filter(size=None)))
    if not is_passing:
        return Quota(used, settings.SCORE_QUOTA_BYTES, lab)
    if lab is None:
        return Quota(used, settings.UPLOAD_QUOTA_BYTES)
    own_limit = lab.upload_quota_bytes
    return Quota(used, settings.LAB_UPLOAD_QUOTA_BYTES if own_limit is None else own_limit, lab)


def _store_size(upload: Upload) -> int:
    """Store the size of a file that was uploaded before the column existed; 0 where it cannot be read."""
    try:
        size = upload.n_bytes
    except Exception as error:  # storages raise their own types
        log.warning("upload not measured", upload=upload.pk, error=repr(error))
        return 0
    Upload.objects.filter(pk=upload.pk).update(size=size)
    return size


def list_quotas(user: Any) -> list[Quota]:
    """Return the quotas that uploads of a user may count towards."""
    return [upload_quota(user), *(upload_quota(user, lab) for lab in Lab.objects.open_to_studies_by(user))]


def _check_quota(user: Any, files: "Sequence[File[Any]]", lab: Lab | None, purpose: str) -> None:
    """Refuse files beyond what a researcher or a lab may have waiting for import, or stored for scoring."""
    if lab is not None:
        Lab.objects.select_for_update().get(pk=lab.pk)  # Race: two members at once would exceed the quota.
    quota = upload_quota(user, lab, purpose=purpose)
    is_exceeded = quota.used + sum(file.size or 0 for file in files) > quota.limit
    if is_exceeded and purpose not in PASSING:
        raise BadInput(
            f"the files of scores and models of {lab or 'your own'} would exceed "
            f"{quota.limit // 1_000_000} MB.",
            remedy="Delete files on the pages of earlier scoring runs, whose scores stay, or ask an"
            " administrator for a larger SCORE_QUOTA_BYTES.",
        )
    if is_exceeded:
        whose = f"the unfinished uploads of {lab}" if lab else "your unfinished uploads"
        raise BadInput(
            f"{whose} would exceed {quota.limit // 1_000_000} MB.",
            remedy="Import or discard earlier ones first.",
        )


def discard_unfinished(*, older_than: datetime | None = None) -> int:
    """Delete uploads that were neither imported nor discarded for ``UPLOAD_DAYS`` days; return the count."""
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


def delete_stray_files(*, older_than: datetime | None = None) -> int:
    """Delete files of uploads that no row names, such as those of a killed process; returns their number.

    Only names that :func:`upload_path` and :func:`preview_folder` make are touched:
    ``uploads/USER/BATCH/NUMBER`` and ``uploads/USER/BATCH/previews/….json``. A file is deleted once it is
    older than ``UPLOAD_DAYS`` days, because the rows of an upload are committed after its files are saved.
    """
    limit = older_than or timezone.now() - timedelta(days=settings.UPLOAD_DAYS)
    n_deleted = 0
    for user in filter(str.isdecimal, _list_folder(UPLOADS)[0]):
        batches = [name for name in _list_folder(f"{UPLOADS}/{user}")[0] if _is_batch(name)]
        rows = list(Upload.objects.filter(batch__in=batches).values_list("batch", "file"))
        names, with_rows = {name for _, name in rows}, {str(batch) for batch, _ in rows}
        for batch in batches:
            for name in _upload_files(f"{UPLOADS}/{user}/{batch}", with_previews=batch not in with_rows):
                with contextlib.suppress(FileNotFoundError):  # race: another host deleted it
                    if name not in names and default_storage.get_modified_time(name) < limit:
                        default_storage.delete(name)
                        n_deleted += 1
    return n_deleted


def _upload_files(folder: str, *, with_previews: bool) -> list[str]:
    files = [f"{folder}/{name}" for name in _list_folder(folder)[1] if name.isdecimal()]
    if with_previews:
        previews = f"{folder}/{PREVIEWS}"
        files += [f"{previews}/{name}" for name in _list_folder(previews)[1] if name.endswith(".json")]
    return files


def _list_folder(folder: str) -> tuple[list[str], list[str]]:
    """Return the folders and the files in a folder of the storage; none where it does not exist."""
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return [], []
    return folders, files


def _is_batch(name: str) -> bool:
    try:
        return str(uuid.UUID(name)) == name
    except ValueError:
        return False


def file_checksum(file: "File[Any]") -> str:
    """Return the SHA-256 of an uploaded file."""
    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()


def find_batch(user: Any, batch: uuid.UUID | str, *, purpose: str) -> list[Upload]:
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


@contextlib.contextmanager
def named_errors(path: Path, name: str) -> Iterator[None]:
    """Let errors name the uploaded file, not its temporary copy on the server."""
    try:
        yield
    except BadInput as error:
        raise BadInput(
            error.message.replace(str(path), name),
            file=name if Path(error.file).name == path.name else error.file,
            row=error.row,
            column=error.column,
            remedy=error.remedy.replace(str(path), name),
        ) from error


def preview_folder(upload: Upload) -> str:
    """Return the folder of the previews of an upload."""
    return f"{UPLOADS}/{upload.owner_id}/{upload.batch}/{PREVIEWS}"


def discard_uploads(uploads: Sequence[Upload]) -> None:
    """Delete the files of one upload with their previews and rows."""
    for upload in uploads[:1]:
        for name in _list_folder(preview_folder(upload))[1]:  # small uploads have none
            default_storage.delete(f"{preview_folder(upload)}/{name}")
    for upload in uploads:
        upload.file.delete(save=False)
        upload.delete()
