"""Places of a study and of its lists: how many are taken, and whether another participant may start.

A study has reached its target when every sentence or pair will have the judgments wanted, active sessions
included; every item set in studies that were opened with such a target.
The target is checked before consent only: a participant who was asked for consent may still start after it
is reached. The limit of participants, which is a budget, is checked at enrollment as well.
"""

import math
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from experiments.design.balance import min_expected_judgments
from experiments.lists.rounds import count_showings, current_round
from experiments.models import Campaign, Experiment, ExperimentVersion, PresentationList
from judgments.models import Flag, Session, Submission
from judgments.sessions.compiled_queries import Compiled

VOLATILE_FIELDS = ("status", "max_participants", "lease_minutes", "current_round")


class StudyClosed(Exception):
    """The study takes no participants; ``reason`` is full, closed, paused, not_open or known_only."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the study takes no participants: {reason}")


#: Statuses on a platform in which the place of a campaign is open for another participant.
LEFT_PLATFORM = tuple(sorted(Submission.Status.without_place()))


def holds_place(now: datetime) -> Q:
    """Condition for sessions that take a place: complete, or active with an unexpired lease.

    Participants who returned the submission to the platform, timed out there or were rejected hold none.
    """
    has_left = Q(campaign__isnull=False, submission_status__in=LEFT_PLATFORM)
    is_live = Q(status=Session.Status.ACTIVE, lease_expires_at__gte=now)
    return (Q(status=Session.Status.COMPLETE) | is_live) & ~has_left


def is_test_run(experiment: Experiment) -> bool:
    """Whether new sessions belong to a pilot: balanced among themselves and never counted."""
    return experiment.status == Experiment.Status.PILOT


def newest_version(experiment: Experiment) -> ExperimentVersion | None:
    """The version that new participants get; its snapshot is deferred."""
    version: ExperimentVersion | None = _newest_version.first(experiment.pk)
    if version is not None:
        version.experiment = experiment
    return version


_newest_version = Compiled(
    lambda experiment: (
        ExperimentVersion.objects.filter(experiment=experiment, is_preview=False)
        .order_by("-number")
        .defer("snapshot")[:1]
    )
)


def refresh_state(experiment: Experiment) -> None:
    """Reload the fields that may change while an arrival waits for the lock on the lists."""
    for name, value in zip(VOLATILE_FIELDS, _state.first(experiment.pk), strict=True):
        setattr(experiment, name, value)


_state = Compiled(lambda pk: Experiment.objects.filter(pk=pk).values_list(*VOLATILE_FIELDS))


def check_open(experiment: Experiment) -> None:
    """Raise :class:`StudyClosed` unless the study takes participants and has a place left."""
    if places_left(experiment) < 1:
        raise StudyClosed("full")


def check_taking(experiment: Experiment) -> None:
    """Raise :class:`StudyClosed` unless the study takes participants, full or not."""
    if not experiment.is_taking_participants:
        reasons: dict[str, str] = {Experiment.Status.PAUSED: "paused", Experiment.Status.CLOSED: "closed"}
        raise StudyClosed(reasons.get(experiment.status, "not_open"))


def places_left(experiment: Experiment) -> float:
    """Return how many more participants may start in this round; infinite without a limit.

    Raises :class:`StudyClosed` when the study takes no participants.
    """
    check_taking(experiment)
    limit = current_round(experiment).max_participants
    if limit is None:
        return math.inf
    filters = {"is_test": is_test_run(experiment), "version__is_preview": False}
    counts = _n_places_taken(timezone.now(), experiment.pk, current=in_round(experiment), **filters)
    taken: int = sum(n for (n,) in counts)
    return limit - taken


_n_places_taken = Compiled(
    lambda now, experiment, current, **filters: (
        Session.objects.filter(holds_place(now), current, experiment=experiment, **filters)
        .order_by()
        .values("experiment")
        .annotate(n=Count("pk"))
        .values_list("n")
    )
)


def channel_places_left(channel: Campaign) -> float:
    """Return how many more participants may start over a channel; infinite without a limit.

    Raises :class:`StudyClosed` when the channel takes no participants. The state is read again, as it may
    change while an arrival waits.
    """
    state, places = Campaign.objects.values_list("state", "places").get(pk=channel.pk)
    if state != Campaign.State.RUNNING:
        reasons: dict[str, str] = {
            Campaign.State.PAUSED: "paused",
            Campaign.State.FINISHED: "closed",
            Campaign.State.CLOSED: "closed",
        }
        raise StudyClosed(reasons.get(state, "not_open"))
    if not places:
        return math.inf
    sessions = Session.objects.filter(holds_place(timezone.now()), campaign=channel)
    return float(places) - sessions.filter(is_test=is_test_run(channel.experiment)).count()


def check_channel(channel: Campaign | None) -> None:
    """Raise :class:`StudyClosed` unless the channel of an arrival, if any, takes participants."""
    if channel is not None and channel_places_left(channel) < 1:
        raise StudyClosed("full")


def in_round(experiment: Experiment) -> Q:
    """Condition for sessions of the current round; sessions without a list belong to the first."""
    current = Q(list__round=experiment.current_round)
    return current | Q(list__isnull=True) if experiment.current_round == 1 else current


def may_join_next_round(earlier: Session, experiment: Experiment) -> bool:
    """Whether a participant who completed an earlier round may take part in the current one."""
    if experiment.current_round == 1 or earlier.status != Session.Status.COMPLETE or earlier.list is None:
        return False
    current = current_round(experiment)
    return earlier.list.round < current.number and current.participants != "new"


def check_invited(experiment: Experiment, earlier: Session | None) -> None:
    """Raise :class:`StudyClosed` unless the round admits this participant."""
    if current_round(experiment).participants == "same" and (
        earlier is None or not may_join_next_round(earlier, experiment)
    ):
        raise StudyClosed("known_only")


def locked_lists(version: ExperimentVersion, *, round_number: int = 1) -> list[int]:
    """Lock the lists of a round until the transaction ends; returns their keys."""
    # Race: the row locks serialize arrivals of one study. SQLite has none; there the transaction is immediate
    # and locks the whole database.
    return [pk for (pk,) in _lists_for_update(version.pk, round_number)]


_lists_for_update = Compiled(
    lambda version, number: (
        PresentationList.objects.select_for_update(no_key=True)
        .filter(version=version, round=number)
        .order_by("pk")
        .values_list("pk")
    )
)


def filled_counts(list_ids: Sequence[int], *, is_test: bool) -> dict[int, int]:
    """Completed and active sessions of each list, without manually excluded participants.

    The limit of participants still counts these: it is a budget, and pay is decided separately.
    """
    counts = _n_filled(timezone.now(), *list_ids, is_test=is_test) if list_ids else ()
    return {**dict.fromkeys(list_ids, 0), **dict(counts)}


_flagged = Flag.objects.filter(participant=OuterRef("participant"), lifted_at__isnull=True)
_n_filled = Compiled(
    lambda now, *lists, is_test: (
        Session.objects.filter(holds_place(now), ~Exists(_flagged), list__in=lists, is_test=is_test)
        .order_by()
        .values_list("list")
        .annotate(n=Count("pk"))
    )
)


ShowingPatterns = tuple[dict[int, int], ...]


def check_target(experiment: Experiment) -> None:
    """Raise :class:`StudyClosed` if the study has reached its target."""
    if target_reached(experiment):
        raise StudyClosed("full")


def target_reached(experiment: Experiment) -> bool:
    """Whether every sentence or pair has at least the target number of judgments; never in a pilot.

    Counts complete and active sessions of this round, and those of earlier versions for sentences and pairs
    that the newest version still shows.
    """
    current = current_round(experiment)
    if not current.target_judgments or is_test_run(experiment):
        return False
    version = newest_version(experiment)
    lists = tuple(_lists_of_round(experiment.pk, current.number))
    if version is None or not lists:
        return False
    counts = filled_counts([pk for pk, *_ in lists], is_test=False)
    patterns = showing_patterns(lists, version.pk, unit=experiment.target_unit)
    return min_expected_judgments(patterns, counts) >= current.target_judgments


_lists_of_round = Compiled(
    lambda experiment, number: (
        PresentationList.objects.filter(experiment=experiment, version__is_preview=False, round=number)
        .order_by("pk")
        .values_list("pk", "version", "version__sha256", "n_trials")
    )
)


@lru_cache(maxsize=200)
def showing_patterns(
    lists: tuple[tuple[int, int, str, int], ...], version_id: int, *, unit: str
) -> ShowingPatterns:
    """Distinct patterns of how often each list shows what the target counts; lists never change."""
    showings = count_showings([pk for pk, *_ in lists], unit=unit)
    current = {pk for pk, version, *_ in lists if version == version_id}
    patterns = {frozenset(times.items()) for times in showings.values() if current & times.keys()}
    return tuple(dict(pattern) for pattern in patterns)
