"""Reports for pages and API, computed once for the same data and choices."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pandas as pd
from django.core.cache import cache
from django.db.models import Count, Max

from analysis.agreement.conduct import item_conduct
from analysis.agreement.report import item_table
from analysis.agreement.spread import item_spread
from analysis.releases.page_reports import conditions_of, diagnostics_of, exclusions_of
from analysis.releases.plans import find_plan
from analysis.releases.reports import agreement_of, kept_judgments, ratings_of
from config.version import code_version
from experiments.models import Experiment
from judgments.models import Flag, Judgment, Participant, Session

SECONDS = 600


def data_stamp(experiment: Experiment) -> str:
    """A hash that changes with whatever a report of the study is computed from."""
    newest = Judgment.objects.filter(trial__session__experiment=experiment)
    sessions = Session.objects.filter(experiment=experiment).order_by()
    people = Participant.objects.filter(experiment=experiment).order_by()
    flags = Flag.objects.filter(participant__experiment=experiment)
    states = sessions.values_list("status", "submission_status", "is_test").annotate(Count("pk"), Max("pk"))
    natives = people.values_list("is_native").annotate(Count("pk"), Max("pk"))
    parts = [
        code_version(),
        experiment.pk,
        experiment.materials_id,
        experiment.task,
        experiment.parameters,
        newest.aggregate(n=Count("pk"), last=Max("pk")),
        sorted(map(str, states)),
        sorted(map(str, natives)),
        flags.aggregate(n=Count("pk"), lifted=Count("lifted_at"), last=Max("pk"), at=Max("lifted_at")),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def cached(experiment: Experiment, name: str, choices: dict[str, Any], make: Callable[[], Any]) -> Any:
    """What ``make`` gives, kept while data, plan and choices are the same."""
    plan = find_plan(experiment, str(choices.get("exclude", "")))
    key = json.dumps([name, data_stamp(experiment), plan.sha256, plan.name, choices], sort_keys=True)
    return cache.get_or_set(f"reading-{hashlib.sha256(key.encode()).hexdigest()}", make, SECONDS)


def agreement(experiment: Experiment, **choices: Any) -> dict[str, Any]:
    """The agreement report."""
    return cached(experiment, "agreement", choices, lambda: agreement_of(experiment, **choices))


def ratings(experiment: Experiment, **choices: Any) -> dict[str, Any]:
    """The report of ratings."""
    return cached(experiment, "ratings", choices, lambda: ratings_of(experiment, **choices))


def exclusions(experiment: Experiment, **choices: Any) -> dict[str, Any]:
    """What a plan removes, of whom, and the sensitivity panel."""
    return cached(experiment, "exclusions", choices, lambda: exclusions_of(experiment, **choices))


def diagnostics(experiment: Experiment, **choices: Any) -> dict[str, Any]:
    """Annotator models, strengths and sensitivity."""
    return cached(experiment, "diagnostics", choices, lambda: diagnostics_of(experiment, **choices))


def conditions(experiment: Experiment, **choices: Any) -> dict[str, Any]:
    """Ratings by condition."""
    return cached(experiment, "conditions", choices, lambda: conditions_of(experiment, **choices))


def items(experiment: Experiment, *, exclude: str = "", round_number: int | None = None) -> pd.DataFrame:
    """The table of items, with position bias, response time and spread of ratings of each."""

    def make() -> pd.DataFrame:
        kept = kept_judgments(experiment, exclude=exclude, round_number=round_number)
        counted = item_table(kept.excluded.kept, before=kept.judgments)
        keys = ["paradigm", "item"]
        counted[keys] = counted[keys].astype(object)
        counted = counted.merge(item_conduct(kept.excluded.kept), on=keys, how="left")
        spread = item_spread(kept.excluded.kept)
        spread[keys] = spread[keys].astype(object)
        return counted.merge(spread, on=keys, how="left")

    choices = {"exclude": exclude, "round_number": round_number}
    return cached(experiment, "items", choices, make)


def items_report(experiment: Experiment, *, exclude: str = "") -> dict[str, Any]:
    """The table of items and the diagnostics as one document."""
    counted = items(experiment, exclude=exclude)
    rows = counted.astype(object).where(counted.notna(), None).to_dict("records")
    plain = [
        {name: getattr(value, "item", lambda v=value: v)() for name, value in row.items()} for row in rows
    ]
    return {**diagnostics(experiment, exclude=exclude), "items": plain}
