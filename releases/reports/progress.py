"""Agreement and inclusion of a running study, and the record of interim looks at results."""

import hashlib
import json
from datetime import datetime
from time import perf_counter
from typing import Any

from django.db.models import Count, Max, Min
from django.utils import timezone

from analysis.agreement.progress import progress_report
from analysis.choices import MORE, PROGRESS_RULE
from analysis.command_line.documents import plan_label
from experiments.models import Experiment
from experiments.page_cache import cache
from releases.gold.plans import find_plan
from releases.models import Look
from releases.reports.compute import filtered_judgments
from releases.reports.judgment_cache import n_counted

RUNNING = {Experiment.Status.OPEN, Experiment.Status.PAUSED}
COMMAND = "command"
# A report is reused for 10 seconds, or for 20 times as long as it took: at most a twentieth of a core.
MIN_CACHE_SECONDS, CACHE_FACTOR = 10, 20


def note_look(study: Experiment, user: Any, *, where: str, n_judgments: int | None = None) -> None:
    """Record an interim look; one user at one number of judgments is one look, on any page."""
    if study.data or study.status not in RUNNING or study.origin != Experiment.Origin.COLLECTED:
        return
    n = n_counted(study) if n_judgments is None else n_judgments
    viewer = user if getattr(user, "is_authenticated", False) else None
    look = {"experiment": study, "user": viewer, "n_judgments": n}
    # Race: two requests may both find no row; the unique constraint keeps one.
    if n and not Look.objects.filter(**look).exists():
        Look.objects.bulk_create([Look(**look, where=where)], ignore_conflicts=True)


def count_looks(study: Experiment) -> dict[str, Any]:
    """Number of distinct states of the data that were viewed, number of users, first and last look."""
    rows = Look.objects.filter(experiment=study).order_by()
    totals = rows.aggregate(
        n=Count("n_judgments", distinct=True),
        people=Count("user", distinct=True),
        first_at=Min("at"),
        last_at=Max("at"),
        first_judgments=Min("n_judgments"),
    )
    return {
        name: value.isoformat(timespec="seconds") if name.endswith("_at") and value else value
        for name, value in totals.items()
    }


def compute_progress(
    experiment: Experiment,
    *,
    exclude: str = "",
    rule: str = PROGRESS_RULE,
    more: int = MORE,
    round_number: int | None = None,
) -> dict[str, Any]:
    """Current agreement and inclusion, ready for JSON."""
    n_judgments = n_counted(experiment)
    filtered = filtered_judgments(experiment, exclude=exclude, round_number=round_number)
    report = progress_report(
        filtered.excluded.kept,
        rule=rule or PROGRESS_RULE,
        more=more,
        experiment=experiment.slug,
        excluded=filtered.excluded.flow_rows(),
    )
    return {
        **report,
        "plan": plan_label(filtered),
        "round": round_number,
        "judgments_received": n_judgments,
    }


def recent_progress(experiment: Experiment, **choices: Any) -> tuple[dict[str, Any], datetime]:
    """The report, at most some seconds old, and the time at which it was computed.

    Keyed without the data version, unlike :mod:`releases.reports.report_cache`: a running study changes at
    every answer.
    """
    plan = find_plan(experiment, str(choices.get("exclude", "")))
    parts = [experiment.pk, experiment.data, str(experiment.updated_at), plan.sha256, choices]
    request = json.dumps(parts, sort_keys=True)
    key = f"progress-{hashlib.sha256(request.encode()).hexdigest()}"
    cached: tuple[dict[str, Any], datetime] | None = cache.get(key)
    if cached is None:
        began = perf_counter()
        cached = compute_progress(experiment, **choices), timezone.now()
        cache.set(key, cached, max(MIN_CACHE_SECONDS, CACHE_FACTOR * (perf_counter() - began)))
    return cached


def viewed_progress(experiment: Experiment, *, user: Any, where: str, **choices: Any) -> dict[str, Any]:
    """The recent report with the looks so far; viewing it is recorded as a look."""
    report, computed_at = recent_progress(experiment, **choices)
    note_look(experiment, user, where=where, n_judgments=report["judgments_received"])
    return {**report, "looks": count_looks(experiment), "as_of": computed_at.isoformat(timespec="seconds")}
