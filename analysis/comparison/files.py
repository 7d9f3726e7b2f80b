"""The files of a comparison: sentences, pairs, human scores, model scores, judgments."""

import math
from collections.abc import Callable, Sequence
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


SENTENCES = Form(("sentence_id", "sentence"), ("item", "condition", "paradigm", "phenomenon", "expected"))
PAIRS = Form(("pair_id", "good_id", "bad_id"), ("paradigm", "phenomenon"))
HUMAN = Form(("sentence_id", "score"), ("n", "sd"), ("score", "n", "sd"))
SCORES = Form(("sentence_id",), SENTENCES.needed[1:] + SENTENCES.optional)
JUDGMENTS = Form(
    ("participant", "sentence_id", "value"),
    (
        "session",
        "item",
        "condition",
        "trial",
        "task",
        "response",
        "rt_ms",
        "position",
        "shown_first",
        "list",
        "kind",
        "pair_id",
        "status",
        "excluded_by",
    ),
    ("value", "rt_ms", "position"),
)


def read_sentences(path: str | Path) -> pd.DataFrame:
    """Read a file of sentences.

    Parameters
    ----------
    path : str or Path
        ``sentence_id``, ``sentence`` and perhaps ``item``, ``condition``, ``paradigm``, ``phenomenon``,
        ``expected``.

    Returns
    -------
    DataFrame
        One row per sentence; ids are text and unique; the index is the line of the file.

    Raises
    ------
    BadInput
        Naming file, row and column.

    See Also
    --------
    read_pairs : The pairs of these sentences.
    """
    frame = _read(path, SENTENCES)
    _refuse_empty(frame, "sentence", path)
    _refuse_repeats(frame, "sentence_id", path)
    return frame


def read_pairs(path: str | Path) -> pd.DataFrame:
    """Read a file of minimal pairs.

    Parameters
    ----------
    path : str or Path
        ``pair_id``, ``good_id``, ``bad_id`` and perhaps ``paradigm`` and ``phenomenon``.

    Returns
    -------
    DataFrame
        One row per pair; ids are text, pairs unique.

    Raises
    ------
    BadInput
        Naming file, row and column: for a pair with one member, or with one sentence as both members.

    See Also
    --------
    read_sentences : The sentences of the pairs.
    """
    frame = _read(
        path, PAIRS, missing={"good_id": "the pair has one member", "bad_id": "the pair has one member"}
    )
    _refuse_repeats(frame, "pair_id", path)
    same = frame.index[frame["good_id"] == frame["bad_id"]]
    if len(same):
        message = (
            f"pair {frame.at[same[0], 'pair_id']!r} has {frame.at[same[0], 'bad_id']!r} as both members."
        )
        raise BadInput(message, file=str(path), row=int(same[0]), column="bad_id")
    return frame


def read_human(path: str | Path) -> pd.DataFrame:
    """Read a file of people's scores.

    Parameters
    ----------
    path : str or Path
        ``sentence_id``, ``score`` and perhaps ``n`` and ``sd``. An empty score leaves the
        sentence unlabelled.

    Returns
    -------
    DataFrame
        One row per sentence.

    Raises
    ------
    BadInput
        Naming file, row and column; NaN and infinities written out are refused.

    See Also
    --------
    read_scores : Scores of models.
    """
    frame = _read(path, HUMAN)
    _refuse_repeats(frame, "sentence_id", path)
    return frame


def read_scores(paths: Sequence[str | Path]) -> pd.DataFrame:
    """Read files of model scores and join them by sentence.

    Parameters
    ----------
    paths : sequence of str or Path
        Each has ``sentence_id`` and one column per model; columns that describe sentences are left aside.

    Returns
    -------
    DataFrame
        ``sentence_id`` and one column per model, NaN where a file has no score for a sentence.

    Raises
    ------
    BadInput
        Naming file, row and column; also when two files have a model of one name.

    See Also
    --------
    read_number_columns : One file of them.
    """
    joined: pd.DataFrame | None = None
    source: dict[str, str] = {}
    for path in paths:
        frame = _read_one_scores(path)
        for model in frame.columns[1:]:
            if model in source:
                raise BadInput(
                    f"model {model!r} stands in {source[model]} too.", file=str(path), column=str(model)
                )
            source[str(model)] = str(path)
        joined = frame if joined is None else joined.merge(frame, on="sentence_id", how="outer", sort=False)
    if joined is None:
        raise BadInput("no file of scores was given.")
    return joined.reset_index(drop=True)


def read_judgments(path: str | Path) -> pd.DataFrame:
    """Read a file of judgments.

    Parameters
    ----------
    path : str or Path
        ``participant``, ``sentence_id``, ``value`` and perhaps the other columns of a judgment frame.

    Returns
    -------
    DataFrame
        One row per judgment that counts: of a release's file, what was left out, what was not answered,
        practice, catch and anchor trials are gone (:func:`counted_judgments`).

    Raises
    ------
    BadInput
        Naming file, row and column.

    See Also
    --------
    counted_judgments : Which of them count.
    """
    return _read(path, JUDGMENTS, only=counted_judgments)


def counted_judgments(judgments: pd.DataFrame) -> pd.DataFrame:
    """Keep the judgments that scores of sentences rest on.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``excluded_by``, ``status`` and ``kind`` are used when present; empty cells leave a row in.

    Returns
    -------
    DataFrame
        Answered, not excluded, targets and fillers.

    Examples
    --------
    >>> rows = pd.DataFrame({"value": [1, 0], "excluded_by": ["", "catch_failed"]})
    >>> counted_judgments(rows)["value"].tolist()
    [1]
    """
    kept = pd.Series(True, index=judgments.index)
    wanted = {"excluded_by": [""], "status": ["", "answered"], "kind": ["", "target", "filler"]}
    for column, values in wanted.items():
        if column in judgments.columns:
            kept &= judgments[column].fillna("").astype(str).isin(values)
    return judgments[kept]


def read_number_columns(path: str | Path, *, keys: Sequence[str]) -> tuple[pd.DataFrame, str]:
    """Read a file's numbers, indexed by the first key column it has.

    Parameters
    ----------
    path : str or Path
        A table with one of the key columns.
    keys : sequence of str
        Columns that may name the rows, the best first.

    Returns
    -------
    frame : DataFrame
        The other columns but those that describe sentences, as numbers.
    key : str
        The column that names the rows.

    Raises
    ------
    BadInput
        Naming file, row and column.

    See Also
    --------
    read_scores : Several files as one table.
    """
    found = read_table(path)
    key = next((name for name in keys if name in found.columns), keys[0])
    frame = _read(path, Form((key,)))
    _refuse_repeats(frame, key, path)
    describing = {*SENTENCES.needed, *SENTENCES.optional}
    numbers = {
        str(column): _numbers(frame, str(column), path)
        for column in frame.columns
        if column not in describing
    }
    return pd.DataFrame(numbers).set_axis(pd.Index(frame[key].astype(str))), key


def _read_one_scores(path: str | Path) -> pd.DataFrame:
    frame = _read(path, SCORES)
    models = [str(column) for column in frame.columns if column not in SCORES.needed + SCORES.optional]
    if not models:
        raise BadInput("there is no column of scores.", file=str(path), remedy="Give one column per model.")
    _refuse_repeats(frame, "sentence_id", path)
    for model in models:
        frame[model] = _numbers(frame, model, path)
    return frame[["sentence_id", *models]]


def _read(
    path: str | Path,
    form: Form,
    *,
    missing: dict[str, str] | None = None,
    only: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
) -> pd.DataFrame:
    frame = read_table(path).copy()
    frame.columns = pd.Index([str(column) for column in frame.columns])
    _require(frame, form, path)
    frame = only(frame).copy() if only else frame
    for column in form.numbers:
        if column in frame.columns:
            frame[column] = _numbers(frame, column, path)
    for column in form.needed:
        if column not in form.numbers:
            _refuse_empty(frame, column, path, because=(missing or {}).get(column, "the cell is empty"))
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


def _numbers(frame: pd.DataFrame, column: str, path: str | Path) -> pd.Series:
    found = [_number(cell) for cell in frame[column]]
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


def _number(cell: Any) -> float | None:
    """Read one cell: NaN for an empty one, None for what is no finite number."""
    if cell is None or cell is pd.NA:
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


def _refuse_empty(
    frame: pd.DataFrame, column: str, path: str | Path, *, because: str = "the cell is empty"
) -> None:
    empty = frame.index[frame[column].isna() | (frame[column].astype(str).str.strip() == "")]
    if len(empty):
        raise BadInput(f"{because}.", file=str(path), row=int(empty[0]), column=column)


def _refuse_repeats(frame: pd.DataFrame, column: str, path: str | Path) -> None:
    again = frame.index[frame[column].duplicated()]
    if len(again):
        name = frame.at[again[0], column]
        first = frame.index[frame[column] == name][0]
        message = f"{name!r} stands on row {first} already."
        raise BadInput(message, file=str(path), row=int(again[0]), column=column)
