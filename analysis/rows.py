"""Selection of judgment rows, integer codes of groups, and moments within groups.

Every statistic reads its rows through these functions, so that *answered*, *target* and *missing*
have the same definition everywhere.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from .errors import BadInput
from .text import natural_order

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

RATING_TASKS = ("likert", "magnitude_estimation", "slider", "best_worst")
LARGEST_VALUE = 1e100
"""Largest size of a value; sums of squares overflow from about 1e150 on, and every z becomes 0."""
_CHUNK = 500_000  # rows; temporary arrays of 4 MB each
_TRUE = {"true", "1", "1.0", "yes", "t"}
_FALSE = {"false", "0", "0.0", "no", "f"}


def chunks(n: int, *, size: int = _CHUNK) -> Iterator[slice]:
    """Yield slices of consecutive rows, so that temporary arrays stay small.

    Examples
    --------
    >>> [piece.stop for piece in chunks(1_200_000)]
    [500000, 1000000, 1200000]
    """
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def is_kind(judgments: pd.DataFrame, kinds: Sequence[str]) -> Flags:
    """Return which rows are trials of the given kinds."""
    if "kind" not in judgments.columns:
        return np.full(len(judgments), "target" in kinds)
    accepted = {*kinds, ""} if "target" in kinds else set(kinds)
    codes, labels = group_codes(judgments["kind"])
    return _by_group([label in accepted for label in labels], codes)


def _by_group(by_group: list[bool], codes: Codes) -> Flags:
    """Map a flag of each group to its rows."""
    if all(by_group):
        return np.ones(len(codes), dtype=bool)
    return np.array(by_group, dtype=bool)[codes]


def rows_where(judgments: pd.DataFrame, selected: Flags) -> pd.DataFrame:
    """Select rows; without a copy if all rows are selected."""
    return judgments.copy(deep=False) if selected.all() else judgments[selected]


def numbers(judgments: pd.DataFrame) -> Floats:
    """Return ``value`` as floats, NaN if the trial was not answered."""
    column = judgments["value"]
    try:
        values: Floats = pd.to_numeric(column).to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    except (ValueError, TypeError) as error:
        readable = pd.to_numeric(column, errors="coerce")
        row = int(np.flatnonzero((readable.isna() & column.notna()).to_numpy())[0])
        message = f"{column.iloc[row]!r} is not a number."
        remedy = "Leave the cell empty where there is no answer."
        raise BadInput(message, row=row + 1, column="value", remedy=remedy) from error
    beyond = (values > LARGEST_VALUE) | (values < -LARGEST_VALUE)
    if beyond.any():
        row = int(np.flatnonzero(beyond)[0])
        size = "infinite" if np.isinf(values[row]) else f"beyond {LARGEST_VALUE:g}"
        remedy = "Give a finite number." if np.isinf(values[row]) else "Correct the number or leave it empty."
        raise BadInput(f"the value is {size}.", row=row + 1, column="value", remedy=remedy)
    if "status" in judgments.columns:
        codes, labels = group_codes(judgments["status"])
        answered = _by_group([label in ("answered", "") for label in labels], codes)
        if not answered.all():
            values[~answered] = np.nan
    return values


def tasks(judgments: pd.DataFrame) -> pd.Series:
    """Return each row's task, inferred for the whole frame if there is no ``task`` column.

    Notes
    -----
    Without ``task``: values all 0 or 1 are forced choice, or yes-no where ``expected`` is present;
    any other values are ``likert`` ratings.
    """
    if "task" in judgments.columns:
        return judgments["task"]
    values = numbers(judgments)
    if np.isin(values[~np.isnan(values)], (0.0, 1.0)).all():
        guess = "yes_no" if "expected" in judgments.columns else "forced_choice"
    else:
        guess = "likert"
    return _constant(guess, judgments.index, name="task")


def group_codes(column: pd.Series) -> tuple[Codes, list[str]]:
    """Number the groups of a column in the alphabetical order of their names.

    Examples
    --------
    >>> codes, labels = group_codes(pd.Series(["b", "a", None, "b"]))
    >>> codes.tolist(), labels
    ([2, 1, 0, 2], ['', 'a', 'b'])
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, names = column.array.codes.astype(np.int64), column.cat.categories.tolist()
    else:
        codes, uniques = pd.factorize(column)
        names = list(uniques)
    occurs = np.zeros(len(names) + 1, dtype=bool)
    # A missing value has code -1, that is the last element.
    occurs[codes] = True
    present = np.roll(occurs, 1).tolist()
    texts = ["", *(str(name) for name in names)]
    labels = sorted({text for text, is_present in zip(texts, present, strict=True) if is_present})
    place = {label: number for number, label in enumerate(labels)}
    lookup = np.array([place.get(text, 0) for text in texts[1:] + [""]], dtype=np.int64)
    return np.take(lookup, codes, out=codes, mode="wrap"), labels  # code -1 selects the last entry, ""


def distinct_codes(column: pd.Series) -> Codes:
    """Number the groups of a column in any order, -1 where it is missing; quicker than `group_codes`."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes: Codes = column.array.codes
        return codes
    return pd.factorize(column)[0]


def column_or_blank(judgments: pd.DataFrame, name: str) -> pd.Series:
    """Return a column, or empty strings if the frame does not have it.

    Examples
    --------
    >>> column_or_blank(pd.DataFrame({"item": ["a"]}), "paradigm").tolist()
    ['']
    """
    if name in judgments.columns:
        return judgments[name]
    return _constant("", judgments.index, name=name)


def name_items_apart(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the judgments with the paradigm before items whose name occurs in several paradigms.

    Examples
    --------
    >>> name_items_apart(pd.DataFrame({"paradigm": ["x", "y"], "item": ["1", "1"]}))["item"].tolist()
    ['x 1', 'y 1']
    >>> name_items_apart(pd.DataFrame({"paradigm": ["x", "y"], "item": ["1", "2"]}))["item"].tolist()
    ['1', '2']
    """
    if not {"paradigm", "item"} <= set(judgments.columns):
        return judgments
    paradigm, paradigms = group_codes(judgments["paradigm"])
    item, items = group_codes(judgments["item"])
    codes, paradigm_of, item_of = joint_codes(paradigm, item)
    if len(item_of) == len(items):
        return judgments
    is_shared = np.bincount(item_of, minlength=len(items))[item_of] > 1
    names = [
        f"{paradigms[first]} {items[second]}".strip() if shared else items[second]
        for first, second, shared in zip(paradigm_of, item_of, is_shared, strict=True)
    ]
    return judgments.assign(item=pd.Categorical.from_codes(*_unique_names(codes, names)))


def _unique_names(codes: Codes, names: list[str]) -> tuple[Codes, pd.Index]:
    """Number the names that occur, for a categorical column."""
    places, uniques = pd.factorize(np.array(names, dtype=object))
    return places[codes], pd.Index(uniques)


def flags(column: pd.Series) -> Floats:
    """Parse a boolean column: 1 true, 0 false, NaN if missing or unreadable."""
    if isinstance(column.dtype, pd.BooleanDtype) or column.dtype == np.dtype(bool):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    codes, labels = group_codes(column)
    meaning = [
        1.0 if label.lower() in _TRUE else 0.0 if label.lower() in _FALSE else np.nan for label in labels
    ]
    return np.array(meaning, dtype=np.float64)[codes]


def none_if_nan(number: Any) -> float | None:
    """Return a plain float, or None if the number is undefined.

    Examples
    --------
    >>> none_if_nan(float("nan")), none_if_nan(2)
    (None, 2.0)
    """
    return None if number is None or np.isnan(number) else float(number)


def _constant(text: str, index: pd.Index, *, name: str) -> pd.Series:
    codes = np.zeros(len(index), dtype=np.int64)
    return pd.Series(pd.Categorical.from_codes(codes, pd.Index([text])), index=index, name=name)


# Possible pairs of groups per row; above this, hashing beats a dense table.
_MAX_CELLS_PER_ROW = 2


def joint_codes(first: Codes, second: Codes) -> tuple[Codes, Codes, Codes]:
    """Number the pairs of groups that occur; return codes and the two groups of each code."""
    width = int(second.max()) + 1 if len(second) else 1
    cells = first * width + second
    if len(cells) and (int(first.max()) + 1) * width <= _MAX_CELLS_PER_ROW * len(cells):
        # Dense table of all possible pairs: no hashing, no sorting.
        occurs = np.bincount(cells) > 0
        keys = np.flatnonzero(occurs)
        place: Codes = (np.cumsum(occurs) - 1)[cells]
        return place, keys // width, keys % width
    codes, uniques = pd.factorize(cells, sort=True)
    keys = np.asarray(uniques, dtype=np.int64)
    return codes.astype(np.int64), keys // width, keys % width


def joint_counts(first: Codes, second: Codes) -> tuple[Floats, Codes, Codes]:
    """Count the pairs of groups that occur; return counts and the two groups of each pair."""
    width = int(second.max()) + 1 if len(second) else 1
    if len(first) and (int(first.max()) + 1) * width <= _MAX_CELLS_PER_ROW * len(first):
        every = np.bincount(first * width + second)
        keys = np.flatnonzero(every)
        return every[keys].astype(np.float64), keys // width, keys % width
    codes, firsts, seconds = joint_codes(first, second)
    return np.bincount(codes, minlength=len(firsts)).astype(np.float64), firsts, seconds


# Fewer ratings give no usable standard deviation of a participant.
MIN_RATINGS = 4


def moments(
    values: Floats, codes: Codes, *, n_groups: int, ddof: int
) -> tuple[Codes, Floats, Floats, np.ndarray]:
    """Compute n, mean, standard deviation and constancy of each group, in two passes.

    Notes
    -----
    Values are first shifted by one value of their group, so that a constant group has residuals of
    exactly 0 and a large mean causes no loss of precision.
    """
    if ddof not in (0, 1):
        raise BadInput(f"ddof is {ddof!r}.", remedy="It is 0 or 1.")
    defined = ~np.isnan(values)
    group, value = (codes, values) if defined.all() else (codes[defined], values[defined])
    shift, sums, squares = np.zeros(n_groups), np.zeros(n_groups), np.zeros(n_groups)
    shift[group] = value
    n = np.bincount(group, minlength=n_groups)
    for rows in chunks(len(group)):
        shifted = value[rows] - shift[group[rows]]
        sums += np.bincount(group[rows], weights=shifted, minlength=n_groups)
    centre = np.divide(sums, n, out=np.full(n_groups, np.nan), where=n > 0)
    for rows in chunks(len(group)):
        residual = value[rows] - shift[group[rows]] - centre[group[rows]]
        squares += np.bincount(group[rows], weights=residual**2, minlength=n_groups)
    constant = (squares == 0) & (n > 0)
    if constant.any():  # squares of very small numbers underflow to 0: compare the values
        alike = np.flatnonzero(constant[group])
        constant[group[alike[value[alike] != shift[group[alike]]]]] = False
    variance = np.divide(squares, n - ddof, out=np.full(n_groups, np.nan), where=n > ddof)
    return n, centre + shift, np.sqrt(variance), constant


def scale_status(n: Codes, constant: np.ndarray, *, ddof: int, min_ratings: int) -> np.ndarray:
    """Return whether each group can be standardized: ok, no_data, too_few or constant.

    Examples
    --------
    >>> constant = np.array([False, True, False, False])
    >>> scale_status(np.array([9, 9, 2, 0]), constant, ddof=1, min_ratings=4).tolist()
    ['ok', 'constant', 'too_few', 'no_data']
    """
    status = np.full(len(n), "ok", dtype=object)
    status[constant] = "constant"
    status[n < max(min_ratings, ddof + 1, 2)] = "too_few"
    status[n == 0] = "no_data"
    return status


def standardize(
    values: Floats, codes: Codes, *, n_groups: int, ddof: int = 1, min_ratings: int = MIN_RATINGS
) -> Floats:
    """Standardize values within integer-coded groups.

    Notes
    -----
    (x - mean) / SD of the group, SD with ``ddof``.

    Examples
    --------
    >>> codes = np.zeros(4, dtype=np.int64)
    >>> standardize(np.array([1.0, 3, 5, 7]), codes, n_groups=1).round(3).tolist()
    [-1.162, -0.387, 0.387, 1.162]
    """
    n, mean, sd, constant = moments(values, codes, n_groups=n_groups, ddof=ddof)
    usable = scale_status(n, constant, ddof=ddof, min_ratings=min_ratings) == "ok"
    spread = np.where(usable, sd, np.nan)
    z: Floats = np.empty(len(values))
    for rows in chunks(len(values)):
        group = codes[rows]
        np.divide(values[rows] - mean[group], spread[group], out=z[rows])
    return z


def in_natural_order(table: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return the rows by the names in these columns, numbers in names by their value.

    Examples
    --------
    >>> in_natural_order(pd.DataFrame({"item": ["1", "10", "2"]}), "item")["item"].tolist()
    ['1', '2', '10']
    """
    ranks = []
    for column in reversed(columns):  # the last key of lexsort is the first one to sort by
        codes, labels = pd.factorize(table[column], use_na_sentinel=False)
        names = [str(label) for label in labels]
        in_order = sorted(dict.fromkeys(names), key=natural_order)
        rank = {name: place for place, name in enumerate(in_order)}
        ranks.append(np.array([rank[name] for name in names], dtype=np.int64)[codes])
    return table.iloc[np.lexsort(ranks)] if len(table) else table


_BLOCK_CELLS = 2**20  # possible pairs of a block of members, 4 bytes each: they stay in the processor's cache


def repeats(groups: Codes, members: Codes, *, n_groups: int) -> tuple[Codes, Codes]:
    """Find rows of the same group and member, such as the ratings of one sentence by one participant.

    Returns the rows beyond the one that stands for its pair, and for each of them the row that stands for it.

    Examples
    --------
    >>> [rows.tolist() for rows in repeats(np.array([0, 1, 0, 0]), np.array([2, 2, 2, 0]), n_groups=2)]
    [[0], [2]]
    """
    changes = np.flatnonzero(members[1:] != members[:-1]) + 1
    starts = np.append(0, changes) if len(members) else changes
    if np.bincount(members[starts].astype(np.int64) + 1, minlength=1).max() > 1:  # rows of a member are apart
        keys = members.astype(np.int64) + 1  # a missing member is -1
        order = np.argsort(keys.astype(np.min_scalar_type(keys.max())), kind="stable")  # 16 bits: by radix
        again, stand = repeats(groups[order], members[order], n_groups=n_groups)
        return order[again], order[stand]
    ends = np.append(starts[1:], len(members))
    width = max(1, _BLOCK_CELLS // max(n_groups, 1))
    row_of_cell = np.empty(width * n_groups, dtype=np.int32)
    found: list[tuple[Codes, Codes]] = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for first in range(0, len(starts), width):
        block = slice(first, first + width)
        start, end = int(starts[block][0]), int(ends[block][-1])
        member = np.repeat(np.arange(len(starts[block])), ends[block] - starts[block])
        cells, rows = member * n_groups + groups[start:end], np.arange(end - start, dtype=np.int32)
        row_of_cell[cells] = rows  # of the rows of one cell, one stays
        again = np.flatnonzero(row_of_cell[cells] != rows)
        found.append((start + again, start + row_of_cell[cells[again]].astype(np.int64)))
    return np.concatenate([again for again, _ in found]), np.concatenate([stand for _, stand in found])


def average_repeats(columns: Sequence[Floats], groups: Codes, members: Codes, *, n_groups: int) -> Flags:
    """Put the mean of the rows of one group and member in the first of them, NaN in the others.

    Changes the columns in place, and returns which rows are the others. Rows without a value in the first
    column do not count.

    Examples
    --------
    >>> values = np.array([1.0, 0.0, 5.0, 3.0])
    >>> average_repeats([values], np.array([0, 0, 0, 0]), np.array([1, 1, 2, 1]), n_groups=1).tolist()
    [False, True, False, True]
    >>> values.round(2).tolist()
    [1.33, nan, 5.0, nan]
    """
    counted = ~np.isnan(columns[0])
    is_complete = bool(counted.all())
    kept = (groups, members) if is_complete else (groups[counted], members[counted])
    again, stand = repeats(*kept, n_groups=n_groups)
    others = np.zeros(len(groups), dtype=np.bool_)
    if not len(again):
        return others
    if not is_complete:
        row = np.flatnonzero(counted)
        again, stand = row[again], row[stand]
    standing = np.unique(stand)
    rows, cells = np.concatenate([again, standing]), np.concatenate([stand, standing])
    first = pd.Series(rows).groupby(cells).min().to_numpy()
    means = pd.DataFrame({place: column[rows] for place, column in enumerate(columns)}).groupby(cells).mean()
    for place, column in enumerate(columns):
        column[rows] = np.nan
        column[first] = means[place].to_numpy()
    others[rows] = True
    others[first] = False
    return others


def own_majority(shares: Floats) -> Floats:
    """Return the answer that each participant gave more often: 1, 0, or one half of equally many.

    Examples
    --------
    >>> own_majority(np.array([0.75, 0.5, 0.25, np.nan])).tolist()
    [1.0, 0.5, 0.0, nan]
    """
    sides: Floats = (np.sign(shares - 0.5) + 1) / 2
    return sides


def merge_answers(rows: pd.DataFrame, values: Floats, *, unit: str) -> tuple[pd.DataFrame, Floats]:
    """Merge the answers of one participant to one stimulus, so that each counts once.

    Notes
    -----
    The mean of ratings and other numbers; of choices (0 and 1) the more frequent, one half where both are
    equally frequent. The stimulus is the pair in forced choice, else the sentence; without columns that tell
    stimuli apart it is the unit, and within paradigms and phenomena nothing is merged.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": list("aab"), "item": "i"})
    >>> merge_answers(rows, np.array([4.0, 6.0, 3.0]), unit="item")[1].tolist()
    [5.0, 3.0]
    """
    names = _stimulus_columns(rows, unit)
    if not names or "participant" not in rows.columns or not len(rows):
        return rows, values
    stimulus = group_codes(rows[names[0]])[0]
    for name in names[1:]:
        stimulus = joint_codes(stimulus, group_codes(rows[name])[0])[0]
    merged = values.copy()
    n_stimuli = int(stimulus.max()) + 1
    is_repeat = average_repeats([merged], stimulus, distinct_codes(rows["participant"]), n_groups=n_stimuli)
    if not is_repeat.any():
        return rows, values
    if np.isin(values[~np.isnan(values)], (0.0, 0.5, 1.0)).all():
        merged = own_majority(merged)
    return rows[~is_repeat], merged[~is_repeat]


def _stimulus_columns(rows: pd.DataFrame, unit: str) -> list[str]:
    names, of_sentence = ["pair_id", "item", "unit"], {"sentence_id", "condition", "expected"}
    # In forced choice the sentence is the answer.
    if of_sentence & set(rows.columns) and len(rows) and not (tasks(rows) == "forced_choice").all():
        names += sorted(of_sentence)
    if unit not in (*names, "paradigm", "phenomenon"):
        names.append(unit)
    present = [name for name in names if name in rows.columns]
    return [*present, "paradigm"] if present and "paradigm" in rows.columns else present
