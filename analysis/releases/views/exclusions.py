"""Who and what is left out: plans and versions, the flow, what each step does alone, their overlap."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from analysis.errors import BadInput
from analysis.releases import reading
from analysis.releases.forms import ExcludeForm, PlanForm
from analysis.releases.plans import find_plan, write_plan
from analysis.releases.views.agreement import json_attachment
from analysis.releases.views.pages import explained, page, study_page, valid_or_default
from experiments.models import Experiment


@study_page
def exclusions(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The chosen plan applied to today's judgments; a form writes the next plan."""
    plan_form = PlanForm(request.POST or None, auto_id="new_%s")
    if request.method == "POST" and plan_form.is_valid():
        try:
            row = write_plan(
                study, plan_form.cleaned_data["name"], steps=plan_form.as_steps(), user=request.user
            )
        except BadInput as error:
            explained(request, plan_form, error)
        else:
            messages.success(request, f"Plan {row.name} stands in version {row.version}.")
            return redirect(f"{request.path}?plan={row.name}")
    form = ExcludeForm(request.GET or None, experiment=study)
    chosen = find_plan(study, form.exclude() if valid_or_default(form) else "")
    report = reading.exclusions(study, exclude=form.exclude())
    return page(
        request,
        study,
        "exclusions",
        form=form,
        plan_form=plan_form,
        chosen=chosen,
        report=report,
        flow=report["flow"],
        marginal=report["marginal"],
        overlap=overlap_rows(report),
        groups=report["groups"],
        sensitivity=report["sensitivity"],
        query=request.GET.urlencode(),
        plans=study.exclusion_plans.select_related("author"),
        status=400 if plan_form.is_bound and plan_form.errors else 200,
    )


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    form = ExcludeForm(request.GET or None, experiment=study)
    valid_or_default(form)
    report = reading.exclusions(study, exclude=form.exclude())
    return json_attachment(report, f"{study.slug}-exclusions.json")


def overlap_rows(report: dict[str, Any]) -> list[tuple[str, list[int]]]:
    """The overlap as rows for a table."""
    rows: dict[str, list[int]] = {}
    for cell in report["overlap"]:
        rows.setdefault(cell["step"], []).append(cell["judgments"])
    return list(rows.items())
