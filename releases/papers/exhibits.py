"""Exhibits: a table or figure of a paper with our numbers, the published ones and what is missing."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import pandas as pd

Value = float | int | bool | str | None
Values = Mapping[tuple[str, str], Value]
Progress = Callable[[int, int, str], None]
ROW_COLUMNS = ("exhibit", "place", "row", "measure", "ours", "published", "difference", "agrees", "stand_in")


@dataclass(frozen=True)
class Exhibit:
    """One table or figure of a paper.

    Parameters
    ----------
    key : str
        As in the file of published numbers, such as ``table-1``.
    title : str
        What it is in the paper.
    values : mapping of (row, measure) to value
        Our numbers and texts.
    stand_ins : mapping of row or measure to str
        Rows and measures whose numbers are of another model or text than the paper's, with what it is.
    charts : mapping of str to chart
        Figures by name of their files.
    tables : mapping of str to DataFrame
        Further tables by name of their files.
    latex : mapping of str to str
        Tables in LaTeX by name of their files.
    bring : sequence of str
        What to put into the data folder for the numbers that are missing.
    notes : sequence of str
        Conventions.
    """

    key: str
    title: str
    values: Values = field(default_factory=dict)
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    charts: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    latex: Mapping[str, str] = field(default_factory=dict)
    bring: Sequence[str] = ()
    notes: Sequence[str] = ()


def read_published(paper: str) -> pd.DataFrame:
    """Read the published numbers of a paper: ``exhibit, place, row, measure``, and ``value`` as printed."""
    text = files("releases.papers").joinpath("published", f"{paper}.csv").read_text(encoding="utf-8")
    return pd.DataFrame(list(csv.DictReader(text.splitlines())))


def compare_with_published(exhibit: Exhibit, published: pd.DataFrame) -> pd.DataFrame:
    """Put our numbers beside the published ones.

    Returns
    -------
    DataFrame
        :data:`ROW_COLUMNS`, a row per number, the published ones first: ``difference`` is ours minus the
        published number; ``agrees`` is whether ours, rounded as the paper rounds, is the published number
        (or the same text); None where one of them is missing or ours is a stand-in.
    """
    printed = published[published["exhibit"] == exhibit.key]
    keys = list(dict.fromkeys([*zip(printed["row"], printed["measure"], strict=True), *exhibit.values]))
    places = dict(
        zip(
            zip(printed["row"], printed["measure"], strict=True),
            zip(printed["place"], printed["value"], strict=True),
            strict=True,
        )
    )
    rows = []
    for row, measure in keys:
        place, text = places.get((row, measure), ("", None))
        value, stand_in = exhibit.values.get((row, measure)), _stand_in(exhibit, row, measure)
        if isinstance(value, bool):
            value = int(value)
        difference, agrees = _difference(value, text)
        rows.append((
            exhibit.key, place, row, measure, value, text, difference, None if stand_in else agrees, stand_in
        ))  # fmt: skip
    return pd.DataFrame(rows, columns=list(ROW_COLUMNS), dtype=object)


def _stand_in(exhibit: Exhibit, row: str, measure: str) -> str:
    return exhibit.stand_ins.get(row) or exhibit.stand_ins.get(measure, "")


def _difference(value: Value, text: str | None) -> tuple[float | None, bool | None]:
    if value is None or text is None:
        return None, None
    if isinstance(value, str):
        return None, value == text
    published = float(text)
    half_unit = 0.5 * 10.0 ** -len(text.partition(".")[2])
    # A number that lies on the border between two roundings may be rounded either way.
    return float(value) - published, abs(float(value) - published) <= half_unit * (1 + 1e-9) + 1e-12
