"""Who and what is left out: plans and versions, the flow, what each step does alone, their overlap."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from analysis.errors import BadInput
from analysis.exclusions.apply import Excluded, apply_plan
from analysis.releases.forms import ExcludeForm, PlanForm
from analysis.releases.plans import find_plan, judgments_for, write_plan
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
    excluded = apply_plan(judgments_for(study, chosen), chosen)
    return page(
        request,
        study,
        "exclusions",
        form=form,
        plan_form=plan_form,
        chosen=chosen,
        flow=excluded.flow_rows(),
        marginal=excluded.marginal.to_dict("records"),
        overlap=overlap_rows(excluded),
        plans=study.exclusion_plans.select_related("author"),
        status=400 if plan_form.is_bound and plan_form.errors else 200,
    )


def overlap_rows(excluded: Excluded) -> list[tuple[str, list[int]]]:
    """The overlap as rows for a table."""
    return [(str(name), [int(count) for count in row]) for name, row in excluded.overlap.iterrows()]
