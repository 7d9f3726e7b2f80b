"""Counts of a running study for the live page, in addition to the numbers of the overview."""

from dataclasses import dataclass
from datetime import datetime
from math import isnan
from time import perf_counter

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from analysis.aggregation.proportions import clustered_share
from analysis.power.money import format_money
from analysis.quality.report import LABELS
from analysis.report.page_findings import live_finding
from experiments.lists.rounds import current_round
from experiments.models import Experiment, TrialKind
from experiments.page_cache import cache
from experiments.tasks.registry import shown_task
from judgments.models import Flag, Judgment, Session, Signal
from judgments.monitoring.device_problems import device_problem_counts
from judgments.monitoring.dropout import Stage, dropout_by_screen
from judgments.monitoring.overview import (
    ListRow,
    StudyNumbers,
    is_full,
    list_rows,
    places_left,
    study_numbers,
)
from judgments.quality_check import LastCheck, last_check

# Counts are cached for 2 s, or for 20 times the time they took: the live page costs at most a twentieth of a
# core, whatever the number of viewers.
FRESH_SECONDS, COST_FACTOR = 2, 20


@dataclass(frozen=True)
class Bias:
    """Share of choices of the sentence shown first."""

    share: float
    low: float | None
    high: float | None
    n: int
    n_people: int

    @property
    def is_sure(self) -> bool:
        """Whether the interval excludes one half."""
        return self.low is not None and self.high is not None and not self.low <= 0.5 <= self.high


@dataclass(frozen=True)
class Pay:
    """Pay per hour at the median time, or why it is not known."""

    per_hour: str
    reason: str


@dataclass(frozen=True)
class Bar:
    """One list as a bar: percent of its width that is complete, and that is live."""

    row: ListRow
    complete: float
    live: float

    @property
    def n_total(self) -> int:
        """Complete and live sessions."""
        return self.row.n_complete + self.row.n_live


@dataclass(frozen=True)
class LiveCounts:
    """Everything on the live page."""

    numbers: StudyNumbers
    places: int | None
    limit: int | None
    is_full: bool
    bars: list[Bar]
    stages: list[Stage]
    pay: Pay
    bias: Bias | None
    has_sides: bool
    flags: list[tuple[str, int]]
    n_flagged: int
    last_check: LastCheck
    device_problems: list[tuple[str, int]]
    at: datetime

    @property
    def finding(self) -> str:
        """The counts in one sentence."""
        numbers = self.numbers
        return live_finding(
            numbers.n_complete,
            target=numbers.target,
            n_live=numbers.n_live,
            n_started=numbers.n_started,
            n_lost=numbers.n_lost,
            median_time=numbers.median_time,
        )


def live_counts(study: Experiment) -> LiveCounts:
    """Cached counts of a study, at least two seconds old where they are expensive."""
    key = f"live-counts-{study.pk}-{study.updated_at.timestamp()}"
    counts: LiveCounts | None = cache.get(key)
    if counts is None:
        started = perf_counter()
        counts = count_live(study)
        cache.set(key, counts, max(FRESH_SECONDS, COST_FACTOR * (perf_counter() - started)))
    return counts


def count_live(study: Experiment) -> LiveCounts:
    """Count the study; the time grows slowly with the number of judgments."""
    now, numbers, rows = timezone.now(), study_numbers(study), list_rows(study)
    has_sides = shown_task(study.task).shows == "pair"
    places = places_left(study)
    return LiveCounts(
        numbers=numbers,
        places=places,
        limit=current_round(study).max_participants,
        is_full=is_full(study, numbers, places),
        bars=bars(rows, target=numbers.target),
        stages=dropout_by_screen(study),
        pay=hourly_pay(study, numbers.median_s),
        bias=position_bias(study) if has_sides else None,
        has_sides=has_sides,
        flags=flag_counts(study),
        n_flagged=n_flagged_participants(study),
        last_check=last_check(study),
        device_problems=device_problem_counts(study),
        at=now,
    )


def bars(rows: list[ListRow], *, target: int | None) -> list[Bar]:
    """Bars on one scale: the target sessions per list, or the fullest list where that is more."""
    target_per_list = (target or 0) / len(rows) if rows else 0
    full = max([target_per_list, *(row.n_complete + row.n_live for row in rows)], default=0) or 1
    return [
        Bar(row, round(100 * row.n_complete / full, 2), round(100 * row.n_live / full, 2)) for row in rows
    ]


def position_bias(study: Experiment) -> Bias | None:
    """Share of answers that chose the sentence shown first, with participants as clusters."""
    answers = Judgment.objects.filter(
        trial__session__experiment=study,
        trial__session__is_test=False,
        trial__kind=TrialKind.TARGET,
        trial__expected_first__isnull=False,
        status=Judgment.Status.ANSWERED,
        value__in=(0, 1),
    ).exclude(trial__session__status=Session.Status.WITHDRAWN)
    first = Q(trial__expected_first=True, value=1) | Q(trial__expected_first=False, value=0)
    by_person = answers.order_by().values_list("trial__session")
    counts = list(by_person.annotate(n=Count("pk"), k=Count("pk", filter=first)).values_list("k", "n"))
    if not counts:
        return None
    share, low, high = clustered_share([k for k, _ in counts], [n for _, n in counts])
    has_interval = not isnan(low)
    return Bias(
        share,
        low if has_interval else None,
        high if has_interval else None,
        n=sum(n for _, n in counts),
        n_people=len(counts),
    )


def hourly_pay(study: Experiment, median_s: float | None) -> Pay:
    """Reward over median time, from the newest recruitment that pays, else from the study itself."""
    paying = study.campaigns.filter(reward_minor__gt=0).order_by("-pk").first() or study
    if not paying.reward_minor:
        return Pay("", "no reward is set")
    if not median_s:
        return Pay("", "no complete session yet")
    return Pay(
        format_money(round(paying.reward_minor * 3600 / median_s), paying.currency), "at the median time"
    )


def flag_counts(study: Experiment) -> list[tuple[str, int]]:
    """Signals and manual flags with the number of their sessions."""
    signals = Signal.objects.filter(session__experiment=study, session__is_test=False).order_by()
    counts = list(
        signals.values_list("name").annotate(n=Count("session", distinct=True)).order_by("-n", "name")
    )
    n_manual = active_flags(study).count()
    labelled = [(LABELS.get(name) or name.replace("_", " "), n) for name, n in counts]
    return [*labelled, ("excluded manually", n_manual)] if n_manual else labelled


def n_flagged_participants(study: Experiment) -> int:
    """Number of participants with a flag or a signal."""
    signals = Signal.objects.filter(session__experiment=study, session__is_test=False)
    signalled = set(signals.values_list("session__participant", flat=True))
    return len(signalled | set(active_flags(study).values_list("participant", flat=True)))


def active_flags(study: Experiment) -> QuerySet[Flag]:
    """Manual flags that were not lifted."""
    return Flag.objects.filter(participant__experiment=study, lifted_at__isnull=True)
