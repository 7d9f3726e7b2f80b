"""Agreement and inclusion while a study runs: the page, and the part of it that renews itself."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.dateparse import parse_datetime
from django.views.decorators.cache import never_cache

from analysis.agreement.inclusion import parse_rule
from analysis.releases.forms import ProgressForm
from analysis.releases.plans import find_plan
from analysis.releases.progress import seen_progress
from analysis.releases.views.agreement import json_attachment
from analysis.releases.views.pages import page, study_page, valid_or_default
from experiments.models import Experiment

NEAREST = 3


@study_page
def progress(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report with its choices."""
    form, choices, valid = chosen(request, study)
    return page(
        request,
        study,
        "progress",
        form=form,
        plan=find_plan(study, choices["exclude"]),
        status=200 if valid else 400,
        **shown(request, study, choices),
    )


@never_cache
@study_page
def part(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The numbers only, for ``js/live.js``."""
    _, choices, _ = chosen(request, study)
    return render(request, "releases/_progress.html", {"study": study, **shown(request, study, choices)})


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the API gives it."""
    _, choices, _ = chosen(request, study)
    report = seen_progress(study, user=request.user, where="progress", **choices)
    return json_attachment(report, f"{study.slug}-progress.json")


def chosen(request: HttpRequest, study: Experiment) -> tuple[ProgressForm, dict[str, Any], bool]:
    """The form, its choices, and whether all of them were valid."""
    form = ProgressForm(request.GET or None, experiment=study)
    valid = valid_or_default(form)
    return form, form.choices(), valid


def shown(request: HttpRequest, study: Experiment, choices: dict[str, Any]) -> dict[str, Any]:
    """What the numbers need: the report, open paradigms first, and the address that renews them."""
    report = seen_progress(study, user=request.user, where="progress", **choices)
    rows = [arranged(row, report) for row in report["paradigms"]]
    rows.sort(key=lambda row: -(row["p_change"] or 0))
    return {
        "report": report,
        "rows": rows,
        "open_rows": [row for row in rows if row["open"]],
        "query": request.GET.urlencode(),
        "as_of": parse_datetime(report["as_of"]),
        "last_look": parse_datetime(report["looks"]["last_at"] or ""),
    }


def arranged(row: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    """A paradigm with its items nearest to turning, and its interval as places in a drawing."""
    nearest = [item for item in report["items"] if item["paradigm"] == row["paradigm"]][:NEAREST]
    limit = getattr(parse_rule(report["rule"]), "share", None)
    ends = {"low": row["low"], "width": row["high"] - row["low"], "mean": row["mean"], "limit": limit}
    drawn = {name: None if share is None else f"{100 * float(share):.2f}" for name, share in ends.items()}
    return {**row, "nearest": nearest, "drawn": drawn}
