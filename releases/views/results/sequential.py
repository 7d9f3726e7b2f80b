"""Sequential Bayes factors: the evidence after each participant, and where a stopping rule ends."""

from django.http import HttpRequest, HttpResponseBase

from analysis.report.sequential_findings import describe_stop, sequential_finding
from experiments.models import Experiment
from releases.reports.forms import SequentialForm
from releases.views.base import explicit_query, study_page
from releases.views.figures import registered_figure
from releases.views.results.computed_reports import report_json, report_page


@study_page
def sequential(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report with its choices."""
    query = explicit_query(request, study)
    return report_page(
        request,
        study,
        "sequential",
        form_class=SequentialForm,
        add_context=lambda report: {
            "finding": sequential_finding(report),
            "rows": [
                {**row, "name": row[report["by"]], "stopped": describe_stop(row)}
                for row in report["contrasts"]
            ],
            "figures": [registered_figure(study, "sequential-bayes-factors", query=query)]
            if any(row["looks"] for row in report["contrasts"])
            else [],
        },
    )


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    return report_json(request, study, "sequential", form_class=SequentialForm)
