"""Ask for a check of a study's quality signals; the work itself is a job of the concluding side."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q

from experiments.job_runner import enqueue
from experiments.models import Experiment, Job
from judgments.models import Session

CHECK = "judgments.quality"


@dataclass(frozen=True)
class LastCheck:
    """When the signals were computed last, and what has changed since."""

    at: datetime | None
    is_under_way: bool
    n_since: int

    @property
    def is_stale(self) -> bool:
        """Whether sessions were finished that no check has seen."""
        return self.n_since > 0

    @property
    def is_unknown(self) -> bool:
        """Whether sessions were finished and no check was ever made: no signal means nothing yet."""
        return self.at is None and self.is_stale


def request_check(study: Experiment, *, user: Any = None) -> Job:
    """Queue a check; one that waits already is enough."""
    waiting = Job.objects.filter(kind=CHECK, experiment=study, state=Job.State.QUEUED).first()
    return waiting or enqueue(CHECK, {"experiment": study.pk}, user=user, experiment=study)


def last_check(study: Experiment) -> LastCheck:
    """How fresh the stored signals are."""
    jobs = Job.objects.filter(kind=CHECK, experiment=study).aggregate(
        begun=Max("started_at", filter=Q(state=Job.State.DONE)),
        n_waiting=Count("pk", filter=~Q(state__in=Job.State.final())),
    )
    begun = jobs["begun"]
    finished = Session.objects.filter(experiment=study, is_test=False, status=Session.Status.COMPLETE)
    since = finished.filter(completed_at__gt=begun) if begun else finished
    return LastCheck(begun, jobs["n_waiting"] > 0, since.count())


def check_stale_studies() -> int:
    """Queue a check for every study that takes participants and has new sessions; gives their number."""
    open_ones = Experiment.objects.filter(
        status__in=[*Experiment.Status.taking_participants(), Experiment.Status.PAUSED],
        origin=Experiment.Origin.COLLECTED,
    )
    stale = [study for study in open_ones if (last := last_check(study)).is_stale and not last.is_under_way]
    for study in stale:
        request_check(study)
    return len(stale)
