"""Places of a study and of its lists: who holds one, and whether another person may begin."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from experiments.models import Experiment, ExperimentVersion, PresentationList
from experiments.rounds import round_now
from judgments.models import Flag, Session
from judgments.sessions.compiled import Compiled

LIVE = ("status", "max_participants", "lease_minutes", "current_round")


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


def newest_version(experiment: Experiment) -> ExperimentVersion | None:
    """The version that people who arrive now begin with; its snapshot is read when it is asked for."""
    version = _newest.first(experiment.pk)
    if version is not None:
        version.experiment = experiment
    return version


_newest = Compiled(
    lambda experiment: (
        ExperimentVersion.objects.filter(experiment=experiment, is_preview=False)
        .order_by("-number")
        .defer("snapshot")[:1]
    )
)


def refresh(experiment: Experiment) -> None:
    """Read again what may have changed, above all while an arrival waited for its turn."""
    for name, value in zip(LIVE, _live.first(experiment.pk), strict=True):
        setattr(experiment, name, value)


_live = Compiled(lambda pk: Experiment.objects.filter(pk=pk).values_list(*LIVE))


def check_open(experiment: Experiment) -> None:
    """Raise :class:`StudyClosed` unless the study takes participants and has a place left."""
    if places_left(experiment) < 1:
        raise StudyClosed("full")


def check_taking(experiment: Experiment) -> None:
    """Raise :class:`StudyClosed` unless the study takes participants, full or not."""
    if not experiment.is_taking_participants:
        reasons = {Experiment.Status.PAUSED: "paused", Experiment.Status.CLOSED: "closed"}
        raise StudyClosed(reasons.get(experiment.status, "not_open"))


def places_left(experiment: Experiment) -> float:
    """How many more may begin in this round; infinite without a limit.

    Raises :class:`StudyClosed` when the study takes no participants.
    """
    check_taking(experiment)
    most = round_now(experiment).max_participants
    if most is None:
        return math.inf
    counted = {"is_test": is_test_run(experiment), "version__is_preview": False}
    held = _all_held(timezone.now(), experiment.pk, here=in_round(experiment), **counted)
    return most - sum(n for (n,) in held)


_all_held = Compiled(
    lambda now, experiment, here, **counted: (
        Session.objects.filter(holding(now), here, experiment=experiment, **counted)
        .order_by()
        .values("experiment")
        .annotate(n=Count("pk"))
        .values_list("n")
    )
)


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
    return [pk for (pk,) in _locked(version.pk, round_number)]


_locked = Compiled(
    lambda version, number: (
        PresentationList.objects.select_for_update(no_key=True)
        .filter(version=version, round=number)
        .order_by("pk")
        .values_list("pk")
    )
)


def filled(list_ids: Sequence[int], *, is_test: bool) -> dict[int, int]:
    """Completed and live sessions of each list; whom somebody excluded by hand has given the list back.

    The limit of participants goes on counting them: it is money, and pay is another decision.
    """
    counts = _held(timezone.now(), *list_ids, is_test=is_test) if list_ids else ()
    return {**dict.fromkeys(list_ids, 0), **dict(counts)}


_excluded_by_hand = Flag.objects.filter(participant=OuterRef("participant"), lifted_at__isnull=True)
_held = Compiled(
    lambda now, *lists, is_test: (
        Session.objects.filter(holding(now), ~Exists(_excluded_by_hand), list__in=lists, is_test=is_test)
        .order_by()
        .values_list("list")
        .annotate(n=Count("pk"))
    )
)
