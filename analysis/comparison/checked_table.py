"""A file as the table it should be: columns, numbers and ids are checked, and errors name the row."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.errors import BadInput, MissingColumns
from analysis.files import read_table


@dataclass(frozen=True)
class Form:
    """Columns of one kind of file: those it needs, those it may have, those that hold numbers."""

    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()


def read_form(
    path: str | Path,
    form: Form,
    *,
    missing: Mapping[str, str] | None = None,
    only: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
) -> pd.DataFrame:
    """Read a file of one form.

    Parameters
    ----------
    path : str or Path
    form : Form
        What the file should hold.
    missing : mapping of column to str, optional
        What an empty cell of that column means, in words of the error.
    only : callable, optional
        Keeps the rows that count, before their cells are read.

    Returns
    -------
    DataFrame
        Numbers are float, NaN where empty; ids and participants are text; other columns as they were.

    Raises
    ------
    BadInput
        Naming a needed column that is absent, or file, row and column of a cell that is empty or no number.

    See Also
    --------
    analysis.files.read_table : Reading without a form.
    """
    frame = read_table(path).copy()
    frame.columns = pd.Index([str(column) for column in frame.columns])
    _require(frame, form, path)
    frame = only(frame).copy() if only else frame
    for column in form.numbers:
        if column in frame.columns:
            frame[column] = numbers_in(frame, column, path)
    for column in form.needed:
        if column not in form.numbers:
            refuse_empty(frame, column, path, because=(missing or {}).get(column, "the cell is empty"))
        if column.endswith("_id") or column == "participant":
            frame[column] = _ids(frame[column])
    return frame


def _require(frame: pd.DataFrame, form: Form, path: str | Path) -> None:
    absent = [column for column in form.needed if column not in frame.columns]
    if not absent:
        return
    found = [str(column) for column in frame.columns]
    error = MissingColumns(absent, found=found, file=str(path))
    near = [(name, get_close_matches(name, found, n=1, cutoff=0.6)) for name in absent]
    meant = [f"{match[0]!r} for {name!r}" for name, match in near if match and match[0] not in form.needed]
    if meant and "Did you mean" not in str(error):
        hint = f"{error.remedy} Did you mean {', '.join(meant)}?"
        raise BadInput(error.message, file=str(path), remedy=hint) from error
    raise error


def numbers_in(frame: pd.DataFrame, column: str, path: str | Path, *, takes_nan: bool = False) -> pd.Series:
    """Read a column of numbers.

    Parameters
    ----------
    frame : DataFrame
        The index is the line of the file.
    column : str
    path : str or Path
        Of the file, for errors.
    takes_nan : bool
        Whether the word NaN is an empty cell: programs that score write it for what has no score.

    Returns
    -------
    Series of float
        NaN where the cell is empty; Parquet holds no other kind of empty number.

    Raises
    ------
    BadInput
        Naming the first row with anything else than a finite number.

    Examples
    --------
    >>> numbers_in(pd.DataFrame({"score": ["1.5", 2]}), "score", "human.csv").tolist()
    [1.5, 2.0]
    """
    found = [_number(cell, takes_nan=takes_nan) for cell in frame[column]]
    for row, number, cell in zip(frame.index, found, frame[column], strict=True):
        if number is None:
            remedy = "Leave the cell empty where there is no value."
            raise BadInput(
                f"{cell!r} is not a finite number.",
                file=str(path),
                row=int(row),
                column=column,
                remedy=remedy,
            )
    return pd.Series(np.array(found, dtype=np.float64), index=frame.index, name=column)


def _number(cell: Any, *, takes_nan: bool) -> float | None:
    """Read one cell: NaN for an empty one, None for what is no finite number."""
    if cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell)):
        return math.nan
    if takes_nan and isinstance(cell, str) and cell.strip().lower() == "nan":
        return math.nan
    if isinstance(cell, bool | np.bool_) or (isinstance(cell, str) and "_" in cell):
        return None
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _ids(column: pd.Series) -> pd.Series:
    whole = column.map(
        lambda cell: str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
    )
    return whole.astype(object)


def refuse_empty(
    frame: pd.DataFrame,
    column: str,
    path: str | Path,
    *,
    because: str = "the cell is empty",
    remedy: str = "Fill it in, or take the row out.",
) -> None:
    """Refuse a column with an empty cell.

    Parameters
    ----------
    frame : DataFrame
        The index is the line of the file.
    column : str
    path : str or Path
        Of the file, for errors.
    because, remedy : str
        The error's words, and what to do.

    Raises
    ------
    BadInput
        Naming the first such row.

    See Also
    --------
    refuse_repeats : The same for entries that should be unique.
    """
    empty = frame.index[frame[column].isna() | (frame[column].astype(str).str.strip() == "")]
    if len(empty):
        raise BadInput(f"{because}.", file=str(path), row=int(empty[0]), column=column, remedy=remedy)


def refuse_repeats(frame: pd.DataFrame, column: str, path: str | Path) -> None:
    """Refuse a column with the same entry twice.

    Parameters
    ----------
    frame : DataFrame
        The index is the line of the file.
    column : str
    path : str or Path
        Of the file, for errors.

    Raises
    ------
    BadInput
        Naming the row of the second.

    See Also
    --------
    refuse_empty : The same for cells that should be filled.
    """
    again = frame.index[frame[column].duplicated()]
    if len(again):
        name = frame.at[again[0], column]
        first = frame.index[frame[column] == name][0]
        message = f"{name!r} stands on row {first} already."
        raise BadInput(message, file=str(path), row=int(again[0]), column=column)
