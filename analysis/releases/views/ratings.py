"""Ratings: means of sentences on one scale, and who cannot be put on it."""

from typing import Any

import pandas as pd
from django.http import Http404, HttpRequest, HttpResponseBase

from analysis.errors import BadInput
from analysis.gold.writers import csv_bytes
from analysis.releases import reading
from analysis.releases.forms import RatingsForm
from analysis.releases.material_frames import texts
from analysis.releases.plans import find_plan
from analysis.releases.views.agreement import attachment, json_attachment
from analysis.releases.views.figures import Figure, ratings_choices, study_figure
from analysis.releases.views.pages import page, study_page, valid_or_default
from experiments.models import Experiment
from experiments.pages.paging import page_of

PER_PAGE = 100
BY_SD = ("z", "z-log")
CSV_COLUMNS = ("item", "condition", "sentence_id", "n", "mean", "sd", "se", "mean_raw", "status")


@study_page
def ratings(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report with its choices; a forced-choice study has none."""
    form = RatingsForm(request.GET or None, experiment=study)
    valid = valid_or_default(form)
    choices = ratings_choices(request, study)
    plan = find_plan(study, choices["exclude"])
    report = report_or_none(study, choices)
    context: dict[str, Any] = {"form": form, "plan": plan, "report": report, "query": request.GET.urlencode()}
    if report is not None:
        rows = sorted(report["items"], key=lambda row: (row["mean"] is None, -(row["mean"] or 0)))
        shown = page_of(request, rows, most=PER_PAGE)
        text = texts(study)
        shown.object_list = [{**row, "text": text.get(row["sentence_id"], "")} for row in shown.object_list]
        context |= {
            "items": shown,
            "flagged": [row for row in report["participants"] if row["status"] != "ok"],
            "language": study.materials.language if study.materials else study.language,
            "figures": figures(study, report, query=context["query"]),
            "scale": scale(report),
            "conditions": reading.conditions(study, **choices),
            "keep": "&".join(part for part in context["query"].split("&") if not part.startswith("page=")),
        }
    return page(request, study, "ratings", status=200 if valid else 400, **context)


def scale(report: dict[str, Any]) -> str:
    """In words: the scale, what the SD is divided by, and the trials it rests on."""
    names = dict(RatingsForm.base_fields["transform"].choices)
    divided = (
        (", SD divided by n − 1" if report["ddof"] else ", SD divided by n")
        if report["transform"] in BY_SD
        else ""
    )
    over = " and ".join(f"{kind}s" for kind in report["scope"].split("+"))
    return f"{names[report['transform']]}{divided}, over {over}"


@study_page
def as_csv(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The sentences as CSV."""
    frame = pd.DataFrame(_report(request, study)["items"], columns=list(CSV_COLUMNS), dtype=object)
    return attachment(csv_bytes(frame, CSV_COLUMNS), "text/csv; charset=utf-8", f"{study.slug}-ratings.csv")


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    return json_attachment(_report(request, study), f"{study.slug}-ratings.json")


def report_or_none(study: Experiment, choices: dict[str, Any]) -> dict[str, Any] | None:
    """The report, None where the task gives no ratings."""
    try:
        return reading.ratings(study, **choices)
    except BadInput:
        return None


def figures(study: Experiment, report: dict[str, Any], *, query: str) -> list[Figure]:
    """Ticks by condition."""
    means = [row["mean"] for row in report["items"] if row["mean"] is not None]
    if not means:
        return []
    said = f"{len(means)} sentence means from {min(means):.2f} to {max(means):.2f}"
    return [
        study_figure(
            study,
            "ratings",
            alt_text=f"Mean ratings by condition: {said}.",
            caption="A tick per sentence, a dot per condition.",
            query=query,
        )
    ]


def _report(request: HttpRequest, study: Experiment) -> dict[str, Any]:
    report = report_or_none(study, ratings_choices(request, study))
    if report is None:
        raise Http404("this task gives no ratings")
    return report
