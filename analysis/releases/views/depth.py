"""A comparison in depth: one page per question, all from the stored document."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse

from analysis.releases.comparing import comparisons_of
from analysis.releases.models import Comparison
from analysis.releases.views.figures import Figure
from analysis.releases.views.pages import page, study_page
from experiments.models import Experiment

SECTIONS = {
    "correlations": "Correlations",
    "curves": "ADC curves",
    "tests": "Two models",
    "predictors": "Shallow predictors",
    "prefixes": "Prefix methods",
    "learning": "Learning curves",
    "filtered": "Filtered training",
    "decisions": "Decisions",
}
FIGURES = {
    "correlations": (
        (
            "correlations",
            "The correlations of differences below, as a square of cells.",
            "Differences.",
            True,
        ),
        ("paradigm-correlations", "The correlations of accuracies below, as cells.", "Accuracies.", True),
    ),
    "curves": (
        (
            "curves",
            "Share of pairs within δ for every δ: models, one constant, chance and people; areas are below.",
            "The ADC for every δ.",
            False,
        ),
        (
            "recalibrated",
            "The same after models are put on people's scale; areas are below.",
            "The ADC after recalibration.",
            False,
        ),
    ),
    "learning": (
        (
            "learning-curves",
            "Accuracy by log2 of training tokens, a line per phenomenon; gains per doubling are below.",
            "Accuracy by training tokens.",
            False,
        ),
    ),
}
PREDICTORS = {
    "length": ("Length", "words of the acceptable member"),
    "perplexity": ("Perplexity", "exp(−log p / words) of the acceptable member: length does not enter"),
    "probability": ("Probability", "log p of the acceptable member: length enters"),
    "confidence": ("Confidence", "|score(good) − score(bad)| in the model's units; for people |Δh|"),
    "dependency_length": ("Dependency length", "as the materials give it"),
    "attractor": ("Attractor", "as the materials give it"),
}


@study_page
def section(request: HttpRequest, study: Experiment, *, pk: int, name: str) -> HttpResponseBase:
    """One question about one comparison."""
    if name not in SECTIONS:
        raise Http404("no such part of a comparison")
    found = get_object_or_404(comparisons_of(study).exclude(report={}), pk=pk)
    depth = found.report.get("depth")
    context = MAKERS[name](found, depth) if depth else {}
    return page(
        request,
        study,
        "models",
        template="depth",
        comparison=found,
        report=found.report,
        depth=depth,
        title=SECTIONS[name],
        part_name=name,
        part=f"releases/depth/{name}.html",
        tabs=tabs(name),
        figures=_figures(study, found, name),
        elsewhere=_elsewhere(study, found, name) if name in ("learning", "filtered", "prefixes") else [],
        **context,
    )


def _elsewhere(study: Experiment, found: Comparison, name: str) -> list[Comparison]:
    """Other comparisons on the study's releases that have something to show here."""
    others = comparisons_of(study).exclude(report={}).exclude(pk=found.pk)
    return [one for one in others if _has_rows((one.report.get("depth") or {}).get(name))]


def _has_rows(part: Any) -> bool:
    return bool(part["deltas"] if isinstance(part, dict) else part)


def tabs(current: str) -> list[dict[str, Any]]:
    """The parts of a comparison; the empty name is its overview."""
    named = [("", "Overview"), *SECTIONS.items()]
    return [{"name": name, "title": title, "is_here": name == current} for name, title in named]


def _figures(study: Experiment, found: Comparison, name: str) -> list[Figure]:
    """The part's figures that have something to draw."""
    depth = found.report.get("depth")
    if not depth:
        return []
    drawable = {
        "correlations": bool(depth["correlations"]["deltas"]),
        "paradigm-correlations": len(depth["correlations"]["accuracies"]) > 2,
        "curves": bool(depth["curves"]["curves"]),
        "recalibrated": bool(depth["curves"]["curves"]),
        "learning-curves": bool(depth["learning"]),
    }
    address = reverse("study-comparison-figure", args=[study.slug, found.pk, "NAME", "svg"])
    return [
        Figure(address.removesuffix(".svg").replace("NAME", figure), text, caption, is_half=is_half)
        for figure, text, caption, is_half in FIGURES.get(name, ())
        if drawable[figure]
    ]


def _correlations(found: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    part = depth["correlations"]
    return {
        "deltas": _matrix(part["deltas"]),
        "paradigms": _matrix(part["paradigms"]),
        "judges": [key for key in (part["accuracies"] or [{}])[0] if key != "paradigm"],
        "accuracies": [
            {"paradigm": row["paradigm"], "cells": [value for key, value in row.items() if key != "paradigm"]}
            for row in part["accuracies"]
        ],
        "ceilings": part["ceilings"] or {},
    }


def _matrix(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """A half matrix: each judge's row holds its cells with the judges before it."""
    names = list(dict.fromkeys(name for cell in cells for name in (cell["a"], cell["b"])))
    by_pair = {(cell["a"], cell["b"]): cell for cell in cells}
    rows = [
        {
            "name": b,
            "cells": [by_pair.get((a, b)) for a in names[:place]],
            "gap": range(len(names) - 1 - place),
        }
        for place, b in enumerate(names)
        if place
    ]
    return {"columns": names[:-1], "rows": rows}


def _curves(found: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    curves = depth["curves"]["curves"]
    rows: dict[str, dict[str, Any]] = {}
    for curve in curves:
        if curve["kind"] in ("model", "recalibrated", "chance"):
            row = rows.setdefault(curve["judge"], {"judge": curve["judge"], "pairs": curve["pairs"]})
            row[curve["kind"]] = curve["area"]
    at = {row["model"]: row for row in found.report["models"]}
    keys = [format(delta, "g") for delta in found.options["deltas"]]
    for name, row in rows.items():
        known = at.get(name, {})
        row["cells"] = [
            {
                "adc": known.get("adc", {}).get(key),
                "recalibrated": known.get("adc_recalibrated", {}).get(key),
            }
            for key in keys
        ]
    others = [curve for curve in curves if curve["kind"] in ("constant", "recalibrated constant", "people")]
    return {
        "rows": list(rows.values()),
        "keys": keys,
        "constant": next((one for one in others if one["kind"] == "constant"), None),
        "held_out": next((one for one in others if one["kind"] == "recalibrated constant"), None),
        "people": next((one for one in others if one["kind"] == "people"), None),
        "delta_max": depth["curves"]["delta_max"],
    }


def _tests(found: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in depth["tests"]:
        grouped.setdefault(row["criterion"], []).append(row)
    return {"criteria": [{"name": name, "rows": rows} for name, rows in grouped.items()]}


def _predictors(found: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in depth["predictors"]:
        grouped.setdefault(row["predictor"], []).append(row)
    shown = [
        {"name": name, "title": title, "meaning": meaning, "judges": grouped[name]}
        for name, (title, meaning) in PREDICTORS.items()
        if name in grouped
    ]
    absent = [PREDICTORS[name][0] for name in ("dependency_length", "attractor") if name not in grouped]
    return {"predictors": shown, "absent": absent}


def _prefixes(found: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    rows = depth["prefixes"]
    return {"overall": [row for row in rows if row["group"] == "all"], "rows": rows}


def _learning(found: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    families: dict[tuple[str, str], dict[str, Any]] = {}
    for row in depth["learning"]:
        key = (row["family"], row["method"])
        family = families.setdefault(key, {"family": key[0], "method": key[1], "groups": [], "points": []})
        largest = max((point["tokens"] for point in row["points"]), default=None)
        top = [point["accuracy"] for point in row["points"] if point["tokens"] == largest]
        family["groups"].append({**row, "largest": sum(top) / len(top) if top else None})
        if row["group"] == "all":
            family["points"] = row["points"]
    return {"families": list(families.values())}


def _filtered(found: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    grouped: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in depth["filtered"]["deltas"]:
        grouped.setdefault((row["family"], row["method"], row["filter"]), []).append(row)
    filters = [
        {"family": family, "method": method, "filter": name, "rows": rows}
        for (family, method, name), rows in grouped.items()
    ]
    return {"filters": filters, "families": depth["filtered"]["families"]}


def _decisions(found: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    return {"rows": depth["decisions"]}


MAKERS = {
    "correlations": _correlations,
    "curves": _curves,
    "tests": _tests,
    "predictors": _predictors,
    "prefixes": _prefixes,
    "learning": _learning,
    "filtered": _filtered,
    "decisions": _decisions,
}
