"""Effects: five analyses of every contrast, how many contrasts hold, and interactions; ordinal models."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase

from analysis.choices import CORRECTION_NAMES
from analysis.effects.five_analyses import ANALYSES
from analysis.report.findings import equivalence_sentence, joint_cost_sentence, sesoi_bounds
from analysis.report.page_findings import effects_finding, left_out_sentence, ordinal_finding
from experiments.models import Experiment
from releases.gold.plans import find_plan
from releases.reports.forms import EffectsForm, OrdinalForm
from releases.views.base import csv_attachment, csv_name, explicit_query, form_choices, study_page
from releases.views.figures import Figure, registered_figure
from releases.views.results.computed_reports import report_json, report_outcome, report_page

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
    "p_bh",
    "ci_low",
    "ci_high",
    "outcome",
    "status",
    "method",
    "structure",
    "path",
)
SIGNS = {"converges": "✓", "reversed": "↺", "null": "0", "not_estimable": "–"}


@study_page
def effects(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report with its choices."""
    return report_page(
        request,
        study,
        "effects",
        form_class=EffectsForm,
        add_context=lambda report: {
            "interaction_figure": interaction_figure(request, study),
            "contrasts": by_contrast(report),
            "equivalence_finding": equivalence_sentence(report),
            "bounds": sesoi_bounds(report) if report["equivalence"] else "",
            "analyses": ANALYSES,
            "correction": CORRECTION_NAMES[report["correction"]],
            "corrected": f"p_{report['correction']}",
            "findings": [
                joint_cost_sentence(
                    row, by=report["by"], transform=report["transform"], models=report["models"]
                )
                for row in report["interactions"]
                if row["status"] == "ok"
            ],
            "finding": contrast_finding(report),
            "left_out": left_out_sentence(report),
            "figures": effect_figures(study, report, query=explicit_query(request, study)),
        },
    )


def interaction_figure(request: HttpRequest, study: Experiment) -> Figure:
    """The interaction plot under the plan of the page."""
    return registered_figure(study, "interaction", query=explicit_query(request, study))


def contrast_finding(report: dict[str, Any]) -> str:
    """The finding of the contrasts; a factorial study has that of its interaction instead."""
    has_interaction = (
        any(row["status"] == "ok" for row in report["interactions"]) and not report["conditions"]
    )
    return "" if has_interaction else effects_finding(report)


def effect_figures(study: Experiment, report: dict[str, Any], *, query: str) -> list[Figure]:
    """The forest of effect sizes, where a contrast has one."""
    # The figure is of acceptable and unacceptable sentences.
    has_sizes = not report["conditions"] and any(row["d_z"] is not None for row in report["effects"])
    return [registered_figure(study, "effect-sizes", query=query)] if has_sizes else []


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    return report_json(request, study, "effects", form_class=EffectsForm)


@study_page
def as_csv(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """One row per contrast and analysis."""
    _, choices, _ = form_choices(request, study, EffectsForm)
    report = report_outcome(request, study, "effects", choices).get("report", {"analyses": []})
    rows = [{**row, "contrast": row[choices["by"]]} for row in report["analyses"]]
    name = csv_name(study, "effects", find_plan(study, choices["exclude"]))
    return csv_attachment(rows, CSV_COLUMNS, name)


@study_page
def ordinal(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """Likert ratings as ordered categories."""
    query = explicit_query(request, study)
    return report_page(
        request,
        study,
        "ordinal",
        form_class=OrdinalForm,
        add_context=lambda report: {
            "finding": ordinal_finding(report),
            "figures": [registered_figure(study, "scale-points", query=query)],
        },
    )


@study_page
def ordinal_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The report as the command prints it."""
    return report_json(request, study, "ordinal", form_class=OrdinalForm)


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
