"""Data of jsPsych: JSON (one run, several, or one per line) or CSV, with the fields jsPsych writes.

A row is a judgment if it has an item, a sentence or a sentence_id, or (where no row has one) a stimulus and a
numeric response. ``response`` counts buttons and ``survey-likert`` points from 0, as jsPsych does.
"""

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.errors import BadInput
from experiments.materials.delimited import table_from
from experiments.materials.encoding import Decoded, read_text
from experiments.materials.readers.json_text import NotJSON, parse_json
from experiments.materials.readers.sheets import json_lines, object_frame
from experiments.materials.schema import simple_name
from judgments.imports.readers.base import JudgmentFile, Rows, SourceOptions, refuse_empty
from judgments.imports.readers.cells import whole_number
from judgments.imports.readers.table import NEVER_KEPT, judgments_from_rows

_PARTICIPANT = (
    "participant",
    "participant_id",
    "subject",
    "subject_id",
    "prolific_pid",
    "workerid",
    "worker_id",
    "run_id",
)
_OWN = ("item", "item_id", "sentence_id", "sentence", "pair_id")
_QUESTIONS = ("survey-text", "survey-multi-choice", "survey-multi-select", "survey-html-form", "survey")
Trial = dict[str, Any]


def read_jspsych(path: Path, options: SourceOptions) -> JudgmentFile:
    """Read data exported from jsPsych."""
    decoded = read_text(path, encoding=options.encoding)
    trials, rows, description = _trials(decoded)
    if not any("trial_type" in trial or "trial_index" in trial for trial in trials):
        raise BadInput(
            "no row has trial_type or trial_index.",
            file=path.name,
            remedy="Give the data as jsPsych saves them.",
        )
    name_column, notes = _name_participants(trials, path.stem)
    frame = object_frame(trials, rows, n_bytes=len(decoded.text), file=path.name)
    frame = frame[[name for name in frame.columns if simple_name(str(name)) not in NEVER_KEPT]]
    judged = frame[_is_judgment(frame)]
    refuse_empty(judged, file=path.name, remedy="Save item or sentence with each judgment trial's data.")
    texts = judged.drop(columns=[name for name in judged.columns if judged[name].isna().all()]).map(_text)
    mapping = _mapping(texts, name_column) | dict(options.mapping)
    left_out = len(frame) - len(judged)
    remarks: tuple[str, ...] = (f"{left_out} rows are no judgments (instructions, surveys and the like)",)
    if "response" in mapping.values() and "value" not in options.mapping:
        remarks += ("responses of buttons and survey-likert count from 0, as jsPsych writes them",)
    read = judgments_from_rows(
        Rows(texts, path.name, description, (*notes, *remarks), decoded.check),
        replace(options, mapping=mapping),
        format="jspsych",
    )
    background = _background(frame, name_column)
    people = read.participants.assign(
        background=pd.Series(
            [background.get(name, {}) for name in read.participants["participant"]],
            index=read.participants.index,
            dtype=object,
        )
    )
    return replace(read, participants=people)


def _trials(decoded: Decoded) -> tuple[list[Trial], list[int], str]:
    start = decoded.text.lstrip()[:1]
    if start not in ("[", "{"):
        table = table_from(decoded)
        records: list[Trial] = [
            {str(name): cell for name, cell in record.items()} for record in table.frame.to_dict("records")
        ]
        return records, [int(line) for line in table.frame.index], table.description
    rows = _from_json(decoded)
    return [trial for _, trial in rows], [row for row, _ in rows], f"{decoded.description}, JSON"


def _from_json(decoded: Decoded) -> list[tuple[int, Trial]]:
    try:
        document = parse_json(decoded.text, file=decoded.file)
    except NotJSON as error:
        if not error.has_more:
            raise
        return _from_lines(decoded)
    return list(enumerate(_flat(document, decoded.file), start=1))


def _from_lines(decoded: Decoded) -> list[tuple[int, Trial]]:
    """Read one run (an array) or one trial (an object) per line."""
    if decoded.text.lstrip().startswith("{"):
        return list(json_lines(decoded))
    rows: list[tuple[int, Trial]] = []
    for row, line in enumerate(decoded.text.splitlines(), start=1):
        if line.strip():
            trials = _flat(parse_json(line, file=decoded.file, row=row), decoded.file)
            rows += [(row, trial) for trial in trials]
    return rows


def _flat(document: Any, file: str) -> list[Trial]:
    """Return the trials of one run, of several runs, or of an object with one list of trials."""
    if isinstance(document, Mapping):
        inner = [value for value in document.values() if isinstance(value, list)]
        return _flat(inner[0], file) if len(inner) == 1 and "trial_type" not in document else [dict(document)]
    if not isinstance(document, Sequence) or isinstance(document, str):
        raise BadInput("this JSON holds no trials.", file=file, remedy="Give a list of objects.")
    trials: list[Trial] = []
    for part in document:
        trials += _flat(part, file)
    return trials


def _name_participants(trials: list[Trial], stem: str) -> tuple[str, tuple[str, ...]]:
    """Return the participant column; without one, each run (trial_index restarts) is a participant."""
    simple = {simple_name(str(name)): str(name) for trial in trials for name in trial}
    column = next((simple[name] for name in _PARTICIPANT if name in simple), "")
    if column:
        return column, ()
    run, last = 0, -1
    for trial in trials:
        index = whole_number(str(trial.get("trial_index") or 0)) or 0
        run += index <= last or last < 0
        last = index
        trial["participant"] = f"{stem}-{run}"
    return "participant", ("no participant is named; every run is one participant",)


def _is_judgment(frame: pd.DataFrame) -> "pd.Series[bool]":
    answered = (
        frame["response"].map(_is_answer)
        if "response" in frame.columns
        else pd.Series(False, index=frame.index)
    )
    for name in ("value", "rating", "judgment"):
        if name in frame.columns:
            answered |= frame[name].notna() & (frame[name] != "")
    kinds = (
        frame["trial_type"].astype(str) if "trial_type" in frame.columns else pd.Series("", index=frame.index)
    )
    own_columns = [name for name in _OWN if name in frame.columns]
    if not own_columns and "stimulus" not in frame.columns:
        return pd.Series(False, index=frame.index)
    stimuli = frame[own_columns or ["stimulus"]]
    has_stimulus = (stimuli.notna() & (stimuli != "")).any(axis=1)
    return has_stimulus & answered & ~kinds.str.removeprefix("jsPsych-").isin(_QUESTIONS)


def _is_answer(response: Any) -> bool:
    if isinstance(response, Mapping):
        return len(response) == 1
    return response is not None and response == response


def _text(cell: Any) -> str:
    """Convert a cell to text: the value of a survey's only answer, a stimulus without markup."""
    if isinstance(cell, str) and cell.startswith("{"):
        try:
            cell = parse_json(cell, file="")
        except NotJSON:
            return str(cell)
    if isinstance(cell, Mapping) and len(cell) == 1:
        cell = next(iter(cell.values()))
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, (Mapping, list)):
        return json.dumps(cell, ensure_ascii=False)
    text = str(cell)
    return html.unescape(re.sub(r"<[A-Za-z/][^>]*>", "", text)).strip() if "<" in text else text


def _mapping(texts: pd.DataFrame, name_column: str) -> dict[str, str]:
    mapping = {"participant": name_column}
    defaults = {"position": "trial_index", "rt_ms": "rt"}
    mapping |= {field: column for field, column in defaults.items() if column in texts.columns}
    if not set(_OWN) & set(texts.columns) and "stimulus" in texts.columns:
        mapping["sentence"] = "stimulus"
    return mapping


def _background(frame: pd.DataFrame, name_column: str) -> dict[str, dict[str, str]]:
    background: dict[str, dict[str, str]] = {}
    if "trial_type" not in frame.columns or "response" not in frame.columns:
        return background
    surveys = frame[frame["trial_type"].astype(str).str.removeprefix("jsPsych-").isin(_QUESTIONS)]
    for name, response in zip(surveys[name_column], surveys["response"], strict=True):
        is_text = isinstance(response, str) and response.startswith("{")
        answers = parse_json(response, file="") if is_text else response
        if isinstance(answers, Mapping):
            background.setdefault(str(name), {}).update(
                {str(question): _text(answer) for question, answer in answers.items()}
            )
    return background
