"""An uploaded material set, read and stored: at once when it is small, as a job when it is large."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth import get_user_model

from analysis.errors import BadInput
from experiments.intake import About, Stored, store_materials
from experiments.job_runner import Run, enqueue, job
from experiments.materials.checks import check
from experiments.materials.collection import Materials
from experiments.materials.detect import read_materials
from experiments.models import Job, Upload
from experiments.uploads import batch_of, discard_uploads, local_copies

IMPORT = "materials.import"
PURPOSE = "materials"
AT_ONCE = 5_000  # sentences


def read_uploads(uploads: Sequence[Upload]) -> Materials:
    """Read the files of one upload with the format, mapping and encoding chosen for them."""
    chosen = uploads[0].options
    with local_copies(uploads) as paths:
        return read_materials(
            paths,
            format=chosen.get("format") or "auto",
            mapping=chosen.get("mapping") or None,
            encoding=chosen.get("encoding") or "",
        )


def about_uploads(uploads: Sequence[Upload]) -> About:
    """What its researcher said of an upload."""
    chosen = uploads[0].options
    return About(**{name: chosen.get(name, "") for name in ("name", "language", "source", "licence")})


def import_now(uploads: Sequence[Upload], materials: Materials) -> Stored:
    """Store a small set and let its files go."""
    stored = store_materials(materials, about_uploads(uploads), owner=uploads[0].owner)
    discard_uploads(uploads)
    return stored


def import_later(uploads: Sequence[Upload]) -> Job:
    """Have a large set stored by a worker; pressing twice makes one job."""
    batch = str(uploads[0].batch)
    arguments = {"batch": batch, "user": uploads[0].owner_id}
    return enqueue(IMPORT, arguments, user=uploads[0].owner, key=f"{IMPORT}:{batch}:{_state(uploads)}")


def _state(uploads: Sequence[Upload]) -> str:
    """The failed attempts so far: a corrected upload may be tried again."""
    batch = str(uploads[0].batch)
    failed = Job.objects.filter(kind=IMPORT, arguments__batch=batch, state=Job.State.FAILED)
    return str(failed.count())


@job(IMPORT)
def import_materials(run: Run) -> None:
    """Read outside of the transaction, store together with the job's end."""
    user = get_user_model().objects.get(pk=run.arguments["user"])
    uploads = batch_of(user, run.arguments["batch"], purpose=PURPOSE)
    if not uploads:
        raise BadInput("the uploaded files are gone.", remedy="Upload them again.")
    run.progress(0, 3, "reading")
    materials = read_uploads(uploads)
    run.progress(1, 3, "checking")
    report = check(materials)
    run.progress(2, 3, "storing")
    with run.finishing() as result:
        stored = store_materials(materials, about_uploads(uploads), owner=user, report=report)
        result.update(outcome(stored))
    discard_uploads(uploads)


def outcome(stored: Stored) -> dict[str, Any]:
    """What a job or page tells of a stored set."""
    material_set = stored.material_set
    return {
        "material_set": material_set.name,
        "slug": material_set.slug,
        "created": stored.created,
        **stored.counts,
    }
