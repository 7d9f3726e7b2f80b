"""Reliability: agreement between participants, and the ceilings it sets."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase

from analysis.reliability.response_styles import REASONS, STYLES
from analysis.report.page_findings import reliability_finding
from experiments.models import Experiment
from releases.reports.forms import ReliabilityForm
from releases.views.base import explicit_query, study_page
from releases.views.figures import registered_figure
from releases.views.results.computed_reports import report_json, report_page

MOST_PEOPLE = 200  # rows of a table of participants on the page


@study_page
def reliability(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report, or the job that computes it."""
    query = explicit_query(request, study)
    return report_page(
        request,
        study,
        "reliability",
        form_class=ReliabilityForm,
        add_context=lambda report: {
            "finding": reliability_finding(report),
            "figures": [registered_figure(study, "reliability", query=query)]
            if any(half["spearman_brown"] is not None for half in report["split_half"])
            else [],
            **styles_context(report),
        },
    )


def styles_context(report: dict[str, Any]) -> dict[str, Any]:
    """The participants by style and drift, those farthest from the others first, and reasons."""
    if "styles" not in report:  # computed by an earlier version
        return {}
    drift, rows = report["drift"], report["styles"]["participants"]
    people = sorted(rows, key=lambda row: -len(row["apart"]))[:MOST_PEOPLE]
    slopes = sorted(drift["participants"], key=lambda row: 1.0 if row["p"] is None else row["p"])
    return {
        "styles": [{"name": name, "title": name.capitalize()} for name in STYLES],
        "people": [{**row, "cells": [_style_cell(row, name) for name in STYLES]} for row in people],
        "n_hidden": len(rows) - len(people),
        "drifting": slopes[:MOST_PEOPLE],
        "styles_reason": REASONS.get(report["styles"]["status"], ""),
        "drift_reason": REASONS.get(drift["status"], ""),
    }


def _style_cell(row: dict[str, Any], style: str) -> dict[str, Any]:
    return {"share": row[style], "low": row[f"{style}_low"], "high": row[f"{style}_high"]}


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    return report_json(request, study, "reliability", form_class=ReliabilityForm)
