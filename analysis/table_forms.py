"""Tables of a known form: required columns, numbers and ids are checked, and errors name the row."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .errors import BadInput, MissingColumns
from .files import read_table


@dataclass(frozen=True)
class Form:
    """Columns of one kind of file: required, optional and numeric ones; what to do with other files."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    remedy: str = ""


SENTENCES = Form(
    ("sentence_id", "sentence"),
    ("context", "item", "condition", "paradigm", "phenomenon", "expected", "critical_region"),
)


def read_form(
    path: str | Path,
    form: Form,
    *,
    missing: Mapping[str, str] | None = None,
    only: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
) -> pd.DataFrame:
    """Read a file and check it against a form."""
    frame = read_table(path).copy()
    frame.columns = pd.Index([str(column) for column in frame.columns])
    _require(frame, form, path)
    frame = only(frame).copy() if only else frame
    for column in form.numbers:
        if column in frame.columns:
            frame[column] = numbers_in(frame, column, path)
    for column in form.required:
        if column not in form.numbers:
            refuse_empty(frame, column, path, because=(missing or {}).get(column, "the cell is empty"))
        if column.endswith("_id") or column == "participant":
            frame[column] = _ids(frame[column])
    return frame


def _require(frame: pd.DataFrame, form: Form, path: str | Path) -> None:
    absent = [column for column in form.required if column not in frame.columns]
    if not absent:
        return
    columns = [str(column) for column in frame.columns]
    error = MissingColumns(absent, existing=columns, file=str(path))
    near = [(name, get_close_matches(name, columns, n=1, cutoff=0.6)) for name in absent]
    meant = [f"{match[0]!r} for {name!r}" for name, match in near if match and match[0] not in form.required]
    hints = [f"Did you mean {', '.join(meant)}?"] if meant else []
    hints += [form.remedy] if form.remedy else []
    if hints:
        raise BadInput(error.message, file=str(path), remedy=" ".join([error.remedy, *hints])) from error
    raise error


def numbers_in(frame: pd.DataFrame, column: str, path: str | Path, *, takes_nan: bool = False) -> pd.Series:
    """Read a column of numbers.

    Examples
    --------
    >>> numbers_in(pd.DataFrame({"score": ["1.5", 2]}), "score", "human.csv").tolist()
    [1.5, 2.0]
    """
    numbers = [_number(cell, takes_nan=takes_nan) for cell in frame[column]]
    for row, number, cell in zip(frame.index, numbers, frame[column], strict=True):
        if number is None:
            remedy = "Leave the cell empty where there is no value."
            raise BadInput(
                f"{cell!r} is not a finite number.",
                file=str(path),
                row=int(row),
                column=column,
                remedy=remedy,
            )
    return pd.Series(np.array(numbers, dtype=np.float64), index=frame.index, name=column)


def _number(cell: Any, *, takes_nan: bool) -> float | None:
    """Parse one cell: NaN if it is empty, None if it is not a finite number."""
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
    ids = column.map(
        lambda cell: str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
    )
    return ids.astype(object)


def refuse_empty(
    frame: pd.DataFrame,
    column: str,
    path: str | Path,
    *,
    because: str = "the cell is empty",
    remedy: str = "Fill it in, or remove the row.",
) -> None:
    """Raise BadInput for the first empty cell of a column."""
    empty = frame.index[frame[column].isna() | (frame[column].astype(str).str.strip() == "")]
    if len(empty):
        raise BadInput(f"{because}.", file=str(path), row=int(empty[0]), column=column, remedy=remedy)


def refuse_repeats(frame: pd.DataFrame, column: str, path: str | Path) -> None:
    """Raise BadInput for the first repeated entry of a column."""
    repeated = frame.index[frame[column].duplicated()]
    if len(repeated):
        name = frame.at[repeated[0], column]
        first = frame.index[frame[column] == name][0]
        message = f"{name!r} is already on row {first}."
        raise BadInput(message, file=str(path), row=int(repeated[0]), column=column)


def read_number_columns(path: str | Path, *, keys: Sequence[str]) -> tuple[pd.DataFrame, str]:
    """Read the numeric columns of a file, indexed by the first of ``keys`` that is a column."""
    table = read_table(path)
    key = next((name for name in keys if name in table.columns), keys[0])
    frame = read_form(path, Form((key,)))
    refuse_repeats(frame, key, path)
    describing = {*SENTENCES.required, *SENTENCES.optional}
    numbers = {
        str(column): numbers_in(frame, str(column), path, takes_nan=True)
        for column in frame.columns
        if column not in describing
    }
    return pd.DataFrame(numbers).set_axis(pd.Index(frame[key].astype(str))), key


_MEDIA_ENDINGS = (
    *(".wav", ".mp3", ".ogg", ".m4a", ".png", ".jpg", ".jpeg", ".gif", ".svg"),
    *(".mp4", ".webm", ".mov"),
)
_MEDIA_NAMES = frozenset(
    {"audio", "sound", "image", "picture", "video", "audio_file", "image_file", "video_file"}
)


def media_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns that name files of sound, picture or video, by their name or by all their cells.

    Examples
    --------
    >>> media_columns(pd.DataFrame({"heard": ["a.mp3", "", "b.WAV"], "text": ["a.mp3", "He left.", ""]}))
    ['heard']
    """
    return [
        str(name)
        for place, name in enumerate(frame.columns)
        if re.sub(r"\W+", "_", str(name).strip().lower()).strip("_") in _MEDIA_NAMES
        or _are_media(frame.iloc[:, place])
    ]


def _are_media(cells: Iterable[Any]) -> bool:
    has_name = False
    for cell in cells:
        if isinstance(cell, str) and (text := cell.strip()):
            if not text.lower().endswith(_MEDIA_ENDINGS):
                return False
            has_name = True
        elif isinstance(cell, int | float) and cell == cell:  # NaN is an empty cell
            return False
    return has_name
