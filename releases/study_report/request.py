"""Request a study report, build and store it in a job, and look up stored reports."""

from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from analysis.effects.equivalence import check_sesoi
from analysis.errors import BadInput
from experiments.lists.rounds import check_round
from experiments.models import AuditEntry, Experiment, Job
from experiments.operation.job_runner import Run, enqueue
from judgments.models import Judgment
from releases.gold.describe import file_manifest
from releases.gold.deviations import deviations_stamp
from releases.gold.options import ReportOptions
from releases.gold.plans import find_plan, find_plan_row
from releases.gold.storage import MANIFEST, read, store
from releases.models import ScoringRun
from releases.reports.judgment_cache import data_version
from releases.study_report.build import FILES, BuiltReport, build_report

STUDY_REPORT = "releases.study_report"
KEY_LENGTH = 16  # hexadecimal digits of the content's SHA-256


@dataclass(frozen=True)
class StoredReport:
    """A report as stored in its job."""

    job: Job

    @property
    def number(self) -> int:
        """Number in URLs, which is the key of the job."""
        return self.job.pk

    @property
    def options(self) -> dict[str, Any]:
        """The options of the request."""
        return dict(self.job.arguments["options"])

    @property
    def is_ready(self) -> bool:
        """Whether its files are stored."""
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


def list_reports(study: Experiment) -> list[StoredReport]:
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
def request_report(study: Experiment, options: ReportOptions, *, user: Any = None) -> StoredReport:
    """Create the job, or return the existing one for the same data and options."""
    # Race: the lock on the study serializes requests, so that a double click makes one job.
    Experiment.objects.select_for_update().get(pk=study.pk)
    if not Judgment.objects.filter(trial__session__experiment=study).exists():
        raise BadInput("there are no judgments to report on.", remedy="Collect or import judgments first.")
    if options.sesoi is not None:
        check_sesoi(options.sesoi, study.task)
    if options.round_number is not None:
        check_round(study, options.round_number)
    row = find_plan_row(study, options.exclude)
    if row is None:
        find_plan(study, options.exclude)
    else:
        options = replace(options, exclude=f"{row.name}@{row.version}")
    runs = ScoringRun.objects.of_study(study).done().order_by("pk").values_list("pk", flat=True)
    stamp = "-".join([data_version(study), deviations_stamp(study), *map(str, runs)])
    arguments = {"experiment": study.pk, "options": options.as_dict(), "stamp": stamp}
    same = Job.objects.filter(experiment=study, kind=STUDY_REPORT, arguments=arguments)
    existing = same.exclude(state=Job.State.FAILED).order_by("-pk").first()
    if existing is not None:
        return StoredReport(existing)
    job = enqueue(STUDY_REPORT, arguments, user=user, experiment=study)
    details = {"report": job.pk, "options": options.as_dict()}
    AuditEntry.objects.create(experiment=study, user=user, action="report started", details=details)
    return StoredReport(job)


def run_report(run: Run) -> None:
    """Build and store the files; idempotent, because the key is a hash of the content."""
    study = Experiment.objects.select_related("materials").get(pk=run.arguments["experiment"])
    report = build_report(study, ReportOptions(**run.arguments["options"]), progress=run.progress)
    key = f"{study.slug}/reports/{report.sha256[:KEY_LENGTH]}"
    store(key, report.files)
    with run.finishing() as result:
        result |= {
            "storage_key": key,
            "sha256": report.sha256,
            "headline": headline(report),
            "files": file_manifest({name: report.files[name] for name in report.files if name != MANIFEST}),
        }


def headline(report: BuiltReport) -> dict[str, Any]:
    """The numbers shown in the list of reports."""
    flow = report.numbers["exclusions"].get("flow") or [{"participants_left": None, "judgments_left": None}]
    block = report.numbers["agreement"].get("overall_included") or {}
    return {
        "participants": flow[-1]["participants_left"],
        "judgments": flow[-1]["judgments_left"],
        "paradigms": block.get("paradigms"),
        "majority_agreement": block.get("majority_agreement"),
        "individual_agreement": block.get("individual_agreement"),
    }
