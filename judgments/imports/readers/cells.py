"""Parse the cells of a judgment file: numbers, flags, kinds of trial, times; detect task and scale."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd

from analysis.errors import BadInput
from experiments.tasks.magnitude_estimation import LARGEST

#: Cells without an answer. NaN is an error instead: programs write it for broken numbers.
EMPTY = frozenset({"", "NA", "N/A", "#N/A", "NULL", "null", "None", "{}", "undefined"})
_TRUE = frozenset({"1", "1.0", "true", "t", "yes", "y", "sim", "ja", "oui", "sí", "si"})
_FALSE = frozenset({"0", "0.0", "false", "f", "no", "n", "não", "nao", "nein", "non"})
_ZONES = {
    "UTC": 0,
    "GMT": 0,
    "PST": -8,
    "PDT": -7,
    "MST": -7,
    "MDT": -6,
    "CST": -6,
    "CDT": -5,
    "EST": -5,
    "EDT": -4,
}
_KINDS = (
    ("practice", re.compile(r"practi[cs]e|training|warm.?up|example", re.IGNORECASE)),
    ("catch", re.compile(r"catch|attention|attn", re.IGNORECASE)),
    ("filler", re.compile(r"filler|distra[ck]tor", re.IGNORECASE)),
    ("anchor", re.compile(r"anchor|calibration", re.IGNORECASE)),
    ("target", re.compile(r"target|critical|experiment|test|^$", re.IGNORECASE)),
)


def is_empty(cells: pd.Series) -> "pd.Series[bool]":
    """Return which cells have no answer."""
    return cells.isin([level for level in cells.unique() if level in EMPTY or str(level).strip() in EMPTY])


def strip_cell(cell: Any) -> str:
    """Strip a cell; empty where it has no answer.

    Examples
    --------
    >>> strip_cell(" $0.25 "), strip_cell("{}"), strip_cell(None)
    ('$0.25', '', '')
    """
    text = "" if cell is None else str(cell).strip()
    return "" if text in EMPTY else text


def without_headers(frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out the rows that repeat the header, as in files that were joined run by run.

    Where a repeated header has the names in another order, or fewer of them, the rows below it are arranged
    as those of the first.
    """
    names = [str(name) for name in frame.columns]
    if len(names) < 2:
        return frame
    is_name = frame.iloc[:, 0].isin([name for name in names if whole_number(name) is None]).to_numpy()
    places = [place for place in np.flatnonzero(is_name) if _is_header(frame.iloc[place].tolist(), names)]
    if not places:
        return frame
    cells = frame.to_numpy(dtype=object, copy=True)
    for start, end in zip(places, [*places[1:], len(frame)], strict=True):
        header = [str(cell).strip() for cell in cells[start]]
        if header != names:
            below = dict(zip(header, cells[start + 1 : end].T.copy(), strict=False))
            for column, name in enumerate(names):
                cells[start + 1 : end, column] = below.get(name, "")
    arranged = pd.DataFrame(cells, index=frame.index, columns=frame.columns, dtype=object)
    is_row = np.ones(len(frame), dtype=bool)
    is_row[places] = False
    return arranged[is_row]


def _is_header(cells: Sequence[Any], names: Sequence[str]) -> bool:
    """Return whether a row names the columns: most of them, each once, and nothing else.

    Examples
    --------
    >>> _is_header(["item", "person", ""], ["person", "item", "rating"])
    True
    >>> _is_header(["item", "B", "A"], ["item", "A", "B"])  # two answers
    False
    """
    filled = [str(cell).strip() for cell in cells if str(cell).strip()]
    is_named = len(set(filled)) == len(filled) and set(filled) <= set(names)
    n_long = sum(len(name) > 1 for name in filled)
    return is_named and (filled == list(names) or 2 * n_long > len(names) and n_long > 1)


def share_texts(cells: "pd.Series[str]") -> "pd.Series[str]":
    """Return the cells with one text for all that are equal, which joining columns has made anew for each."""
    shared: dict[str, str] = {}
    return pd.Series(
        [shared.setdefault(cell, cell) for cell in cells], index=cells.index, dtype=object, name=cells.name
    )


def no_value(trials: pd.DataFrame) -> "pd.Series[bool]":
    """Return False for every row."""
    return pd.Series(False, index=trials.index)


def parse_numbers(cells: pd.Series, *, column: str, file: str) -> pd.Series:
    """Parse numbers; empty cells become NaN.

    Examples
    --------
    >>> parse_numbers(pd.Series(["2.0", "", "NA"]), column="rating", file="a.csv").tolist()
    [2.0, nan, nan]
    """
    levels = pd.Index(cells.unique())
    empty = is_empty(levels.to_series())
    read = pd.to_numeric(levels.to_series().where(~empty), errors="coerce").astype("float64")
    wrong = ~empty & ~np.isfinite(read.to_numpy())
    if wrong.any():
        bad = levels[wrong.to_numpy()]
        first = int(np.flatnonzero(cells.isin(bad))[0])
        raise BadInput(
            f"{cells.iloc[first]!r} is not a number.",
            file=file,
            row=int(cells.index[first]),
            column=column,
            remedy="Write finite numbers with a decimal point, and nothing where there is no answer.",
        )
    beyond = np.abs(read.to_numpy()) >= LARGEST
    if beyond.any():
        first = int(np.flatnonzero(cells.isin(levels[beyond]))[0])
        raise BadInput(
            f"{cells.iloc[first][:40]!r} is beyond {LARGEST:g}, more than an estimate can be.",
            file=file,
            row=int(cells.index[first]),
            column=column,
            remedy="Correct the number, or leave the cell empty.",
        )
    return cells.map(dict(zip(levels, read, strict=True))).astype("float64")


def parse_flag(cell: Any) -> bool | None:
    """Parse yes or no; None for any other cell.

    Examples
    --------
    >>> parse_flag("True"), parse_flag("0"), parse_flag("maybe")
    (True, False, None)
    """
    word = strip_cell(cell).lower()
    return True if word in _TRUE else False if word in _FALSE else None


def agreed_answer(answers: "pd.Series[Any]") -> bool | None:
    """Return the answer of a participant; None where there is none or the answers differ.

    Examples
    --------
    >>> agreed_answer(pd.Series([True, None, True])), agreed_answer(pd.Series([True, False]))
    (True, None)
    """
    distinct = {bool(answer) for answer in answers if answer is not None}
    return distinct.pop() if len(distinct) == 1 else None


def parse_kind(label: str) -> str | None:
    """Return the kind of a trial from its label; None where the label matches none.

    Examples
    --------
    >>> parse_kind("practice_good"), parse_kind("distractor"), parse_kind("Attention"), parse_kind("zebra")
    ('practice', 'filler', 'catch', None)
    """
    return next((kind for kind, pattern in _KINDS if pattern.search(label.strip())), None)


def parse_kinds(cells: pd.Series, *, column: str, file: str) -> pd.Series:
    """Parse the kinds of trials."""
    kind_by_label = {label: parse_kind(strip_cell(label)) for label in cells.unique()}
    unknown = [label for label, kind in kind_by_label.items() if kind is None]
    if unknown:
        raise BadInput(
            f"{unknown[0]!r} is no kind of trial.",
            file=file,
            row=int(cells.index[cells == unknown[0]][0]),
            column=column,
            remedy="Known are target, filler, catch, practice and anchor; --map kind= leaves the column out.",
        )
    return cells.map(kind_by_label)


def mturk_time(text: str) -> datetime | None:
    """Parse a time of the MTurk requester site as UTC; None where there is none or its zone is unknown.

    Examples
    --------
    >>> mturk_time("Tue Oct 08 00:33:08 PDT 2019").isoformat()
    '2019-10-08T07:33:08+00:00'
    """
    match = re.fullmatch(r"\w{3} (\w{3} \d{1,2} \d\d:\d\d:\d\d) ([A-Z]{3,4}) (\d{4})", text.strip())
    if not match or match[2] not in _ZONES:
        return None
    try:
        local = datetime.strptime(f"{match[1]} {match[3]}", "%b %d %H:%M:%S %Y")
    except ValueError:
        return None
    return local.replace(tzinfo=timezone(timedelta(hours=_ZONES[match[2]]))).astimezone(UTC)


def whole_number(text: str) -> int | None:
    """Parse a whole number that is not negative; None for any other text."""
    return int(text) if re.fullmatch(r"\d{1,9}", text.strip()) else None


TASKS = ("forced_choice", "likert", "yes_no", "magnitude_estimation", "slider", "best_worst")
