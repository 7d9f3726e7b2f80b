"""Response times: outliers that are left out, geometric means by condition and ratios of conditions."""

from django.http import HttpRequest, HttpResponseBase

from analysis.choices import CORRECTION_NAMES
from analysis.report.page_findings import times_finding
from experiments.models import Experiment
from releases.reports.forms import TimesForm
from releases.views.base import explicit_query, study_page
from releases.views.figures import registered_figure
from releases.views.results.computed_reports import report_json, report_page


@study_page
def times(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report with its choices."""
    query = explicit_query(request, study)
    return report_page(
        request,
        study,
        "times",
        form_class=TimesForm,
        add_context=lambda report: {
            "finding": times_finding(report),
            "corrections": CORRECTION_NAMES,
            "figures": [registered_figure(study, "condition-times", query=query)],
        },
    )


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    return report_json(request, study, "times", form_class=TimesForm)
