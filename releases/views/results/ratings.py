"""Ratings: means of sentences on one scale, and participants without standardized ratings."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase

from analysis.errors import BadInput
from analysis.report.page_findings import ratings_finding, scales_sentence
from experiments.models import Experiment
from experiments.pages.forms import paginate
from judgments.frames.data_source import file_stem
from releases.gold.plans import find_plan
from releases.material_frames import texts
from releases.reports.forms import TRANSFORMS, RatingsForm
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

PER_PAGE = 100
BY_SD = ("z", "z-log")
CSV_COLUMNS = ("item", "condition", "sentence_id", "n", "mean", "sd", "se", "mean_raw", "status")


@study_page
@answered_at_once
def ratings(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report with its choices; a forced-choice study has none."""
    form, choices, is_valid = form_choices(request, study, RatingsForm)
    plan = find_plan(study, choices["exclude"])
    report = report_or_none(study, choices)
    context: dict[str, Any] = {
        "form": form,
        "plan": plan,
        "report": report,
        "query": explicit_query(request, study),
    }
    if report is not None:
        rows = sorted(report["items"], key=lambda row: (row["mean"] is None, -(row["mean"] or 0)))
        item_page = paginate(request, rows, most=PER_PAGE)
        text = texts(study)
        item_page.object_list = [
            {**row, "text": text.get(row["sentence_id"], "")} for row in item_page.object_list
        ]
        conditions = cached_report(study, "conditions", **choices)
        context |= {
            "items": item_page,
            "finding": ratings_finding(conditions),
            "flagged": [row for row in report["participants"] if row["status"] != "ok"],
            "language": study.materials.language if study.materials else study.language,
            "figures": figures(study, report, query=context["query"]),
            "scale": scale(report),
            "scales": scales_sentence(report["scales"]),
            "conditions": conditions,
            "keep": "&".join(part for part in context["query"].split("&") if not part.startswith("page=")),
        }
    return page(request, study, "ratings", status=200 if is_valid else 400, **context)


def scale(report: dict[str, Any]) -> str:
    """The scale, the divisor of the SD and the kinds of trials, as text."""
    names = dict(TRANSFORMS)
    divisor = ""
    if report["transform"] in BY_SD:
        divisor = ", SD divided by n − 1" if report["ddof"] else ", SD divided by n"
    kinds = " and ".join(f"{kind}s" for kind in report["scope"].split("+"))
    return f"{names[report['transform']]}{divisor}, over {kinds}"


@study_page
def as_csv(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The sentences as CSV."""
    _, choices, _ = form_choices(request, study, RatingsForm)
    name = csv_name(study, "ratings", find_plan(study, choices["exclude"]))
    report = _report(request, study)
    columns = (*CSV_COLUMNS, "scale") if len(report["scales"]) > 1 else CSV_COLUMNS
    return csv_attachment(report["items"], columns, name)


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    return json_attachment(_report(request, study), f"{file_stem(study)}-ratings.json")


def report_or_none(study: Experiment, choices: dict[str, Any]) -> dict[str, Any] | None:
    """The report, None where the task gives no ratings."""
    try:
        return cached_report(study, "ratings", **choices)
    except BadInput:
        return None


def figures(study: Experiment, report: dict[str, Any], *, query: str) -> list[Figure]:
    """Ticks by condition."""
    means = [row["mean"] for row in report["items"] if row["mean"] is not None]
    if not means:
        return []
    summary = f"{len(means)} sentence means from {min(means):.2f} to {max(means):.2f}"
    return [
        study_figure(
            study,
            "ratings",
            alt_text=f"Mean ratings by condition: {summary}.",
            caption="A tick per sentence, a dot per condition.",
            query=query,
        )
    ]


def _report(request: HttpRequest, study: Experiment) -> dict[str, Any]:
    _, choices, _ = form_choices(request, study, RatingsForm)
    report = report_or_none(study, choices)
    if report is None:
        raise Http404("this task gives no ratings")
    return report
