"""Factors of a design: from columns, from four named conditions, or from the names of conditions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import pandas as pd

from ..errors import BadInput
from ..rows import column_or_blank

_SEPARATOR = re.compile(r"[\s._/:|+×,-]+")
MOST_NAMED = 6
"""Conditions that a reason names."""

Levels = Mapping[str, Sequence[str]]
"""Levels of each factor by the name of its column, the plain level first."""


@dataclass(frozen=True)
class Factor:
    """A two-level factor: the level without the property under study, then the level with it."""

    column: str
    plain: str
    marked: str


@dataclass(frozen=True)
class Cells:
    """Four conditions as two factors; ``oriented_by`` is the source of the marked levels."""

    first: Factor
    second: Factor
    levels: Mapping[str, tuple[str, str]]
    """Level of the first and of the second factor of each condition."""
    oriented_by: str
    read_from: str = "names"
    """``columns``, ``given`` (four named conditions) or ``names`` of conditions."""
    names: tuple[str, str] = ("", "")
    """Names of the factors; empty where they were read from the names of conditions."""


@dataclass(frozen=True)
class NoDesign:
    """Why conditions are not recognized as a two-by-two design."""

    reason: str


def recognize_design(
    rows: pd.DataFrame, *, factors: Levels, conditions: Sequence[str] = ()
) -> Cells | NoDesign | None:
    """Return the two-by-two design of rows with ``condition`` and ``expected``.

    Notes
    -----
    Named conditions come first, then the columns of the factors, then the names of conditions. None where
    there is nothing to recognize: fewer than three conditions without factors.
    """
    of_row = rows["condition"].astype(str)
    expected = dict(zip(of_row, column_or_blank(rows, "expected").astype(str), strict=True))
    if conditions:
        return find_cells(expected, conditions=conditions)
    if factors:
        return _from_columns(rows.assign(condition=of_row), factors)
    names = [name for name in expected if name.strip()]
    if len(names) < 3:
        return None
    return find_cells(expected) or NoDesign(_reason(names))


def _from_columns(rows: pd.DataFrame, factors: Levels) -> Cells | NoDesign:
    """Return the design of the columns; factors with one level in these rows do not vary and are left out."""
    absent = [name for name in factors if name not in rows.columns]
    if absent:
        return NoDesign(f"there is no column of the factor {absent[0]}.")
    varying = varying_levels(rows, factors)
    if [len(levels) for levels in varying.values()] != [2, 2]:
        sizes = " × ".join(str(len(levels)) for levels in varying.values()) or "of one cell"
        return NoDesign(
            f"the design is {sizes} ({' × '.join(varying)}): a difference of differences takes two factors "
            "of two levels. Name four of its conditions for the part that you mean."
        )
    (first, first_levels), (second, second_levels) = varying.items()
    cells = rows.drop_duplicates("condition")
    levels = {
        str(condition): (str(level), str(other_level))
        for condition, level, other_level in zip(cells["condition"], cells[first], cells[second], strict=True)
        if pd.notna(level) and pd.notna(other_level)
    }
    return Cells(
        Factor(first, *first_levels),
        Factor(second, *second_levels),
        levels,
        oriented_by="order",
        read_from="columns",
        names=(first, second),
    )


def varying_levels(rows: pd.DataFrame, factors: Levels) -> dict[str, list[str]]:
    """Return the factors with several levels in these rows, the levels in order."""
    present = {
        name: [level for level in map(str, levels) if level in set(rows[name].dropna().astype(str))]
        for name, levels in factors.items()
        if name in rows.columns
    }
    return {name: levels for name, levels in present.items() if len(levels) > 1}


def find_cells(expected: Mapping[str, str], *, conditions: Sequence[str] = ()) -> Cells | None:
    """Derive a two-by-two design from the names of its conditions.

    Notes
    -----
    A name is split in two at a separator such that the four names cross two levels with two; a level may
    itself contain separators, as in ``non-island.short``. Names that can be split in several ways are not
    recognized. The marked levels are those of the one condition that is expected to be unacceptable; without
    one they are the second in alphabetical order, which affects only the sign.

    Examples
    --------
    >>> words = {"non-island.matrix": "acceptable", "non-island.embedded": "acceptable",
    ...     "island.matrix": "acceptable", "island.embedded": "unacceptable"}
    >>> cells = find_cells(words)
    >>> cells.first.plain, cells.first.marked, cells.second.marked, cells.oriented_by
    ('non-island', 'island', 'embedded', 'expected')
    """
    if conditions:
        return _from_conditions(expected, list(conditions))
    names = [name for name in expected if name.strip()]
    crossings = _crossings(names)
    if len(crossings) != 1:
        return None
    levels = crossings[0]
    sides = [sorted({pair[side] for pair in levels.values()}) for side in (0, 1)]
    bad = [name for name in names if expected[name] == "unacceptable"]
    marked = levels[bad[0]] if len(bad) == 1 else (sides[0][1], sides[1][1])
    plain = [
        next(word for word in pair_of_names if word != mark)
        for pair_of_names, mark in zip(sides, marked, strict=True)
    ]
    return Cells(
        _named_by_levels(plain[0], marked[0], "first factor"),
        _named_by_levels(plain[1], marked[1], "second factor"),
        levels,
        "expected" if len(bad) == 1 else "alphabetical",
    )


def _named_by_levels(plain: str, marked: str, name: str) -> Factor:
    """Return a factor without a column: its name is its levels, else its place."""
    return Factor(name if (plain, marked) == ("plain", "marked") else f"{plain}/{marked}", plain, marked)


def _splits(name: str) -> Iterator[tuple[str, str]]:
    """Yield both sides of every separator within a name."""
    text = name.strip()
    for match in _SEPARATOR.finditer(text):
        if match.start() > 0 and match.end() < len(text):
            yield text[: match.start()], text[match.end() :]


def _crossings(names: Sequence[str]) -> list[dict[str, tuple[str, str]]]:
    """Return every way to split four names such that two levels cross with two."""
    if len(names) != 4:
        return []
    crossings = []
    for split in product(*(list(_splits(name)) for name in names)):
        firsts, seconds = ({pair[side] for pair in split} for side in (0, 1))
        if len(firsts) == len(seconds) == 2 and len(set(split)) == 4:
            crossings.append(dict(zip(names, split, strict=True)))
    return crossings


def _reason(names: Sequence[str]) -> str:
    listed = ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")
    if len(names) != 4:
        return f"{len(names)} conditions ({listed}), and no columns that are their factors."
    if len(_crossings(names)) > 1:
        return f"the names of the conditions ({listed}) can be split into two factors in several ways."
    return f"the names of the conditions ({listed}) do not cross two factors of two levels."


def _from_conditions(expected: Mapping[str, str], conditions: list[str]) -> Cells | None:
    if len(conditions) != 4 or len(set(conditions)) != 4:
        raise BadInput(
            f"a two-by-two design has four conditions, not {len(set(conditions))}.",
            column="factorial",
            remedy="Give them as plain-plain, marked-plain, plain-marked, marked-marked.",
        )
    if any(name not in expected for name in conditions):
        return None
    (plain_first, marked_first), (plain_second, marked_second) = _levels(conditions) or (
        ("plain", "marked"),
        ("plain", "marked"),
    )
    cells = (
        (plain_first, plain_second),
        (marked_first, plain_second),
        (plain_first, marked_second),
        (marked_first, marked_second),
    )
    return Cells(
        _named_by_levels(plain_first, marked_first, "first factor"),
        _named_by_levels(plain_second, marked_second, "second factor"),
        dict(zip(conditions, cells, strict=True)),
        oriented_by="given",
        read_from="given",
    )


def _levels(conditions: list[str]) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """Derive the plain and the marked level of both factors from the names, if they encode them."""
    for levels in _crossings(conditions):
        plain, marked = levels[conditions[0]], levels[conditions[3]]
        if levels[conditions[1]] == (marked[0], plain[1]) and levels[conditions[2]] == (plain[0], marked[1]):
            return (plain[0], marked[0]), (plain[1], marked[1])
    return None
