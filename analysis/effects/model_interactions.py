"""Interactions of two-by-two designs in the scores of models, beside those of humans."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..columns import require_columns
from ..comparison.criteria import standardize
from .contrasts import Contrast
from .factorial import (
    cell_means,
    coded_rows,
    contrast_row,
    describe_factors,
    group_designs,
    listed_differences,
    unit_contrast,
    with_codes,
)
from .factors import Cells, Levels

MIN_ITEMS = 3
"""Fewest items over which a correlation with people is given."""


def model_interactions(
    scores: pd.DataFrame,
    sentences: pd.DataFrame,
    people: Sequence[dict[str, Any]],
    *,
    by: str = "phenomenon",
    factors: Levels | None = None,
    conditions: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Estimate the difference of differences of every model over items.

    Notes
    -----
    ``scores`` has ``sentence_id`` and one column per model; they are standardized over all sentences that it
    scores, fillers included (ddof 0), so that models are comparable, but not in the unit of human z.
    ``people`` are rows of :func:`obelus.effects.factorial.interactions`: ``people_r`` is Pearson's
    correlation of the differences of the items in both, None with fewer than three.
    """
    require_columns(sentences, "sentence_id", "item", "condition")
    differences_of = {row[by]: row["differences"]["items"] for row in people if row["status"] == "ok"}
    rows = []
    for model in scores.columns.drop("sentence_id"):
        z = standardize(scores.set_index("sentence_id")[model].astype(float))
        scored = sentences.assign(score=sentences["sentence_id"].map(z).astype(float))
        scored = scored[scored["score"].notna()]
        for name, part, cells in group_designs(scored, by=by, factors=factors, conditions=conditions):
            if isinstance(cells, Cells):
                row = _row(part, cells, {entry["item"]: entry for entry in differences_of.get(name, [])})
                rows.append({by: name, "model": str(model), **row})
    return rows


def _row(rows: pd.DataFrame, cells: Cells, people: dict[str, dict[str, Any]]) -> dict[str, Any]:
    coded = coded_rows(with_codes(rows, cells), cells.first, cells.second, value="score", units=("item",))
    means = cell_means(coded, cells.first, cells.second)
    contrast, differences = (
        unit_contrast(coded, "item") if len(means) == 4 else (Contrast("no_data"), pd.Series(dtype=float))
    )
    r, n = _correlation(differences, people)
    return {
        **describe_factors(cells),
        "cells": [
            {"first": row["first"], "second": row["second"], "n": int(row["n"]), "mean": float(row["mean"])}
            for row in means.to_dict("records")
        ],
        "items": contrast_row(contrast, "paired t, items", differences),
        "differences": {"items": listed_differences(differences, "item")},
        "people_r": r,
        "people_n": n,
        "status": contrast.status,
    }


def _correlation(
    differences: "pd.Series[float]", people: dict[str, dict[str, Any]]
) -> tuple[float | None, int]:
    """Return Pearson's r with humans over the items that both have, and their number."""
    items = [item for item in differences.index if item in people]
    model_differences = differences[items].to_numpy()
    human_differences = np.array([people[item]["difference"] for item in items], dtype=float)
    if (
        len(items) < MIN_ITEMS
        or np.isclose(model_differences.std(), 0)
        or np.isclose(human_differences.std(), 0)
    ):
        return None, len(items)
    return float(np.corrcoef(model_differences, human_differences)[0, 1]), len(items)
