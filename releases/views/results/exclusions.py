"""Exclusions: plans and the current one, the flow, the effect of each step alone, and their overlap."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from analysis.report.page_findings import exclusions_finding
from experiments.models import Experiment
from judgments.frames.data_source import file_stem
from releases.gold.plans import current_plan_row, find_plan, set_current_plan, write_plan
from releases.reports.forms import ExcludeForm, PlanForm
from releases.reports.report_cache import cached_report
from releases.views.base import (
    add_form_error,
    explained_on_top,
    explicit_query,
    form_choices,
    json_attachment,
    page,
    study_page,
)
from releases.views.figures import registered_figure
from releases.views.large_studies import answered_at_once


@study_page
@answered_at_once
def exclusions(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The selected plan applied to the current judgments; a form writes a new plan or version."""
    plan_form = PlanForm(request.POST or None, experiment=study, auto_id="new_%s")
    if request.method == "POST" and plan_form.is_valid():
        try:
            row = write_plan(
                study, plan_form.cleaned_data["name"], steps=plan_form.as_steps(), user=request.user
            )
        except BadInput as error:
            add_form_error(request, plan_form, error)
        else:
            use = ""
            if plan_form.cleaned_data["current"]:
                set_current_plan(study, f"{row.name}@{row.version}", user=request.user)
                use = " All results use it now."
            messages.success(request, f"Saved plan {row.name} as version {row.version}.{use}")
            # It begins with the path of this page.
            return redirect(f"{request.path}?plan={row.name}")  # nosemgrep: request-to-redirect
    form, choices, is_valid = form_choices(request, study, ExcludeForm)
    plan = find_plan(study, choices["exclude"])
    report = cached_report(study, "exclusions", **choices)
    current_row = current_plan_row(study)
    return page(
        request,
        study,
        "exclusions",
        form=form,
        plan_form=plan_form,
        plan=plan,
        chosen=plan,
        report=report,
        finding=exclusions_finding(report) if report["flow"][0]["judgments_left"] else "",
        figures=[registered_figure(study, "flow", query=explicit_query(request, study))]
        if report["flow"][0]["judgments_left"]
        else [],
        flow=report["flow"],
        marginal=report["marginal"],
        overlap=overlap_rows(report),
        groups=report["groups"],
        sensitivity=report["sensitivity"],
        query=explicit_query(request, study),
        plans=study.exclusion_plans.select_related("author"),
        current_row=current_row,
        chosen_is_current=current_row is not None
        and (plan.name, plan.version) == (current_row.name, current_row.version),
        status=400 if (plan_form.is_bound and plan_form.errors) or not is_valid else 200,
    )


@study_page
@require_POST
def set_current(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """Make a stored plan, or none, the study's current one."""
    try:
        row = set_current_plan(study, request.POST.get("plan", ""), user=request.user)
    except BadInput as error:
        explained_on_top(request, error)
    else:
        name = f"Plan {row}" if row else "No plan"
        messages.success(request, f"{name} is current now: all results use it unless another is chosen.")
    return redirect("study-exclusions", study.slug)


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    _, choices, _ = form_choices(request, study, ExcludeForm)
    report = cached_report(study, "exclusions", **choices)
    return json_attachment(report, f"{file_stem(study)}-exclusions.json")


def overlap_rows(report: dict[str, Any]) -> list[tuple[str, list[int]]]:
    """The overlap as rows for a table."""
    rows: dict[str, list[int]] = {}
    for cell in report["overlap"]:
        rows.setdefault(cell["step"], []).append(cell["judgments"])
    return list(rows.items())
