"""How a study goes: people by list and state, times, drop-outs, where people leave."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from statistics import median

from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone

from experiments.models import Experiment, ExperimentVersion, TrialKind
from experiments.rounds import round_now
from experiments.showings import showings_of
from judgments.models import Judgment, Session
from judgments.sessions.enough import has_enough
from judgments.sessions.places import holding, in_round

LOST = {Session.Status.ABANDONED, Session.Status.WITHDRAWN, Session.Status.SCREENED_OUT}


@dataclass(frozen=True)
class Facts:
    """The study in numbers, sessions those of the round that takes participants; ``None``: not yet known."""

    n_complete: int
    target: int | None
    n_live: int
    n_lost: int
    n_started: int
    median_s: float | None
    n_judgments: int
    last_at: datetime | None
    n_test: int

    @property
    def lost_share(self) -> float | None:
        """Percent of those who began that left."""
        return 100 * self.n_lost / self.n_started if self.n_started else None

    @property
    def median_time(self) -> str | None:
        """Minutes and seconds."""
        return (
            f"{int(self.median_s // 60)}:{int(self.median_s % 60):02d}" if self.median_s is not None else None
        )


@dataclass(frozen=True)
class ListRow:
    """One list: complete, live and lost sessions."""

    label: str
    n_trials: int
    n_complete: int
    n_live: int
    n_lost: int


def counted_sessions(study: Experiment) -> QuerySet[Session]:
    """Sessions that count: no previews, no pilots, nobody who refused consent."""
    return Session.objects.filter(experiment=study, is_test=False).exclude(status=Session.Status.REFUSED)


def is_live(now: datetime) -> Q:
    """An active session whose lease runs."""
    return Q(status=Session.Status.ACTIVE, lease_expires_at__gte=now)


def is_lost(now: datetime) -> Q:
    """Left, or silent until its lease ran out."""
    return Q(status__in=LOST) | Q(status=Session.Status.ACTIVE, lease_expires_at__lt=now)


def facts(study: Experiment) -> Facts:
    """Count the study."""
    now, sessions = timezone.now(), counted_sessions(study).filter(in_round(study))
    counts = sessions.aggregate(
        n_started=Count("pk"),
        n_complete=Count("pk", filter=Q(status=Session.Status.COMPLETE)),
        n_live=Count("pk", filter=is_live(now)),
        n_lost=Count("pk", filter=is_lost(now)),
    )
    answers = Judgment.objects.filter(trial__session__experiment=study, trial__session__is_test=False)
    return Facts(
        **counts,
        **answers.aggregate(n_judgments=Count("pk"), last_at=Max("received_at")),
        target=wanted_sessions(study),
        median_s=median_seconds(sessions),
        n_test=Session.objects.filter(experiment=study, is_test=True).count(),
    )


def median_seconds(sessions: QuerySet[Session]) -> float | None:
    """Median duration of complete sessions."""
    done = sessions.filter(
        status=Session.Status.COMPLETE, started_at__isnull=False, completed_at__isnull=False
    )
    spans: Iterable[tuple[datetime, datetime]] = done.values_list("started_at", "completed_at")
    seconds = [(end - start).total_seconds() for start, end in spans]
    return median(seconds) if seconds else None


def wanted_sessions(study: Experiment) -> int | None:
    """Complete sessions needed for the judgments wanted per item, or the limit when it is lower."""
    version = study.current_version()
    needed = needed_sessions(study, version) if version else None
    limits = [number for number in (needed, round_now(study).max_participants) if number]
    return min(limits, default=None)


def needed_sessions(study: Experiment, version: ExperimentVersion) -> int | None:
    """Lists are filled evenly: judgments wanted × items ÷ target trials of an average list."""
    lists, wanted = version.lists.filter(round=study.current_round), round_now(study).target_judgments
    planned = lists.filter(planned_trials__kind=TrialKind.TARGET).aggregate(
        n_lists=Count("pk", distinct=True),
        n_items=Count("planned_trials__item", distinct=True),
        n_trials=Count("planned_trials"),
    )
    if not planned["n_trials"]:
        return None
    if not planned["n_items"]:  # sets: each of their members is shown
        shown = showings_of(lists.values_list("pk", flat=True))
        planned |= {"n_items": len(shown), "n_trials": sum(sum(times.values()) for times in shown.values())}
    return ceil((wanted or 0) * planned["n_items"] * planned["n_lists"] / planned["n_trials"])


def list_rows(study: Experiment) -> list[ListRow]:
    """Lists of the newest version and the present round, with their sessions."""
    version, now = study.current_version(), timezone.now()
    if version is None:
        return []
    counts_of = Q(sessions__is_test=False)
    lists = version.lists.filter(round=study.current_round).annotate(
        n_complete=Count("sessions", filter=counts_of & Q(sessions__status=Session.Status.COMPLETE)),
        n_live=Count("sessions", filter=counts_of & _through("sessions", is_live(now))),
        n_lost=Count("sessions", filter=counts_of & _through("sessions", is_lost(now))),
    )
    return [ListRow(one.label, one.n_trials, one.n_complete, one.n_live, one.n_lost) for one in lists]


def _through(relation: str, condition: Q) -> Q:
    """The same condition, asked through a relation."""
    parts = [
        _through(relation, part) if isinstance(part, Q) else (f"{relation}__{part[0]}", part[1])
        for part in condition.children
    ]
    return Q(*parts, _connector=condition.connector, _negated=condition.negated)


def is_full(study: Experiment, numbers: Facts, places: int | None) -> bool:
    """Whether newcomers to a running study are told, before the consent, that nobody more is needed."""
    if not study.is_taking_participants:
        return False
    near = numbers.target and numbers.n_complete + numbers.n_live >= numbers.target
    return places == 0 or bool(near and has_enough(study))


def places_left(study: Experiment) -> int | None:
    """Places under the study's limit, None where there is no limit."""
    most = round_now(study).max_participants
    if most is None:
        return None
    taken = counted_sessions(study).filter(in_round(study)).filter(holding(timezone.now())).count()
    return max(0, most - taken)
