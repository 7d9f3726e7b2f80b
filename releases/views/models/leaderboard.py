"""The leaderboard of a release as page, CSV and JSON, sorted by query parameters."""

from typing import Any

import pandas as pd
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

import analysis  # figures through the package, which loads Altair when the first one is drawn
from analysis.choices import LEADERBOARD_SORT
from analysis.comparison.leaderboard import CONSTANT, PEOPLE
from analysis.errors import BadInput, UnknownName
from analysis.gold.writers import csv_bytes
from analysis.report.page_findings import leaderboard_finding
from analysis.text import no_formula
from experiments.models import Experiment
from experiments.pages.access import AuthenticatedRequest
from releases.comparison.compare import Options, lowest_and_highest, request_comparison
from releases.comparison.leaderboard import done_runs, leaderboard
from releases.models import Release
from releases.reports.study_figures import build_addresses
from releases.views.base import explained_on_top, json_attachment, page, study_page
from releases.views.figures import Figure, answering, figure_response, is_on_page
from releases.views.releases import find

TITLES = {
    "model": "Model",
    "blimp": "BLiMP",
    "area": "Area",
    "pearson_r": "r of deltas",
    "spearman_r": "ρ",
    "mean_abs_difference": "mean distance",
}


@study_page
def board(request: HttpRequest, study: Experiment, *, number: int) -> HttpResponseBase:
    """Show the table; invalid query parameters give the default with a message."""
    release = find(study, number, ready=True)
    choices = query_choices(request)
    try:
        document = leaderboard(release, **choices)
        status = 200
    except UnknownName as error:
        explained_on_top(request, error)
        document, status = leaderboard(release), 400
    rows = _rows(document)
    return page(
        request,
        study,
        "models",
        template="leaderboard",
        status=status,
        release=release,
        board=document,
        heads=_heads(document, choices["conventions"]),
        rows=rows,
        finding=leaderboard_finding(document["rows"], document["sort"], _title(document["sort"])),
        figures=_figures(study, document, choices["conventions"]),
        chance=_chance(document),
        below=sum(row["is_below"] for row in rows),
        query=urlencode({"sort": document["sort"], "conventions": choices["conventions"]}),
        chosen=choices["conventions"],
    )


@study_page
def figure(request: HttpRequest, study: Experiment, *, number: int, form: str) -> HttpResponseBase:
    """The column that the leaderboard is sorted by, as a figure."""
    document = requested_leaderboard(request, study, number)
    addresses = build_addresses(study) if is_on_page(request) else analysis.figures.Addresses()
    return figure_response(
        request, lambda: _draw(document, addresses), name=f"{study.slug}-{number}-leaderboard", form=form
    )


def _draw(document: dict[str, Any], addresses: Any) -> Any:
    figures, key = analysis.figures, _drawn_key(document)
    board = figures.leaderboard_frame(document["rows"], key)
    note = f"Release {document['release']}."
    return figures.leaderboard_figure(board, criterion=_title(key), note=note, addresses=addresses)


def _drawn_key(document: dict[str, Any]) -> str:
    """The column of the order; the criterion of BLiMP where models are sorted by name."""
    return LEADERBOARD_SORT if document["sort"] == "model" else str(document["sort"])


def _figures(study: Experiment, document: dict[str, Any], conventions: str) -> list[Figure]:
    key = _drawn_key(document)
    if not any(row["kind"] == "model" and row.get(key) is not None for row in document["rows"]):
        return []
    url = reverse("study-leaderboard-figure", args=[study.slug, document["release"], "svg"])
    query = urlencode({"sort": document["sort"], **({"conventions": conventions} if conventions else {})})
    text = f"A dot per model with its interval by {_title(key)}, beside chance, the constant and people."
    return [Figure(url.removesuffix(".svg"), text, text, query, **answering("leaderboard"))]


@study_page
def as_json(request: HttpRequest, study: Experiment, *, number: int) -> HttpResponseBase:
    """Return the document as the command and the API do."""
    document = requested_leaderboard(request, study, number)
    return json_attachment(document, f"{study.slug}-{number}-leaderboard.json")


@study_page
def as_csv(request: HttpRequest, study: Experiment, *, number: int) -> HttpResponseBase:
    """Return the rows as CSV, numbers unrounded."""
    rows = requested_leaderboard(request, study, number)["rows"]
    frame = pd.DataFrame(rows, dtype=object).map(no_formula)
    response = HttpResponse(csv_bytes(frame, list(frame.columns)), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-{number}-leaderboard.csv"'
    return response


@study_page
@require_POST
def compare_rest(request: AuthenticatedRequest, study: Experiment, *, number: int) -> HttpResponseBase:
    """Compare the scored models that are not on the leaderboard, with its conventions."""
    release = find(study, number, ready=True)
    try:
        document = leaderboard(release, conventions=request.POST.get("conventions", ""))
        conventions = document["conventions"]
        options = Options()
        if conventions:
            keys = ("deltas", "signs", "already_standardized", "seed")
            options = Options(**{key: conventions[key] for key in keys})
        uncompared = {row["run"] for row in document["not_compared"]}
        runs = done_runs(study).filter(pk__in=uncompared)
        comparison = request_comparison(release, runs, options=options, user=request.user)
    except BadInput as error:
        explained_on_top(request, error)
        return redirect("study-leaderboard", study.slug, number)
    return redirect("study-comparison", study.slug, comparison.pk)


def requested_leaderboard(request: HttpRequest, study: Experiment, number: int) -> dict[str, Any]:
    """Return the leaderboard of the query parameters."""
    return leaderboard(find(study, number, ready=True), **query_choices(request))


def query_choices(request: HttpRequest) -> dict[str, Any]:
    """Return order and conventions of the query parameters."""
    order = request.GET.get("order", "")
    return {
        "sort": request.GET.get("sort") or LEADERBOARD_SORT,
        "ascending": {"ascending": True, "descending": False}.get(order),
        "conventions": request.GET.get("conventions", ""),
    }


def newest_release(study: Experiment) -> Release | None:
    """Return the newest release that is ready."""
    return study.releases.filter(state=Release.State.READY).order_by("-number").first()


def _heads(board: dict[str, Any], conventions: str) -> list[dict[str, Any]]:
    """Return numeric columns with the query that sorts by them."""
    heads = []
    for key in _columns(board):
        query = {"sort": key, **({"conventions": conventions} if conventions else {})}
        heads.append({
            "key": key, "title": _title(key), "query": urlencode(query), "is_sorted": key == board["sort"],
        })  # fmt: skip
    return heads


def _columns(board: dict[str, Any]) -> list[str]:
    keys = board["sort_keys"]
    deltas = [key for key in keys if key.startswith("adc_") and key.count("_") == 1]
    skills = [f"{key}_skill" for key in deltas[:1]]
    return ["blimp", *deltas, "pearson_r", "spearman_r", "area", *skills] if board["rows"] else []


def _title(key: str) -> str:
    if key.endswith("_skill"):
        return f"Skill at {key.split('_')[1]}"
    return TITLES.get(key) or f"ADC {key.removeprefix('adc_')}"


def _rows(board: dict[str, Any]) -> list[dict[str, Any]]:
    """Return rows with their cells in the order of the column heads."""
    columns = _columns(board)
    first = next((key for key in columns if key.startswith("adc_")), "")
    constant = next((row[first] for row in board["rows"] if first and row["kind"] == CONSTANT), None)
    rows = []
    for row in board["rows"]:
        cells = [
            {
                "value": row.get(key), "low": row.get(f"{key}_low"), "high": row.get(f"{key}_high"),
                "recalibrated": row.get(f"{key}_recalibrated"),
                "ceiling": row.get(f"{key}_ceiling") if row["kind"] != PEOPLE else None,
            }
            for key in columns
        ]  # fmt: skip
        below = first and constant is not None and row[first] is not None and row[first] < constant
        rows.append({**row, "cells": cells, "is_below": bool(below) and row["kind"] != CONSTANT})
    return rows


def _chance(board: dict[str, Any]) -> list[tuple[float | None, float | None]]:
    """Return the range of chance levels over the models, in the order of the column heads."""
    return [lowest_and_highest(row.get(f"{key}_chance") for row in board["rows"]) for key in _columns(board)]
