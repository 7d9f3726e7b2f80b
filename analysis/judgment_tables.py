"""Tables of judgments with columns of any name: documented columns and types, errors with near names."""

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .columns import JUDGMENT_COLUMNS
from .errors import BadInput, MissingColumns, UnknownName
from .notebooks import Document
from .rows import Flags, column_or_blank
from .table_forms import Form, read_form
from .text import plural

REQUIRED = ("participant", "value")
OTHER_FILES = (
    "Results of MTurk, PCIbex, jsPsych, Qualtrics and other tools become such a table in the platform: "
    "manage.py import_judgments FILE --experiment NAME --format auto, then manage.py agreement NAME or its "
    "download of all columns. Other tables: obelus.tidy(obelus.read_table(FILE), participant=…, value=…)."
)
FRAMES = ("judgments", "answers")  # first parameters that are tables of judgments
TASKS = ("forced_choice", "yes_no", "likert", "magnitude_estimation", "slider", "best_worst")
TRUTH = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
#: Names of other libraries (pingouin) for columns of judgments.
ALIASES = {
    "dv": "value",
    "ratings": "value",
    "subject": "participant",
    "raters": "participant",
    "within": "condition",
    "targets": "item",
}
#: Names in use elsewhere, by the column that they may be: for the remedy of an error, never to guess.
OTHER_NAMES = {
    "participant": (
        "subject",
        "subj",
        "ppt",
        "workerid",
        "worker_id",
        "participant_id",
        "rater",
        "annotator",
    ),
    "value": ("rating", "answer", "judgment", "judgement", "score", "dv", "response"),
}


@dataclass(frozen=True)
class Source:
    """Origin of a table's rows: a file and its lines, or positions from 1."""

    rows: "Sequence[int] | pd.Index"
    file: str = ""

    def error(self, message: str, *, at: int, column: str, remedy: str) -> BadInput:
        """An error that names the file, the row and the column."""
        return BadInput(message, file=self.file, row=int(self.rows[at]), column=column, remedy=remedy)


def tidy(
    frame: pd.DataFrame,
    *,
    participant: str = "",
    item: str = "",
    value: str = "",
    condition: str | Sequence[str] = "",
    task: str = "",
    scale: tuple[float, float] | None = None,
    **columns: str | Sequence[str],
) -> pd.DataFrame:
    """Return a table of judgments under the documented names of columns, which all statistics read.

    Parameters
    ----------
    frame : DataFrame, one row per judgment
        A table with columns of any name. It is not modified.
    participant : str
        Column of the participants; by default ``participant``.
    item : str
        Column of the items (lexicalizations; in forced choice, minimal pairs); by default ``item``.
    value : str
        Column of the answers as numbers or truth values; by default ``value``. In forced choice 1 is the
        expected member, in yes-no 1 is yes.
    condition : str or list of str
        Column of the conditions, or columns of factors whose levels are joined by a dot, as R's
        ``interaction`` joins them; by default ``condition``.
    task : str
        One task of all rows (``forced_choice``, ``yes_no``, ``likert``, ``magnitude_estimation``, ``slider``,
        ``best_worst``), or the column of the tasks. Statistics infer it where it is not known.
    scale : (float, float), optional
        Lowest and highest point of the scale of all rows.
    **columns : str or list of str
        Any other documented column by its name: ``phenomenon="construction"``, ``rt_ms="RT"``,
        ``sentence_id="stimulus"``. ``subject``, ``dv`` and ``within`` (as pingouin calls them) are
        ``participant``, ``value`` and ``condition``; so are ``raters``, ``ratings`` and ``targets``
        (``item``).

    Returns
    -------
    DataFrame, same index
        The documented columns first, in the order of :data:`obelus.columns.JUDGMENT_COLUMNS`, then all
        other columns as they are. Numbers are floats, texts are strings (empty where missing), flags are
        True, False or None. An index with repeated labels is replaced by 0, 1, ….

    Raises
    ------
    UnknownName
        If the frame has no column of that name, or no documented column is called so; near names are
        suggested.
    MissingColumns, BadInput
        If there is no participant or no value, or a cell is not of its column's type; the message names row
        (the first is 1) and column.

    Notes
    -----
    Named columns are renamed; factors that make a condition stay as well. A renamed column replaces one that
    already has its new name.

    Examples
    --------
    >>> answers = pd.DataFrame({"subj": [1, 1, 2], "pair": ["a", "b", "a"], "rating": [7, 2, 6]})
    >>> tidy(answers, participant="subj", item="pair", value="rating", task="likert")
      participant    task item  value
    0           1  likert    a    7.0
    1           1  likert    b    2.0
    2           2  likert    a    6.0
    >>> tidy(answers, participant="subjects")
    Traceback (most recent call last):
    obelus.errors.UnknownName: unknown column 'subjects'. Did you mean 'subj'?
    """
    named: dict[str, str | Sequence[str]] = {
        "participant": participant, "item": item, "value": value, "condition": condition,
    }  # fmt: skip
    for name, source in columns.items():
        target = ALIASES.get(name, name)
        if target not in JUDGMENT_COLUMNS:
            raise UnknownName("column of judgments", name, [*JUDGMENT_COLUMNS, *ALIASES])
        if named.get(target):
            raise BadInput(f"{name} and {target} are the same column.", remedy="Give one of them.")
        named[target] = source
    if task and not (task in TASKS and task not in frame.columns):
        named["task"] = task
    sources = {name: _column(frame, source) for name, source in named.items() if len(source)}
    renamed = {source for source in named.values() if isinstance(source, str) and source}
    table = frame.drop(columns=[name for name in frame.columns if name in renamed or name in sources])
    table = table.assign(**sources)
    if task in TASKS and "task" not in sources:
        table["task"] = task
    if scale is not None:
        table["scale_low"], table["scale_high"] = (float(end) for end in scale)
    if not table.index.is_unique:
        table = table.reset_index(drop=True)
    _require(table)
    return typed_judgments(table, Source(range(1, len(table) + 1)))


def _column(frame: pd.DataFrame, source: str | Sequence[str]) -> pd.Series:
    names = [source] if isinstance(source, str) else list(source)
    for name in names:
        if name not in frame.columns:
            raise UnknownName("column", name, [str(column) for column in frame.columns])
        if isinstance(frame[name], pd.DataFrame):
            raise BadInput("the table has several columns of this name.", column=name)
    if len(names) == 1:
        return frame[names[0]]
    levels = [_texts(frame[name]) for name in names]
    return pd.Series([".".join(cell) for cell in zip(*levels, strict=True)], index=frame.index, dtype=object)


def _require(table: pd.DataFrame) -> None:
    existing = [str(name) for name in table.columns]
    absent = [name for name in REQUIRED if name not in existing]
    if not absent:
        return
    calls = [f'{name}="{near}"' for name in absent if (near := _near(name, existing))]
    error = MissingColumns(absent, existing=existing)
    hint = f"Did you mean tidy(frame, {', '.join(calls)})?" if calls else "Name them: tidy(frame, value=…)."
    raise BadInput(error.message, remedy=f"{error.remedy} {hint}")


def _near(name: str, existing: Sequence[str]) -> str:
    """An existing column that may be the one of this name; empty if none is like it."""
    by_lower = {column.lower(): column for column in existing}
    for other in (name, *OTHER_NAMES[name]):
        if other in by_lower:
            return by_lower[other]
    near = get_close_matches(name, list(by_lower), n=1, cutoff=0.6)
    return by_lower[near[0]] if near else ""


class ExcludedRows(UserWarning):
    """Rows that the release of a file excludes were left out."""


def is_excluded(judgments: pd.DataFrame) -> Flags:
    """Return which rows a release excludes: those with a step in the column ``excluded_by``."""
    step = column_or_blank(judgments, "excluded_by")
    return (step.notna() & (step.astype(str) != "")).to_numpy(dtype=bool)


def leave_out_excluded(judgments: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the rows that a release keeps, and a sentence about the others, empty if there are none.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": list("aab"), "excluded_by": ["", "", "catch_failed"]})
    >>> kept, sentence = leave_out_excluded(rows)
    >>> kept["participant"].tolist(), sentence
    (['a', 'a'], '1 row is left out that its release excludes (catch_failed 1); 1 participant is left.')
    """
    excluded = is_excluded(judgments)
    if not excluded.any():
        return judgments, ""
    kept = judgments[~excluded]
    counts = judgments.loc[excluded, "excluded_by"].astype(str).value_counts()
    steps = ", ".join(f"{step} {n}" for step, n in sorted(counts.items()))
    left = int(kept["participant"].nunique())
    return kept, (
        f"{plural(int(excluded.sum()), 'row')} {'is' if excluded.sum() == 1 else 'are'} left out that "
        f"{'its' if excluded.sum() == 1 else 'their'} release excludes ({steps}); "
        f"{plural(left, 'participant')} {'is' if left == 1 else 'are'} left."
    )


def read_judgment_file(path: str | Path, *, keep_excluded: bool = False) -> pd.DataFrame:
    """Read a file of judgments with the types of a judgment frame, without rows that a release excludes.

    Parameters
    ----------
    path : str or Path
        UTF-8 CSV, TSV, JSON lines or Parquet with ``participant`` and ``value``, such as the download
        *all columns, all trials* of a study or ``judgments.csv`` of a release. For files with other names of
        columns use :func:`obelus.files.read_table` and :func:`tidy`.
    keep_excluded : bool
        Whether rows with a step in ``excluded_by`` are returned as well, for other exclusions than those of
        the release. By default they are left out, with a warning that counts them.

    Returns
    -------
    DataFrame
        As of :func:`tidy`; columns that are not documented are texts.

    Warns
    -----
    ExcludedRows
        If rows are left out.

    Raises
    ------
    BadInput
        If the file cannot be read, or a cell is not of its column's type; the message names row and column.

    Examples
    --------
    >>> read_judgment_file("judgments.doc")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    obelus.errors.BadInput: judgments.doc: files ending in '.doc' are not read. ...
    """
    frame = read_form(path, Form(REQUIRED, numbers=("value",), remedy=OTHER_FILES))
    others = [name for name in frame.columns if name not in JUDGMENT_COLUMNS]
    frame[others] = frame[others].astype(object).where(frame[others].notna(), "")
    judgments = typed_judgments(frame, Source(frame.index, str(path)))
    if not keep_excluded:
        judgments = _kept_with_warning(judgments)
    return judgments.reset_index(drop=True)


def _kept_with_warning(judgments: pd.DataFrame) -> pd.DataFrame:
    kept, sentence = leave_out_excluded(judgments)
    if sentence:
        warnings.warn(sentence, ExcludedRows, stacklevel=3)
    return kept


def typed_judgments(frame: pd.DataFrame, source: Source) -> pd.DataFrame:
    """Return a judgment frame with the documented types, documented columns first."""
    typed: dict[str, pd.Series] = {}
    for name, column in JUDGMENT_COLUMNS.items():
        if name not in frame.columns:
            continue
        if column.kind in ("number", "integer"):
            typed[name] = _numbers(frame[name], source)
        elif column.kind == "flag":
            typed[name] = _flags(frame[name], source)
        else:
            typed[name] = _texts(frame[name])
    empty = np.flatnonzero((typed["participant"] == "").to_numpy())
    if len(empty):
        remedy = "Fill it in, or remove the row."
        raise source.error("the cell is empty.", at=empty[0], column="participant", remedy=remedy)
    others = {name: frame[name] for name in frame.columns if name not in typed}
    return pd.DataFrame({**typed, **others}, index=frame.index)


def _numbers(column: pd.Series, source: Source) -> pd.Series:
    cells = column.astype(object)
    is_blank = np.array([isinstance(cell, str) and not cell.strip() for cell in cells], dtype=bool)
    is_blank |= column.isna().to_numpy()
    numbers = pd.to_numeric(cells.mask(is_blank, None), errors="coerce")
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    odd = np.flatnonzero((np.isnan(values) & ~is_blank) | np.isinf(values))
    if len(odd):
        message = f"{column.iloc[odd[0]]!r} is not a finite number."
        remedy = "Leave the cell empty where there is no value."
        raise source.error(message, at=odd[0], column=str(column.name), remedy=remedy)
    return pd.Series(values, index=column.index, name=column.name)


def _flags(column: pd.Series, source: Source) -> pd.Series:
    flags: list[bool | None] = []
    for place, cell in enumerate(column):
        if pd.isna(cell) or not str(cell).strip():
            flags.append(None)
        elif (flag := TRUTH.get(str(cell).strip().lower())) is not None:
            flags.append(flag)
        else:
            message, remedy = f"{cell!r} is neither true nor false.", "Write true, false, 1, 0 or nothing."
            raise source.error(message, at=place, column=str(column.name), remedy=remedy)
    return pd.Series(flags, index=column.index, name=column.name, dtype=object)


def _texts(column: pd.Series) -> pd.Series:
    """Texts, empty where missing; whole numbers without decimals, so that ids of a spreadsheet stay ids."""
    codes, names = pd.factorize(column)
    texts = [str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell) for cell in names]
    # The code of a missing value is -1, which selects the last text.
    labels = np.array([*texts, ""], dtype=object)[codes]
    return pd.Series(labels, index=column.index, name=column.name, dtype=object)


def for_notebooks(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a public function take the arguments of pingouin, and return reports that show in a notebook.

    A function of judgments also takes its table as ``data=``, and the names of columns as
    :func:`tidy` takes them: ``subject=``, ``dv=``, ``within=``, ``item=``, … Rows that a release excludes
    (``excluded_by``) are left out with a warning, unless the function applies exclusions itself.
    """
    parameters = list(inspect.signature(function).parameters)
    first = parameters[0] if parameters else ""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        if first in FRAMES:
            arguments, options = _with_judgments(function.__name__, parameters, arguments, options)
            if arguments and isinstance(arguments[0], pd.DataFrame) and "plan" not in parameters:
                arguments = (_kept_with_warning(arguments[0]), *arguments[1:])
        result = function(*arguments, **options)
        is_report = isinstance(result, dict) and not isinstance(result, Document)
        return Document(result, title=function.__name__) if is_report else result

    return call


def _with_judgments(
    name: str, parameters: list[str], arguments: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Move the table of judgments to the first place, under the documented names where columns are named."""
    names = {
        key: options.pop(key)
        for key in (*JUDGMENT_COLUMNS, *ALIASES)
        if key in options and key not in parameters
    }
    if "data" in options and "data" not in parameters:
        if arguments or parameters[0] in options:
            raise TypeError(f"{name}() takes one table: {parameters[0]} or data.")
        arguments = (options.pop("data"),)
    if names:
        if not arguments:
            if parameters[0] not in options:
                raise TypeError(f"{name}() has names of columns, but no table: give data.")
            arguments = (options.pop(parameters[0]),)
        table = tidy(arguments[0], **names)
        if "targets" in names and "unit" in parameters:
            options.setdefault("unit", "item")
        if parameters[0] == "answers":  # coefficients of agreement count the answers of each unit
            table["unit"] = table["item"]
        arguments = (table, *arguments[1:])
    return arguments, options
