"""Figures of a comparison in depth, drawn from the numbers that its pages show."""

from collections.abc import Callable
from typing import Any

import altair as alt
import pandas as pd

from analysis.errors import NotEnoughData
from analysis.figures.adc_curve import adc_curve_figure
from analysis.figures.correlations import correlation_figure
from analysis.figures.learning_curves import learning_figure, learning_frame
from analysis.figures.theme import CHANCE, CONSTANT, PEOPLE
from analysis.releases.models import Comparison

MODELS_DRAWN = 5
NAMED = {"constant": CONSTANT, "recalibrated constant": CONSTANT, "people": PEOPLE}


def draw_deltas(found: Comparison) -> alt.LayerChart:
    """The square of correlations of differences."""
    part = found.report["depth"]["correlations"]
    ceiling = ((part["ceilings"] or {}).get("deltas") or {}).get("model")
    frame = pd.DataFrame(part["deltas"])
    return correlation_figure(frame, what="differences", unit="pairs", ceiling=ceiling, note=_note(found))


def draw_paradigms(found: Comparison) -> alt.LayerChart:
    """The square of correlations of accuracies."""
    part = found.report["depth"]["correlations"]
    if not part["paradigms"]:
        raise NotEnoughData("the pairs name no paradigms.")
    ceiling = ((part["ceilings"] or {}).get("paradigms") or {}).get("model")
    frame = pd.DataFrame(part["paradigms"])
    what = "accuracies by paradigm"
    return correlation_figure(frame, what=what, unit="paradigms", ceiling=ceiling, note=_note(found))


def draw_curves(found: Comparison) -> alt.LayerChart:
    """Models as they are, between the constant, chance and people."""
    return _curves(found, ("model", "constant", "people"), note=_note(found))


def draw_recalibrated(found: Comparison) -> alt.LayerChart:
    """Models on people's scale, beside the constant of the other families."""
    note = f"Recalibrated on the other families of pairs. {_note(found)}"
    return _curves(found, ("recalibrated", "recalibrated constant", "people"), note=note)


def draw_learning(found: Comparison) -> alt.LayerChart:
    """Accuracy on log2 tokens by phenomenon."""
    frame = learning_points(found.report["depth"]["learning"])
    if not len(frame):
        raise NotEnoughData("no family has models of two sizes.")
    return learning_figure(learning_frame(frame), note=_note(found))


def learning_points(curves: list[dict[str, Any]]) -> pd.DataFrame:
    """One row per model and phenomenon; all pairs together are a phenomenon of their own."""
    families = {curve["family"] for curve in curves}
    rows = [
        {
            "model": point["model"],
            "tokens": point["tokens"],
            "accuracy": point["accuracy"],
            "phenomenon": _group(curve, many=len(families) > 1),
        }
        for curve in curves
        for point in curve["points"]
    ]
    return pd.DataFrame(rows, columns=["model", "tokens", "accuracy", "phenomenon"])


DEPTH_FIGURES: dict[str, Callable[[Comparison], alt.LayerChart]] = {
    "correlations": draw_deltas,
    "paradigm-correlations": draw_paradigms,
    "curves": draw_curves,
    "recalibrated": draw_recalibrated,
    "learning-curves": draw_learning,
}


def _group(curve: dict[str, Any], *, many: bool) -> str:
    group = "all pairs" if curve["group"] == "all" else curve["group"].replace("_", " ")
    return f"{curve['family']}: {group}" if many else group


def _curves(found: Comparison, kinds: tuple[str, ...], *, note: str) -> alt.LayerChart:
    part = found.report["depth"]["curves"]
    if not part["curves"]:
        raise NotEnoughData("no pair has human scores of both members.")
    models = list(dict.fromkeys(row["judge"] for row in part["curves"] if row["kind"] == "model"))
    drawn = [row for row in part["curves"] if row["kind"] in kinds and _is_drawn(row, models)]
    rows = [
        (NAMED.get(row["kind"], row["judge"]), delta, value)
        for row in drawn
        for delta, value in zip([0.0, *part["grid"]], [0.0, *row["adc"]], strict=True)
        if value is not None
    ]
    frame = pd.DataFrame(rows, columns=["judge", "delta", "adc"])
    if "model" in kinds:
        frame = pd.concat([frame, _chance(part)], ignore_index=True)
    if len(models) > MODELS_DRAWN:
        note = f"The first {MODELS_DRAWN} models are drawn. {note}"
    pairs = int(found.report["labeled_pairs"])
    return adc_curve_figure(frame, n_pairs=pairs, signs=found.options["signs"], note=note)


def _is_drawn(row: dict[str, Any], models: list[str]) -> bool:
    return row["kind"] in NAMED or row["judge"] in models[:MODELS_DRAWN]


def _chance(part: dict[str, Any]) -> pd.DataFrame:
    """The mean over models of what their own scores give when dealt out at random."""
    table = pd.DataFrame([row["adc"] for row in part["curves"] if row["kind"] == "chance"], dtype=float)
    mean = table.mean()
    return pd.DataFrame({"judge": CHANCE, "delta": [0.0, *part["grid"]], "adc": [0.0, *mean]}).dropna()


def _note(found: Comparison) -> str:
    return f"Release {found.release.number}, comparison {found.pk}."
