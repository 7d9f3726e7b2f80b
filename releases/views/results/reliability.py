"""Reliability: agreement between participants, and the ceilings it sets."""

from django.http import HttpRequest, HttpResponseBase

from analysis.report.page_findings import reliability_finding
from experiments.models import Experiment
from releases.reports.forms import ReliabilityForm
from releases.views.base import explicit_query, study_page
from releases.views.figures import registered_figure
from releases.views.results.computed_reports import report_json, report_page


@study_page
def reliability(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report, or the job that computes it."""
    query = explicit_query(request, study)
    return report_page(
        request,
        study,
        "reliability",
        form_class=ReliabilityForm,
        add_context=lambda report: {
            "finding": reliability_finding(report),
            "figures": [registered_figure(study, "reliability", query=query)]
            if any(half["spearman_brown"] is not None for half in report["split_half"])
            else [],
        },
    )


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    return report_json(request, study, "reliability", form_class=ReliabilityForm)
