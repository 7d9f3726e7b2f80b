"""Groups of participants: effects and items that differ between dialects, ages or other answers."""

from django.http import HttpRequest, HttpResponseBase

from analysis.choices import CORRECTION_NAMES
from analysis.report.group_findings import groups_finding, left_out_groups
from experiments.models import Experiment
from releases.gold.plans import find_plan
from releases.reports.forms import GroupsForm
from releases.views.base import csv_attachment, csv_name, explicit_query, form_choices, study_page
from releases.views.figures import registered_figure
from releases.views.results.computed_reports import report_json, report_outcome, report_page

CSV_COLUMNS = (
    "item",
    "paradigm",
    "group",
    "reference",
    "n_group",
    "n_reference",
    "mean_group",
    "mean_reference",
    "levels",
    "statistic",
    "p",
    "p_holm",
    "p_bh",
    "odds_ratio",
    "ci_low",
    "ci_high",
    "delta",
    "smd",
    "effect_size",
    "effect_class",
    "status",
)


@study_page
def groups(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report with its choices."""
    query = explicit_query(request, study)
    return report_page(
        request,
        study,
        "groups",
        form_class=GroupsForm,
        add_context=lambda report: {
            "finding": groups_finding(report),
            "left_out": left_out_groups(report),
            "correction": CORRECTION_NAMES[report["correction"]],
            "corrected": f"p_{report['correction']}",
            "tested": [row for row in report["items"] if row["p"] is not None],
            "figures": [registered_figure(study, "group-effects", query=query)] if report["effects"] else [],
            "item_figures": [registered_figure(study, "item-functioning", query=query)]
            if report["summary"]["items_tested"]
            else [],
        },
    )


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    return report_json(request, study, "groups", form_class=GroupsForm)


@study_page
def as_csv(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """One row per item and group."""
    _, choices, _ = form_choices(request, study, GroupsForm)
    report = report_outcome(request, study, "groups", choices).get("report", {"items": []})
    name = csv_name(study, "groups", find_plan(study, choices["exclude"]))
    return csv_attachment(report["items"], CSV_COLUMNS, name)
