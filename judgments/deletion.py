"""Deletion of a study without participants, or of all answers of a closed study."""

from typing import Any

import structlog
from django.contrib.auth.models import User
from django.db import transaction

from analysis.errors import BadInput
from experiments.accounts.history import deleted_values
from experiments.models import AuditEntry, Experiment, Job
from experiments.operation.job_runner import Run, enqueue, job
from judgments.models import Participant, Payment, PlatformCall, Session, Tombstone
from judgments.privacy.person import forget

ERASE_ALL = "judgments.erase_all"
TIME_IS_OVER = "deleted at the end of their time"
log = structlog.get_logger(__name__)


def is_untaken(study: Experiment) -> bool:
    """Whether the study has no answers, pay, platform calls or releases, but for previews and pilots."""
    of_study = {"experiment": study}
    return not (
        Session.objects.filter(is_test=False, **of_study).exists()
        or Payment.objects.filter(session__experiment=study).exists()
        or PlatformCall.objects.filter(campaign__experiment=study).exists()
        or Tombstone.objects.filter(**of_study).exists()
        or study.releases.exists()
    )


@transaction.atomic
def delete_study(study: Experiment, *, by: User) -> None:
    """Delete a study without participants: texts, lists, previews and history, but not its materials."""
    locked = Experiment.objects.select_for_update().filter(pk=study.pk).first()
    if locked is None:
        return
    if locked.is_taking_participants:
        raise BadInput("the study takes participants now.", remedy="Close it first.")
    if not is_untaken(locked):
        raise BadInput("the study has participants, so it is kept.", remedy="Their answers can be deleted.")
    Session.objects.filter(experiment=locked).delete()
    # The study's own history goes with it.
    history: dict[str, Any] = {"lab_id": locked.lab_id} if locked.lab_id else {"account": locked.owner or by}
    contents = f"{locked.title}: {locked.get_status_display()}"
    AuditEntry.objects.create(
        **history,
        user=by,
        action="study deleted",
        details={"study": locked.slug, **deleted_values(locked.slug, contents)},
    )
    locked.delete()
    log.info("study deleted", slug=study.slug, user=by.pk)


def erase_all_later(study: Experiment, *, user: User) -> Job:
    """Queue the deletion of all answers; while a job is waiting or running, return that job."""
    if study.status != Experiment.Status.CLOSED:
        raise BadInput("the study is not closed.", remedy="Close it first.")
    earlier = Job.objects.filter(kind=ERASE_ALL, experiment=study)
    active = earlier.exclude(state__in=Job.State.final()).first()
    key = f"{ERASE_ALL}:{study.pk}:{earlier.count()}"
    return active or enqueue(ERASE_ALL, {"study": study.pk}, user=user, experiment=study, key=key)


@job(ERASE_ALL)
def erase_all(run: Run) -> None:
    """Delete the answers and platform ids per participant, so that a killed job can be repeated."""
    study = Experiment.objects.get(pk=run.arguments["study"])
    participants = Participant.objects.filter(experiment=study).order_by("pk")
    n_participants, n_judgments = participants.count(), 0
    for number, participant in enumerate(participants.iterator()):
        run.progress(number, n_participants, "participants")
        n_judgments += forget(participant, reason=TIME_IS_OVER, by=run.job.created_by)
    with run.finishing() as result:
        result.update(participants=n_participants, judgments=n_judgments)
