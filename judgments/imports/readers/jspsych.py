"""Data of jsPsych: JSON (one run, several, or one per line) or CSV, with the fields jsPsych writes.

A row is a judgment if it has an item, a sentence or a sentence_id (as mapped, else by name), or, where no row
has one, a stimulus, and an answer. An unanswered row is a missing judgment if its item has no other row of
that participant. Indexes of buttons become their labels where the data hold them, as ``choices``.
"""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.errors import BadInput, list_names
from experiments.materials.delimited import table_from
from experiments.materials.encoding import Decoded, read_text
from experiments.materials.readers.json_text import NotJSON, parse_json
from experiments.materials.readers.sheets import json_lines, object_frame
from experiments.materials.schema import near_columns, simple_name
from judgments.imports.readers.answers import Clues, task_of_kind
from judgments.imports.readers.base import JudgmentFile, Rows, SourceOptions
from judgments.imports.readers.cells import whole_number, without_headers
from judgments.imports.readers.shapes import OpenAnswer, as_text
from judgments.imports.readers.table import NEVER_KEPT, TABLE_FIELDS, judgments_from_rows

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
_STATED = ("value", "rating", "judgment", "judgement")
_ANSWERS = (
    "response",
    "responses",
    "button_pressed",
    "button_response",
    "key_press",
    "keyboard_response",
)  # names of jsPsych 8 to 6 and of plugins with several answers
_QUESTIONS = ("survey-text", "survey-multi-choice", "survey-multi-select", "survey-html-form", "survey")
_LABELS = ("choices", "labels", "button_labels", "options")
_ANSWER = "response"
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
    trials = [_with_variables(trial) for trial in trials]
    name_column, notes = _name_participants(trials, path.stem)
    frame = object_frame(trials, rows, n_bytes=len(decoded.text), file=path.name)
    frame = frame[[name for name in frame.columns if simple_name(str(name)) not in NEVER_KEPT]]
    frame = frame.map(_cell)
    answers = _answers(frame, options, path.name)
    is_judged, is_own = _judged_rows(frame, answers, options)
    if not is_judged.any():
        raise _no_judgments(frame, path.name)
    judged, given = frame[is_judged], answers[is_judged]
    remarks: list[str] = []
    clues, given = _clues(judged, given, path.name)
    texts = judged.drop(columns=[name for name in judged.columns if judged[name].isna().all()]).map(_text)
    mapping = _mapping(texts, name_column, is_own=is_own) | dict(options.mapping)
    if not (given.name and given.name in texts.columns):
        given = given.rename(_ANSWER)
    texts = texts.assign(**{str(given.name): given.map(_text)})
    mapping["value"] = str(given.name)
    if left_out := len(frame) - len(judged):
        remarks.insert(0, f"{left_out} rows are no judgments (instructions, surveys and the like)")
    read = judgments_from_rows(
        Rows(texts, path.name, description, (*notes, *remarks), decoded.check),
        replace(options, mapping=mapping),
        format="jspsych",
        clues=clues,
    )
    background = _background(frame[~is_judged], name_column)
    people = read.participants.assign(
        background=pd.Series(
            [background.get(name, {}) for name in read.participants["participant"]],
            index=read.participants.index,
            dtype=object,
        )
    )
    return replace(read, participants=people)


def _no_judgments(frame: pd.DataFrame, file: str) -> BadInput:
    kinds = sorted({str(kind) for kind in frame.get("trial_type", pd.Series(dtype=object)).dropna()})
    return BadInput(
        "no row has an answer together with an item, a sentence or a stimulus.",
        file=file,
        remedy="Save item or sentence with each judgment trial's data, or map them (item=trial_index where "
        "all see one order); name the answer by --map value=NAME. The kinds of trials are "
        f"{list_names(kinds)}; the columns are {list_names(list(map(str, frame.columns)))}.",
    )


def _with_variables(trial: Trial) -> Trial:
    """Return a trial with the variables of its timeline as fields of its own."""
    variables = _parse_cell(trial.get("timeline_variables"))
    if not isinstance(variables, Mapping):
        return trial
    rest = {name: cell for name, cell in trial.items() if name != "timeline_variables"}
    return {**_flat_fields(variables), **rest}


def _flat_fields(variables: Mapping[Any, Any]) -> Trial:
    """Return variables with those that are objects replaced by their own fields."""
    fields: Trial = {}
    for name, cell in variables.items():
        inner = _flat_fields(cell) if isinstance(cell, Mapping) else {str(name): cell}
        fields |= {field: value for field, value in inner.items() if field not in fields}
    return fields


def _parse_cell(cell: Any) -> Any:
    """Return the object or list that a cell of CSV holds as JSON; other cells as they are."""
    if isinstance(cell, str) and cell.lstrip()[:1] in ("{", "["):
        try:
            return parse_json(cell, file="")
        except BadInput:
            return cell
    return cell


def _cell(cell: Any) -> Any:
    """Return a cell with None where there is nothing; CSV writes ``null`` or nothing."""
    if _is_nothing(cell):
        return None
    return None if isinstance(cell, str) and cell.strip() in ("", "null") else cell


def _answers(frame: pd.DataFrame, options: SourceOptions, file: str) -> pd.Series:
    """Return the answer of each row; the mapping names a column or a question of the response."""
    wanted = options.mapping.get("value") or options.mapping.get("response") or ""
    if wanted in frame.columns:
        found = frame[wanted].map(_parse_cell)
        return found.map(lambda cell: _only(cell)).rename(wanted)
    stated = [name for name in _STATED if name in frame.columns]
    if stated and not wanted:
        return frame[stated[0]].rename(stated[0])
    found = pd.Series([None] * len(frame), index=frame.index, dtype=object)
    for name in _ANSWERS:
        if name in frame.columns:
            own = frame[name].map(_key_name if name == "key_press" else _parse_cell)
            found = found.where(found.notna(), own)
    if not wanted:
        return found.rename(_ANSWER)
    names = dict.fromkeys(str(name) for cell in found if isinstance(cell, Mapping) for name in cell)
    if wanted not in names:
        raise OpenAnswer(
            f"no column and no question of a response is {wanted!r}.",
            file=file,
            remedy="Map value to the answer.",
            choices=[*names, *(name for name in _ANSWERS if name in frame.columns)],
        )
    chosen = found.map(lambda cell: cell.get(wanted) if isinstance(cell, Mapping) else None)
    return chosen.rename(wanted if wanted not in frame.columns else _ANSWER)


def _only(cell: Any) -> Any:
    return next(iter(cell.values())) if isinstance(cell, Mapping) and len(cell) == 1 else cell


def _key_name(code: Any) -> Any:
    """Return the key of a code, as version 6 saves it; digits and letters only."""
    number = None if _is_nothing(code) else whole_number(str(code).removesuffix(".0"))
    if number is None:
        return code
    if 96 <= number <= 105:  # the number pad
        return str(number - 96)
    return chr(number).lower() if 48 <= number <= 57 or 65 <= number <= 90 else code


def _judged_rows(
    frame: pd.DataFrame, answers: pd.Series, options: SourceOptions
) -> tuple["pd.Series[bool]", bool]:
    """Return which rows are judgments, unanswered ones included, and whether they have names of their own."""
    fields = ("item", "sentence_id", "sentence", "pair_id", "good")
    mapped = [part for name in fields for part in _parts(options.mapping.get(name, ""), frame)]
    own = mapped or [name for name in frame.columns if simple_name(str(name)) in {*_OWN, "good"}]
    shown = own or _near_items(frame) or [name for name in frame.columns if name == "stimulus"]
    nothing = pd.Series(False, index=frame.index)
    if not shown:
        return nothing, False
    is_shown = frame[shown].notna().any(axis=1)
    is_chosen = bool(options.mapping.get("value"))
    is_answered = answers.notna() & is_shown & (~_is_question(frame) | is_chosen & bool(own))
    if own and not is_answered.any():  # questions of surveys that have an item
        is_answered = answers.notna() & is_shown
    if not own:
        is_answered &= answers.map(lambda cell: not isinstance(cell, Mapping) or len(cell) == 1)
    keys = _row_keys(frame[[*_people_columns(frame), *shown]])
    texts = frame[[*shown, *([] if "stimulus" in shown or "stimulus" not in frame else ["stimulus"])]]
    trial = _row_keys(texts)
    kinds = frame["trial_type"] if "trial_type" in frame.columns else pd.Series("", index=frame.index)
    is_silent = is_shown & answers.isna() & kinds.isin(kinds[is_answered].unique())
    is_silent &= ~keys.isin(keys[is_answered]) & ~_is_question(frame)
    is_constant = _is_constant(frame, shown) if own else ~trial.isin(trial[is_answered])
    is_silent &= ~is_constant
    is_silent &= ~keys.where(is_silent).duplicated(keep="last")
    return is_answered | is_silent, bool(own)


def _near_items(frame: pd.DataFrame) -> list[str]:
    """Return the columns whose names are near that of items, and that some rows only have."""
    near = near_columns([str(name) for name in frame.columns], {"item": TABLE_FIELDS["item"]})
    return [name for name in near.get("item", []) if frame[name].isna().any() and frame[name].notna().any()]


def _row_keys(frame: pd.DataFrame) -> "pd.Series[str]":
    cells = frame.map(str).to_numpy().tolist()
    return pd.Series(["\0".join(row) for row in cells], index=frame.index, dtype=object)


def _is_constant(frame: pd.DataFrame, own: list[str]) -> "pd.Series[bool]":
    """Return which rows show a stimulus that several items share, such as a fixation cross."""
    if "stimulus" not in frame.columns:
        return pd.Series(False, index=frame.index)
    names, stimuli = _row_keys(frame[own]), _row_keys(frame[["stimulus"]])
    n_names = names.groupby(stimuli).transform("nunique")
    has_several = stimuli.groupby(names).transform("nunique") > 1
    return (n_names > 1) & has_several


def _parts(column: str, frame: pd.DataFrame) -> list[str]:
    return (
        [column] if column in frame.columns else [part for part in column.split("+") if part in frame.columns]
    )


def _people_columns(frame: pd.DataFrame) -> list[str]:
    simple = {simple_name(str(name)): str(name) for name in frame.columns}
    return [simple[name] for name in _PARTICIPANT if name in simple][:1]


def _is_question(frame: pd.DataFrame) -> "pd.Series[bool]":
    if "trial_type" not in frame.columns:
        return pd.Series(False, index=frame.index)
    return frame["trial_type"].astype(str).str.removeprefix("jsPsych-").isin(_QUESTIONS)


def _clues(judged: pd.DataFrame, answers: pd.Series, file: str) -> tuple[Clues, pd.Series]:
    """Return what the types of the trials state, and the answers, as labels where the data hold them."""
    questions = dict.fromkeys(str(name) for cell in answers if isinstance(cell, Mapping) for name in cell)
    if any(isinstance(cell, Mapping) and len(cell) > 1 for cell in answers):
        raise OpenAnswer(
            "a response has several answers.",
            file=file,
            remedy="Map value to the one that is the judgment.",
            choices=list(questions),
        )
    answers = answers.map(_only)
    kinds: Any = (
        judged["trial_type"].dropna().astype(str).str.removeprefix("jsPsych-")
        if "trial_type" in judged
        else []
    )
    names = list(dict.fromkeys(kinds))
    tasks = {task_of_kind(name) for name in names}
    if "slider" in tasks and len(tasks) > 1:
        raise BadInput(
            f"trials of several kinds are judged: {list_names(names)}.",
            file=file,
            column="trial_type",
            remedy=f"Import one kind: --where trial_type={names[0]}.",
        )
    is_index = any("button" in name or "likert" in name for name in names)
    is_index |= bool({"button_pressed", "button_response"} & set(judged))
    is_index |= "button" in str(answers.name)
    if answers.name in _STATED or not is_index:
        task = next(iter(tasks)) if len(tasks) == 1 else ""
        return Clues(task, f"as trial_type {names[0]!r} states" if task else ""), answers
    labelled, points = _button_labels(judged, answers)
    if labelled is not None:
        return Clues(), labelled
    if tasks == {"likert"}:
        return Clues("likert", f"as trial_type {names[0]!r} states", is_index=True), answers
    return Clues(
        "", f"as trial_type {names[0]!r} states" if names else "", is_index=True, points=points
    ), answers


def _is_nothing(cell: Any) -> bool:
    return cell is None or isinstance(cell, float) and cell != cell


def _button_labels(judged: pd.DataFrame, answers: pd.Series) -> tuple[pd.Series | None, int]:
    """Return the labels of the buttons that were chosen, None where the data do not hold them."""
    for name in _LABELS:
        if name not in judged.columns:
            continue
        lists = judged[name].map(_parse_cell)
        labels: list[str | None] = []
        for row, answer in zip(lists, answers, strict=True):
            number = whole_number(str(answer).removesuffix(".0")) if not _is_nothing(answer) else None
            if _is_nothing(answer):
                labels.append(None)
            elif isinstance(row, list) and number is not None and number < len(row):
                labels.append(_text(row[number]))
        if len(labels) == len(answers):
            return pd.Series(labels, index=answers.index, dtype=object, name=answers.name), 0
    return None, 0


def _trials(decoded: Decoded) -> tuple[list[Trial], list[int], str]:
    start = decoded.text.lstrip()[:1]
    if start not in ("[", "{"):
        table = table_from(decoded)
        frame = without_headers(table.frame)
        records: list[Trial] = [
            {str(name): cell for name, cell in record.items()} for record in frame.to_dict("records")
        ]
        return records, [int(line) for line in frame.index], table.description
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


def _text(cell: Any) -> str:
    """Convert a cell to text: the value of a survey's only answer, a stimulus without markup."""
    if isinstance(cell, str) and cell.startswith("{"):
        try:
            cell = parse_json(cell, file="")
        except NotJSON:
            return str(cell)
    if isinstance(cell, Mapping) and len(cell) == 1:
        cell = next(iter(cell.values()))
    text = as_text(cell)
    return html.unescape(re.sub(r"<[A-Za-z/][^>]*>", "", text)).strip() if "<" in text else text


def _mapping(texts: pd.DataFrame, name_column: str, *, is_own: bool) -> dict[str, str]:
    mapping = {"participant": name_column}
    defaults = {"position": "trial_index", "rt_ms": "rt"}
    mapping |= {field: column for field, column in defaults.items() if column in texts.columns}
    if not is_own and "stimulus" in texts.columns:
        mapping["sentence"] = "stimulus"
    return mapping


def _background(frame: pd.DataFrame, name_column: str) -> dict[str, dict[str, str]]:
    """Return the answers of survey trials by participant and question."""
    background: dict[str, dict[str, str]] = {}
    columns = [name for name in ("response", "responses") if name in frame.columns]
    surveys = frame[_is_question(frame)]
    for name in columns:
        for person, response in zip(surveys[name_column], surveys[name].map(_parse_cell), strict=True):
            if isinstance(response, Mapping):
                background.setdefault(str(person), {}).update(
                    {str(question): _text(answer) for question, answer in response.items()}
                )
    return background
