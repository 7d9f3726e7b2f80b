"""Pages of an in-depth comparison, one per section of the stored document."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse

from analysis.comparison.in_depth import abilities, surprisal
from analysis.comparison.in_depth.linking import FORMULAS, NAMES, REASONS
from analysis.comparison.in_depth.surprisal import COLLINEAR, LACKING, TERMS
from analysis.report.page_findings import depth_finding
from experiments.models import Experiment
from releases.comparison.compare import list_comparisons
from releases.models import Comparison
from releases.views.base import page, study_page
from releases.views.figures import Figure, answering
from releases.views.models.comparisons import SECTIONS, comparison_context, tabs

OF_REPORT = {"intervals", "pairs"}  # sections without data of the in-depth document
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
    "linking": (
        (
            "linking-functions",
            "Correlations of the functions below with human scores, with their intervals.",
            "Linking functions.",
            False,
        ),
    ),
    "surprisal": (
        (
            "ratings-by-surprisal",
            "The estimates of the models below, with their intervals.",
            "Ratings by surprisal.",
            False,
        ),
    ),
    "abilities": (
        (
            "wright-map",
            "Abilities of participants and models beside difficulties of pairs, which the tables have.",
            "Wright map.",
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
    """Show one section of a comparison."""
    if name not in SECTIONS:
        raise Http404("no such section of a comparison")
    comparison = get_object_or_404(list_comparisons(study).exclude(report={}), pk=pk)
    if name in OF_REPORT:
        return _report_section(request, study, comparison, name)
    depth = comparison.report.get("depth")
    context = MAKERS[name](comparison, depth) if depth else {}
    return page(
        request,
        study,
        "models",
        template="depth",
        comparison=comparison,
        report=comparison.report,
        depth=depth,
        finding=depth_finding(name, depth, comparison.report) if depth else "",
        title=SECTIONS[name],
        part_name=name,
        part=f"releases/depth/{name}.html",
        tabs=tabs(name),
        figures=_figures(study, comparison, name),
        elsewhere=_elsewhere(study, comparison, name) if name in ("learning", "filtered", "prefixes") else [],
        **context,
    )


def _report_section(
    request: HttpRequest, study: Experiment, comparison: Comparison, name: str
) -> HttpResponseBase:
    """Show the intervals of a comparison, or its pairs."""
    context = {**comparison_context(study, comparison), "tabs": tabs(name)}
    return page(
        request,
        study,
        "models",
        template=f"comparison_{name}",
        comparison=comparison,
        title=SECTIONS[name],
        **context,
    )


def _elsewhere(study: Experiment, comparison: Comparison, name: str) -> list[Comparison]:
    """Return other comparisons of the study with results in this section."""
    candidates = list_comparisons(study).exclude(report={}).exclude(pk=comparison.pk)
    return [other for other in candidates if _has_rows((other.report.get("depth") or {}).get(name))]


def _has_rows(part: Any) -> bool:
    return bool(part["deltas"] if isinstance(part, dict) else part)


def _figures(study: Experiment, comparison: Comparison, name: str) -> list[Figure]:
    """Return the figures of the section that can be drawn."""
    depth = comparison.report.get("depth")
    if not depth:
        return []
    drawable = {
        "correlations": bool(depth["correlations"]["deltas"]),
        "paradigm-correlations": len(depth["correlations"]["accuracies"]) > 2,
        "curves": bool(depth["curves"]["curves"]),
        "recalibrated": bool(depth["curves"]["curves"]),
        "linking-functions": any(row["r_cross_validated"] is not None for row in depth.get("linking", [])),
        "ratings-by-surprisal": any(row["terms"] for row in depth.get("surprisal", [])),
        "wright-map": bool((depth.get("abilities") or {}).get("items")),
        "learning-curves": bool(depth["learning"]),
    }
    address = reverse("study-comparison-figure", args=[study.slug, comparison.pk, "NAME", "svg"])
    return [
        Figure(
            address.removesuffix(".svg").replace("NAME", figure),
            text,
            caption,
            is_half=is_half,
            **answering(figure),
        )
        for figure, text, caption, is_half in FIGURES.get(name, ())
        if drawable[figure]
    ]


def _correlations(comparison: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    part = depth["correlations"]
    return {
        "deltas": _matrix(part["deltas"]),
        "controls": next((cell["controls"] for cell in part["deltas"] if cell.get("controls")), []),
        "paradigms": _matrix(part["paradigms"]),
        "judges": [key for key in (part["accuracies"] or [{}])[0] if key != "paradigm"],
        "accuracies": [
            {"paradigm": row["paradigm"], "cells": [value for key, value in row.items() if key != "paradigm"]}
            for row in part["accuracies"]
        ],
        "ceilings": part["ceilings"] or {},
    }


def _matrix(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a lower-triangular matrix: each judge's row has its cells with the judges before it."""
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


def _curves(comparison: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    curves = depth["curves"]["curves"]
    rows: dict[str, dict[str, Any]] = {}
    for curve in curves:
        if curve["kind"] in ("model", "recalibrated", "chance"):
            row = rows.setdefault(curve["judge"], {"judge": curve["judge"], "pairs": curve["pairs"]})
            row[curve["kind"]] = curve["area"]
    at = {row["model"]: row for row in comparison.report["models"]}
    keys = [format(delta, "g") for delta in comparison.options["deltas"]]
    for name, row in rows.items():
        values = at.get(name, {})
        row["cells"] = [
            {
                "adc": values.get("adc", {}).get(key),
                "recalibrated": values.get("adc_recalibrated", {}).get(key),
            }
            for key in keys
        ]
    by_kind = {curve["kind"]: curve for curve in reversed(curves)}  # the first of each kind
    return {
        "rows": list(rows.values()),
        "keys": keys,
        "constant": by_kind.get("constant"),
        "held_out": by_kind.get("recalibrated constant"),
        "people": by_kind.get("people"),
        "delta_max": depth["curves"]["delta_max"],
    }


def _tests(comparison: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in depth["tests"]:
        grouped.setdefault(row["criterion"], []).append(row)
    return {"criteria": [{"name": name, "rows": rows} for name, rows in grouped.items()]}


def _linking(comparison: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in depth.get("linking", []):
        about = {"title": NAMES[row["function"]], "formula": FORMULAS[row["function"]]}
        grouped.setdefault(row["model"], []).append({**row, **about})
    models = [
        {
            "name": name,
            "rows": [row for row in rows if row["r"] is not None],
            "reasons": status_reasons(rows, REASONS),
        }
        for name, rows in grouped.items()
    ]
    return {"linked_models": models}


def _surprisal(comparison: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    rows = [
        {
            **row,
            "terms": [
                {**term, "meaning": TERMS.get(term["term"], ""), "sd": row["sd"].get(term["term"])}
                for term in row["terms"]
            ],
            "reasons": [
                *status_reasons([row], surprisal.REASONS),
                *(LACKING[name] for name in row["left_out"] if name in LACKING and row["terms"]),
            ],
            "is_collinear": row["vif"] is not None and row["vif"] > COLLINEAR,
        }
        for row in depth.get("surprisal", [])
    ]
    return {"surprisal_models": rows, "collinear": COLLINEAR}


MOST_ROWS = 200  # of a table of pairs or participants


def _abilities(comparison: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    scale = depth.get("abilities")
    if not scale:  # computed by an earlier version
        return {"scale_reason": "Start this comparison again to place its models on a scale."}
    reasons, two = abilities.REASONS, scale["two_parameter"] or {"items": [], "status": ""}
    slopes = {row["pair_id"]: row for row in two["items"]}
    hardest = sorted(scale["items"], key=lambda row: -row["difficulty"])[:MOST_ROWS]
    able = sorted(scale["people"], key=lambda row: -(row["ability"] or 0.0))[:MOST_ROWS]
    return {
        "scale": scale,
        "scale_reason": reasons.get(scale["status"], ""),
        "slopes": slopes,
        "slopes_reason": reasons.get(two["status"], ""),
        "hardest": [{**row, "two": slopes.get(row["pair_id"])} for row in hardest],
        "n_hidden": len(scale["items"]) - len(hardest),
        "people": able,
    }


def status_reasons(rows: list[dict[str, Any]], reasons: dict[str, str]) -> list[str]:
    """Return a sentence for each status of rows that has one, in the order of the rows."""
    return [reasons[status] for status in dict.fromkeys(row["status"] for row in rows) if status in reasons]


def _predictors(comparison: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in depth["predictors"]:
        grouped.setdefault(row["predictor"], []).append(row)
    rows = [
        {"name": name, "title": title, "meaning": meaning, "judges": grouped[name]}
        for name, (title, meaning) in PREDICTORS.items()
        if name in grouped
    ]
    absent = [PREDICTORS[name][0] for name in ("dependency_length", "attractor") if name not in grouped]
    return {"predictors": rows, "absent": absent}


def _prefixes(comparison: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    rows = depth["prefixes"]
    return {"overall": [row for row in rows if row["group"] == "all"], "rows": rows}


def _learning(comparison: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
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


def _filtered_training_context(comparison: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    grouped: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in depth["filtered"]["deltas"]:
        grouped.setdefault((row["family"], row["method"], row["filter"]), []).append(row)
    filters = [
        {"family": family, "method": method, "filter": name, "rows": rows}
        for (family, method, name), rows in grouped.items()
    ]
    return {"filters": filters, "families": depth["filtered"]["families"]}


def _decisions(comparison: Comparison, depth: dict[str, Any]) -> dict[str, Any]:
    return {"rows": depth["decisions"]}


MAKERS = {
    "correlations": _correlations,
    "curves": _curves,
    "tests": _tests,
    "linking": _linking,
    "surprisal": _surprisal,
    "abilities": _abilities,
    "predictors": _predictors,
    "prefixes": _prefixes,
    "learning": _learning,
    "filtered": _filtered_training_context,
    "decisions": _decisions,
}
