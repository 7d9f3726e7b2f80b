"""What the pages of heavy reports share: the report, the job that makes it, or why there is none."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse

from analysis.errors import BadInput
from analysis.releases.heavy import report_or_job
from analysis.releases.plans import find_plan
from analysis.releases.report_forms import ReportForm
from analysis.releases.views.agreement import json_attachment
from analysis.releases.views.pages import page, valid_or_default
from experiments.models import Experiment, Job

Form = type[ReportForm]


def chosen(request: HttpRequest, study: Experiment, kind: Form) -> tuple[ReportForm, dict[str, Any], bool]:
    """The form, its choices, and whether all of them were valid."""
    form = kind(request.GET or None, experiment=study)
    valid = valid_or_default(form)
    return form, form.choices(), valid


def report_page(
    request: HttpRequest, study: Experiment, name: str, *, kind: Form, **context: Any
) -> HttpResponse:
    """A page with the report, its job, or the reason why it cannot be computed."""
    form, choices, valid = chosen(request, study, kind)
    found = asked(request, study, name, choices)
    return page(
        request,
        study,
        name,
        form=form,
        plan=find_plan(study, choices["exclude"]),
        query=request.GET.urlencode(),
        status=200 if valid and "refused" not in found else 400,
        **found,
        **context,
    )


def asked(request: HttpRequest, study: Experiment, name: str, choices: dict[str, Any]) -> dict[str, Any]:
    """``report``, ``job`` or ``refused`` for a template."""
    try:
        found = report_or_job(study, name, choices, user=request.user)
    except BadInput as error:
        return {"refused": str(error)}
    return {"job": found} if isinstance(found, Job) else {"report": found}


def report_json(request: HttpRequest, study: Experiment, name: str, *, kind: Form) -> HttpResponseBase:
    """The report as the command prints it; 202 with the job's state while it is being made."""
    _, choices, _ = chosen(request, study, kind)
    try:
        found = report_or_job(study, name, choices, user=request.user)
    except BadInput as error:
        raise Http404(str(error)) from error
    if isinstance(found, Job):
        return JsonResponse({"job": found.pk, "state": found.state, "error": found.error}, status=202)
    return json_attachment(found, f"{study.slug}-{name}.json")
