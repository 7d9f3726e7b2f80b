"""Reliability: agreement of people with each other, and the ceilings it sets."""

from django.http import HttpRequest, HttpResponseBase

from analysis.releases.report_forms import ReliabilityForm
from analysis.releases.views.pages import study_page
from analysis.releases.views.reports import report_json, report_page
from experiments.models import Experiment


@study_page
def reliability(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report, or the job that makes it."""
    return report_page(request, study, "reliability", kind=ReliabilityForm)


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    return report_json(request, study, "reliability", kind=ReliabilityForm)
