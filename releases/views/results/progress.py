"""Agreement and inclusion while a study runs: the page, and the part that refreshes itself."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.dateparse import parse_datetime
from django.views.decorators.cache import never_cache

from analysis.agreement.inclusion import parse_rule
from analysis.report.page_findings import progress_finding
from experiments.models import Experiment
from judgments.frames.data_source import file_stem
from releases.gold.plans import find_plan
from releases.reports.forms import ProgressForm
from releases.reports.progress import viewed_progress
from releases.views.base import explicit_query, form_choices, json_attachment, page, study_page
from releases.views.large_studies import answered_at_once

MAX_NEAREST = 3


@study_page
@answered_at_once
def progress(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report with its choices."""
    form, choices, is_valid = form_choices(request, study, ProgressForm)
    return page(
        request,
        study,
        "progress",
        form=form,
        plan=find_plan(study, choices["exclude"]),
        status=200 if is_valid else 400,
        **report_context(request, study, choices),
    )


@never_cache
@study_page
def part(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The numbers only, for ``js/live.js``."""
    _, choices, _ = form_choices(request, study, ProgressForm)
    return render(
        request, "releases/_progress.html", {"study": study, **report_context(request, study, choices)}
    )


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the API gives it."""
    _, choices, _ = form_choices(request, study, ProgressForm)
    report = viewed_progress(study, user=request.user, where="progress", **choices)
    return json_attachment(report, f"{file_stem(study)}-progress.json")


def report_context(request: HttpRequest, study: Experiment, choices: dict[str, Any]) -> dict[str, Any]:
    """Context of the refreshing part: the report, with undecided paradigms first."""
    report = viewed_progress(study, user=request.user, where="progress", **choices)
    rows = [paradigm_row(row, report) for row in report["paradigms"]]
    rows.sort(key=lambda row: -(row["p_change"] or 0))
    return {
        "report": report,
        "finding": progress_finding(report),
        "rows": rows,
        "open_rows": [row for row in rows if row["open"]],
        "query": explicit_query(request, study),
        "as_of": parse_datetime(report["as_of"]),
        "last_look": parse_datetime(report["looks"]["last_at"] or ""),
    }


def paradigm_row(row: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    """A paradigm with its items nearest to another majority, and its interval in percent of the drawing."""
    nearest = [item for item in report["items"] if item["paradigm"] == row["paradigm"]][:MAX_NEAREST]
    limit = getattr(parse_rule(report["rule"]), "share", None)
    ends = {"low": row["low"], "width": row["high"] - row["low"], "mean": row["mean"], "limit": limit}
    positions = {name: None if share is None else f"{100 * float(share):.2f}" for name, share in ends.items()}
    return {**row, "nearest": nearest, "interval": positions}
