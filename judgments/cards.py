"""What the start page tells of each study at a glance: places, the last answer, and what wants a look."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Exists, F, Max, OuterRef, Q
from django.urls import reverse
from django.utils import timezone

from experiments.models import Experiment, Job
from experiments.rounds import round_now
from judgments.models import Flag, Judgment, Participant, Session, Signal
from judgments.monitor import is_live, is_lost, wanted_sessions
from judgments.tasks.registry import tasks

KEPT_SECONDS = 60
SILENT_DAYS = 3
LEAVING_PERCENT, ENOUGH = 25, 10  # a quarter that leaves, of at least ten that began
IN_ROUND = Q(list__round=F("experiment__current_round")) | Q(
    list__isnull=True, experiment__current_round=1
)  # as in places: those without a list belong to the first


@dataclass(frozen=True)
class Remark:
    """Something that wants a look, and the page to look at."""

    words: str
    page: str
    is_warning: bool = True


@dataclass(frozen=True)
class Card:
    """One study at a glance; ``None``: not known, or not wanted."""

    study: Experiment
    task_label: str
    n_complete: int
    n_live: int
    target: int | None
    n_judgments: int
    last_at: datetime | None
    remarks: Sequence[Remark]

    @property
    def done(self) -> float:
        """Percent of the wanted sessions that are complete."""
        return min(100.0, 100 * self.n_complete / self.target) if self.target else 0.0

    @property
    def live(self) -> float:
        """Percent of the wanted sessions that people sit now."""
        return min(100 - self.done, 100 * self.n_live / self.target) if self.target else 0.0


def cards(user) -> list[Card]:
    """A card for every study the user may see, those with the newest answer, or newly made, first."""
    studies = list(Experiment.objects.visible_to(user))
    counts, flagged, failed = session_counts(studies), flagged_people(studies), failed_jobs(studies)
    labels, found = {name: task.label for name, task in tasks().items()}, []
    for study in studies:
        own = counts.get(
            study.pk, {"n_complete": 0, "n_live": 0, "n_lost": 0, "n_started": 0, "seen_at": None}
        )
        answers = cache.get_or_set(_key(study, own), lambda one=study: count_answers(one), KEPT_SECONDS)
        found.append(
            Card(
                study=study,
                task_label=labels.get(study.task, study.task),
                n_complete=own["n_complete"],
                n_live=own["n_live"],
                remarks=[*remarks(study, {**own, **answers}, flagged.get(study.pk, 0), failed.get(study.pk))],
                **answers,
            )
        )
    return sorted(found, key=lambda card: card.last_at or card.study.created_at, reverse=True)


def _key(study: Experiment, own: dict[str, Any]) -> str:
    """Counted again when somebody was active or the study changed, at most once a minute otherwise."""
    seen = own["seen_at"].timestamp() if own["seen_at"] else 0
    return f"card-{study.pk}-{study.updated_at.timestamp()}-{own['n_complete']}-{seen}"


def count_answers(study: Experiment) -> dict[str, Any]:
    """Answers of a study, previews left out; when the last came; how many sessions are wanted."""
    answers = Judgment.objects.filter(trial__session__experiment=study, trial__session__is_test=False)
    counted = answers.aggregate(n_judgments=Count("pk"), last_at=Max("received_at"))
    is_collected = study.origin == Experiment.Origin.COLLECTED
    return {**counted, "target": wanted_sessions(study) if is_collected else None}


def session_counts(studies: Sequence[Experiment]) -> dict[int, dict[str, Any]]:
    """Sessions of the round that takes participants, by study; previews, pilots and refusals left out."""
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
    return {row["experiment"]: row for row in rows}


def flagged_people(studies: Sequence[Experiment]) -> dict[int, int]:
    """People with a signal or a standing flag, by study."""
    signals = Signal.objects.filter(session__participant=OuterRef("pk"), session__is_test=False)
    flags = Flag.objects.filter(participant=OuterRef("pk"), lifted_at__isnull=True)
    people = Participant.objects.filter(Exists(signals) | Exists(flags), experiment__in=studies)
    return dict(people.order_by().values_list("experiment").annotate(n=Count("pk")))


def failed_jobs(studies: Sequence[Experiment]) -> dict[int, int]:
    """The newest job of each study, where it failed."""
    jobs = Job.objects.filter(experiment__in=studies).order_by()
    newest = jobs.values("experiment").annotate(last=Max("pk")).values("last")
    return dict(Job.objects.filter(pk__in=newest, state=Job.State.FAILED).values_list("experiment", "pk"))


def remarks(
    study: Experiment, numbers: dict[str, Any], n_flagged: int, failed_job: int | None
) -> Iterator[Remark]:
    """What wants a look, most pressing first."""
    live = reverse("study-live", args=[study.slug])
    if study.status == Experiment.Status.DRAFT and study.origin == Experiment.Origin.COLLECTED:
        yield Remark(
            "Not open yet: see the launch checklist", reverse("study-launch", args=[study.slug]), False
        )
    if failed_job:
        yield Remark("The last job failed", reverse("job", args=[failed_job]))
    if study.status == Experiment.Status.OPEN:
        most = round_now(study).max_participants
        if most and numbers["n_complete"] + numbers["n_live"] >= most:
            yield Remark("All places are taken", live, False)
        elif numbers["target"] and numbers["n_complete"] >= numbers["target"]:
            yield Remark("All that was wanted is there", live, False)
        elif silence := _silent_days(study, numbers["last_at"]):
            yield Remark(f"No answer for {silence} days", live)
    runs = study.status != Experiment.Status.CLOSED  # afterwards answers may have been deleted at their time
    if (
        runs
        and numbers["n_started"] >= ENOUGH
        and 100 * numbers["n_lost"] >= LEAVING_PERCENT * numbers["n_started"]
    ):
        share = 100 * numbers["n_lost"] / numbers["n_started"]
        yield Remark(f"{share:.0f} % left before the end", live)
    if n_flagged:
        people = "1 person flagged" if n_flagged == 1 else f"{n_flagged:,} people flagged"
        yield Remark(people, reverse("study-participants", args=[study.slug]), False)


def _silent_days(study: Experiment, last_at: datetime | None) -> int:
    """Whole days since the last answer or the opening, 0 while they are few."""
    since = max((at for at in (last_at, study.opened_at) if at), default=None)
    days = (timezone.now() - since) // timedelta(days=1) if since else 0
    return days if days >= SILENT_DAYS else 0
