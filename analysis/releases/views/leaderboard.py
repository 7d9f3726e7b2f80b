"""The leaderboard of a release as page, CSV and JSON, ordered by the address alone."""

from typing import Any

import pandas as pd
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from analysis.comparison.leaderboard import CONSTANT, PEOPLE
from analysis.errors import BadInput, UnknownName
from analysis.gold.writers import csv_bytes
from analysis.releases.chance_row import lowest_and_highest
from analysis.releases.comparing import Options, request_comparison
from analysis.releases.leaderboard import DEFAULT_SORT, done_runs, leaderboard
from analysis.releases.models import Release
from analysis.releases.views.agreement import json_attachment
from analysis.releases.views.pages import explained_on_top, page, study_page
from analysis.releases.views.releases import find
from experiments.models import Experiment

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
    """The table; a wrong choice in the address gives the default and says so."""
    release = find(study, number, ready=True)
    wanted = chosen(request)
    try:
        found = leaderboard(release, **wanted)
        status = 200
    except UnknownName as error:
        explained_on_top(request, error)
        found, status = leaderboard(release), 400
    rows = _rows(found)
    return page(
        request,
        study,
        "models",
        template="leaderboard",
        status=status,
        release=release,
        board=found,
        heads=_heads(found, wanted["conventions"]),
        rows=rows,
        chance=_chance(found),
        below=sum(row["is_below"] for row in rows),
        query=urlencode({"sort": found["sort"], "conventions": wanted["conventions"]}),
        chosen=wanted["conventions"],
    )


@study_page
def as_json(request: HttpRequest, study: Experiment, *, number: int) -> HttpResponseBase:
    """The document as command and API give it."""
    return json_attachment(asked(request, study, number), f"{study.slug}-{number}-leaderboard.json")


@study_page
def as_csv(request: HttpRequest, study: Experiment, *, number: int) -> HttpResponseBase:
    """The rows, every number at full length."""
    rows = asked(request, study, number)["rows"]
    frame = pd.DataFrame(rows, dtype=object)
    answer = HttpResponse(csv_bytes(frame, list(frame.columns)), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{study.slug}-{number}-leaderboard.csv"'
    return answer


@study_page
@require_POST
def compare_rest(request: HttpRequest, study: Experiment, *, number: int) -> HttpResponseBase:
    """Compare every scored model that is not on the board yet, by the board's conventions."""
    release = find(study, number, ready=True)
    try:
        found = leaderboard(release, conventions=request.POST.get("conventions", ""))
        said = found["conventions"]
        options = Options(
            said["deltas"], said["signs"], said["already_standardized"], said["seed"]
        ) if said else Options()  # fmt: skip
        left = {row["run"] for row in found["not_compared"]}
        runs = done_runs(study).filter(pk__in=left)
        made = request_comparison(release, runs, options=options, user=request.user)
    except BadInput as error:
        explained_on_top(request, error)
        return redirect("study-leaderboard", study.slug, number)
    return redirect("study-comparison", study.slug, made.pk)


def asked(request: HttpRequest, study: Experiment, number: int) -> dict[str, Any]:
    """The leaderboard that the address asks for."""
    return leaderboard(find(study, number, ready=True), **chosen(request))


def chosen(request: HttpRequest) -> dict[str, Any]:
    """Order and conventions in the address."""
    order = request.GET.get("order", "")
    return {
        "sort": request.GET.get("sort") or DEFAULT_SORT,
        "ascending": {"ascending": True, "descending": False}.get(order),
        "conventions": request.GET.get("conventions", ""),
    }


def newest_release(study: Experiment) -> Release | None:
    """The newest release whose files stand."""
    return study.releases.filter(state=Release.State.READY).order_by("-number").first()


def _heads(board: dict[str, Any], conventions: str) -> list[dict[str, Any]]:
    """Columns of numbers with the address that sorts by them."""
    heads = []
    for key in _shown(board):
        query = {"sort": key, **({"conventions": conventions} if conventions else {})}
        heads.append({
            "key": key, "title": _title(key), "query": urlencode(query), "is_sorted": key == board["sort"],
        })  # fmt: skip
    return heads


def _shown(board: dict[str, Any]) -> list[str]:
    keys = board["sort_keys"]
    deltas = [key for key in keys if key.startswith("adc_") and key.count("_") == 1]
    skills = [f"{key}_skill" for key in deltas[:1]]
    return ["blimp", *deltas, "pearson_r", "spearman_r", "area", *skills] if board["rows"] else []


def _title(key: str) -> str:
    if key.endswith("_skill"):
        return f"Skill at {key.split('_')[1]}"
    return TITLES.get(key) or f"ADC {key.removeprefix('adc_')}"


def _rows(board: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows with their cells in the order of the heads."""
    shown = _shown(board)
    first = next((key for key in shown if key.startswith("adc_")), "")
    constant = next((row[first] for row in board["rows"] if first and row["kind"] == CONSTANT), None)
    rows = []
    for row in board["rows"]:
        cells = [
            {
                "value": row.get(key), "low": row.get(f"{key}_low"), "high": row.get(f"{key}_high"),
                "recalibrated": row.get(f"{key}_recalibrated"),
                "ceiling": row.get(f"{key}_ceiling") if row["kind"] != PEOPLE else None,
            }
            for key in shown
        ]  # fmt: skip
        below = first and constant is not None and row[first] is not None and row[first] < constant
        rows.append({**row, "cells": cells, "is_below": bool(below) and row["kind"] != CONSTANT})
    return rows


def _chance(board: dict[str, Any]) -> list[tuple[float | None, float | None]]:
    """What the models' own scores reach when dealt out at random, in the order of the heads."""
    return [lowest_and_highest(row.get(f"{key}_chance") for row in board["rows"]) for key in _shown(board)]
