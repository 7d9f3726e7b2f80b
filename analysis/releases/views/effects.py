"""Effects: the five analyses of every contrast, how many hold, and interactions."""

from typing import Any

import pandas as pd
from django.http import HttpRequest, HttpResponseBase

from analysis.effects.convergence import ANALYSES
from analysis.errors import BadInput
from analysis.gold.writers import csv_bytes
from analysis.releases.heavy import report_or_job
from analysis.releases.plans import find_plan
from analysis.releases.report_forms import EffectsForm, OrdinalForm
from analysis.releases.views.agreement import attachment
from analysis.releases.views.pages import page, study_page
from analysis.releases.views.reports import asked, chosen, report_json, report_page
from experiments.models import Experiment, Job

CSV_COLUMNS = (
    "contrast",
    "task",
    "analysis",
    "estimate",
    "se",
    "statistic",
    "df",
    "p",
    "p_holm",
    "outcome",
    "status",
    "method",
)
SIGNS = {"converges": "✓", "reversed": "↺", "null": "0", "not_estimable": "–"}


@study_page
def effects(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report with its choices."""
    form, choices, valid = chosen(request, study, EffectsForm)
    found = asked(request, study, "effects", choices)
    if "report" in found:
        found["contrasts"] = by_contrast(found["report"])
    return page(
        request,
        study,
        "effects",
        form=form,
        plan=find_plan(study, choices["exclude"]),
        query=request.GET.urlencode(),
        analyses=ANALYSES,
        status=200 if valid and "refused" not in found else 400,
        **found,
    )


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    return report_json(request, study, "effects", kind=EffectsForm)


@study_page
def as_csv(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """One row per contrast and analysis."""
    _, choices, _ = chosen(request, study, EffectsForm)
    try:
        found = report_or_job(study, "effects", choices, user=request.user)
    except BadInput:
        found = None
    rows = [] if found is None or isinstance(found, Job) else found["analyses"]
    by = choices["by"]
    table = pd.DataFrame(
        [{**row, "contrast": row[by]} for row in rows], columns=list(CSV_COLUMNS), dtype=object
    )
    return attachment(csv_bytes(table, CSV_COLUMNS), "text/csv; charset=utf-8", f"{study.slug}-effects.csv")


@study_page
def ordinal(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """Likert ratings as ordered categories."""
    return report_page(request, study, "ordinal", kind=OrdinalForm)


@study_page
def ordinal_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    return report_json(request, study, "ordinal", kind=OrdinalForm)


def by_contrast(report: dict[str, Any]) -> list[dict[str, Any]]:
    """One row per contrast: its effect sizes, and its five outcomes in order."""
    by = report["by"]
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in report["analyses"]:
        rows.setdefault((row[by], row["task"]), []).append({**row, "sign": SIGNS[row["outcome"]]})
    return [
        {**effect, "name": effect[by], "cells": rows.get((effect[by], effect["task"]), [])}
        for effect in report["effects"]
    ]
