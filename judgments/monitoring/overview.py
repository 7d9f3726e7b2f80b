"""Progress of a study for its overview, and of all studies for the start page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any, cast

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone

from analysis.text import plural
from experiments.lists.rounds import current_round, fewest_showings
from experiments.models import Experiment, ExperimentVersion, Job
from experiments.page_cache import cache
from experiments.studies.readiness import summarize_lists
from experiments.studies.targets import participants_needed
from experiments.tasks.registry import tasks
from judgments.models import Flag, Judgment, Participant, Session, Signal
from judgments.sessions.places import holds_place, in_round, target_reached

LOST = {Session.Status.ABANDONED, Session.Status.WITHDRAWN, Session.Status.SCREENED_OUT}


@dataclass(frozen=True)
class StudyNumbers:
    """The study in numbers, with the sessions of the current round; None where a number is not known yet."""

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
        """Percent of the started sessions that were lost."""
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
    """Sessions that count: without previews, pilots and refused consent."""
    return Session.objects.filter(experiment=study, is_test=False).exclude(status=Session.Status.REFUSED)


def is_live(now: datetime) -> Q:
    """Condition: an active session whose lease has not expired."""
    return Q(status=Session.Status.ACTIVE, lease_expires_at__gte=now)


def is_lost(now: datetime) -> Q:
    """Condition: a session that was left, or whose lease expired without an answer."""
    return Q(status__in=LOST) | Q(status=Session.Status.ACTIVE, lease_expires_at__lt=now)


def study_numbers(study: Experiment) -> StudyNumbers:
    """Count sessions and judgments of a study."""
    now, sessions = timezone.now(), counted_sessions(study).filter(in_round(study))
    counts = sessions.aggregate(
        n_started=Count("pk"),
        n_complete=Count("pk", filter=Q(status=Session.Status.COMPLETE)),
        n_live=Count("pk", filter=is_live(now)),
        n_lost=Count("pk", filter=is_lost(now)),
    )
    answers = Judgment.objects.filter(trial__session__experiment=study, trial__session__is_test=False)
    return StudyNumbers(
        **counts,
        **answers.aggregate(n_judgments=Count("pk"), last_at=Max("received_at")),
        target=target_sessions(study),
        median_s=median_seconds(sessions),
        n_test=Session.objects.filter(experiment=study, is_test=True).count(),
    )


def median_seconds(sessions: QuerySet[Session]) -> float | None:
    """Median duration of complete sessions."""
    complete = sessions.filter(
        status=Session.Status.COMPLETE, started_at__isnull=False, completed_at__isnull=False
    )
    spans = complete.values_list("started_at", "completed_at")
    seconds = [(end - start).total_seconds() for start, end in spans if start and end]
    return median(seconds) if seconds else None


def target_sessions(study: Experiment) -> int | None:
    """Complete sessions needed for the target, or the limit if that is lower.

    A study without a version is counted in the lists of its draft.
    """
    version = study.current_version()
    needed = needed_sessions(study, version) if version else _draft_sessions(study)
    limits = [number for number in (needed, current_round(study).max_participants) if number]
    return min(limits, default=None)


def _draft_sessions(study: Experiment) -> int | None:
    if study.origin != Experiment.Origin.COLLECTED or study.materials is None:
        return None
    requirements = summarize_lists(study).requirements
    return requirements[0].participants if requirements else None


def needed_sessions(study: Experiment, version: ExperimentVersion) -> int | None:
    """Participants until the sentence or pair that the lists show least has the target judgments."""
    lists = version.lists.filter(round=study.current_round)
    n_lists, fewest = fewest_showings(lists, unit=study.target_unit)
    target = current_round(study).target_judgments or 0
    return participants_needed(target, n_lists=n_lists, fewest=fewest) if fewest else None


def list_rows(study: Experiment) -> list[ListRow]:
    """Lists of the newest version and the current round, with the numbers of their sessions."""
    version, now = study.current_version(), timezone.now()
    if version is None:
        return []
    counts_of = Q(sessions__is_test=False)
    lists = version.lists.filter(round=study.current_round).annotate(
        n_complete=Count("sessions", filter=counts_of & Q(sessions__status=Session.Status.COMPLETE)),
        n_live=Count("sessions", filter=counts_of & _through("sessions", is_live(now))),
        n_lost=Count("sessions", filter=counts_of & _through("sessions", is_lost(now))),
    )
    return [ListRow(row.label, row.n_trials, row.n_complete, row.n_live, row.n_lost) for row in lists]


def _through(relation: str, condition: Q) -> Q:
    """The same condition on a related model."""
    children = cast("list[Q | tuple[str, Any]]", condition.children)  # no expressions among them
    parts = [
        _through(relation, part) if isinstance(part, Q) else (f"{relation}__{part[0]}", part[1])
        for part in children
    ]
    return Q(*parts, _connector=condition.connector, _negated=condition.negated)


def is_full(study: Experiment, numbers: StudyNumbers, places: int | None) -> bool:
    """Whether a running study turns new participants away before the consent page."""
    n_taken = numbers.n_complete + numbers.n_live
    return takes_nobody_else(study, n_taken=n_taken, target=numbers.target, places=places)


def takes_nobody_else(study: Experiment, *, n_taken: int, target: int | None, places: int | None) -> bool:
    """Whether a running study with so many complete and live sessions turns new participants away."""
    if not study.is_taking_participants:
        return False
    is_near = target and n_taken >= target
    return places == 0 or bool(is_near and target_reached(study))


def places_left(study: Experiment) -> int | None:
    """Places left under the study's limit, None where there is no limit."""
    limit = current_round(study).max_participants
    if limit is None:
        return None
    taken = counted_sessions(study).filter(in_round(study)).filter(holds_place(timezone.now())).count()
    return max(0, limit - taken)


CACHE_SECONDS = 60
SILENT_DAYS = 3
LOST_PERCENT, MIN_STARTED = 25, 10  # a quarter lost, of at least ten started sessions
IN_ROUND = Q(list__round=F("experiment__current_round")) | Q(
    list__isnull=True, experiment__current_round=1
)  # as in places: sessions without a list belong to the first round


@dataclass(frozen=True)
class Remark:
    """Something that needs attention, and its page."""

    text: str
    page: str
    is_warning: bool = True


@dataclass(frozen=True)
class Card:
    """One study on the start page; None where a value is not known or not set."""

    study: Experiment
    task_label: str
    n_complete: int
    n_live: int
    target: int | None
    n_judgments: int
    last_at: datetime | None
    remarks: Sequence[Remark]

    @property
    def is_full(self) -> bool:
        """Whether it takes participants, but has all that its target needs."""
        n_places = self.n_complete + self.n_live
        return bool(self.target and self.study.is_taking_participants and n_places >= self.target)

    @property
    def complete(self) -> float:
        """Percent of the target sessions that are complete."""
        return min(100.0, 100 * self.n_complete / self.target) if self.target else 0.0

    @property
    def live(self) -> float:
        """Percent of the target sessions that are in progress."""
        return min(100 - self.complete, 100 * self.n_live / self.target) if self.target else 0.0


def by_activity(studies: QuerySet[Experiment]) -> QuerySet[Experiment]:
    """Sort by the last time when a participant was active, else by creation; newest first, no ties."""
    sessions = Session.objects.filter(experiment=OuterRef("pk"), is_test=False).order_by()
    last = sessions.values("experiment").annotate(at=Max("last_seen_at")).values("at")
    # The rows as a set of their own: those of `visible_to` are DISTINCT over every column, texts included.
    rows = Experiment.objects.filter(pk__in=studies.order_by().values("pk"))
    return rows.order_by(Coalesce(Subquery(last), F("created_at")).desc(), "-pk")


def study_cards(studies: Sequence[Experiment]) -> list[Card]:
    """A card for each of these studies, in their order; few queries for all of them together."""
    counts, flagged, failed = session_counts(studies), flagged_participants(studies), failed_jobs(studies)
    none: dict[str, Any] = {"n_complete": 0, "n_live": 0, "n_lost": 0, "n_started": 0, "seen_at": None}
    numbers = answer_counts([(study, _card_key(study, counts.get(study.pk, none))) for study in studies])
    labels, cards = {name: task.label for name, task in tasks().items()}, []
    for study in studies:
        sessions, answers = counts.get(study.pk, none), numbers[study.pk]
        cards.append(
            Card(
                study=study,
                task_label=labels.get(study.task, study.task),
                n_complete=sessions["n_complete"],
                n_live=sessions["n_live"],
                remarks=[
                    *remarks(study, {**sessions, **answers}, flagged.get(study.pk, 0), failed.get(study.pk))
                ],
                **answers,
            )
        )
    return cards


def _card_key(study: Experiment, sessions: dict[str, Any]) -> str:
    """Cache key that changes with any activity of participants and any change of the study."""
    last_seen = sessions["seen_at"].timestamp() if sessions["seen_at"] else 0
    return f"card-{study.pk}-{study.updated_at.timestamp()}-{sessions['n_complete']}-{last_seen}"


def answer_counts(studies: Sequence[tuple[Experiment, str]]) -> dict[int, dict[str, Any]]:
    """Number of answers without previews, time of the last one and target number of sessions, by study.

    Each study comes with the key of its cached numbers; all that are not cached are counted in one query.
    """
    cached = cache.get_many([key for _, key in studies])
    others = [(study, key) for study, key in studies if key not in cached]
    if others:
        answers = Judgment.objects.filter(
            trial__session__experiment__in=[study.pk for study, _ in others], trial__session__is_test=False
        )
        rows = answers.order_by().values("trial__session__experiment")
        counts = {
            row["trial__session__experiment"]: {"n_judgments": row["n"], "last_at": row["at"]}
            for row in rows.annotate(n=Count("pk"), at=Max("received_at"))
        }
        none = {"n_judgments": 0, "last_at": None}
        counted = {
            key: {**counts.get(study.pk, none), "target": _card_target(study)} for study, key in others
        }
        cache.set_many(counted, CACHE_SECONDS)
        cached |= counted
    return {study.pk: cached[key] for study, key in studies}


def _card_target(study: Experiment) -> int | None:
    # A draft's lists are computed: too slow for every card of the start page.
    has_lists = study.origin == Experiment.Origin.COLLECTED and study.status != Experiment.Status.DRAFT
    return target_sessions(study) if has_lists else None


def session_counts(studies: Sequence[Experiment]) -> dict[int, dict[str, Any]]:
    """Sessions of the current round by study, without previews, pilots and refusals."""
    now = timezone.now()
    sessions = Session.objects.filter(IN_ROUND, experiment__in=studies, is_test=False)
    rows = (
        sessions.exclude(status=Session.Status.REFUSED)
        .order_by()
        .values("experiment")
        .annotate(
            n_started=Count("pk"),
            n_complete=Count("pk", filter=Q(status=Session.Status.COMPLETE)),
            n_live=Count("pk", filter=is_live(now)),
            n_lost=Count("pk", filter=is_lost(now)),
            seen_at=Max("last_seen_at"),
        )
    )
    return {row["experiment"]: dict(row) for row in rows}


def flagged_participants(studies: Sequence[Experiment]) -> dict[int, int]:
    """Number of participants with a signal or an active flag, by study."""
    signals = Signal.objects.filter(session__participant=OuterRef("pk"), session__is_test=False)
    flags = Flag.objects.filter(participant=OuterRef("pk"), lifted_at__isnull=True)
    flagged = Participant.objects.filter(Exists(signals) | Exists(flags), experiment__in=studies)
    return dict(flagged.order_by().values_list("experiment").annotate(n=Count("pk")))


def failed_jobs(studies: Sequence[Experiment]) -> dict[int, int]:
    """Id of the newest job of each study where that failed."""
    jobs = Job.objects.filter(experiment__in=studies).order_by()
    newest = jobs.values("experiment").annotate(last=Max("pk")).values("last")
    return dict(Job.objects.filter(pk__in=newest, state=Job.State.FAILED).values_list("experiment", "pk"))


def remarks(
    study: Experiment, numbers: dict[str, Any], n_flagged: int, failed_job: int | None
) -> Iterator[Remark]:
    """Return what requires attention, most urgent first."""
    if study.archived_at is not None:
        return
    live = reverse("study-live", args=[study.slug])
    if study.status == Experiment.Status.DRAFT and study.origin == Experiment.Origin.COLLECTED:
        yield Remark(
            "Not open yet: see the launch checklist", reverse("study-launch", args=[study.slug]), False
        )
    if failed_job:
        yield Remark("The last job failed", reverse("job", args=[failed_job]))
    if study.status == Experiment.Status.OPEN:
        limit = current_round(study).max_participants
        if limit and numbers["n_complete"] + numbers["n_live"] >= limit:
            yield Remark("All places are taken", live, False)
        elif numbers["target"] and numbers["n_complete"] >= numbers["target"]:
            yield Remark("The target number of sessions is reached", live, False)
        elif silence := _silent_days(study, numbers["last_at"]):
            yield Remark(f"No answer for {silence} days", live)
    is_closed = study.status == Experiment.Status.CLOSED  # its answers may have been deleted since
    if (
        not is_closed
        and numbers["n_started"] >= MIN_STARTED
        and 100 * numbers["n_lost"] >= LOST_PERCENT * numbers["n_started"]
    ):
        share = 100 * numbers["n_lost"] / numbers["n_started"]
        yield Remark(f"{share:.0f} % left before the end", live)
    if n_flagged:
        flagged = f"{plural(n_flagged, 'participant')} flagged"
        yield Remark(flagged, reverse("study-participants", args=[study.slug]), False)


def _silent_days(study: Experiment, last_at: datetime | None) -> int:
    """Whole days since the last answer or the opening, 0 below :data:`SILENT_DAYS`."""
    since = max((at for at in (last_at, study.opened_at) if at), default=None)
    days = (timezone.now() - since) // timedelta(days=1) if since else 0
    return days if days >= SILENT_DAYS else 0
