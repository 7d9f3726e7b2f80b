"""Factors of a design from the columns of a table: levels, cells, and columns that look like factors."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import pandas as pd

from analysis.columns import EXPORT_COLUMNS, ITEM_COLUMNS, JUDGMENT_COLUMNS
from analysis.errors import BadInput
from analysis.gold.codebook import PAIR_RECORD, RELEASE_COLUMNS
from experiments.materials.findings import Finding
from experiments.materials.schema import JOINT

CELL = ":"
"""Joins the levels in the name of a condition, as for imported judgments."""
MOST_FACTORS, MOST_LEVELS = 4, 12
_MOST_PROPOSED_LEVELS = 6
"""More values than this are proposed as no factor: they are rather names or notes."""
_FILLER = frozenset({"true", "t", "yes", "y", "1", "1.0", "x", "✓", "filler", "fillers", "distractor"})
_TARGET = frozenset(
    {"", "false", "f", "no", "n", "0", "0.0", "target", "targets", "item", "critical", "experimental", "test"}
)
_COLUMNS = frozenset(
    name.lower()
    for name in (*JUDGMENT_COLUMNS, *EXPORT_COLUMNS, *ITEM_COLUMNS, *RELEASE_COLUMNS, *PAIR_RECORD)
) | {"attributes", "factors", "line", "prefix", "stimulus", "row_id"}
"""Names of columns of the tables in which factors stand, in small letters."""
_NO_FACTORS = frozenset({*JUDGMENT_COLUMNS, "id", "row", "number", "notes", "note", "comment", "comments"})
"""Names of columns that are never proposed as a factor."""
_PERHAPS_FACTORS = frozenset({"number", "kind", "status", "position", "task"})
"""Those of them that are, where their values are words: singular and plural, before and after."""

Levels = Mapping[str, Sequence[tuple[str, str]]]
"""By column: its values in the researcher's order, each with the name of its level."""


def is_filler(cell: str) -> bool | None:
    """Whether the cell of a filler column marks a filler; None where it has another meaning.

    Examples
    --------
    >>> is_filler("TRUE"), is_filler("target"), is_filler("maybe")
    (True, False, None)
    """
    word = cell.strip().lower()
    return True if word in _FILLER else False if word in _TARGET else None


def factor_name(column: str) -> str:
    """Return the name of the factor in a column; names of columns of downloads and releases get a suffix.

    Examples
    --------
    >>> factor_name("structure"), factor_name("clause\\n type"), factor_name("Context"), factor_name("..1")
    ('structure', 'clause type', 'Context_factor', 'factor ..1')
    """
    name = " ".join(column.split())
    if not any(sign.isalnum() for sign in name) or re.fullmatch(r"\.\.\d+", name):  # R reserves ... and ..1
        return f"factor {name}"
    return f"{name}_factor" if name.lower().removesuffix("_factor") in _COLUMNS else name


def list_levels(cells: pd.DataFrame, order: Levels, *, file: str) -> dict[str, dict[str, str]]:
    """Return by column each value's level, in the researcher's order, else in that of the file.

    ``cells`` are the targets' cells of the factor columns; the index is the row of the file.
    """
    if len(cells.columns) > MOST_FACTORS:
        raise BadInput(
            f"{len(cells.columns)} columns are factors.", file=file, remedy=f"Map at most {MOST_FACTORS}."
        )
    names = list(map(factor_name, map(str, cells.columns)))
    if repeated := [name for name in names if names.count(name) > 1]:
        raise BadInput(
            f"two columns are the factor {repeated[0]!r}.", file=file, remedy="Rename one of them."
        )
    if unknown := [column for column in order if column not in cells.columns]:
        raise BadInput(
            f"{unknown[0]!r} is not a factor.",
            file=file,
            remedy=f"Levels can be given for {', '.join(map(str, cells.columns))}.",
        )
    return {str(column): _levels(cells[column], order.get(str(column), ()), file=file) for column in cells}


def _levels(cells: "pd.Series[str]", order: Sequence[tuple[str, str]], *, file: str) -> dict[str, str]:
    column, values = str(cells.name), list(dict.fromkeys(cells))
    empty = cells.index[cells == ""]
    if len(empty):
        raise BadInput(
            "the factor has no level here.",
            file=file,
            row=int(empty[0]),
            column=column,
            remedy="Fill the cell, or map filler to the column that marks fillers.",
        )
    if not 2 <= len(values) <= MOST_LEVELS:
        raise BadInput(
            f"a factor has 2 to {MOST_LEVELS} levels, and this column has {len(values)}.",
            file=file,
            column=column,
            remedy="Map columns that vary within items.",
        )
    if unknown := [value for value, _ in order if value not in values]:
        raise BadInput(
            f"there is no level {unknown[0]!r}.",
            file=file,
            column=column,
            remedy=f"The column has {', '.join(values)}.",
        )
    names = {**{value: name.strip() or value for value, name in order}}
    names |= {value: value for value in values if value not in names}
    if len(set(names.values())) < len(names):
        raise BadInput(
            "two values have the same level.", file=file, column=column, remedy="Name each level differently."
        )
    return names


def parse_levels(options: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """Parse ``column=value,value`` with levels in their order; ``value:name`` names a level.

    Examples
    --------
    >>> parse_levels(["structure=0:non-island,1:island", "distance=short,long"])["structure"]
    [('0', 'non-island'), ('1', 'island')]
    """
    levels: dict[str, list[tuple[str, str]]] = {}
    for option in options:
        column, sign, values = option.partition("=")
        if not sign or not values.strip():
            raise BadInput(f"{option!r} names no levels.", remedy="Write column=level,level.")
        parts = [part.strip().partition(":") for part in values.split(",")]
        levels[column.strip()] = [(value.strip(), (name or value).strip()) for value, _, name in parts]
    return levels


def factor_columns(cells: pd.DataFrame, items: "pd.Series[str]") -> list[str]:
    """Return the fewest columns that tell the sentences of every item apart; empty if none do.

    Notes
    -----
    A column counts if every cell is filled, it has two to six values, and it varies within at least half of
    the items that have several sentences.

    Examples
    --------
    >>> cells = pd.DataFrame({"structure": ["a", "a", "b", "b"], "distance": ["s", "l", "s", "l"]})
    >>> factor_columns(cells, pd.Series(["1"] * 4))
    ['structure', 'distance']
    """
    several = items.map(items.value_counts()) > 1
    cells, items = cells[several], items[several]
    if items.empty:
        return []
    candidates = [str(name) for name in cells if _may_be_factor(cells[name], items)]
    for size in range(1, min(len(candidates), MOST_FACTORS) + 1):
        for names in combinations(candidates, size):
            if not cells[list(names)].assign(item=items).duplicated().any():
                return list(names)
    return []


def _may_be_factor(cells: "pd.Series[str]", items: "pd.Series[str]") -> bool:
    values, name = cells.unique(), str(cells.name).strip().lower()
    are_words = not any(
        any(sign.isdigit() for sign in value) or is_filler(value) is not None for value in values
    )
    if name in _NO_FACTORS and not (name in _PERHAPS_FACTORS and are_words):
        return False
    if not 2 <= len(values) <= _MOST_PROPOSED_LEVELS or "" in values:
        return False
    return bool((cells.groupby(items).nunique() > 1).mean() >= 0.5)


_LEAST_EVEN = 1 / 3  # number of the rarest level in an item / number of the most frequent one


def balanced_columns(
    cells: pd.DataFrame, items: "pd.Series[str]", *, people: "pd.Series[str]", values: "pd.Series[float]"
) -> list[str]:
    """Return the columns of judgments without sentences that look like factors.

    Notes
    -----
    Such a column varies within most items, about evenly, and within most participants. In files with five
    and more rows for each value, it does not follow from the judgment, as a label of the answer would.

    Examples
    --------
    >>> cells = pd.DataFrame({"number": ["sg", "pl", "pl", "sg"], "group": ["x", "x", "y", "y"]})
    >>> items, people = pd.Series(["1", "2", "1", "2"]), pd.Series(["a", "a", "b", "b"])
    >>> balanced_columns(cells, items, people=people, values=pd.Series([5.0, 5.0, 2.0, 3.0]))
    ['number']
    """
    names, is_small = [], len(values) < 5 * values.nunique()
    for name in map(str, cells):
        column = cells[name]
        if not _may_be_factor(column, items) or (column.groupby(people).nunique() > 1).mean() < 0.5:
            continue
        counts = pd.crosstab(items, column)
        is_even = counts.min(axis=1) >= _LEAST_EVEN * counts.max(axis=1)
        if is_even.mean() >= 0.5 and (is_small or (column.groupby(values).nunique() > 1).any()):
            names.append(name)
    return names


def half_mapped(
    sentences: pd.DataFrame,
    *,
    condition: Sequence[str],
    expected: str,
    attributes: Sequence[str],
    has_items: bool,
) -> Iterator[Finding]:
    """Refuse items whose sentences only an unmapped column tells apart: their pairs would not be minimal.

    ``condition`` are the columns that are mapped as factors or as the condition, ``expected`` is that of the
    expected status, ``attributes`` are those that are stated to be no factors.
    """
    targets = sentences[~sentences["is_filler"].astype(bool)]
    if len(condition) > 1 and not has_items:
        message = (
            "the conditions have no items, so that no sentence has a counterpart. "
            "Map item to the column of the item sets."
        )
        yield Finding("error", "half_mapping", message, file=str(targets["file"].iloc[0]))
        return
    extras = pd.DataFrame(
        [
            {name: str(value) for name, value in row.items() if name not in attributes}
            for row in targets["attributes"]
        ],
        index=targets.index,
    ).fillna("")
    for cell, mapped in (
        (["item", "condition"], condition),
        (["item", "condition", "expected"], condition or ([expected] if expected else [])),
    ):
        repeated = targets[targets.duplicated(cell, keep=False)]
        keys = targets[cell].agg("\0".join, axis=1)
        if not repeated.empty and (names := factor_columns(extras, keys)):
            yield _half_mapping(repeated, cell, names, mapped)
            return


def _half_mapping(
    repeated: pd.DataFrame, cell: Sequence[str], names: Sequence[str], condition: Sequence[str]
) -> Finding:
    first = repeated.iloc[0]
    n = int((repeated[list(cell)] == first[list(cell)]).all(axis=1).sum())
    where = f" in condition {first['condition']!r}" if first["condition"] else ""
    if "expected" in cell and first["expected"]:
        where += f" that are {first['expected']}"
    subject = f"column {names[0]}" if len(names) == 1 else f"columns {' and '.join(names)} together"
    verb = "tells" if len(names) == 1 else "tell"
    message = (
        f"item {first['item']} has {n} sentences{where}, which only the {subject} {verb} apart: "
        f"the pairs would not be minimal. Map condition={JOINT.join([*condition, *names])}, or state with "
        f"attribute={JOINT.join(names)} that this is no factor."
    )
    return Finding("error", "half_mapping", message, str(first["file"]), int(first["row"]), tuple(names))
