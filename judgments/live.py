"""A study as it runs: what the live page adds to the overview's numbers. Counts only, never rows."""

from dataclasses import dataclass
from datetime import datetime
from math import isnan
from time import perf_counter

from django.core.cache import cache
from django.db.models import Count, Q
from django.utils import timezone

from analysis.aggregation.clustered import clustered_share
from analysis.quality.report import LABELS
from experiments.models import Experiment, TrialKind
from experiments.money import written
from experiments.rounds import round_now
from judgments.leaving import Stage, leaving
from judgments.models import Flag, Judgment, Session, Signal
from judgments.monitor import Facts, ListRow, facts, is_full, list_rows, places_left
from judgments.quality_check import LastCheck, last_check
from judgments.tasks.registry import shown_task

FRESH_SECONDS, SHARE = 2, 20  # many who watch cost as much as one, and at most a twentieth of a core


@dataclass(frozen=True)
class Bias:
    """How often the sentence shown first is chosen."""

    share: float
    low: float | None
    high: float | None
    n: int
    n_people: int

    @property
    def is_sure(self) -> bool:
        """Whether the interval leaves one half out."""
        return self.low is not None and self.high is not None and not self.low <= 0.5 <= self.high


@dataclass(frozen=True)
class Pay:
    """Pay by the hour at the median time, or why there is none to tell."""

    per_hour: str
    reason: str


@dataclass(frozen=True)
class Bar:
    """One list as a bar: percent of the width that is done, and that is live."""

    row: ListRow
    done: float
    live: float

    @property
    def n_held(self) -> int:
        """Complete and live sessions."""
        return self.row.n_complete + self.row.n_live


@dataclass(frozen=True)
class Live:
    """Everything on the live page."""

    facts: Facts
    places: int | None
    most: int | None
    is_full: bool
    bars: list[Bar]
    stages: list[Stage]
    pay: Pay
    bias: Bias | None
    has_sides: bool
    flags: list[tuple[str, int]]
    n_flagged: int
    checked: LastCheck
    seen_at: datetime


def live(study: Experiment) -> Live:
    """The study now: two seconds old, or older where counting is long, so that looking costs little."""
    key = f"live-{study.pk}-{study.updated_at.timestamp()}"
    kept = cache.get(key)
    if kept is None:
        began = perf_counter()
        kept = look(study)
        cache.set(key, kept, max(FRESH_SECONDS, SHARE * (perf_counter() - began)))
    return kept


def look(study: Experiment) -> Live:
    """Count the study; its time grows slowly with the number of judgments."""
    now, found, rows = timezone.now(), facts(study), list_rows(study)
    has_sides = shown_task(study.task).shows == "pair"
    counted, places = flag_counts(study), places_left(study)
    return Live(
        facts=found,
        places=places,
        most=round_now(study).max_participants,
        is_full=is_full(study, found, places),
        bars=bars(rows, wanted=found.target),
        stages=leaving(study),
        pay=hourly_pay(study, found.median_s),
        bias=position_bias(study) if has_sides else None,
        has_sides=has_sides,
        flags=counted,
        n_flagged=flagged_people(study),
        checked=last_check(study),
        seen_at=now,
    )


def bars(rows: list[ListRow], *, wanted: int | None) -> list[Bar]:
    """Bars to one scale: the sessions wanted of each list, or the fullest list where that is more."""
    each = (wanted or 0) / len(rows) if rows else 0
    full = max([each, *(row.n_complete + row.n_live for row in rows)], default=0) or 1
    return [
        Bar(row, round(100 * row.n_complete / full, 2), round(100 * row.n_live / full, 2)) for row in rows
    ]


def position_bias(study: Experiment) -> Bias | None:
    """Share of answers that chose the sentence shown first, people counting as clusters."""
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
    ends = (None, None) if isnan(low) else (low, high)
    return Bias(share, *ends, n=sum(n for _, n in counts), n_people=len(counts))


def hourly_pay(study: Experiment, median_s: float | None) -> Pay:
    """Reward over median time, from the newest recruitment that pays, else from the study itself."""
    paying = study.campaigns.filter(reward_minor__gt=0).order_by("-pk").first() or study
    if not paying.reward_minor:
        return Pay("", "no reward is set")
    if not median_s:
        return Pay("", "nobody is done yet")
    return Pay(written(round(paying.reward_minor * 3600 / median_s), paying.currency), "at the median time")


def flag_counts(study: Experiment) -> list[tuple[str, int]]:
    """What was flagged, and in how many sessions; flags raised by hand among them."""
    signals = Signal.objects.filter(session__experiment=study, session__is_test=False).order_by()
    counts = list(
        signals.values_list("name").annotate(n=Count("session", distinct=True)).order_by("-n", "name")
    )
    by_hand = standing_flags(study).count()
    named = [(LABELS.get(name) or name.replace("_", " "), n) for name, n in counts]
    return [*named, ("by hand", by_hand)] if by_hand else named


def flagged_people(study: Experiment) -> int:
    """People with a flag or a signal."""
    signals = Signal.objects.filter(session__experiment=study, session__is_test=False)
    people = set(signals.values_list("session__participant", flat=True))
    return len(people | set(standing_flags(study).values_list("participant", flat=True)))


def standing_flags(study: Experiment):
    """Flags raised by hand that nobody has lifted."""
    return Flag.objects.filter(participant__experiment=study, lifted_at__isnull=True)
