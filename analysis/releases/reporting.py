"""Ask for a report; make and store it as a job; find the reports of a study again."""

from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from analysis.errors import BadInput
from analysis.releases.description import listed
from analysis.releases.options import Options
from analysis.releases.plans import find_plan, find_plan_row
from analysis.releases.reading import data_stamp
from analysis.releases.storage import MANIFEST, read, store
from analysis.releases.study_report import FILES, Made, make_report
from experiments.job_runner import Run, enqueue
from experiments.models import AuditEntry, Experiment, Job
from experiments.rounds import check_round
from judgments.models import Judgment

STUDY_REPORT = "releases.study_report"
KEY_LENGTH = 16


@dataclass(frozen=True)
class StoredReport:
    """A report as its job left it."""

    job: Job

    @property
    def number(self) -> int:
        """As in addresses."""
        return self.job.pk

    @property
    def options(self) -> dict[str, Any]:
        """What it was asked for."""
        return dict(self.job.arguments["options"])

    @property
    def is_ready(self) -> bool:
        """Whether its files stand."""
        return self.job.state == Job.State.DONE

    @property
    def headline(self) -> dict[str, Any]:
        """Counts and agreement."""
        return dict(self.job.result.get("headline", {}))

    @property
    def files(self) -> list[dict[str, Any]]:
        """Name, size and content of each file."""
        return [{**file, "holds": FILES.get(file["path"], "")} for file in self.job.result.get("files", [])]

    def read(self, name: str) -> bytes:
        """One of its files."""
        return read(self.job.result["storage_key"], name)


def reports_of(study: Experiment) -> list[StoredReport]:
    """The study's reports, newest first."""
    rows = Job.objects.filter(experiment=study, kind=STUDY_REPORT).select_related("created_by")
    return [StoredReport(job) for job in rows.order_by("-pk")]


def find_report(study: Experiment, number: int) -> StoredReport | None:
    """The study's report of that number."""
    job = (
        Job.objects.filter(experiment=study, kind=STUDY_REPORT, pk=number)
        .select_related("created_by")
        .first()
    )
    return StoredReport(job) if job else None


@transaction.atomic
def request_report(study: Experiment, options: Options, *, user=None) -> StoredReport:
    """Make the job; asked again for the same data and choices, give the one that stands or waits."""
    Experiment.objects.select_for_update().get(pk=study.pk)
    if not Judgment.objects.filter(trial__session__experiment=study).exists():
        raise BadInput("there are no judgments to report on.", remedy="Collect or import judgments first.")
    if options.round_number is not None:
        check_round(study, options.round_number)
    row = find_plan_row(study, options.exclude)
    if row is None:
        find_plan(study, options.exclude)
    else:
        options = replace(options, exclude=f"{row.name}@{row.version}")
    arguments = {"experiment": study.pk, "options": options.as_dict(), "stamp": data_stamp(study)}
    same = Job.objects.filter(experiment=study, kind=STUDY_REPORT, arguments=arguments)
    standing = same.exclude(state=Job.State.FAILED).order_by("-pk").first()
    if standing is not None:
        return StoredReport(standing)
    job = enqueue(STUDY_REPORT, arguments, user=user, experiment=study)
    details = {"report": job.pk, "options": options.as_dict()}
    AuditEntry.objects.create(experiment=study, user=user, action="report asked for", details=details)
    return StoredReport(job)


def run_report(run: Run) -> None:
    """Make and store the files; storing twice has one effect, because the key comes from the content."""
    study = Experiment.objects.select_related("materials").get(pk=run.arguments["experiment"])
    made = make_report(study, Options(**run.arguments["options"]), progress=run.progress)
    key = f"{study.slug}/reports/{made.sha256[:KEY_LENGTH]}"
    store(key, made.files)
    with run.finishing() as result:
        result |= {
            "storage_key": key,
            "sha256": made.sha256,
            "headline": headline(made),
            "files": listed({name: made.files[name] for name in made.files if name != MANIFEST}),
        }


def headline(made: Made) -> dict[str, Any]:
    """The few numbers that a list of reports shows."""
    flow = made.numbers["exclusions"].get("flow") or [{"participants_left": None, "judgments_left": None}]
    block = made.numbers["agreement"].get("overall_included") or {}
    return {
        "participants": flow[-1]["participants_left"],
        "judgments": flow[-1]["judgments_left"],
        "paradigms": block.get("paradigms"),
        "majority_agreement": block.get("majority_agreement"),
        "individual_agreement": block.get("individual_agreement"),
    }
