"""The long table: one judgment per row, under our column names or mapped to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.errors import BadInput, MissingColumns
from experiments.materials.blimp import json_lines
from experiments.materials.encoding import read_table, read_text
from experiments.materials.schema import expected_status, simple_name, understand_columns
from judgments.sources.base import (
    JudgmentFile,
    SourceOptions,
    check_within_scale,
    refuse_empty,
    trial_frame,
)
from judgments.sources.scales import guess_task, scale_of, values_of
from judgments.sources.table_fields import TABLE_FIELDS
from judgments.sources.table_people import participants_of, session_names, sessions_of
from judgments.sources.values import cleaned, flag_of, kinds_of, numbers_of

_JOINT = ":"
#: Columns that say who someone is; they are never stored.
NEVER_KEPT = frozenset({"ip", "ip_address", "ipaddress", "email", "e_mail", "phone"})


@dataclass(frozen=True)
class Rows:
    """Rows of a file as text, and what is known of them."""

    frame: pd.DataFrame
    file: str
    description: str
    notes: tuple[str, ...] = ()


def read_judgment_table(path: Path, options: SourceOptions) -> JudgmentFile:
    """Read a long table of judgments.

    Parameters
    ----------
    path : Path
        CSV, TSV (also packed as ``.gz``), JSONL or Parquet.
    options : SourceOptions

    Returns
    -------
    JudgmentFile

    Raises
    ------
    MissingColumns
        If there is no participant, no answer, or nothing that says what was judged.
    BadInput
        For a value that is no number or outside the scale; row and column are named.
    """
    return judgments_from_rows(table_rows(path, encoding=options.encoding), options, format="table")


def table_rows(path: Path, *, encoding: str = "") -> Rows:
    """Read the rows of a table as text; the index is the line of the file.

    Parameters
    ----------
    path : Path
    encoding : str

    Returns
    -------
    Rows

    Raises
    ------
    BadInput
        If the file cannot be read.
    """
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        try:
            frame = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise BadInput(f"is no Parquet file ({error}).", file=path.name) from None
        texts = frame.astype(object).where(frame.notna(), "").map(str)
        return Rows(texts.set_axis(range(1, len(texts) + 1)), path.name, "Parquet")
    if name.endswith((".jsonl", ".ndjson")):
        decoded = read_text(path, encoding=encoding)
        lines = list(json_lines(decoded))
        frame = pd.DataFrame([fields for _, fields in lines], index=[line for line, _ in lines], dtype=object)
        return Rows(frame.where(frame.notna(), "").map(str), path.name, f"{decoded.description}, JSON lines")
    table = read_table(path, encoding=encoding)
    return Rows(table.frame, path.name, table.description, table.notes)


def judgments_from_rows(rows: Rows, options: SourceOptions, *, format: str) -> JudgmentFile:
    """Understand rows as judgments.

    Parameters
    ----------
    rows : Rows
    options : SourceOptions
    format : str
        Written into the result.

    Returns
    -------
    JudgmentFile

    Raises
    ------
    BadInput
        As :func:`read_judgment_table`.
    """
    refuse_empty(rows.frame, file=rows.file, remedy="Give one judgment per row.")
    frame, mapping, joined = _joined(rows, options.mapping)
    columns = understand_columns(list(frame.columns), TABLE_FIELDS, mapping=mapping, file=rows.file)
    _require(columns, frame, rows.file)
    answer = columns.get("value") or columns["response"]
    cells = frame[answer]
    values = values_of(cells, column=answer, file=rows.file)
    task, task_note = guess_task(values, columns, frame, asked=options.task, file=rows.file)
    scale, scale_note = scale_of(task, values, low=options.scale_low, high=options.scale_high)
    trials, notes = _trials(frame, columns, values, rows.file)
    check_within_scale(trials, scale, column=answer, file=rows.file)
    if task in ("forced_choice", "yes_no"):
        _refuse_between(trials, column=answer, file=rows.file)
    background = {
        ours.removeprefix("background."): theirs for ours, theirs in options.mapping.items() if "." in ours
    }
    extra = _extra(frame, columns, {*background.values(), *joined})
    sessions = sessions_of(frame, columns, file=rows.file)
    participants, warnings = participants_of(frame, columns, background)
    extras = {name: frame[name].array for name in extra}
    return JudgmentFile(
        format,
        rows.file,
        task,
        trials.assign(**{f"extra:{name}": cells for name, cells in extras.items()}),
        sessions,
        participants,
        scale=scale,
        extra=extra,
        description=rows.description,
        mapping=columns,
        notes=(*rows.notes, task_note, scale_note, *notes),
        warnings=warnings,
    )


def _refuse_between(trials: pd.DataFrame, *, column: str, file: str) -> None:
    """Refuse values other than 0 and 1."""
    between = trials[~trials["value"].isin((0.0, 1.0)) & trials["value"].notna()]
    if len(between):
        first = between.iloc[0]
        raise BadInput(
            f"{first['value']:g} is neither 0 nor 1.",
            file=file,
            row=int(first["row"]),
            column=column,
            remedy="A choice is 1 (the expected member, yes) or 0; --task takes another task.",
        )


def _joined(rows: Rows, mapping: Mapping[str, str]) -> tuple[pd.DataFrame, dict[str, str], set[str]]:
    """Join columns that the mapping names with ``+``; their parts stay as further columns."""
    frame, plain = rows.frame, {}
    for ours, theirs in mapping.items():
        parts = theirs.split("+")
        if len(parts) == 1 or theirs in frame.columns:
            plain[ours] = theirs
            continue
        absent = [part for part in parts if part not in frame.columns]
        if absent:
            raise MissingColumns(absent, found=list(frame.columns), file=rows.file)
        cells = frame[parts[0]]
        for part in parts[1:]:
            cells = cells + _JOINT + frame[part]
        blank = cells == _JOINT * (len(parts) - 1)  # no part is filled, as in a filler of a factorial study
        frame, plain[ours] = frame.assign(**{theirs: cells.where(~blank, "")}), theirs
    return frame, plain, set(mapping.values()) - set(rows.frame.columns)


def _require(columns: Mapping[str, str], frame: pd.DataFrame, file: str) -> None:
    absent = [] if "participant" in columns else ["participant"]
    absent += [] if {"value", "response"} & set(columns) else ["value"]
    absent += [] if {"item", "sentence_id", "sentence", "pair_id", "good"} & set(columns) else ["item"]
    if absent:
        raise MissingColumns(absent, found=list(frame.columns), file=file)


def _extra(frame: pd.DataFrame, columns: Mapping[str, str], elsewhere: set[str]) -> tuple[str, ...]:
    taken = {*columns.values(), *elsewhere}
    return tuple(
        name for name in frame.columns if name not in taken and simple_name(str(name)) not in NEVER_KEPT
    )


def _trials(
    frame: pd.DataFrame, columns: Mapping[str, str], values: pd.Series, file: str
) -> tuple[pd.DataFrame, list[str]]:
    def cells(name: str, otherwise: Any = "") -> Any:
        return frame[columns[name]].array if name in columns else otherwise

    kinds: Any = "target"
    if "kind" in columns:
        kinds = kinds_of(frame[columns["kind"]], column=columns["kind"], file=file).array
    numbers = {
        name: numbers_of(frame[columns[name]], column=columns[name], file=file).array
        for name in ("rt_ms", "modulus")
        if name in columns
    }
    sessions = session_names(frame, columns).array
    positions, notes = _positions(frame, columns, sessions, file)
    missing = values.isna().to_numpy()
    trials = trial_frame(
        {
            "session": sessions,
            "position": positions,
            "kind": kinds,
            **{
                name: cells(name)
                for name in ("phenomenon", "paradigm", "item", "condition", "sentence_id", "pair_id")
            },
            **{name: cells(name) for name in ("good_id", "bad_id")},
            "text": cells("sentence"),
            "good_text": cells("good"),
            "bad_text": cells("bad"),
            "expected": _expected(frame, columns, file),
            "expected_first": _expected_first(frame, columns),
            "response": frame[columns.get("response") or columns["value"]].array,
            "value": values.to_numpy(),
            "status": np.where(missing, "missing", "answered").astype(object),
            "is_correct": _flags(frame, columns, "correct"),
            **numbers,
            "row": frame.index.to_numpy(),
        }
    )
    return trials, notes


def _positions(
    frame: pd.DataFrame, columns: Mapping[str, str], sessions: Any, file: str
) -> tuple[np.ndarray, list[str]]:
    """Give the places as stated if they are whole, from 1 and unique in a session; else number anew."""
    by_session = pd.Series(sessions, index=frame.index, dtype=object)
    in_order = by_session.groupby(by_session, sort=False).cumcount().to_numpy() + 1
    if "position" not in columns:
        return in_order, ["no column with positions; trials are numbered in the order of the rows"]
    stated = numbers_of(frame[columns["position"]], column=columns["position"], file=file)
    both = pd.DataFrame({"session": by_session.array, "position": stated.array})
    sound = (both["position"] >= 1) & (both["position"] % 1 == 0) & (both["position"] < 2**31)
    if sound.all() and not both.duplicated().any():
        return both["position"].to_numpy(dtype=np.int64), []
    ordered = both.sort_values("position", kind="stable", na_position="last")
    places = ordered.groupby("session", sort=False).cumcount().sort_index().to_numpy() + 1
    return places, [
        f"{columns['position']!r} repeats or begins below 1; trials are numbered anew in its order"
    ]


def _expected(frame: pd.DataFrame, columns: Mapping[str, str], file: str) -> Any:
    if "expected" not in columns:
        return ""
    cells = frame[columns["expected"]]
    known = {label: expected_status(cleaned(label)) for label in cells.unique()}
    unknown = [label for label, status in known.items() if status is None]
    if unknown:
        raise BadInput(
            f"{unknown[0]!r} is no expected status.",
            file=file,
            row=int(cells.index[cells == unknown[0]][0]),
            column=columns["expected"],
            remedy="Write acceptable or unacceptable, or map another column.",
        )
    return cells.map(known).array


def _expected_first(frame: pd.DataFrame, columns: Mapping[str, str]) -> Any:
    """Read which member came first, as a flag or as the id of the good or bad member."""
    if "expected_first" in columns:
        return _flags(frame, columns, "expected_first")
    if not {"shown_first", "good_id", "bad_id"} <= set(columns):
        return None
    first, good, bad = (frame[columns[name]].to_numpy() for name in ("shown_first", "good_id", "bad_id"))
    known = (first == good) | (first == bad)
    return pd.array(np.where(known, first == good, None), dtype=object)


def _flags(frame: pd.DataFrame, columns: Mapping[str, str], name: str) -> Any:
    if name not in columns:
        return None
    cells = frame[columns[name]]
    known = {cell: flag_of(cell) for cell in cells.unique()}
    return pd.array([known[cell] for cell in cells], dtype=object)
