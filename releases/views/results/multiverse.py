"""Multiverse: one effect under every combination of exclusion, transformation and model."""

from django.http import HttpRequest, HttpResponseBase

from analysis.choices import MULTIVERSE_MODELS
from analysis.report.page_findings import multiverse_finding
from experiments.models import Experiment
from releases.gold.plans import find_plan
from releases.reports.forms import MultiverseForm
from releases.views.base import csv_attachment, csv_name, explicit_query, form_choices, study_page
from releases.views.figures import registered_figure
from releases.views.results.computed_reports import report_json, report_outcome, report_page

CSV_COLUMNS = (
    "exclusion",
    "transform",
    "model",
    "participants",
    "judgments",
    "estimate",
    "ci_low",
    "ci_high",
    "raw",
    "p",
    "status",
    "is_current",
)


@study_page
def multiverse(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report with its choices."""
    query = explicit_query(request, study)
    return report_page(
        request,
        study,
        "multiverse",
        form_class=MultiverseForm,
        add_context=lambda report: {
            "finding": multiverse_finding(report),
            "models": MULTIVERSE_MODELS,
            "figures": [registered_figure(study, "specification-curve", query=query)]
            if report["summary"]["estimated"]
            else [],
        },
    )


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    return report_json(request, study, "multiverse", form_class=MultiverseForm)


@study_page
def as_csv(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """One row per specification."""
    _, choices, _ = form_choices(request, study, MultiverseForm)
    report = report_outcome(request, study, "multiverse", choices).get("report", {"specifications": []})
    name = csv_name(study, "multiverse", find_plan(study, choices["exclude"]))
    return csv_attachment(report["specifications"], CSV_COLUMNS, name)
