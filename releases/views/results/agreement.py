"""Agreement of participants with the expected labels, and paradigms that a rule includes."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase

from analysis.report.page_findings import agreement_finding, selection_sentence
from experiments.models import Experiment
from judgments.frames.data_source import file_stem
from releases.gold.plans import find_plan
from releases.reports.forms import AgreementForm
from releases.reports.progress import note_look
from releases.reports.report_cache import cached_report
from releases.views.base import (
    csv_attachment,
    csv_name,
    explicit_query,
    form_choices,
    json_attachment,
    page,
    study_page,
)
from releases.views.figures import Figure, study_figure
from releases.views.large_studies import answered_at_once

CSV_COLUMNS = (
    "paradigm",
    "phenomenon",
    "items",
    "items_right",
    "ties",
    "judgments",
    "majority_agreement",
    "individual_agreement",
    "individual_agreement_pooled",
    "ci_low",
    "ci_high",
    "ci_method",
    "included",
    "status",
)


@study_page
@answered_at_once
def agreement(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report with its choices."""
    form, choices, is_valid = form_choices(request, study, AgreementForm)
    report = cached_report(study, "agreement", **choices)
    block = report["overall_included"] if report["rule"] else report["overall"]
    query = explicit_query(request, study)
    return page(
        request,
        study,
        "agreement",
        form=form,
        plan=find_plan(study, choices["exclude"]),
        report=report,
        finding=agreement_finding(report),
        selection=selection_sentence(report) if report["rule"] else "",
        shown_block=block,
        query=query,
        figures=figures(study, report, query=query) if report["overall"]["judgments"] else [],
        status=200 if is_valid else 400,
    )


@study_page
def as_csv(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The paradigms as CSV."""
    _, choices, _ = form_choices(request, study, AgreementForm)
    name = csv_name(study, "agreement", find_plan(study, choices["exclude"]))
    return csv_attachment(_report(request, study)["paradigms"], CSV_COLUMNS, name)


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    return json_attachment(_report(request, study), f"{file_stem(study)}-agreement.json")


def _report(request: HttpRequest, study: Experiment) -> dict[str, Any]:
    """The report of the query; downloading it is an interim look."""
    note_look(study, request.user, where="agreement")
    _, choices, _ = form_choices(request, study, AgreementForm)
    return cached_report(study, "agreement", **choices)


def figures(study: Experiment, report: dict[str, Any], *, query: str) -> list[Figure]:
    """Bars by paradigm and the most contested items."""
    judged = [row for row in report["paradigms"] if row["individual_agreement"] is not None]
    lowest = min(judged, key=lambda row: row["individual_agreement"], default=None)
    lowest_text = ""
    if lowest is not None:
        share = f"{100 * lowest['individual_agreement']:.0f} %"
        lowest_text = f"; the lowest of {len(judged)} is {lowest['paradigm'] or 'unnamed'} with {share}"
    overall = report["overall"]
    intervals = (
        ""
        if report["conventions"]["interval_method"].startswith("auto")
        else " Its intervals are those of auto."
    )
    return [
        study_figure(
            study,
            "agreement",
            alt_text=f"Individual agreement by paradigm{lowest_text}.",
            caption=f"Individual agreement by paradigm. The table below has the numbers.{intervals}",
            query=query,
        ),
        study_figure(
            study,
            "items",
            alt_text=f"Share as expected for the most contested of {overall['items']} items.",
            caption="The most contested items with their Wilson intervals.",
            query=query,
        ),
    ]
