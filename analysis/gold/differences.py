"""Differences of differences of a release: one row for each participant and item, of humans and models."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from ..effects.factorial import coded_rows, group_designs, unit_contrast, with_codes
from ..effects.factors import Cells
from ..effects.model_interactions import model_interactions
from ..effects.report import scored_targets
from ..rows import column_or_blank
from ..text import no_formula
from .writers import round_computed

DIFFERENCE_FILE = ("source", "group", "unit", "name", "difference")
PEOPLE = "people"


def difference_table(
    judgments: pd.DataFrame,
    *,
    factors: Mapping[str, Sequence[str]],
    scores: pd.DataFrame | None = None,
    sentences: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return :data:`DIFFERENCE_FILE` for every group of sentences that is a 2×2 design.

    ``source`` is humans or a model, ``group`` a phenomenon (a paradigm where no phenomenon is named),
    ``unit`` participant or item. Ratings are z by participant, scores of models z over all sentences.
    """
    names = set(column_or_blank(judgments, "phenomenon").astype(str)) - {"", "nan"}
    by = "phenomenon" if names else "paradigm"
    rows = list(_people(scored_targets(judgments, "z"), by=by, factors=factors))
    if scores is not None and sentences is not None:
        for row in model_interactions(scores, sentences, [], by=by, factors=factors):
            rows += [
                (row["model"], row[by], "item", entry["item"], entry["difference"])
                for entry in row["differences"]["items"]
            ]
    table = pd.DataFrame(rows, columns=list(DIFFERENCE_FILE))
    names_of_people = table["name"].where(table["unit"] != "participant", table["name"].map(no_formula))
    return table.assign(
        source=table["source"].map(no_formula),
        name=names_of_people,
        difference=round_computed(table["difference"].astype(float)),
    )


def _people(
    scored: pd.DataFrame, *, by: str, factors: Mapping[str, Sequence[str]]
) -> Iterator[tuple[Any, ...]]:
    for group, part, cells in group_designs(scored, by=by, factors=factors):
        if not isinstance(cells, Cells):
            continue
        units = ("participant", "item")
        coded = coded_rows(with_codes(part, cells), cells.first, cells.second, value="score", units=units)
        for unit in units:
            for name, difference in unit_contrast(coded, unit)[1].items():
                yield PEOPLE, group, unit, name, difference
