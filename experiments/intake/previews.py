"""Previews of large uploads, computed by a job and stored beside the uploaded files.

A small upload is read in the request. A large one is read by a job, whose progress the page shows; its
preview is one JSON document for the options with which the files were read. The import of a set is divided in
the same way.
"""

import errno
import hashlib
import io
import json
import re
import resource
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from analysis.errors import BadInput
from experiments.intake.store import MaterialSetInfo, StoreResult, store_materials
from experiments.intake.uploads import (
    discard_uploads,
    find_batch,
    local_copies,
    preview_folder,
    upload_encoding,
)
from experiments.materials.checks import check
from experiments.materials.collection import Materials
from experiments.materials.encoding import Encoding, unpacks_beyond
from experiments.materials.leaving_out import leave_out
from experiments.materials.readers.arrow_files import arrow_bytes
from experiments.materials.readers.detect import read_materials
from experiments.materials.readers.layout import parse_split, top_rows
from experiments.materials.readers.sheets import Sheet, parquet_bytes, read_sheet
from experiments.materials.readers.spreadsheets import SUFFIXES as SPREADSHEETS
from experiments.models import Job, Upload
from experiments.operation.job_runner import Run, enqueue, job

IMPORT = "materials.import"
PURPOSE = "materials"
MAX_IMMEDIATE = 5_000  # sentences; larger sets are imported by a job
MAX_IMMEDIATE_BYTES = 4_000_000  # of an upload; reading as much takes one or two seconds
MAX_IMMEDIATE_ROWS = 100_000  # of a text; short rows take as long as many bytes
COLUMNAR = (".parquet", ".arrow")
PACKED = {".gz", ".zip", *COLUMNAR, *SPREADSHEETS}
Preview = dict[str, Any]
Report = Callable[[str], None]  # called with what is done next
Read = Callable[[Sequence[Upload], int, Report], Preview]
N_STEPS = 4  # of reading, at most


def is_large(uploads: Sequence[Upload]) -> bool:
    """Whether a job reads these files; packed files count with the size that they unpack to."""
    if sum(upload.n_bytes for upload in uploads) > MAX_IMMEDIATE_BYTES:
        return True
    return any(_unpacks_to_large(upload) or _has_many_rows(upload) for upload in uploads)


def _has_many_rows(upload: Upload) -> bool:
    if upload.n_bytes < MAX_IMMEDIATE_ROWS or Path(upload.name).suffix.lower() in PACKED:
        return False
    with upload.file.open("rb") as file:
        content: bytes = file.read()
    return max(content.count(b"\n"), content.count(b"\r")) > MAX_IMMEDIATE_ROWS


def _unpacks_to_large(upload: Upload) -> bool:
    suffix = Path(upload.name).suffix.lower()
    if suffix not in PACKED:
        return False
    with upload.file.open("rb") as file:
        if suffix in COLUMNAR:
            return _value_bytes(file, suffix) > MAX_IMMEDIATE_BYTES
        if suffix == ".gz":
            return unpacks_beyond(file, MAX_IMMEDIATE_BYTES)
        try:
            with zipfile.ZipFile(file) as archive:
                members = archive.infolist()
                if sum(member.file_size for member in members) > 5 * MAX_IMMEDIATE_BYTES:
                    return True
                n_bytes = 0
                for member in members:
                    if (inner := Path(member.filename).suffix.lower()) in COLUMNAR:
                        n_bytes += _value_bytes(io.BytesIO(archive.read(member)), inner)
                return n_bytes > MAX_IMMEDIATE_BYTES
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
            return False


def _value_bytes(file: IO[bytes], suffix: str) -> int:
    """Return what the values of a Parquet or Arrow file unpack to; 0 where the file cannot be read."""
    count = parquet_bytes if suffix == ".parquet" else arrow_bytes
    try:
        return count(file, beyond=MAX_IMMEDIATE_BYTES)
    except (pa.ArrowException, OSError, BadInput):  # the reader tells what is wrong with it
        return 0


def preview_or_job(
    kind: str, uploads: Sequence[Upload], read: Read, *, without: Sequence[str] = (), item: int = 1
) -> Preview | Job:
    """Return the preview with the present options, of a large upload from its job; or that job.

    ``without`` names options that do not change how the files are read; ``item`` is the item that is shown.
    """
    if not is_large(uploads):
        return read(uploads, item, lambda step: None)
    options = {name: value for name, value in uploads[0].options.items() if name not in without}
    path = _path(uploads[0], options, item)
    if default_storage.exists(path):
        with default_storage.open(path, "rb") as file:
            stored: Preview = json.loads(file.read())
        return stored
    batch = str(uploads[0].batch)
    arguments = {"batch": batch, "user": uploads[0].owner_id, "options": uploads[0].options}
    name = f"{kind}:{path.rpartition('/')[2].removesuffix('.json')}:{batch}"
    # A finished job without its file: the file was deleted, so the files are read again.
    n_done = Job.objects.filter(key__startswith=f"{name}:", state=Job.State.DONE).count()
    return enqueue(
        kind, {**arguments, "path": path, "item": item}, user=uploads[0].owner, key=f"{name}:{n_done}"
    )


def _path(first: Upload, options: Mapping[str, Any], item: int) -> str:
    chosen = json.dumps([options, item], sort_keys=True, default=str)
    return f"{preview_folder(first)}/{hashlib.sha256(chosen.encode()).hexdigest()[:20]}.json"


def store_preview(run: Run, read: Read, *, purpose: str) -> None:
    """Read the files of a job with the options of its request and store their preview."""
    user = get_user_model().objects.get(pk=run.arguments["user"])
    uploads = find_batch(user, run.arguments["batch"], purpose=purpose)
    if not uploads:
        raise BadInput("the uploaded files no longer exist.", remedy="Upload them again.")
    uploads[0].options = run.arguments["options"]
    names = ", ".join(upload.name for upload in uploads)
    steps = count()
    with limited_memory(*(upload.name for upload in uploads)):
        preview = read(
            uploads, run.arguments["item"], lambda step: run.progress(next(steps), N_STEPS, f"{step} {names}")
        )
    text = json.dumps(preview, ensure_ascii=False, default=_plain)
    path = run.arguments["path"]
    if not default_storage.exists(path):
        default_storage.save(path, ContentFile(text.encode()))
    with run.finishing() as result:
        result["files"] = names


@contextmanager
def limited_memory(*files: str) -> Iterator[None]:
    """Let a worker allocate ``PREVIEW_MEMORY_BYTES`` more, at most, while it reads files; 0 is no limit.

    Raises ``BadInput`` where that is not enough, so that one file does not end the workers of a host.
    """
    n_bytes = settings.PREVIEW_MEMORY_BYTES
    former, hard = resource.getrlimit(resource.RLIMIT_DATA)
    status = Path("/proc/self/status")  # of Linux; elsewhere the limit counts other things
    if not n_bytes or not status.exists():
        yield
        return
    # Unit: the file counts kibibytes. The limit is of the whole process, which runs one job at a time.
    used = int(re.search(r"VmData:\s+(\d+)", status.read_text()).group(1)) * 1024  # type: ignore[union-attr]
    limit = used + n_bytes if hard == resource.RLIM_INFINITY else min(used + n_bytes, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    try:
        yield
    except (MemoryError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.ENOMEM:  # memory maps fail with an OSError
            raise
        raise BadInput(
            f"reading needs more than {n_bytes // 1_000_000} MB of memory.",
            file=", ".join(files),
            remedy="Split the file, or use the command line.",
        ) from error
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (former, hard))


def _plain(value: Any) -> Any:
    """Return a number or truth value of numpy as Python's."""
    return value.item() if hasattr(value, "item") else str(value)


def needs_confirmation(preview: Preview, options: Mapping[str, Any]) -> bool:
    """Whether an encoding was inferred for a file of the preview and none is chosen since."""
    chosen = options.get("encodings") or {}
    return not options.get("encoding") and any(
        inferred["file"] not in chosen for inferred in preview.get("inferred", ())
    )


@dataclass(frozen=True)
class UploadTables:
    """Tables of those files of an upload that can be read as one, with the options of their reading."""

    sheets: tuple[Sheet, ...]
    encoding: Encoding
    sheet: str
    header_row: int

    def covers(self, uploads: Sequence[Upload]) -> bool:
        """Whether these are the tables of all files with the present options."""
        options = uploads[0].options
        present = (upload_encoding(options), options.get("sheet") or "", options.get("header_row") or 0)
        read = (self.encoding, self.sheet, self.header_row)
        return len(self.sheets) == len(uploads) and present == read


def read_upload_tables(uploads: Sequence[Upload]) -> UploadTables:
    """Read the files of an upload that can be read as a table."""
    options, sheets = uploads[0].options, []
    encoding, sheet = upload_encoding(options), options.get("sheet") or ""
    header_row = options.get("header_row") or 0
    with local_copies(uploads) as paths:
        for path in paths:
            with suppress(BadInput):
                sheets.append(read_sheet(path, encoding=encoding, sheet=sheet, header_row=header_row))
    return UploadTables(tuple(sheets), encoding, sheet, header_row)


def read_top_rows(uploads: Sequence[Upload]) -> list[dict[str, Any]]:
    """Return the first rows of each file, among which one has the column names."""
    options, tables = uploads[0].options, []
    with local_copies(uploads) as paths:
        for path in paths:
            with suppress(BadInput):
                rows = top_rows(path, encoding=upload_encoding(options), sheet=options.get("sheet") or "")
                tables.append({"file": path.name, "rows": rows})
    return [table for table in tables if table["rows"]]


def read_uploads(
    uploads: Sequence[Upload],
    *,
    proposed: Mapping[str, str] | None = None,
    tables: UploadTables | None = None,
) -> Materials:
    """Read the files of one upload with the format, mapping, levels and encoding chosen for them.

    ``proposed`` is the mapping while none is chosen; ``tables`` are not read a second time. Items that the
    researcher left out are left out here, with a note among the findings.
    """
    options = uploads[0].options
    with local_copies(uploads) as paths:
        materials = read_materials(
            paths,
            format=options.get("format") or "auto",
            mapping=options.get("mapping") or proposed or None,
            levels=options.get("levels") or None,
            encoding=upload_encoding(options),
            sheet=options.get("sheet") or "",
            sheets=tables.sheets if tables is not None and tables.covers(uploads) else (),
            split_paradigms=bool(options.get("split_paradigms")),
            header_row=options.get("header_row") or 0,
            split=parse_split(options.get("split_condition") or ""),
        )
    return leave_out(materials, options.get("leave_out") or [])


def read_info(uploads: Sequence[Upload]) -> MaterialSetInfo:
    """Return the name, language and origin entered for an upload."""
    options = uploads[0].options
    return MaterialSetInfo(
        **{name: options.get(name, "") for name in ("name", "language", "source", "licence")}
    )


def import_now(uploads: Sequence[Upload], materials: Materials) -> StoreResult:
    """Store a small set and delete its uploaded files."""
    stored = store_materials(materials, read_info(uploads), owner=uploads[0].owner)
    discard_uploads(uploads)
    return stored


def import_later(uploads: Sequence[Upload]) -> Job:
    """Queue the import of a large set; a repeated request returns the same job."""
    batch = str(uploads[0].batch)
    arguments = {"batch": batch, "user": uploads[0].owner_id}
    return enqueue(IMPORT, arguments, user=uploads[0].owner, key=f"{IMPORT}:{batch}:{_n_failed(uploads)}")


def _n_failed(uploads: Sequence[Upload]) -> int:
    """Return the number of failed attempts, so that a corrected upload gets a new job."""
    batch = str(uploads[0].batch)
    failed = Job.objects.filter(kind=IMPORT, arguments__batch=batch, state=Job.State.FAILED)
    return failed.count()


@job(IMPORT)
def import_materials(run: Run) -> None:
    """Read outside the transaction; store in the transaction that finishes the job."""
    user = get_user_model().objects.get(pk=run.arguments["user"])
    uploads = find_batch(user, run.arguments["batch"], purpose=PURPOSE)
    if not uploads:
        raise BadInput("the uploaded files no longer exist.", remedy="Upload them again.")
    run.progress(0, 3, "reading")
    with limited_memory(*(upload.name for upload in uploads)):
        materials = read_uploads(uploads)
        run.progress(1, 3, "checking")
        report = check(materials)
    run.progress(2, 3, "storing")
    with run.finishing() as result:
        stored = store_materials(materials, read_info(uploads), owner=user, report=report)
        result.update(outcome(stored))
    discard_uploads(uploads)


def outcome(stored: StoreResult) -> dict[str, Any]:
    """Return the summary of a stored set, for the job and its page."""
    material_set = stored.material_set
    return {
        "material_set": material_set.name,
        "slug": material_set.slug,
        "created": stored.created,
        **stored.counts,
    }
