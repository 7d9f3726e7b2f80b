"""Which rows of a judgment frame count, and their groups as integers.

Every statistic reads its rows through these few functions, so that *answered*, *target* and
*missing* mean the same thing everywhere.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.errors import BadInput

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

RATING_TASKS = ("likert", "magnitude_estimation", "slider", "best_worst")
_CHUNK = 500_000
_TRUE = {"true", "1", "1.0", "yes", "t"}
_FALSE = {"false", "0", "0.0", "no", "f"}


def chunks(n: int, *, size: int = _CHUNK) -> Iterator[slice]:
    """Cut many rows into pieces, so that intermediate results stay small.

    Parameters
    ----------
    n : int
        Number of rows.
    size : int
        Rows of a piece; the last may have fewer.

    Returns
    -------
    iterator of slice

    Examples
    --------
    >>> [piece.stop for piece in chunks(1_200_000)]
    [500000, 1000000, 1200000]
    """
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def is_kind(judgments: pd.DataFrame, kinds: Sequence[str]) -> Flags:
    """Tell which rows are trials of the given kinds.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``kind`` may be absent or empty: such rows are targets.
    kinds : sequence of str
        For example ``("target", "filler")``.

    Returns
    -------
    array of bool
    """
    if "kind" not in judgments.columns:
        return np.full(len(judgments), "target" in kinds)
    wanted = {*kinds, ""} if "target" in kinds else set(kinds)
    codes, labels = group_codes(judgments["kind"])
    return _each([label in wanted for label in labels], codes)


def _each(verdicts: list[bool], codes: Codes) -> Flags:
    """Give each row the verdict on its group."""
    if all(verdicts):
        return np.ones(len(codes), dtype=bool)
    return np.array(verdicts, dtype=bool)[codes]


def rows_where(judgments: pd.DataFrame, wanted: Flags) -> pd.DataFrame:
    """Give some rows; where it is all of them nothing is copied.

    Parameters
    ----------
    judgments : DataFrame
    wanted : array of bool

    Returns
    -------
    DataFrame
        A frame of its own: changing it leaves ``judgments`` as it is.
    """
    return judgments.copy(deep=False) if wanted.all() else judgments[wanted]


def numbers(judgments: pd.DataFrame) -> Floats:
    """Give ``value`` as floats, NaN where the trial was not answered.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``value``; ``status`` other than ``answered`` makes a row missing.

    Returns
    -------
    array of float

    Raises
    ------
    BadInput
        If a value is text or infinite; the row is named.
    """
    column = judgments["value"]
    try:
        found: Floats = pd.to_numeric(column).to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    except (ValueError, TypeError) as error:
        readable = pd.to_numeric(column, errors="coerce")
        row = int(np.flatnonzero((readable.isna() & column.notna()).to_numpy())[0])
        message = f"{column.iloc[row]!r} is not a number."
        remedy = "Leave the cell empty where there is no answer."
        raise BadInput(message, row=row + 1, column="value", remedy=remedy) from error
    if np.isinf(found).any():
        row = int(np.flatnonzero(np.isinf(found))[0])
        raise BadInput("the value is infinite.", row=row + 1, column="value", remedy="Give a finite number.")
    if "status" in judgments.columns:
        codes, labels = group_codes(judgments["status"])
        answered = _each([label in ("answered", "") for label in labels], codes)
        if not answered.all():
            found[~answered] = np.nan
    return found


def tasks(judgments: pd.DataFrame) -> pd.Series:
    """Give each row's task, guessed for the whole frame where no ``task`` column says it.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``value``; ``task`` and ``expected`` are used when present.

    Returns
    -------
    Series of str, same index
        Without ``task``: values all 0 or 1 are forced choice, or yes-no where ``expected`` is given;
        any other values are ``likert`` ratings.
    """
    if "task" in judgments.columns:
        return judgments["task"]
    found = numbers(judgments)
    if np.isin(found[~np.isnan(found)], (0.0, 1.0)).all():
        guess = "yes_no" if "expected" in judgments.columns else "forced_choice"
    else:
        guess = "likert"
    return _constant(guess, judgments.index, name="task")


def group_codes(column: pd.Series) -> tuple[Codes, list[str]]:
    """Number the groups of a column in the alphabetical order of their names.

    Parameters
    ----------
    column : Series
        Any values; missing ones form the group named ``""``. Categorical columns are the fastest.

    Returns
    -------
    codes : array of int
    labels : list of str
        ``labels[codes[row]]`` is the row's group; only groups that occur are listed.

    Examples
    --------
    >>> codes, labels = group_codes(pd.Series(["b", "a", None, "b"]))
    >>> codes.tolist(), labels
    ([2, 1, 0, 2], ['', 'a', 'b'])
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, names = column.array.codes.astype(np.int64), list(column.cat.categories)
    else:
        codes, uniques = pd.factorize(column)
        names = list(uniques)
    seen = np.zeros(len(names) + 1, dtype=bool)
    seen[codes] = True  # a missing value is coded -1: the last place
    present = [seen[-1], *seen[:-1]]
    texts = ["", *(str(name) for name in names)]
    labels = sorted({text for text, here in zip(texts, present, strict=True) if here})
    place = {label: number for number, label in enumerate(labels)}
    lookup = np.array([place.get(text, 0) for text in texts[1:] + [""]], dtype=np.int64)
    return np.take(lookup, codes, out=codes, mode="wrap"), labels  # -1 looks up the last entry: ""


def column_or_blank(judgments: pd.DataFrame, name: str) -> pd.Series:
    """Give a column, or blanks where the frame does not have it.

    Parameters
    ----------
    judgments : DataFrame
    name : str
        The column.

    Returns
    -------
    Series, same index

    Examples
    --------
    >>> column_or_blank(pd.DataFrame({"item": ["a"]}), "paradigm").tolist()
    ['']
    """
    if name in judgments.columns:
        return judgments[name]
    return _constant("", judgments.index, name=name)


def flags(column: pd.Series) -> Floats:
    """Read a yes-or-no column: 1 yes, 0 no, NaN where it does not say.

    Parameters
    ----------
    column : Series
        Booleans, 0 and 1, or words such as ``true`` and ``no``.

    Returns
    -------
    array of float
    """
    if isinstance(column.dtype, pd.BooleanDtype) or column.dtype == np.dtype(bool):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    codes, labels = group_codes(column)
    meaning = [
        1.0 if label.lower() in _TRUE else 0.0 if label.lower() in _FALSE else np.nan for label in labels
    ]
    return np.array(meaning, dtype=np.float64)[codes]


def none_if_nan(number: Any) -> float | None:
    """Give a plain float, or None where the number is undefined.

    Parameters
    ----------
    number : float or None

    Returns
    -------
    float or None

    Examples
    --------
    >>> none_if_nan(float("nan")), none_if_nan(2)
    (None, 2.0)
    """
    return None if number is None or np.isnan(number) else float(number)


def _constant(text: str, index: pd.Index, *, name: str) -> pd.Series:
    codes = np.zeros(len(index), dtype=np.int64)
    return pd.Series(pd.Categorical.from_codes(codes, pd.Index([text])), index=index, name=name)
