"""Agreement: how far people agree with the expected labels, and which paradigms a rule includes."""

import json
from typing import Any

import pandas as pd
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse

from analysis.gold.writers import csv_bytes
from analysis.releases import reading
from analysis.releases.forms import AgreementForm
from analysis.releases.looks import note_look
from analysis.releases.plans import find_plan
from analysis.releases.views.figures import Figure, agreement_choices, study_figure
from analysis.releases.views.pages import page, study_page, valid_or_default
from experiments.models import Experiment

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
    "included",
    "status",
)


@study_page
def agreement(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report with its choices."""
    form = AgreementForm(request.GET or None, experiment=study)
    valid = valid_or_default(form)
    choices = agreement_choices(request, study)
    report = reading.agreement(study, **choices)
    block = report["overall_included"] if report["rule"] else report["overall"]
    query = request.GET.urlencode()
    return page(
        request,
        study,
        "agreement",
        form=form,
        plan=find_plan(study, choices["exclude"]),
        report=report,
        shown_block=block,
        query=query,
        figures=figures(study, report, query=query) if report["overall"]["judgments"] else [],
        status=200 if valid else 400,
    )


@study_page
def as_csv(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The paradigms as CSV."""
    note_look(study, request.user, where="agreement")
    report = reading.agreement(study, **agreement_choices(request, study))
    frame = pd.DataFrame(report["paradigms"], columns=list(CSV_COLUMNS), dtype=object)
    return attachment(csv_bytes(frame, CSV_COLUMNS), "text/csv; charset=utf-8", f"{study.slug}-agreement.csv")


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    note_look(study, request.user, where="agreement")
    report = reading.agreement(study, **agreement_choices(request, study))
    return json_attachment(report, f"{study.slug}-agreement.json")


def figures(study: Experiment, report: dict[str, Any], *, query: str) -> list[Figure]:
    """Bars by paradigm and the most contested items."""
    judged = [row for row in report["paradigms"] if row["individual_agreement"] is not None]
    lowest = min(judged, key=lambda row: row["individual_agreement"], default=None)
    said = ""
    if lowest is not None:
        share = f"{100 * lowest['individual_agreement']:.0f} %"
        said = f"; the lowest of {len(judged)} is {lowest['paradigm'] or 'unnamed'} with {share}"
    overall = report["overall"]
    return [
        study_figure(
            study,
            "agreement",
            alt_text=f"Individual agreement by paradigm{said}.",
            caption="Individual agreement by paradigm. The table below has the numbers.",
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


def attachment(content: bytes, kind: str, name: str) -> HttpResponse:
    """A file to keep."""
    return HttpResponse(
        content, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


def json_attachment(document: dict[str, Any], name: str) -> JsonResponse:
    """A JSON file to keep."""
    options = {"ensure_ascii": False, "indent": 2, "allow_nan": False}
    answer = JsonResponse(json.loads(json.dumps(document)), json_dumps_params=options)
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
