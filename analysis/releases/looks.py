"""Who looked at results while a study still took answers, and at how many judgments."""

from typing import Any

from django.db.models import Count, Max, Min

from analysis.releases.models import Look
from experiments.models import Experiment
from judgments.models import Judgment

RUNNING = {Experiment.Status.OPEN, Experiment.Status.PAUSED}
COMMAND = "command"


def note_look(study: Experiment, user: Any, *, where: str, n_judgments: int | None = None) -> None:
    """Keep one look; the same person at the same judgments is one look, whatever the page."""
    if study.status not in RUNNING or study.origin != Experiment.Origin.COLLECTED:
        return
    n = counted(study) if n_judgments is None else n_judgments
    who = user if getattr(user, "is_authenticated", False) else None
    seen = {"experiment": study, "user": who, "n_judgments": n}
    if n and not Look.objects.filter(**seen).exists():
        Look.objects.bulk_create([Look(**seen, where=where)], ignore_conflicts=True)


def counted(study: Experiment) -> int:
    """Judgments that results could be made of; previews and pilots are none."""
    return Judgment.objects.filter(trial__session__experiment=study, trial__session__is_test=False).count()


def looks_of(study: Experiment) -> dict[str, Any]:
    """How often results were seen: ``n`` states of the data, by how many people, first and last."""
    rows = Look.objects.filter(experiment=study).order_by()
    found = rows.aggregate(
        n=Count("n_judgments", distinct=True),
        people=Count("user", distinct=True),
        first_at=Min("at"),
        last_at=Max("at"),
        first_judgments=Min("n_judgments"),
    )
    return {
        name: value.isoformat(timespec="seconds") if name.endswith("_at") and value else value
        for name, value in found.items()
    }
