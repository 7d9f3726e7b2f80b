"""Figures of an in-depth comparison, drawn from its stored document."""

from collections.abc import Callable
from typing import Any

import altair as alt
import pandas as pd

from analysis.errors import NotEnoughData
from analysis.figures.charts.models.adc_curve import adc_curve_figure
from analysis.figures.charts.models.correlations import correlation_figure
from analysis.figures.charts.models.learning_curves import learning_figure, learning_frame
from analysis.figures.charts.models.linking import linking_figure
from analysis.figures.charts.models.surprisal import surprisal_figure
from analysis.figures.charts.models.wright_map import wright_figure, wright_frame
from analysis.figures.theme import CHANCE, CONSTANT, PEOPLE
from releases.models import Comparison

MODELS_DRAWN = 5  # more lines are hard to distinguish
NAMED = {"constant": CONSTANT, "recalibrated constant": CONSTANT, "people": PEOPLE}


def draw_deltas(comparison: Comparison) -> alt.LayerChart:
    """Draw the correlation matrix of differences."""
    part = comparison.report["depth"]["correlations"]
    ceiling = ((part["ceilings"] or {}).get("deltas") or {}).get("model")
    frame = pd.DataFrame(part["deltas"])
    return correlation_figure(
        frame, quantity="differences", unit="pairs", ceiling=ceiling, note=_note(comparison)
    )


def draw_paradigms(comparison: Comparison) -> alt.LayerChart:
    """Draw the correlation matrix of accuracies."""
    part = comparison.report["depth"]["correlations"]
    if not part["paradigms"]:
        raise NotEnoughData("the pairs name no paradigms.")
    ceiling = ((part["ceilings"] or {}).get("paradigms") or {}).get("model")
    frame = pd.DataFrame(part["paradigms"])
    quantity = "accuracies by paradigm"
    note = _note(comparison)
    return correlation_figure(frame, quantity=quantity, unit="paradigms", ceiling=ceiling, note=note)


def draw_curves(comparison: Comparison, opens: str = "") -> alt.LayerChart:
    """Draw the ADC curves of models with constant baseline, chance and humans."""
    return _curves(comparison, ("model", "constant", "people"), note=_note(comparison), opens=opens)


def draw_recalibrated(comparison: Comparison, opens: str = "") -> alt.LayerChart:
    """Draw the ADC curves of recalibrated models with the recalibrated constant."""
    note = f"Recalibrated on the other families of pairs. {_note(comparison)}"
    return _curves(comparison, ("recalibrated", "recalibrated constant", "people"), note=note, opens=opens)


def draw_learning(comparison: Comparison) -> alt.LayerChart:
    """Draw accuracy on log2 tokens by phenomenon."""
    frame = learning_points(comparison.report["depth"]["learning"])
    if not len(frame):
        raise NotEnoughData("no family has models of two sizes.")
    return learning_figure(learning_frame(frame), note=_note(comparison))


def draw_linking(comparison: Comparison) -> alt.LayerChart:
    """Draw how human scores of other items follow each function of each model."""
    return linking_figure(comparison.report["depth"]["linking"], note=_note(comparison))


def draw_surprisal(comparison: Comparison) -> alt.LayerChart:
    """Draw the estimates of ratings modelled by surprisal."""
    return surprisal_figure(comparison.report["depth"]["surprisal"], note=_note(comparison))


def draw_wright_map(comparison: Comparison) -> alt.LayerChart:
    """Draw abilities of participants and models beside difficulties of pairs."""
    scale = comparison.report["depth"]["abilities"]
    return wright_figure(wright_frame(scale), note=_note(comparison))


def learning_points(curves: list[dict[str, Any]]) -> pd.DataFrame:
    """Return one row per model and phenomenon; all pairs together count as a phenomenon."""
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
    "linking-functions": draw_linking,
    "ratings-by-surprisal": draw_surprisal,
    "wright-map": draw_wright_map,
    "learning-curves": draw_learning,
}
# Figures whose points open the address that they are drawn with.
DEPTH_CURVES: dict[str, Callable[[Comparison, str], alt.LayerChart]] = {
    "curves": draw_curves,
    "recalibrated": draw_recalibrated,
}


def _group(curve: dict[str, Any], *, many: bool) -> str:
    group = "all pairs" if curve["group"] == "all" else curve["group"].replace("_", " ")
    return f"{curve['family']}: {group}" if many else group


def _curves(comparison: Comparison, kinds: tuple[str, ...], *, note: str, opens: str) -> alt.LayerChart:
    part = comparison.report["depth"]["curves"]
    if not part["curves"]:
        raise NotEnoughData("no pair has human scores of both members.")
    areas = {row["judge"]: row["area"] for row in part["curves"] if row["kind"] == "model"}
    models = sorted(areas, key=lambda name: -areas[name])  # a stable order keeps equal areas as they come
    visible = [row for row in part["curves"] if row["kind"] in kinds and _is_drawn(row, models)]
    rows = [
        (NAMED.get(row["kind"], row["judge"]), delta, value)
        for row in visible
        for delta, value in zip([0.0, *part["grid"]], [0.0, *row["adc"]], strict=True)
        if value is not None
    ]
    frame = pd.DataFrame(rows, columns=["judge", "delta", "adc"])
    if "model" in kinds:
        frame = pd.concat([frame, _chance(part)], ignore_index=True)
    if len(models) > MODELS_DRAWN:
        note = f"The {MODELS_DRAWN} models with the largest areas are drawn. {note}"
    pairs = int(comparison.report["labeled_pairs"])
    signs = comparison.options["signs"]
    return adc_curve_figure(frame, n_pairs=pairs, signs=signs, note=note, opens=opens)


def _is_drawn(row: dict[str, Any], models: list[str]) -> bool:
    return row["kind"] in NAMED or row["judge"] in models[:MODELS_DRAWN]


def _chance(part: dict[str, Any]) -> pd.DataFrame:
    """Return the mean over models of the ADC of their randomly permuted scores."""
    table = pd.DataFrame([row["adc"] for row in part["curves"] if row["kind"] == "chance"], dtype=float)
    mean = table.mean()
    return pd.DataFrame({"judge": CHANCE, "delta": [0.0, *part["grid"]], "adc": [0.0, *mean]}).dropna()


def _note(comparison: Comparison) -> str:
    return f"Release {comparison.release.number}, comparison {comparison.pk}."
