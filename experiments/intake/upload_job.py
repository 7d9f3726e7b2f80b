"""Import of uploaded material sets: small ones in the request, large ones as a job."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth import get_user_model

from analysis.errors import BadInput
from experiments.intake.previews import limited_memory
from experiments.intake.store import MaterialSetInfo, StoreResult, store_materials
from experiments.intake.uploads import batch_of, discard_uploads, local_copies, upload_encoding
from experiments.job_runner import Run, enqueue, job
from experiments.materials.checks import check
from experiments.materials.collection import Materials
from experiments.materials.leaving_out import leave_out
from experiments.materials.readers.detect import read_materials
from experiments.models import Job, Upload

IMPORT = "materials.import"
PURPOSE = "materials"
MAX_IMMEDIATE = 5_000  # sentences; larger sets are imported by a job


def read_uploads(uploads: Sequence[Upload], *, proposed: Mapping[str, str] | None = None) -> Materials:
    """Read the files of one upload with the format, mapping, levels and encoding chosen for them.

    ``proposed`` is the mapping while none is chosen.

    Items that the researcher left out are left out here, with a note among the findings.
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
            split_paradigms=bool(options.get("split_paradigms")),
        )
    return leave_out(materials, options.get("leave_out") or [])


def info_of(uploads: Sequence[Upload]) -> MaterialSetInfo:
    """Return the name, language and origin entered for an upload."""
    options = uploads[0].options
    return MaterialSetInfo(
        **{name: options.get(name, "") for name in ("name", "language", "source", "licence")}
    )


def import_now(uploads: Sequence[Upload], materials: Materials) -> StoreResult:
    """Store a small set and delete its uploaded files."""
    stored = store_materials(materials, info_of(uploads), owner=uploads[0].owner)
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
    uploads = batch_of(user, run.arguments["batch"], purpose=PURPOSE)
    if not uploads:
        raise BadInput("the uploaded files no longer exist.", remedy="Upload them again.")
    run.progress(0, 3, "reading")
    with limited_memory(*(upload.name for upload in uploads)):
        materials = read_uploads(uploads)
        run.progress(1, 3, "checking")
        report = check(materials)
    run.progress(2, 3, "storing")
    with run.finishing() as result:
        stored = store_materials(materials, info_of(uploads), owner=user, report=report)
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
