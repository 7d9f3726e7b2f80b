"""Batch results of the MTurk requester site: one row per assignment, several forced choices side by side.

A pair *k* has two columns with its members, an answer, and usually a condition:

* members ``Input.field_k_1``, ``Input.field_k_2`` (also ``sentence``, ``option``; also ``a``/``b`` for
  ``1``/``2``);
* answer ``Answer.Choicek`` (also ``answer``, ``response``, ``q``), which begins with the option's number,
  because the requester site cuts a text at its first apostrophe;
* condition ``Input.item_k_condition`` or ``Input.condition_k``: the paradigm's name and ``ans1`` or
  ``ans2``, the option that the author expects. ``attnchk``, ``catch`` and the like are catch trials.

Other filled columns are stored with the session; other ``Answer.`` columns are the participant's background.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.errors import BadInput, MissingColumns
from experiments.materials.delimited import Table, read_table
from experiments.materials.readers.tool_files import refuse_unreadable
from judgments.imports.readers.base import (
    JudgmentFile,
    SourceOptions,
    participant_frame,
    refuse_empty,
    session_frame,
    trial_frame,
)
from judgments.imports.readers.cells import (
    EMPTY,
    agreed_answer,
    mturk_time,
    parse_flag,
    parse_kind,
    strip_cell,
    whole_number,
)

_MEMBER = re.compile(r"Input\.(?:field|sentence|sent|option)_?(\d+)_([12ab])", re.IGNORECASE)
_CONDITION = re.compile(r"Input\.(?:item_?(\d+)_condition|condition_?(\d+))", re.IGNORECASE)
_ANSWER = re.compile(r"Answer\.(?:choice|answer|response|q)_?(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Slot:
    """The columns of one pair."""

    number: str
    first: str
    second: str
    answer: str
    condition: str


def pair_columns(columns: list[str], file: str) -> list[Slot]:
    """Return the columns of each pair, in the order of the file."""
    members: dict[str, dict[str, str]] = {}
    conditions: dict[str, str] = {}
    answers: dict[str, str] = {}
    for column in columns:
        if match := _MEMBER.fullmatch(column):
            members.setdefault(match[1], {})["1" if match[2] in "1aA" else "2"] = column
        elif match := _CONDITION.fullmatch(column):
            conditions[match[1] or match[2]] = column
        elif match := _ANSWER.fullmatch(column):
            answers[match[1]] = column
    if not members:
        raise MissingColumns(["Input.field_1_1", "Input.field_1_2"], existing=columns, file=file)
    order = [*conditions, *(number for number in members if number not in conditions)]
    slots = []
    for number in (number for number in order if number in members):
        absent = [f"Input.field_{number}_{side}" for side in "12" if side not in members[number]]
        absent += [] if number in answers else [f"Answer.Choice{number}"]
        if absent:
            raise MissingColumns(absent, existing=columns, file=file)
        pair = members[number]
        slots.append(Slot(number, pair["1"], pair["2"], answers[number], conditions.get(number, "")))
    return slots


_NATIVE = re.compile(r"Answer\..*na[tv]+ive.*", re.IGNORECASE)
_EXPECTED = re.compile(r"(.*?)[_.\- ]?ans([12])", re.IGNORECASE)
_NUMBERED = re.compile(r"\s*([12])\s*(?:[.):]|$)")
_STATUS = {"Approved": "approved", "Rejected": "rejected", "Submitted": "awaiting_review"}
_OF_SESSION = frozenset(
    (
        *("AssignmentId", "AssignmentStatus", "AcceptTime", "SubmitTime", "WorkTimeInSeconds"),
        *("WorkerId", "anonCode", "Input.list", "Answer.useragent"),
    )
)
_OF_BATCH = frozenset(
    (
        *("HITTypeId", "Title", "Description", "Keywords", "CreationTime", "MaxAssignments", "Expiration"),
        *("AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "AutoApprovalTime"),
        *("NumberOfSimilarHITs", "LifetimeInSeconds", "LifetimeApprovalRate", "Last30DaysApprovalRate"),
        *("Last7DaysApprovalRate", "Approve", "Reject"),
    )
)


def read_mturk_batch(path: Path, options: SourceOptions) -> JudgmentFile:
    """Read a batch results file of forced choices.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8: the batch of its validation has this form.
    """
    refuse_unreadable(path)
    table = read_table(path, encoding=options.encoding)
    rows, file = table.frame, table.source.file
    absent = [name for name in ("AssignmentId", "AssignmentStatus") if name not in rows.columns]
    if absent:
        raise MissingColumns(absent, existing=list(rows.columns), file=file)
    worker = next((name for name in ("anonCode", "WorkerId") if name in rows.columns), "")
    if not worker:
        raise MissingColumns(["WorkerId"], existing=list(rows.columns), file=file)
    _refuse_twice(rows, "AssignmentId", file)
    slots = pair_columns(list(rows.columns), file)
    trials = pd.concat(
        [_trials(rows, slot, position, file) for position, slot in enumerate(slots, start=1)],
        ignore_index=True,
    )
    trials = trials.sort_values(["row", "position"], ignore_index=True)
    refuse_empty(trials, file=file, remedy="One row per assignment is expected.")
    pair_cells = {column for slot in slots for column in vars(slot).values()}
    native = [name for name in rows.columns if _NATIVE.fullmatch(name)]
    sessions = _sessions(rows, worker, pair_cells)
    participants, warnings = _participants(rows, worker, native, pair_cells)
    return JudgmentFile(
        "mturk-batch",
        file,
        "forced_choice",
        trials,
        sessions,
        participants,
        scale=(0.0, 1.0),
        description=table.description,
        mapping={"session": "AssignmentId", "participant": worker, "submission_status": "AssignmentStatus"},
        notes=_notes(table, slots, trials),
        warnings=warnings,
        inferred=table.source.check,
    )


def _refuse_twice(rows: pd.DataFrame, column: str, file: str) -> None:
    repeated = rows.index[rows[column].duplicated()]
    if len(repeated):
        raise BadInput(
            f"{rows.loc[repeated[0], column]!r} occurs in two rows.",
            file=file,
            row=int(repeated[0]),
            column=column,
            remedy="Give one row per assignment.",
        )


def _trials(rows: pd.DataFrame, slot: Slot, position: int, file: str) -> pd.DataFrame:
    """Return the trials of one pair, one per assignment."""
    labels = rows[slot.condition] if slot.condition else pd.Series("", index=rows.index)
    labels_read = [_split_label(label) for label in labels]
    kinds = ["catch" if parse_kind(name) == "catch" else "target" for name, _ in labels_read]
    paradigms = ["" if kind == "catch" else name for kind, (name, _) in zip(kinds, labels_read, strict=True)]
    expected = np.array([option or 1 for _, option in labels_read])
    chosen = np.array(
        [
            _option(answer, (first, second), (file, int(row), slot.answer))
            for row, answer, first, second in zip(
                rows.index, rows[slot.answer], rows[slot.first], rows[slot.second], strict=True
            )
        ]
    )
    value = np.where(chosen > 0, (chosen == expected).astype(float), np.nan)
    first, second = rows[slot.first].to_numpy(), rows[slot.second].to_numpy()
    return trial_frame(
        {
            "session": rows["AssignmentId"].tolist(),
            "position": [position] * len(rows),
            "kind": kinds,
            "paradigm": paradigms,
            "good_text": list(np.where(expected == 1, first, second)),
            "bad_text": list(np.where(expected == 1, second, first)),
            "labelled": [option is not None for _, option in labels_read],
            "expected_first": [bool(option == 1) for option in expected],
            "response": rows[slot.answer].tolist(),
            "value": value,
            "status": list(np.where(chosen > 0, "answered", "missing")),
            "is_correct": [_correct(kind, number) for kind, number in zip(kinds, value, strict=True)],
            "row": rows.index.tolist(),
        }
    )


def _correct(kind: str, value: float) -> bool | None:
    return bool(value) if kind == "catch" and not np.isnan(value) else None


def _split_label(label: str) -> tuple[str, int | None]:
    """Split a label such as ``passive_2ans1`` into paradigm and expected option."""
    match = _EXPECTED.fullmatch(strip_cell(label))
    return (match[1], int(match[2])) if match else (strip_cell(label), None)


def _option(answer: str, members: tuple[str, str], place: tuple[str, int, str]) -> int:
    """Return the number of the chosen option, 0 where there is no answer."""
    if answer in EMPTY or not answer.strip():
        return 0
    numbered = _NUMBERED.match(answer)
    if numbered:
        return int(numbered[1])
    fits = [number for number, text in enumerate(members, start=1) if text.startswith(answer.strip())]
    if len(fits) == 1:
        return fits[0]
    file, row, column = place
    raise BadInput(
        f"{answer!r} does not say which of the two options was chosen.",
        file=file,
        row=row,
        column=column,
        remedy="An answer begins with the option's number (1. or 2.) or is the option's text.",
    )


def _sessions(rows: pd.DataFrame, worker: str, pair_cells: set[str]) -> pd.DataFrame:
    other_columns = [name for name in rows.columns if name not in pair_cells | _OF_SESSION | _OF_BATCH]
    blank = pd.Series("", index=rows.index)
    return session_frame(
        {
            "session": rows["AssignmentId"].tolist(),
            "participant": rows[worker].tolist(),
            "list": [strip_cell(cell) for cell in rows.get("Input.list", blank)],
            "submission_status": [
                _STATUS.get(cell, cell.lower()) for cell in rows["AssignmentStatus"].map(strip_cell)
            ],
            "started_at": [mturk_time(cell) for cell in rows.get("AcceptTime", blank)],
            "completed_at": [mturk_time(cell) for cell in rows.get("SubmitTime", blank)],
            "work_time_s": [whole_number(cell) for cell in rows.get("WorkTimeInSeconds", blank)],
            "user_agent": [strip_cell(cell)[:300] for cell in rows.get("Answer.useragent", blank)],
            "attributes": [_nonempty_cells(cells) for cells in rows[other_columns].to_dict("records")],
        }
    )


def _nonempty_cells(cells: Mapping[Any, str]) -> dict[str, str]:
    return {str(name): strip_cell(cell) for name, cell in cells.items() if strip_cell(cell)}


def _participants(
    rows: pd.DataFrame, worker: str, native: list[str], pair_cells: set[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the frame of participants; native status is empty where answers differ, with a warning."""
    question_columns = [
        name for name in rows.columns if name.startswith("Answer.") and name not in pair_cells | _OF_SESSION
    ]
    workers, status, background, differ = [], [], [], 0
    for name, assignments in rows.groupby(worker, sort=False):
        flags = pd.Series(
            [parse_flag(cell) for column in native for cell in assignments[column]], dtype=object
        )
        workers.append(str(name))
        status.append(agreed_answer(flags))
        differ += status[-1] is None and bool(flags.notna().any())
        background.append(_first_answers(assignments[question_columns]))
    warnings = (
        f"{differ} workers answered the question for their native language both ways; it is left empty.",
    )
    frame = participant_frame(
        {
            "participant": workers,
            "is_native": pd.array(status, dtype=object),
            "recruiter": "" if worker == "anonCode" else "mturk",
            "background": background,
        }
    )
    return frame, warnings if differ else ()


def _first_answers(assignments: pd.DataFrame) -> dict[str, str]:
    answers: dict[str, str] = {}
    for cells in assignments.to_dict("records"):
        for name, answer in _nonempty_cells(cells).items():
            answers.setdefault(name.removeprefix("Answer."), answer)
    return answers


def _notes(table: Table, slots: list[Slot], trials: pd.DataFrame) -> tuple[str, ...]:
    order = ", ".join(slot.number for slot in slots)
    notes = [*table.notes, f"items are in the order {order}; their positions follow it"]
    unlabelled = int((~trials["labelled"].astype(bool)).sum())
    if unlabelled:
        notes.append(f"{unlabelled} trials do not say which member is expected (no ans1 or ans2)")
    return tuple(notes)
