"""Correlations between judges: of differences, and of accuracies by paradigm."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ....aggregation.decisions import decisions
from ....agreement.majority import one_answer_each
from ....columns import require_columns
from ....comparison.ceilings.noise import correlation_ceilings
from ....comparison.correlation import correlation_matrix
from ....comparison.pairs import PairTable
from ....errors import NotEnoughData
from ....reliability.split_half import split_half
from ...drawing import Drawing, lacks_models, lacks_paradigms
from ...evidence import Evidence
from ...matrix import matrix_figure
from ...theme import PEOPLE, caption

MOST_JUDGES = 12


def delta_correlation_frame(table: PairTable) -> pd.DataFrame:
    """Correlate the differences of humans and of every model."""
    judges = table.model_delta.copy()
    if table.is_labeled.any():
        judges.insert(0, PEOPLE, table.human_delta.to_numpy())
    return correlation_matrix(judges)


def accuracy_frame(report: Mapping[str, Any], people: Mapping[str, float] | None = None) -> pd.DataFrame:
    """Gather accuracy by paradigm, one column per judge."""
    columns: dict[str, dict[str, float | None]] = {}
    models = list(report["models"])
    if people:
        columns[PEOPLE] = dict(people)
    elif models and any(row["people_prefer_good"] is not None for row in models[0]["by_paradigm"]):
        columns[PEOPLE] = {row["paradigm"]: row["people_prefer_good"] for row in models[0]["by_paradigm"]}
    for model in models:
        columns[model["model"]] = {row["paradigm"]: row["blimp"] for row in model["by_paradigm"]}
    return pd.DataFrame({name: pd.Series(column, dtype=float) for name, column in columns.items()})


def correlation_figure(
    correlations: pd.DataFrame, *, quantity: str, unit: str, ceiling: float | None = None, note: str = ""
) -> alt.LayerChart:
    """Draw Pearson's r of every two judges."""
    require_columns(correlations, "a", "b", "n", "pearson_r")
    defined = correlations[correlations["pearson_r"].notna()]
    if not len(defined):
        raise NotEnoughData("no two judges vary over common pairs.")
    names = list(dict.fromkeys([*correlations["a"], *correlations["b"]]))[:MOST_JUDGES]
    visible = defined[defined["a"].isin(names) & defined["b"].isin(names)]
    sizes = sorted({int(n) for n in visible["n"]})
    small = len(sizes) > 1
    mirrored = visible.rename(columns={"a": "b", "b": "a"})
    cells = pd.concat([visible, mirrored], ignore_index=True)
    cells = cells.assign(
        value=cells["pearson_r"].astype(float),
        text=[_short(float(r)) for r in cells["pearson_r"]],
        below=[f"{int(n)}" for n in cells["n"]],
    )
    low = min(0.0, float(cells["value"].min()))
    size_note = f"Below each r: {unit}." if small else f"n = {sizes[0]} {unit} in every cell."
    title = caption(
        f"Correlation of {quantity}",
        f"Pearson's r. {size_note}",
        f"A perfect model would reach {ceiling:.2f} with people (√ reliability)." if ceiling else "",
        f"Columns: the numbers of the rows. The first {MOST_JUDGES} judges are drawn."
        if len(set(correlations["a"]) | set(correlations["b"])) > MOST_JUDGES
        else "Columns: the numbers of the rows.",
        note,
    )
    return matrix_figure(cells, names, domain=(low, 1.0), title=title, small=small, data=visible)


def _short(r: float) -> str:
    return f"{r:.2f}".replace("0.", ".", 1).replace("-", "−")


def _ceiling(evidence: Evidence, *, unit: str) -> float | None:
    if evidence.judgments is None or not len(evidence.judgments):
        return None
    decided = one_answer_each(decisions(evidence.kept))[0].rename(columns={"agrees": "value"})
    return split_half(decided, unit=unit, splits=200, seed=evidence.seed).ceiling.model


def _delta_ceiling(evidence: Evidence) -> float | None:
    """Return √reliability of human differences, from the stored comparison or from the judgments."""
    baselines = (evidence.comparison or {}).get("baselines", {})
    stored = (baselines.get("human_ceiling") or {}).get("correlation")
    if stored is not None:
        return float(stored["model"]) if stored["model"] is not None else None
    if evidence.judgments is None or evidence.pairs is None or "sentence_id" not in evidence.kept.columns:
        return None
    rng = np.random.default_rng(evidence.seed)
    ceiling = correlation_ceilings(evidence.kept, evidence.pairs, rng=rng)["deltas"]["model"]
    return None if ceiling is None else float(ceiling)


def _draw_deltas(evidence: Evidence) -> alt.LayerChart:
    if evidence.table is None:
        raise NotEnoughData("there are no scores of a model.")
    frame = delta_correlation_frame(evidence.table)
    ceiling = _delta_ceiling(evidence) if evidence.table.is_labeled.any() else None
    return correlation_figure(
        frame, quantity="differences", unit="pairs", ceiling=ceiling, note=evidence.note
    )


def _draw_accuracies(evidence: Evidence) -> alt.LayerChart:
    rows = evidence.agreement["paradigms"] if evidence.tasks else []
    people = {row["paradigm"]: row["individual_agreement"] for row in rows}
    accuracies = accuracy_frame(evidence.comparison or {"models": []}, people)
    if len(accuracies) < 3:
        raise NotEnoughData("there are fewer than three paradigms.")
    ceiling = _ceiling(evidence, unit="paradigm")
    return correlation_figure(
        correlation_matrix(accuracies),
        quantity="accuracies by paradigm",
        unit="paradigms",
        ceiling=ceiling,
        note=evidence.note,
    )


def _lacks_judges(evidence: Evidence) -> str:
    missing = lacks_models(evidence)
    if missing or evidence.table is None:
        return missing or "There are no scores of a model on minimal pairs."
    if len(evidence.table.models) + bool(evidence.table.is_labeled.any()) < 2:
        return "It needs two judges: two models, or a model and people."
    return ""


DRAWINGS = (
    Drawing(
        name="correlations",
        number=5,
        title="Correlation of differences",
        shows="A square of cells with Pearson's r of the differences of people and of every model",
        needs="scores of two judges on minimal pairs",
        about="models",
        lacking=_lacks_judges,
        draw=_draw_deltas,
    ),
    Drawing(
        name="paradigm-correlations",
        number=5,
        title="Correlation of accuracies by paradigm",
        shows="A square of cells with Pearson's r of the accuracies by paradigm of people and of every model",
        needs="scores of a model on minimal pairs with paradigms",
        about="models",
        lacking=lacks_paradigms,
        draw=_draw_accuracies,
    ),
)
