"""Places of a study and of its lists: who holds one, and whether another person may begin."""

from datetime import datetime, timedelta

from django.db.models import Count, Q
from django.utils import timezone

from experiments.models import Experiment, ExperimentVersion, PresentationList
from experiments.rounds import round_now
from judgments.models import Session


class StudyClosed(Exception):
    """Nobody may begin, or come back, now; ``reason`` is full, closed, paused, not_open or known_only."""

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
    most = round_now(experiment).max_participants
    if most is None:
        return
    counted = {"is_test": is_test_run(experiment), "version__is_preview": False}
    sessions = Session.objects.filter(in_round(experiment), experiment=experiment, **counted)
    if sessions.filter(holding(timezone.now())).count() >= most:
        raise StudyClosed("full")


def in_round(experiment: Experiment) -> Q:
    """Sessions of the round that takes participants; those without a list belong to the first."""
    here = Q(list__round=experiment.current_round)
    return here | Q(list__isnull=True) if experiment.current_round == 1 else here


def comes_again(earlier: Session, experiment: Experiment) -> bool:
    """Whether somebody done with an earlier round may take the present one."""
    if experiment.current_round == 1 or earlier.status != Session.Status.COMPLETE or earlier.list is None:
        return False
    here = round_now(experiment)
    return earlier.list.round < here.number and here.participants != "new"


def check_invited(experiment: Experiment, earlier: Session | None) -> None:
    """Raise :class:`StudyClosed` where the present round is for people of an earlier one only."""
    if round_now(experiment).participants == "same" and (
        earlier is None or not comes_again(earlier, experiment)
    ):
        raise StudyClosed("known_only")


def locked_lists(version: ExperimentVersion, *, round_number: int = 1) -> list[int]:
    """Lock the lists of a round until the transaction ends, so that arrivals take turns.

    SQLite has no row locks; there the transaction itself is immediate and holds the whole database.
    """
    rows = PresentationList.objects.select_for_update(no_key=True).order_by("pk")
    return list(rows.filter(version=version, round=round_number).values_list("pk", flat=True))


def filled(list_ids: list[int], *, is_test: bool) -> dict[int, int]:
    """Completed and live sessions of each list."""
    counts = (
        Session.objects.filter(holding(timezone.now()), list__in=list_ids, is_test=is_test)
        .order_by()
        .values_list("list")
        .annotate(n=Count("pk"))
    )
    return {**dict.fromkeys(list_ids, 0), **dict(counts)}
