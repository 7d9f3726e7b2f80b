"""Requests for quality checks of a study; the job itself is in :mod:`releases.jobs`."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Count, Max, Q

from experiments.models import Experiment, Job
from experiments.operation.job_runner import enqueue
from judgments.models import Session

CHECK = "judgments.quality"


@dataclass(frozen=True)
class LastCheck:
    """Time of the last check, and the sessions completed since."""

    at: datetime | None
    is_under_way: bool
    n_since: int

    @property
    def is_stale(self) -> bool:
        """Whether sessions were completed since the last check."""
        return self.n_since > 0

    @property
    def is_unknown(self) -> bool:
        """Whether there are complete sessions but no check yet, so that missing signals mean nothing."""
        return self.at is None and self.is_stale


def request_check(study: Experiment, *, user: User | None = None) -> Job:
    """Queue a check unless one is queued already."""
    waiting = Job.objects.filter(kind=CHECK, experiment=study, state=Job.State.QUEUED).first()
    return waiting or enqueue(CHECK, {"experiment": study.pk}, user=user, experiment=study)


def last_check(study: Experiment) -> LastCheck:
    """Age of the stored signals."""
    jobs = Job.objects.filter(kind=CHECK, experiment=study).aggregate(
        last_start=Max("started_at", filter=Q(state=Job.State.DONE)),
        n_waiting=Count("pk", filter=~Q(state__in=Job.State.final())),
    )
    checked_at = jobs["last_start"]
    finished = Session.objects.filter(experiment=study, is_test=False, status=Session.Status.COMPLETE)
    since = finished.filter(completed_at__gt=checked_at) if checked_at else finished
    return LastCheck(checked_at, jobs["n_waiting"] > 0, since.count())


def check_stale_studies() -> int:
    """Queue a check for every running study with new complete sessions; return the number of studies."""
    running = Experiment.objects.filter(
        status__in=[*Experiment.Status.taking_participants(), Experiment.Status.PAUSED],
        origin=Experiment.Origin.COLLECTED,
    )
    stale = [study for study in running if (last := last_check(study)).is_stale and not last.is_under_way]
    for study in stale:
        request_check(study)
    return len(stale)
