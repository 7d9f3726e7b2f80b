"""The end of a study: one that nobody took is deleted; of any other, the answers of everybody are."""

import structlog
from django.db import transaction

from analysis.errors import BadInput
from experiments.job_runner import Run, enqueue, job
from experiments.models import Experiment, Job
from judgments.models import Participant, Payment, Session, Tombstone
from judgments.sessions.erase import erase

ERASE_ALL = "judgments.erase_all"
TIME_IS_OVER = "deleted at the end of their time"
log = structlog.get_logger(__name__)


def is_untaken(study: Experiment) -> bool:
    """Whether no answers, pay or releases hang on the study; previews and unpaid pilots do not count."""
    of_study = {"experiment": study}
    return not (
        Session.objects.filter(is_test=False, **of_study).exists()
        or Payment.objects.filter(session__experiment=study).exists()
        or Tombstone.objects.filter(**of_study).exists()
        or study.releases.exists()
    )


@transaction.atomic
def delete_study(study: Experiment, *, by) -> None:
    """Delete a study that nobody took, with its texts, lists, previews and trail; materials stay."""
    held = Experiment.objects.select_for_update().filter(pk=study.pk).first()
    if held is None:
        return
    if held.is_taking_participants:
        raise BadInput("people may be taking this study now.", remedy="Close it first.")
    if not is_untaken(held):
        raise BadInput("people took this study, so it stays.", remedy="Their answers can be deleted.")
    Session.objects.filter(experiment=held).delete()
    held.delete()
    log.info("study deleted", slug=study.slug, user=by.pk)


def erase_all_later(study: Experiment, *, user) -> Job:
    """Have a worker delete the answers of everybody; pressed twice while it waits or runs, it is one job."""
    if study.status != Experiment.Status.CLOSED:
        raise BadInput("the study is not closed.", remedy="Close it first.")
    earlier = Job.objects.filter(kind=ERASE_ALL, experiment=study)
    standing = earlier.exclude(state__in=Job.State.final()).first()
    key = f"{ERASE_ALL}:{study.pk}:{earlier.count()}"
    return standing or enqueue(ERASE_ALL, {"study": study.pk}, user=user, experiment=study, key=key)


@job(ERASE_ALL)
def erase_all(run: Run) -> None:
    """Person by person, so that a killed worker goes on where it was; names in the vault go too."""
    study = Experiment.objects.get(pk=run.arguments["study"])
    people = Participant.objects.filter(experiment=study).order_by("pk")
    n_people, n_judgments = people.count(), 0
    for number, person in enumerate(people.iterator()):
        run.progress(number, n_people, "participants")
        n_judgments += erase(person, reason=TIME_IS_OVER, by=run.job.created_by, forget=True)
    with run.finishing() as result:
        result.update(participants=n_people, judgments=n_judgments)
