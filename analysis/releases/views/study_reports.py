"""Reports of a study: one button, the list, the files."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect

from analysis.errors import BadInput
from analysis.releases.forms import ReportForm
from analysis.releases.options import Options
from analysis.releases.reporting import StoredReport, find_report, reports_of, request_report
from analysis.releases.study_report import FILES
from analysis.releases.views.pages import explained, page, study_page
from experiments.models import Experiment

MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
    "json": "application/json",
    "zip": "application/zip",
}


@study_page
def reports(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The list; a button makes the next one."""
    form = ReportForm(
        request.POST if request.method == "POST" else None, experiment=study, initial={"ties": "strict"}
    )
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            options = Options(
                form.exclude(), data["rule"], data["ties"], data["seed"], round_number=data["round"]
            )
            asked = request_report(study, options, user=request.user)
        except BadInput as error:
            explained(request, form, error)
        else:
            if asked.is_ready:
                messages.info(request, "This very report is here already: data and choices have not changed.")
            else:
                messages.success(request, "The report is being made.")
            return redirect("study-reports", study.slug)
    status = 400 if form.is_bound and form.errors else 200
    return page(
        request, study, "reports", form=form, reports=reports_of(study), holds=FILES.items(), status=status
    )


@study_page
def file(request: HttpRequest, study: Experiment, *, number: int, name: str) -> HttpResponseBase:
    """One file of a report."""
    return file_answer(study, find_report(study, number), name)


def file_answer(study: Experiment, found: StoredReport | None, name: str) -> HttpResponse:
    """A download: never shown as a page of ours, so that its own style needs no exception in our policy."""
    if found is None or not found.is_ready or name not in {one["path"] for one in found.files}:
        raise Http404("no such file of a report")
    answer = HttpResponse(found.read(name), content_type=MEDIA_TYPES[name.rpartition(".")[2]])
    answer["Content-Disposition"] = f'attachment; filename="{study.slug}-{name}"'
    answer["Content-Security-Policy"] = (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    )
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
