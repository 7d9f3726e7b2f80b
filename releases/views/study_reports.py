"""Study reports: the list, requesting one, files; and the preregistration ZIP of a frozen version."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect

from analysis.errors import BadInput
from experiments.models import Experiment
from releases.gold.options import ReportOptions
from releases.gold.preregistration import folder_name, preregistration
from releases.reports.forms import StudyReportForm
from releases.study_report.build import FILES
from releases.study_report.request import StoredReport, find_report, list_reports, request_report
from releases.views.base import add_form_error, page, study_page

MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
    "json": "application/json",
    "zip": "application/zip",
    "csv": "text/csv; charset=utf-8",
    "tex": "application/x-tex",
}


@study_page
def reports(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The list; a button makes the next one."""
    form = StudyReportForm(
        request.POST if request.method == "POST" else None, experiment=study, initial={"ties": "strict"}
    )
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            options = ReportOptions(
                form.exclude(),
                data["rule"],
                data["ties"],
                data["seed"],
                round_number=data["round"],
                **form.analyses(),
            )
            report = request_report(study, options, user=request.user)
        except BadInput as error:
            add_form_error(request, form, error)
        else:
            if report.is_ready:
                messages.info(request, "This report exists already: data and choices have not changed.")
            else:
                messages.success(request, "The report is being created.")
            return redirect("study-reports", study.slug)
    status = 400 if form.is_bound and form.errors else 200
    return page(
        request, study, "reports", form=form, reports=list_reports(study), holds=FILES.items(), status=status
    )


@study_page
def file(request: HttpRequest, study: Experiment, *, number: int, name: str) -> HttpResponseBase:
    """One file of a report."""
    return file_answer(study, find_report(study, number), name)


def file_answer(study: Experiment, report: StoredReport | None, name: str) -> HttpResponse:
    """A file of a report as a download."""
    if (
        report is None
        or not report.is_ready
        or name not in {listed_file["path"] for listed_file in report.files}
    ):
        raise Http404("no such file of a report")
    return document_answer(report.read(name), name, filename=f"{study.slug}-{name}")


def document_answer(content: bytes, name: str, *, filename: str) -> HttpResponse:
    """A file as a download, with a strict policy of its own, because documents have inline styles."""
    response = HttpResponse(content, content_type=MEDIA_TYPES[name.rpartition(".")[2]])
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    # Styles are part of the file, which is also read without a server. Nothing runs in a sandbox, and a style
    # can request nothing where all sources are denied.
    response["Content-Security-Policy"] = (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    )
    response["X-Content-Type-Options"] = "nosniff"
    return response


@study_page
def download(request: HttpRequest, study: Experiment, *, number: int) -> HttpResponseBase:
    """Texts, lists, seeds, exclusion plans and checksums of one version."""
    version = study.versions.filter(number=number, is_preview=False).select_related("experiment").first()
    if version is None:
        raise Http404("no such version")
    response = HttpResponse(preregistration(version), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{folder_name(version)}.zip"'
    return response
