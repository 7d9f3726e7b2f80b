"""Reports that take longer than a page may: computed once for the same data and choices, by a worker.

A report is a file named by the hash of everything it depends on. Small studies are computed at once; for
others the page shows the job. Reports of data that have changed since are removed when the next one is
stored.
"""

import hashlib
import json
from datetime import timedelta
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from analysis.releases.page_reports import effects_of, ordinal_of, pilot_of, reliability_of
from analysis.releases.plans import find_plan
from analysis.releases.reading import data_stamp
from experiments.job_runner import enqueue
from experiments.models import Experiment, Job
from judgments.models import Judgment

REPORT = "releases.report"
MAKERS = {
    "reliability": reliability_of,
    "effects": effects_of,
    "ordinal": ordinal_of,
    "pilot": pilot_of,
}
QUICK = {"reliability": 3_000, "effects": 1_500, "ordinal": 200, "pilot": 20_000}
"""Up to so many judgments a report is made while the page waits."""
RETRY = timedelta(minutes=10)


def report_or_job(experiment: Experiment, name: str, choices: dict[str, Any], *, user=None) -> Any:
    """The report, or the job that is making it."""
    path = report_path(experiment, name, choices)
    if default_storage.exists(path):
        return stored(path)
    if n_judgments(experiment) <= QUICK[name]:
        return make_report(experiment, name, choices, path)
    return _job(experiment, name, choices, path, user=user)


def make_report(experiment: Experiment, name: str, choices: dict[str, Any], path: str) -> dict[str, Any]:
    """Compute and store; the same report twice is one file."""
    document = MAKERS[name](experiment, **choices)
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    if not default_storage.exists(path):
        default_storage.save(path, ContentFile(text.encode()))
        _forget_older(path)
    return json.loads(text)


def stored(path: str) -> dict[str, Any]:
    """A report as it was computed."""
    with default_storage.open(path, "rb") as file:
        return json.loads(file.read())


def report_path(experiment: Experiment, name: str, choices: dict[str, Any]) -> str:
    """Where a report lies: study, name, hash of the data, hash of plan and choices."""
    plan = find_plan(experiment, str(choices.get("exclude", "")))
    asked = json.dumps([plan.sha256, plan.name, plan.version, choices], sort_keys=True)
    digest = hashlib.sha256(asked.encode()).hexdigest()
    return f"reports/{experiment.pk}/{name}-{data_stamp(experiment)[:20]}-{digest[:20]}.json"


def n_judgments(experiment: Experiment) -> int:
    """How many judgments there are to compute with."""
    return Judgment.objects.filter(trial__session__experiment=experiment).count()


def _job(experiment: Experiment, name: str, choices: dict[str, Any], path: str, *, user) -> Job:
    key = f"{REPORT}-{hashlib.sha256(path.encode()).hexdigest()[:40]}"
    earlier = Job.objects.filter(key__startswith=key).order_by("-pk")
    newest = earlier.first()
    if newest is not None and not _is_over(newest):
        return newest
    arguments = {"experiment": experiment.pk, "name": name, "choices": choices, "path": path}
    return enqueue(REPORT, arguments, user=user, experiment=experiment, key=f"{key}-{earlier.count()}")


def _is_over(job: Job) -> bool:
    """Whether to ask again: a failure some time ago, or a report that was removed since."""
    if job.state == Job.State.FAILED:
        return job.finished_at is None or timezone.now() - job.finished_at > RETRY
    return job.state == Job.State.DONE


def _forget_older(path: str) -> None:
    """Remove the reports of that name whose data are no longer the study's."""
    folder, _, file = path.rpartition("/")
    name, stamp, _ = file.split("-", 2)
    for other in default_storage.listdir(folder)[1]:
        if other.startswith(f"{name}-") and not other.startswith(f"{name}-{stamp}-"):
            default_storage.delete(f"{folder}/{other}")
