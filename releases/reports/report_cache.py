"""Cache of computed reports, for pages, API and study reports.

:class:`ReportKey` identifies a result by the study's data version, the exclusion plan and the other choices.
A change of any of them makes another key, so nothing has to be invalidated. Results are stored in one of two
places:

1. Django's cache, for :data:`QUICK_REPORTS`: computed in the request (:func:`cached_report`).
2. Files in the default storage, for :data:`SLOW_REPORTS`: computed by a job where the study has more
   judgments than a request can handle (:func:`report_or_job`). A file is deleted when the study's data have
   changed.

The judgments that they are computed from are kept in memory by :mod:`releases.reports.judgment_cache`.
"""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pandas as pd
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from analysis.command_line.documents import items_document
from analysis.mixed_models.bayesian_ordinal import require_pymc
from experiments.models import Experiment, Job
from experiments.operation.job_runner import enqueue
from experiments.page_cache import cache as django_cache
from releases.erasure import report_folder
from releases.gold.plans import find_plan
from releases.models import ExclusionPlan, ScoringRun
from releases.reports.compute import (
    background_answers,
    build_item_table,
    compute_agreement,
    compute_conditions,
    compute_diagnostics,
    compute_effects,
    compute_exclusions,
    compute_groups,
    compute_multiverse,
    compute_pilot_power,
    compute_ratings,
    compute_reliability,
    compute_sequential,
    compute_statistic,
    compute_times,
    fit_ordinal_models,
)
from releases.reports.judgment_cache import data_version, n_judgments

Report = dict[str, Any]
Compute = Callable[..., Report]
REPORT = "releases.report"  # kind of job
QUICK_REPORTS: dict[str, Compute] = {
    "agreement": compute_agreement,
    "ratings": compute_ratings,
    "exclusions": compute_exclusions,
    "diagnostics": compute_diagnostics,
    "conditions": compute_conditions,
}
CACHE_SECONDS = 600  # the key holds the data version, so this limits memory only
SLOW_REPORTS: dict[str, Compute] = {
    "reliability": compute_reliability,
    "effects": compute_effects,
    "ordinal": fit_ordinal_models,
    "pilot": compute_pilot_power,
    "times": compute_times,
    "groups": compute_groups,
    "sequential": compute_sequential,
    "multiverse": compute_multiverse,
    "statistic": compute_statistic,
}
# Judgments up to which a slow report is computed in the request (about a second); a job computes larger ones.
MAX_JUDGMENTS = {
    "reliability": 3_000,
    "effects": 1_500,
    "ordinal": 200,
    "pilot": 20_000,
    "times": 3_000,
    "groups": 300,
    "sequential": 1_500,
    "multiverse": 300,
    "statistic": 0,  # of a plugin, which may take any time
}
RETRY_AFTER = timedelta(minutes=10)  # a failed job is not repeated at every reload of its page
HASH_DIGITS = 20  # 80 bits


@dataclass(frozen=True)
class ReportKey:
    """Identifies a report; :attr:`path` is the name of its file and its key in Django's cache."""

    study: int
    name: str
    data: str
    choices: str

    @classmethod
    def of(cls, study: Experiment, name: str, choices: dict[str, Any]) -> "ReportKey":
        """The key for today's data of a study; ``exclude`` counts as the plan that it names now."""
        plan = find_plan(study, str(choices.get("exclude", "")))
        parts = [plan.sha256, plan.name, plan.version, choices]
        if name == "effects":  # the models beside humans; other reports do not depend on them
            runs = ScoringRun.objects.of_study(study).done()
            parts.append(sorted(runs.values_list("pk", flat=True)))
        if name == "groups":  # answers may be imported after the judgments
            parts.append(background_answers(study).astype(object).astype(str).values.tolist())
        if name == "multiverse":  # every stored plan is one of its universes
            plans = ExclusionPlan.objects.filter(experiment=study)
            parts.append(sorted(plans.values_list("name", "version")))
        parts[3] = {key: value for key, value in choices.items() if (key, value) != ("zeros", "keep")}
        chosen = json.dumps(parts, sort_keys=True)
        # reports of a pilot have another name, so that they neither replace nor precede those that count
        file = f"{name}.{study.data}" if study.data else name
        return cls(study.pk, file, data_version(study)[:HASH_DIGITS], _sha256(chosen)[:HASH_DIGITS])

    @property
    def path(self) -> str:
        """Study, name, hash of the data, hash of plan and choices."""
        return f"{report_folder(self.study)}/{self.name}-{self.data}-{self.choices}.json"


def cached_result(study: Experiment, name: str, choices: dict[str, Any], compute: Callable[[], Any]) -> Any:
    """The result of ``compute``, from Django's cache while data, plan and choices are the same."""
    return django_cache.get_or_set(ReportKey.of(study, name, choices).path, compute, CACHE_SECONDS)


def is_cached(study: Experiment, name: str, choices: dict[str, Any]) -> bool:
    """Whether :func:`cached_result` has a result of these data, plan and choices."""
    return ReportKey.of(study, name, choices).path in django_cache


def cached_report(study: Experiment, name: str, **choices: Any) -> Report:
    """One of :data:`QUICK_REPORTS`."""
    report: Report = cached_result(
        study, name, choices, lambda: with_data(study, QUICK_REPORTS[name](study, **choices))
    )
    return report


def with_data(study: Experiment, report: Report) -> Report:
    """The report, with ``data`` where it is not of the data that count."""
    return {**report, "data": study.data} if study.data else report


def cached_items(study: Experiment, *, exclude: str = "", round_number: int | None = None) -> pd.DataFrame:
    """The table of items, with position bias, response time and spread of ratings of each."""

    def compute() -> pd.DataFrame:
        return build_item_table(study, exclude=exclude, round_number=round_number)

    table: pd.DataFrame = cached_result(
        study, "items", {"exclude": exclude, "round_number": round_number}, compute
    )
    return table


def items_report(study: Experiment, *, exclude: str = "") -> Report:
    """The table of items and the diagnostics as one document."""
    diagnostics = cached_report(study, "diagnostics", exclude=exclude)
    return with_data(study, items_document(cached_items(study, exclude=exclude), diagnostics))


def report_or_job(study: Experiment, name: str, choices: dict[str, Any], *, user: Any = None) -> Report | Job:
    """One of :data:`SLOW_REPORTS`, or the job that computes it."""
    path = ReportKey.of(study, name, choices).path
    with suppress(FileNotFoundError), default_storage.open(path, "rb") as file:
        stored: Report = json.loads(file.read())
        return stored
    if choices.get("bayesian"):
        require_pymc()
    elif n_judgments(study) <= MAX_JUDGMENTS[name]:
        return compute_and_store(study, name, choices, path)
    return _report_job(study, name, choices, path, user=user)


def former_report(study: Experiment, name: str, choices: dict[str, Any]) -> tuple[Report, datetime] | None:
    """The stored report of earlier data with the same plan and choices, and when it was computed."""
    key = ReportKey.of(study, name, choices)
    folder = report_folder(study.pk)
    with suppress(FileNotFoundError):  # no report of the study was computed, or another process deletes it
        for file in default_storage.listdir(folder)[1]:
            if file.startswith(f"{key.name}-") and file.endswith(f"-{key.choices}.json"):
                path = f"{folder}/{file}"
                with default_storage.open(path, "rb") as stored:
                    return json.loads(stored.read()), default_storage.get_modified_time(path)
    return None


def compute_and_store(study: Experiment, name: str, choices: dict[str, Any], path: str) -> Report:
    """Compute one of :data:`SLOW_REPORTS` and write its file unless it exists."""
    document = with_data(study, SLOW_REPORTS[name](study, **choices))
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    if not default_storage.exists(path):
        # Race: two processes may both write; the storage then renames the second file, and the first is read.
        default_storage.save(path, ContentFile(text.encode()))
        _delete_outdated(path)
    report: Report = json.loads(text)
    return report


def _report_job(study: Experiment, name: str, choices: dict[str, Any], path: str, *, user: Any) -> Job:
    """The unfinished job for this report, or a new one."""
    key = f"{REPORT}-{_sha256(path)[:40]}"  # 40 digits: room for kind and number in the column
    earlier = Job.objects.filter(key__startswith=key).order_by("-pk")
    newest = earlier.first()
    if newest is not None and not _may_restart(newest):
        return newest
    arguments = {"experiment": study.pk, "name": name, "choices": choices, "path": path, "data": study.data}
    # Race: the number makes the key the same for simultaneous requests, and ``enqueue`` inserts a key once.
    return enqueue(REPORT, arguments, user=user, experiment=study, key=f"{key}-{earlier.count()}")


def _may_restart(job: Job) -> bool:
    """Whether it failed some time ago, or is done although its file has been deleted since."""
    if job.state == Job.State.FAILED:
        return job.finished_at is None or timezone.now() - job.finished_at > RETRY_AFTER
    return job.state == Job.State.DONE


def _delete_outdated(path: str) -> None:
    """Delete the study's files of the same report that were computed from other data."""
    folder, _, file = path.rpartition("/")
    name, data, _ = file.split("-", 2)
    for other in default_storage.listdir(folder)[1]:
        if other.startswith(f"{name}-") and not other.startswith(f"{name}-{data}-"):
            default_storage.delete(f"{folder}/{other}")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
