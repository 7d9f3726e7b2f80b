"""Power: how many participants, at what cost, before a study opens; and from this one as a pilot."""

import hashlib
from functools import partial
from typing import Any

from django.core.cache import cache
from django.http import HttpRequest, HttpResponseBase

from analysis.effects.planned import Noise
from analysis.effects.power_report import Price, prospective_report
from analysis.errors import BadInput
from analysis.releases.heavy import n_judgments
from analysis.releases.plans import find_plan
from analysis.releases.pricing import costed, per_hour, price_fields
from analysis.releases.report_forms import PilotForm, PlanPowerForm
from analysis.releases.views.agreement import json_attachment
from analysis.releases.views.pages import page, study_page
from analysis.releases.views.reports import asked, chosen, report_json
from config.version import code_version
from experiments.estimate import minutes
from experiments.models import Experiment

EFFECT, DRAWS, FEWEST_DRAWS, WORK, SECONDS = 0.5, 1_000, 200, 2_000_000, 600
PLANNED = (10, 20, 30, 40, 60)


def first_values(study: Experiment) -> dict[str, Any]:
    """The calculator as the study's plan fills it in."""
    items = study.materials.items if study.materials else None
    paradigms = items.values("paradigm").distinct().count() if items else 0
    design = getattr(study, "design", None)
    per_paradigm = max(1, min(40, round(items.count() / paradigms))) if items and paradigms else 8
    lists = min(design.n_lists if design else 2, per_paradigm)
    return {
        "task": study.task,
        "effect": EFFECT,
        "participants": " ".join(str(size) for size in PLANNED),
        "items": str(per_paradigm),
        "lists": max(1, lists),
        **price_fields(study),
    }


def planned(form: PlanPowerForm) -> dict[str, Any]:
    """The report of a valid form."""
    data = form.cleaned_data
    noise = Noise(
        item_effect=data.get("item_effect") or 0.0, participant_effect=data.get("participant_effect") or 0.0
    )
    cells = sum(data["participants"]) * sum(data["items"])
    report = partial(
        prospective_report,
        data["task"],
        data["effect"],
        participants=data["participants"],
        items=data["items"],
        lists=data["lists"],
        noise=noise,
        draws=int(min(DRAWS, max(FEWEST_DRAWS, WORK / cells))),
        price=Price(**form.price()),
    )
    key = hashlib.sha256(repr((code_version(), report.args, sorted(report.keywords.items()))).encode())
    return cache.get_or_set(f"power-{key.hexdigest()}", report, SECONDS)


@study_page
def power(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The calculator; with answers also the study as a pilot of the next."""
    form = plan_form(request, study)
    told = outcome(form, study)
    pilot, context = None, {}
    if n_judgments(study):
        pilot, choices, valid = chosen(request, study, PilotForm)
        if not valid:
            choices = PilotForm({}, experiment=study).choices()
        found = asked(request, study, "pilot", choices)
        context = {f"pilot_{name}": value for name, value in found.items()}
        if "pilot_report" in context:
            currency = form.cleaned_data.get("currency") or "GBP"
            context["pilot_sizes"] = costed(context["pilot_report"]["sizes"], currency)
        context["plan"] = find_plan(study, choices["exclude"])
    return page(
        request,
        study,
        "power",
        plan_form=form,
        pilot_form=pilot,
        query=request.GET.urlencode(),
        status=400 if form.errors or "refused" in told else 200,
        **told,
        **context,
    )


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The plan's report as the command prints it."""
    told = outcome(plan_form(request, study), study)
    return json_attachment(
        told.get("report") or {"error": told.get("refused", "")}, f"{study.slug}-power.json"
    )


@study_page
def pilot_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The pilot's report as the command prints it."""
    return report_json(request, study, "pilot", kind=PilotForm)


def plan_form(request: HttpRequest, study: Experiment) -> PlanPowerForm:
    """What the address says, on top of what the study's plan says."""
    data = {**first_values(study), **{name: value for name, value in request.GET.items() if value != ""}}
    form = PlanPowerForm(data)
    form.is_valid()
    return form


def outcome(form: PlanPowerForm, study: Experiment) -> dict[str, Any]:
    """The report and what it costs, or why it cannot be computed."""
    if form.errors:
        return {"refused": "a choice above cannot be computed."}
    try:
        report = planned(form)
    except BadInput as error:
        return {"refused": str(error)}
    currency = form.cleaned_data["currency"] or "GBP"
    trials = max(design["trials_per_participant"] for design in report["designs"])
    takes = minutes(study, n_trials=trials)
    return {
        "report": report,
        "designs": costed(report["designs"], currency),
        "smallest": costed([report["smallest"]], currency)[0] if report["smallest"] else None,
        "minutes": takes,
        "per_hour": per_hour(report["price"]["reward_minor"], takes, currency),
    }
