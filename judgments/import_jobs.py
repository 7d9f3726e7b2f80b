"""An uploaded file of judgments, read and stored by a worker."""

from typing import Any

from django.contrib.auth import get_user_model

from analysis.errors import BadInput
from experiments.job_runner import Run, enqueue, job
from experiments.models import Experiment, Job, MaterialSet, Membership, Upload
from experiments.uploads import batch_of, discard_uploads, local_copies
from judgments.intake import Imported, Prepared, prepare, store
from judgments.sources import SourceOptions, read_judgments

IMPORT = "judgments.import"
PURPOSE = "judgments"


def editable_studies(user):
    """Studies into which the user may import."""
    if user.is_staff:
        return Experiment.objects.all()
    return Experiment.objects.filter(memberships__user=user, memberships__role__in=Membership.Role.editing())


def prepare_upload(upload: Upload) -> Prepared:
    """Read an upload with what was chosen for it, and see what storing it would add."""
    chosen = upload.options
    options = SourceOptions(
        mapping=chosen.get("mapping") or {},
        task=chosen.get("task") or "",
        scale_low=chosen.get("scale_low"),
        scale_high=chosen.get("scale_high"),
        encoding=chosen.get("encoding") or "",
    )
    with local_copies([upload]) as (path,):
        read = read_judgments(path, chosen["format"], options=options)
    return prepare(
        read,
        sha256=upload.sha256,
        experiment=chosen["experiment"],
        materials=_materials(upload.owner, chosen.get("materials")),
        among=editable_studies(upload.owner),
    )


def _materials(user, number: int | None) -> MaterialSet | None:
    if not number:
        return None
    found = MaterialSet.objects.visible_to(user).filter(pk=number).first()
    if found is None:
        raise BadInput("the chosen materials are gone.", remedy="Choose others.")
    return found


def import_later(upload: Upload) -> Job:
    """Have the file stored by a worker; pressing twice makes one job, and a failed one may be tried again."""
    batch = str(upload.batch)
    failed = Job.objects.filter(kind=IMPORT, arguments__batch=batch, state=Job.State.FAILED).count()
    arguments = {"batch": batch, "user": upload.owner_id}
    return enqueue(IMPORT, arguments, user=upload.owner, key=f"{IMPORT}:{batch}:{failed}")


@job(IMPORT)
def import_judgments(run: Run) -> None:
    """Read outside of the transaction, store together with the job's end."""
    user = get_user_model().objects.get(pk=run.arguments["user"])
    uploads = batch_of(user, run.arguments["batch"], purpose=PURPOSE)
    if not uploads:
        raise BadInput("the uploaded file is gone.", remedy="Upload it again.")
    run.progress(0, 2, "reading")
    prepared = prepare_upload(uploads[0])
    run.progress(1, 2, "storing")
    with run.finishing() as result:
        imported = store(prepared, user=user)
        result.update(outcome(imported))
    Job.objects.filter(pk=run.job.pk).update(experiment=imported.experiment)
    discard_uploads(uploads)


def outcome(imported: Imported) -> dict[str, Any]:
    """What a job tells of an import."""
    report = imported.report
    return {
        "study": imported.experiment.title,
        "slug": imported.experiment.slug,
        "file": report["file"],
        **{f"{name}_added": number for name, number in report["added"].items()},
        "sessions_already_here": report["sessions_already_here"],
    }
