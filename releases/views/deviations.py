"""Deviations from the preregistered version: the list, its files, and the reasons that editors write."""

from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from analysis.exclusions.plan import Plan
from analysis.gold.codebook import DEVIATION_FILE
from analysis.report.deviations import DEVIATION, IN_PROGRESS, NOT_STATED, PLANNED
from experiments.models import Experiment
from releases.gold.deviations import (
    LONGEST_REASON,
    differing_sessions,
    list_deviations,
    published_rows,
    reasons_by_row,
    write_reason,
)
from releases.gold.frozen_plan import choose_preregistered_version
from releases.gold.options import ReportOptions
from releases.gold.plans import current_exclusion
from releases.reports.report_cache import cached_result
from releases.study_report.request import list_reports
from releases.views.base import csv_attachment, explained_on_top, json_attachment, page, study_page


def current_deviations(study: Experiment) -> dict[str, Any]:
    """The list under the current exclusion plan, with the choices of the newest report."""
    exclude = current_exclusion(study)
    newest = next(iter(list_reports(study)), None)
    chosen = newest.options if newest else {}
    options = ReportOptions(**{**chosen, "exclude": exclude, "round_number": None})

    def count_sessions(first: Plan, second: Plan) -> int:
        choices = {"exclude": exclude, "plans": [first.sha256, second.sha256]}
        n: int = cached_result(study, "deviations", choices, lambda: differing_sessions(study, first, second))
        return n

    return list_deviations(study, options, count_sessions=count_sessions)


def store_reason(study: Experiment, key: str, *, text: str, user: Any) -> bool:
    """Store a version of the reason of a row of the present list; False where it says the same."""
    keys = {row["key"] for row in current_deviations(study)["rows"]}
    return write_reason(study, key, text=text, keys=keys, user=user) is not None


@study_page
def deviations(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The list by verdict, with forms for reasons and for the version that was preregistered."""
    document, reasons = current_deviations(study), reasons_by_row(study)
    rows = [{**row, "versions": reasons.get(row["key"], [])} for row in document["rows"]]
    by_verdict: dict[str, Any] = {
        name: [row for row in rows if row["verdict"] == verdict]
        for name, verdict in (
            ("deviating", DEVIATION),
            ("running", IN_PROGRESS),
            ("silent", NOT_STATED),
            ("planned", PLANNED),
        )
    }
    return page(
        request,
        study,
        "deviations",
        report=document,
        compared_with=document["compared_with"],
        n_unexplained=sum(not row["reason"] for row in by_verdict["deviating"]),
        longest_reason=LONGEST_REASON,
        **by_verdict,
    )


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The list as the API gives it."""
    return json_attachment(current_deviations(study), f"{study.slug}-deviations.json")


@study_page
def as_csv(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The list as a release has it."""
    rows = published_rows(current_deviations(study))
    return csv_attachment(rows, DEVIATION_FILE, f"{study.slug}-deviations.csv")


@study_page
@require_POST
def reason(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """Write a version of a reason."""
    key = request.POST.get("key", "")
    try:
        is_new = store_reason(study, key, text=request.POST.get("text", ""), user=request.user)
    except BadInput as error:
        explained_on_top(request, error)
        return redirect("study-deviations", study.slug)
    messages.success(request, "The reason is saved." if is_new else "Nothing was changed.")
    return redirect(f"{reverse('study-deviations', args=[study.slug])}#row-{quote(key)}")


@study_page
@require_POST
def choose_version(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """Compare with the version that was registered."""
    text = request.POST.get("version", "")
    number = int(text) if text.isdecimal() and len(text) < 10 else 0
    try:
        version = choose_preregistered_version(study, number, user=request.user)
    except BadInput as error:
        explained_on_top(request, error)
    else:
        messages.success(request, f"What was done is compared with version {version.number} now.")
    return redirect("study-deviations", study.slug)
