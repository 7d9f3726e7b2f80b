"""Cells of a judgment file → numbers, flags, kinds of trial, times; what does not fit is named."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd

from analysis.errors import BadInput

#: Cells that mean "no answer". NaN is refused instead: programs write it for broken numbers.
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
    """Tell which cells hold no answer.

    Parameters
    ----------
    cells : Series of str

    Returns
    -------
    Series of bool
    """
    return cells.isin(EMPTY) | cells.str.strip().isin(EMPTY)


def cleaned(cell: Any) -> str:
    """Give a cell without blanks around it, empty where it means nothing.

    Parameters
    ----------
    cell : object

    Returns
    -------
    str

    Examples
    --------
    >>> cleaned(" $0.25 "), cleaned("{}"), cleaned(None)
    ('$0.25', '', '')
    """
    text = "" if cell is None else str(cell).strip()
    return "" if text in EMPTY else text


def no_value(trials: pd.DataFrame) -> "pd.Series[bool]":
    """Give False for every row."""
    return pd.Series(False, index=trials.index)


def numbers_of(cells: pd.Series, *, column: str, file: str) -> pd.Series:
    """Read numbers; empty cells give NaN.

    Parameters
    ----------
    cells : Series of str
        The index is the line of the file.
    column, file : str
        Named in errors.

    Returns
    -------
    Series of float, same index

    Raises
    ------
    BadInput
        For text, a decimal comma, NaN or an infinite number; row and column are named.

    Examples
    --------
    >>> numbers_of(pd.Series(["2.0", "", "NA"]), column="rating", file="a.csv").tolist()
    [2.0, nan, nan]
    """
    levels = pd.Index(cells.unique())
    empty = is_empty(levels.to_series())
    read = pd.to_numeric(levels.to_series().where(~empty), errors="coerce").astype("float64")
    wrong = ~empty & ~np.isfinite(read.to_numpy())
    if wrong.any():
        bad = levels[wrong.to_numpy()]
        at = cells.index[cells.isin(bad)][0]
        raise BadInput(
            f"{cells.loc[at]!r} is not a number.",
            file=file,
            row=int(at),
            column=column,
            remedy="Write finite numbers with a decimal point, and nothing where there is no answer.",
        )
    return cells.map(dict(zip(levels, read, strict=True))).astype("float64")


def flag_of(cell: Any) -> bool | None:
    """Read yes or no; None where the cell does not say.

    Parameters
    ----------
    cell : object

    Returns
    -------
    bool or None

    Examples
    --------
    >>> flag_of("True"), flag_of("0"), flag_of("maybe")
    (True, False, None)
    """
    word = cleaned(cell).lower()
    return True if word in _TRUE else False if word in _FALSE else None


def agreed(answers: "pd.Series[Any]") -> bool | None:
    """Give the one answer of a person; None where there is none, or where their answers differ.

    Parameters
    ----------
    answers : Series of bool or None

    Returns
    -------
    bool or None

    Examples
    --------
    >>> agreed(pd.Series([True, None, True])), agreed(pd.Series([True, False]))
    (True, None)
    """
    found = {bool(answer) for answer in answers if answer is not None}
    return found.pop() if len(found) == 1 else None


def kind_of(label: str) -> str | None:
    """Tell the kind of a trial from its label.

    Parameters
    ----------
    label : str

    Returns
    -------
    str or None
        ``target``, ``filler``, ``catch``, ``practice`` or ``anchor``; None where the label does not say.

    Examples
    --------
    >>> kind_of("practice_good"), kind_of("distractor"), kind_of("Attention check"), kind_of("zebra")
    ('practice', 'filler', 'catch', None)
    """
    return next((kind for kind, pattern in _KINDS if pattern.search(label.strip())), None)


def kinds_of(cells: pd.Series, *, column: str, file: str) -> pd.Series:
    """Read the kind of every trial.

    Parameters
    ----------
    cells : Series of str
        The index is the line of the file.
    column, file : str
        Named in errors.

    Returns
    -------
    Series of str, same index

    Raises
    ------
    BadInput
        For a label that names no kind.
    """
    known = {label: kind_of(cleaned(label)) for label in cells.unique()}
    unknown = [label for label, kind in known.items() if kind is None]
    if unknown:
        raise BadInput(
            f"{unknown[0]!r} is no kind of trial.",
            file=file,
            row=int(cells.index[cells == unknown[0]][0]),
            column=column,
            remedy="Known are target, filler, catch, practice and anchor; --map kind= leaves the column out.",
        )
    return cells.map(known)


def mturk_time(text: str) -> datetime | None:
    """Read a time of the MTurk requester site as UTC; None where there is none or its zone is unknown.

    Parameters
    ----------
    text : str
        Such as ``Tue Oct 08 00:33:08 PDT 2019``.

    Returns
    -------
    datetime or None

    Examples
    --------
    >>> mturk_time("Tue Oct 08 00:33:08 PDT 2019").isoformat()
    '2019-10-08T07:33:08+00:00'
    """
    found = re.fullmatch(r"\w{3} (\w{3} \d{1,2} \d\d:\d\d:\d\d) ([A-Z]{3,4}) (\d{4})", text.strip())
    if not found or found[2] not in _ZONES:
        return None
    try:
        local = datetime.strptime(f"{found[1]} {found[3]}", "%b %d %H:%M:%S %Y")
    except ValueError:
        return None
    return local.replace(tzinfo=timezone(timedelta(hours=_ZONES[found[2]]))).astimezone(UTC)


def whole_number(text: str) -> int | None:
    """Read a whole number that is not negative; None where there is none.

    Parameters
    ----------
    text : str

    Returns
    -------
    int or None
    """
    return int(text) if re.fullmatch(r"\d{1,9}", text.strip()) else None
