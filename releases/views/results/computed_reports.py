"""Shared by pages of slow reports: show the report, the job that computes it, or an error."""

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse

from analysis.errors import BadInput
from experiments.models import Experiment, Job
from judgments.frames.data_source import file_stem
from releases.gold.plans import find_plan
from releases.reports.forms import ReportForm
from releases.reports.report_cache import former_report, report_or_job
from releases.views.base import explicit_query, form_choices, json_attachment, page

ReportContext = Callable[[dict[str, Any]], dict[str, Any]]


def report_page(
    request: HttpRequest,
    study: Experiment,
    name: str,
    *,
    form_class: type[ReportForm],
    add_context: ReportContext = lambda report: {},
) -> HttpResponse:
    """Render the report, its job or an error; ``add_context`` computes more values from the report."""
    form, choices, is_valid = form_choices(request, study, form_class)
    outcome = page_outcome(request, study, name, choices)
    if "report" in outcome:
        outcome |= add_context(outcome["report"])
    return page(
        request,
        study,
        name,
        form=form,
        plan=find_plan(study, choices["exclude"]),
        query=explicit_query(request, study),
        status=200 if is_valid and "refused" not in outcome else 400,
        **outcome,
    )


def report_outcome(
    request: HttpRequest, study: Experiment, name: str, choices: dict[str, Any]
) -> dict[str, Any]:
    """``report``, ``job`` or ``refused``, as a template's context."""
    try:
        result = report_or_job(study, name, choices, user=request.user)
    except BadInput as error:
        return {"refused": str(error)}
    return {"job": result} if isinstance(result, Job) else {"report": result}


def page_outcome(
    request: HttpRequest, study: Experiment, name: str, choices: dict[str, Any]
) -> dict[str, Any]:
    """The outcome for a page: beside a job the report of earlier data, with its time as ``former_at``."""
    outcome = report_outcome(request, study, name, choices)
    if "job" in outcome and (former := former_report(study, name, choices)):
        outcome["report"], outcome["former_at"] = former
    return outcome


def report_json(
    request: HttpRequest, study: Experiment, name: str, *, form_class: type[ReportForm]
) -> HttpResponseBase:
    """The report as the command prints it; 202 with the job's state until it is computed."""
    _, choices, _ = form_choices(request, study, form_class)
    outcome = report_outcome(request, study, name, choices)
    if "refused" in outcome:
        raise Http404(outcome["refused"])
    if "job" in outcome:
        job: Job = outcome["job"]
        return JsonResponse({"job": job.pk, "state": job.state, "error": job.error}, status=202)
    return json_attachment(outcome["report"], f"{file_stem(study)}-{name}.json")
