"""Power and cost by number of participants: before data collection, and with this study as a pilot."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase, QueryDict

from analysis.choices import POWER_MODELS
from analysis.errors import BadInput
from analysis.report.page_findings import power_finding, unknown_power_sentence
from experiments.models import Experiment
from experiments.studies.targets import minutes
from judgments.frames.data_source import available_data
from releases.gold.plans import find_plan
from releases.reports.judgment_cache import n_counted
from releases.reports.power_forms import (
    PilotForm,
    PlanPowerForm,
    add_costs,
    per_hour,
    plan_form,
    prospective_power,
)
from releases.views.base import explicit_query, form_choices, json_attachment, page, study_page
from releases.views.figures import registered_figure
from releases.views.results.computed_reports import page_outcome, report_json

POWER_CAPTION = "Power of the planned study by number of participants, with what they cost."


@study_page
def power(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The calculator; with judgments also the study as a pilot of the next one."""
    form = plan_form(request.GET.dict(), study)
    result = plan_outcome(form, study, query=request.GET.urlencode())
    pilot, context = None, {}
    if n_counted(study):
        pilot, choices, is_valid = form_choices(request, study, PilotForm)
        if not is_valid:
            choices = PilotForm({}, experiment=study).choices()
        pilot_result = page_outcome(request, study, "pilot", choices)
        context = {f"pilot_{name}": value for name, value in pilot_result.items()}
        if "pilot_report" in context:
            currency = form.cleaned_data.get("currency") or "GBP"
            context["unknown_power"] = unknown_power_sentence(context["pilot_report"])
            context["pilot_sizes"] = add_costs(context["pilot_report"]["sizes"], currency)
            context["pilot_plan"] = pilot_plan(request.GET.copy(), context["pilot_report"])
        context["plan"] = find_plan(study, choices["exclude"])
    return page(
        request,
        study,
        "power",
        plan_form=form,
        pilot_form=pilot,
        query=explicit_query(request, study),
        n_pilot=0 if study.data else available_data(study).get(Experiment.Data.PILOT, 0),
        status=400 if form.errors or "refused" in result else 200,
        **result,
        **context,
    )


def pilot_plan(query: QueryDict, report: dict[str, Any]) -> str:
    """The query that plans a study with the variation found in this one; empty where scales differ."""
    variation = report["variation"]
    if not variation or POWER_MODELS[report["task"]] != "likert":
        return ""
    for name in ("item_effect", "participant_effect"):
        query[name] = f"{variation[name]:.2f}"
    return query.urlencode()


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The plan's report as the command prints it."""
    result = plan_outcome(plan_form(request.GET.dict(), study), study)
    document = result.get("report") or {"error": result.get("refused", "")}
    return json_attachment(document, f"{study.slug}-power.json")


@study_page
def pilot_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The pilot's report as the command prints it."""
    return report_json(request, study, "pilot", form_class=PilotForm)


def plan_outcome(form: PlanPowerForm, study: Experiment, *, query: str = "") -> dict[str, Any]:
    """The report with its cost, or why it cannot be computed."""
    if form.errors:
        return {"refused": "a value above is not valid."}
    try:
        report = prospective_power(form)
    except BadInput as error:
        return {"refused": str(error)}
    currency = form.cleaned_data["currency"] or "GBP"
    trials = max(design["trials_per_participant"] for design in report["designs"])
    takes = minutes(study, n_trials=trials)
    smallest = add_costs([report["smallest"]], currency)[0] if report["smallest"] else None
    return {
        "report": report,
        "finding": power_finding(report, smallest["cost"] if smallest else ""),
        "figures": [registered_figure(study, "power-planned", query=query, caption=POWER_CAPTION)],
        "designs": add_costs(report["designs"], currency),
        "smallest": smallest,
        "minutes": takes,
        "per_hour": per_hour(report["price"]["reward_minor"], takes, currency),
    }
