"""A running study's agreement and inclusion, as page, API and command show them."""

import hashlib
import json
from time import perf_counter
from typing import Any

from django.core.cache import cache
from django.utils import timezone

from analysis.agreement.outlook import MORE
from analysis.agreement.progress import progress_report
from analysis.releases.looks import counted, looks_of, note_look
from analysis.releases.plans import find_plan
from analysis.releases.reports import kept_judgments
from experiments.models import Experiment

RULE = "blimp"
FRESH_SECONDS, SHARE = 10, 20  # a page that renews itself costs a twentieth of a core, whoever watches


def progress_of(
    experiment: Experiment,
    *,
    exclude: str = "",
    rule: str = RULE,
    more: int = MORE,
    round_number: int | None = None,
) -> dict[str, Any]:
    """How far agreement and inclusion stand, ready for JSON."""
    n_judgments = counted(experiment)
    kept = kept_judgments(experiment, exclude=exclude, round_number=round_number)
    report = progress_report(
        kept.excluded.kept,
        rule=rule or RULE,
        more=more,
        experiment=experiment.slug,
        excluded=kept.excluded.flow_rows(),
    )
    return {**report, "round": round_number, "judgments_received": n_judgments}


def seen_progress(experiment: Experiment, *, user: Any, where: str, **choices: Any) -> dict[str, Any]:
    """The report as of some seconds ago; that it was seen is kept, and told with it."""
    plan = find_plan(experiment, str(choices.get("exclude", "")))
    asked = json.dumps([experiment.pk, str(experiment.updated_at), plan.sha256, choices], sort_keys=True)
    key = f"progress-{hashlib.sha256(asked.encode()).hexdigest()}"
    kept = cache.get(key)
    if kept is None:
        began = perf_counter()
        kept = progress_of(experiment, **choices), timezone.now()
        cache.set(key, kept, max(FRESH_SECONDS, SHARE * (perf_counter() - began)))
    report, at = kept
    note_look(experiment, user, where=where, n_judgments=report["judgments_received"])
    return {**report, "looks": looks_of(experiment), "as_of": at.isoformat(timespec="seconds")}
