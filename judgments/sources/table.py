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
from experiments.materials.schema import Field, expected_status, understand_columns
from judgments.sources.base import (
    JudgmentFile,
    SourceOptions,
    check_within_scale,
    participant_frame,
    refuse_empty,
    session_frame,
    trial_frame,
)
from judgments.sources.scales import guess_task, scale_of, values_of
from judgments.sources.values import agreed, cleaned, flag_of, is_empty, kinds_of, numbers_of

_FIELDS = (
    Field(
        "participant",
        "Pseudonym or platform id of the participant.",
        (
            "participant_id",
            "participantid",
            "subject",
            "subject_id",
            "worker",
            "workerid",
            "worker_id",
            "anoncode",
            "rater",
        ),
    ),
    Field("session", "One sitting; without it, the participant with the list.", ("session_id", "submission")),
    Field("list", "Presentation list.", ("survey", "list_id")),
    Field(
        "position",
        "Place of the trial in its session; without it, the order of the rows.",
        (
            "order",
            "presentationorder",
            "presentation_order",
            "trial_order",
            "trial_sequence_total",
            "trial_index",
        ),
    ),
    Field("kind", "target, filler, catch, practice or anchor.", ("item_type", "trial_kind")),
    Field("task", "Name of the task; one per file."),
    Field("item", "One lexicalization.", ("item_id", "itemid", "item_number")),
    Field("condition", "Cell of the design.", ("cond",)),
    Field(
        "sentence_id",
        "Name of the sentence; in forced choice, of the chosen one.",
        ("sent_id", "stimulus_id"),
    ),
    Field("sentence", "Text of the sentence.", ("text", "sentence_text", "stimulus")),
    Field(
        "expected",
        "The author's intended status.",
        ("acceptability", "acceptable", "grammatical", "grammaticality"),
    ),
    Field("paradigm", "Group of items of one contrast.", ("uid",)),
    Field("phenomenon", "Group of paradigms.", ("linguistics_term",)),
    Field("pair_id", "The minimal pair (forced choice).", ("pairid",)),
    Field("good", "Text of the acceptable member (forced choice).", ("sentence_good", "good_sentence")),
    Field("bad", "Text of the unacceptable member (forced choice).", ("sentence_bad", "bad_sentence")),
    Field("good_id", "sentence_id of the acceptable member (forced choice)."),
    Field("bad_id", "sentence_id of the unacceptable member (forced choice)."),
    Field("shown_first", "sentence_id of the member shown first (forced choice)."),
    Field("expected_first", "Whether the acceptable member was shown first (forced choice)."),
    Field(
        "value",
        "The answer on the scale; forced choice: 1 good member, 0 the other.",
        ("judgment", "judgement", "rating", "raw_judgment"),
    ),
    Field("response", "The answer as given; read as the value where there is no value."),
    Field("correct", "Whether a catch or practice trial was answered as intended."),
    Field("rt_ms", "From onset to answer, in ms.", ("rt", "reaction_time", "reaction_time_ms")),
    Field("modulus", "Number given to the reference sentence (magnitude estimation)."),
    Field(
        "native",
        "Whether the participant is a native speaker.",
        ("nativeenglish", "native_english", "is_native", "native_speaker"),
    ),
    Field("submission_status", "Decision of the platform: approved, rejected, ….", ("assignmentstatus",)),
    Field("session_status", "State of the session: complete, abandoned, …."),
)
TABLE_FIELDS: dict[str, Field] = {field.name: field for field in _FIELDS}
_JOINT = ":"


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
        frame = pd.read_parquet(path)
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
    background = {
        ours.removeprefix("background."): theirs for ours, theirs in options.mapping.items() if "." in ours
    }
    extra = _extra(frame, columns, {*background.values(), *joined})
    sessions, participants, warnings = _people(frame, columns, trials, background)
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
        notes=tuple([*rows.notes, task_note, scale_note, *notes]),
        warnings=warnings,
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
        frame, plain[ours] = frame.assign(**{theirs: cells}), theirs
    return frame, plain, set(mapping.values()) - set(rows.frame.columns)


def _require(columns: Mapping[str, str], frame: pd.DataFrame, file: str) -> None:
    absent = [] if "participant" in columns else ["participant"]
    absent += [] if {"value", "response"} & set(columns) else ["value"]
    absent += [] if {"item", "sentence_id", "sentence", "pair_id", "good"} & set(columns) else ["item"]
    if absent:
        raise MissingColumns(absent, found=list(frame.columns), file=file)


def _extra(frame: pd.DataFrame, columns: Mapping[str, str], elsewhere: set[str]) -> tuple[str, ...]:
    taken = {*columns.values(), *elsewhere}
    return tuple(name for name in frame.columns if name not in taken)


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
    sessions = _session_names(frame, columns)
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


def _session_names(frame: pd.DataFrame, columns: Mapping[str, str]) -> Any:
    if "session" in columns:
        return frame[columns["session"]].array
    participant = frame[columns["participant"]]
    if "list" not in columns:
        return participant.array
    return (participant + "/" + frame[columns["list"]]).array


def _positions(
    frame: pd.DataFrame, columns: Mapping[str, str], sessions: Any, file: str
) -> tuple[np.ndarray, list[str]]:
    """Give the places as stated where they are whole, from 1 and unique in their session, else numbered anew."""
    by_session = pd.Series(sessions, index=frame.index, dtype=object)
    in_order = by_session.groupby(by_session, sort=False).cumcount().to_numpy() + 1
    if "position" not in columns:
        return in_order, ["no column with positions; trials are numbered in the order of the rows"]
    stated = numbers_of(frame[columns["position"]], column=columns["position"], file=file)
    both = pd.DataFrame({"session": by_session.array, "position": stated.array})
    sound = (both["position"] >= 1) & (both["position"] % 1 == 0)
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


def _people(
    frame: pd.DataFrame, columns: Mapping[str, str], trials: pd.DataFrame, background: Mapping[str, str]
) -> tuple[pd.DataFrame, pd.DataFrame, tuple[str, ...]]:
    people = frame[columns["participant"]]
    unnamed = people.index[is_empty(people)]
    if len(unnamed):
        raise BadInput(
            "the participant is empty.", file="", row=int(unnamed[0]), column=columns["participant"]
        )
    names = pd.DataFrame({"session": trials["session"].array, "participant": people.array}, index=frame.index)
    first = ~names["session"].duplicated()
    shared = names.drop_duplicates()
    if len(shared) > int(first.sum()):
        both = shared[shared["session"].duplicated()].iloc[0]
        raise BadInput(
            f"session {both['session']!r} belongs to two participants.",
            row=int(shared[shared["session"].duplicated()].index[0]),
        )
    head = frame[first]

    def cells(name: str, otherwise: Any = "") -> Any:
        return head[columns[name]].map(cleaned).array if name in columns else otherwise

    status = [
        cell if cell in _SESSION_STATES else "complete" for cell in cells("session_status", [""] * len(head))
    ]
    said = _flags(head, columns, "native")
    sessions = session_frame(
        {
            "session": names["session"][first].array,
            "participant": names["participant"][first].array,
            "list": cells("list"),
            "status": status,
            "submission_status": [cell.lower() for cell in cells("submission_status", [""] * len(head))],
            "attributes": [
                {} if flag is None else {"native": flag}
                for flag in (said if said is not None else [None] * len(head))
            ],
        }
    )
    participants, warnings = _participants(frame, columns, people, background)
    return sessions, participants, warnings


_SESSION_STATES = frozenset({"active", "complete", "refused", "screened_out", "abandoned", "withdrawn"})


def _participants(
    frame: pd.DataFrame, columns: Mapping[str, str], people: pd.Series, background: Mapping[str, str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    names = list(people.unique())
    native: dict[str, bool | None] = {}
    differ = 0
    if "native" in columns:
        answers = pd.DataFrame(
            {"participant": people.array, "said": frame[columns["native"]].array}
        ).drop_duplicates()
        answers["said"] = pd.array([flag_of(cell) for cell in answers["said"]], dtype=object)
        native = {str(name): agreed(own["said"]) for name, own in answers.groupby("participant")}
        differ = sum(
            native[name] is None and own["said"].notna().any() for name, own in answers.groupby("participant")
        )
    firsts = frame[~people.duplicated()]
    told = (
        [
            {ours: cleaned(row[theirs]) for ours, theirs in background.items() if cleaned(row[theirs])}
            for row in firsts[list(background.values())].to_dict("records")
        ]
        if background
        else [{} for _ in names]
    )
    people_frame = participant_frame(
        {
            "participant": names,
            "is_native": pd.array([native.get(name) for name in names], dtype=object),
            "background": told,
        }
    )
    warning = (
        f"{differ} participants answered the question for their native language both ways; it is left empty."
    )
    return people_frame, (warning,) if differ else ()
