"""Places of a study and of its lists: who holds one, and whether another person may begin."""

from datetime import datetime, timedelta

from django.db.models import Count, Q
from django.utils import timezone

from experiments.models import Experiment, ExperimentVersion, PresentationList
from judgments.models import Session


class StudyClosed(Exception):
    """Nobody may begin, or come back, now; ``reason`` is full, closed, paused or not_open."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the study takes no participants: {reason}")


def holding(now: datetime) -> Q:
    """Sessions that hold a place: complete ones, and active ones whose lease runs."""
    return Q(status=Session.Status.COMPLETE) | Q(status=Session.Status.ACTIVE, lease_expires_at__gte=now)


def lease_end(experiment: Experiment, now: datetime) -> datetime:
    """When a lease taken or renewed now runs out."""
    return now + timedelta(minutes=experiment.lease_minutes)


def is_test_run(experiment: Experiment) -> bool:
    """Whether sessions begun now are a pilot's, balanced among themselves and never counted."""
    return experiment.status == Experiment.Status.PILOT


def check_open(experiment: Experiment) -> None:
    """Raise :class:`StudyClosed` unless the study takes participants and has a place left."""
    if not experiment.is_taking_participants:
        reasons = {Experiment.Status.PAUSED: "paused", Experiment.Status.CLOSED: "closed"}
        raise StudyClosed(reasons.get(experiment.status, "not_open"))
    if experiment.max_participants is None:
        return
    counted = {"is_test": is_test_run(experiment), "version__is_preview": False}
    sessions = Session.objects.filter(experiment=experiment, **counted)
    if sessions.filter(holding(timezone.now())).count() >= experiment.max_participants:
        raise StudyClosed("full")


def locked_lists(version: ExperimentVersion) -> list[int]:
    """Lock the lists of a version until the transaction ends, so that arrivals take turns.

    SQLite has no row locks; there the transaction itself is immediate and holds the whole database.
    """
    lists = PresentationList.objects.select_for_update(no_key=True).filter(version=version).order_by("pk")
    return list(lists.values_list("pk", flat=True))


def filled(list_ids: list[int], *, is_test: bool) -> dict[int, int]:
    """Completed and live sessions of each list."""
    counts = (
        Session.objects.filter(holding(timezone.now()), list__in=list_ids, is_test=is_test)
        .order_by()
        .values_list("list")
        .annotate(n=Count("pk"))
    )
    return {**dict.fromkeys(list_ids, 0), **dict(counts)}
