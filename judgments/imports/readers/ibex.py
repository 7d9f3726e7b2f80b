"""Reader of raw results of classic Ibex: answers to rated sentences are judgments, forms background.

A line has the columns of the newest list of comments above it. A session is one reception time and address
hash; the hash is not stored. An answer belongs to the sentence that its item showed before it.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.errors import BadInput, MissingColumns
from experiments.materials.encoding import Decoded, read_text
from experiments.materials.schema import simple_name
from judgments.imports.readers.answers import read_answers, select_rows
from judgments.imports.readers.base import (
    JudgmentFile,
    SourceOptions,
    check_within_scale,
    participant_frame,
    refuse_empty,
    session_frame,
    trial_frame,
)
from judgments.imports.readers.cells import (
    EMPTY,
    agreed_answer,
    parse_flag,
    parse_kind,
    parse_numbers,
)
from judgments.imports.readers.pcibex import PARTICIPANT_NAMES, raw_lines, readable

_NAMES = {
    "time results were received": "received",
    "results reception time": "received",
    "md5 hash of participant's ip address": "hash",
    "md5 hash that hopefully uniquely identifies participant": "hash",
    "controller name": "controller",
    "item number": "number",
    "element number": "element",
    "type": "type",
    "group": "group",
    "order": "number",  # the four names that PCIbex Farm gives to classic controllers
    "inner element number": "element",
    "label": "type",
    "latin square group": "group",
    "field name": "field",
    "field value": "value",
    "value": "value",
    "sentence (or sentence md5)": "sentence",
    "question (null if none)": "question",
    "answer": "answer",
    "whether or not answer was correct (null if n/a)": "correct",
    "time taken to answer": "rt_ms",
}
_NEEDED = ("received", "hash", "controller", "number", "element", "type", "group", "answer")
_MD5 = re.compile(r"[0-9a-f]{32}")
_NATIVE = re.compile(r"nativ|mother", re.IGNORECASE)


def read_ibex(path: Path, options: SourceOptions) -> JudgmentFile:
    """Read a raw results file of classic Ibex.

    Notes
    -----
    The type is the condition, and says whether a trial is a filler, practice or catch trial; the group is the
    item, or the item number where there is no group. Questions that are right or wrong are comprehension
    questions and no judgments.
    """
    decoded = read_text(path, encoding=options.encoding)
    lines = _rename_columns(raw_lines(decoded), decoded)
    lines["session"] = _sessions(lines)
    answers = lines[lines["answer"] != ""]
    is_question = _is_comprehension(answers)
    named = answers[~is_question].rename(columns={name: label for label, name in _NAMES.items()})
    where = {name.lower(): values for name, values in options.where.items()}
    judged = answers.loc[select_rows(named, where, file=decoded.file).index]
    refuse_empty(judged, file=decoded.file, remedy="Give raw results with AcceptabilityJudgment or Question.")
    rows = judged["row"].astype(int)
    cells = judged["answer"].map(readable).set_axis(rows)
    read = read_answers(cells, options, column="Answer", file=decoded.file)
    trials = _trials(lines, judged, read.values, decoded.file)
    check_within_scale(trials, read.scale, column="Answer", file=decoded.file)
    people, background = _people(lines)
    sessions = lines.drop_duplicates("session")
    rated = set(trials["session"])
    notes = list(read.notes)
    if is_question.any():
        notes.append(f"{int(is_question.sum())} answers to comprehension questions are left out")
    if not (trials["text"] != "").all():
        notes.append("some sentences were saved as checksums only; choose the materials to add their texts")
    return JudgmentFile(
        "ibex",
        decoded.file,
        read.task,
        trials,
        session_frame(
            {
                "session": sessions["session"].array,
                "participant": sessions["session"].map(people).array,
                "status": ["complete" if name in rated else "abandoned" for name in sessions["session"]],
                "user_agent": sessions["agent"].str.slice(0, 300).array,
                "attributes": [{} for _ in range(len(sessions))],
            }
        ),
        _participants(people, background),
        scale=read.scale,
        description=decoded.description,
        mapping={"value": "Answer", "condition": "Type", "item": "Group", "rt_ms": "Time taken to answer"},
        notes=tuple(notes),
        warnings=read.warnings,
        inferred=decoded.check,
    )


def _is_comprehension(answers: pd.DataFrame) -> "pd.Series[bool]":
    """Return which answers are right or wrong, unanswered ones of the same questions included."""
    is_rated = _stated_values(answers, "correct") != ""
    place = answers["controller"] + "\0" + answers["element"] + "\0" + answers["type"]
    is_silent = _stated_values(answers, "answer") == ""
    return is_rated | is_silent & place.isin(place[is_rated])


def _rename_columns(lines: pd.DataFrame, decoded: Decoded) -> pd.DataFrame:
    """Rename the columns; refuse files of another program."""
    refuse_empty(lines, file=decoded.file, remedy="Give the raw results of Ibex, with its comments.")
    renamed = lines.rename(columns={name: _NAMES.get(str(name).lower(), name) for name in lines.columns})
    absent = [name for name in _NEEDED if name not in renamed.columns]
    if "name" in renamed.columns and "time" in renamed.columns:
        raise BadInput(
            "these are results of PCIbex, not of classic Ibex.",
            file=decoded.file,
            remedy="Use --format pcibex.",
        )
    if absent:
        names = {name: ibex_name for ibex_name, name in _NAMES.items()}
        raise MissingColumns(
            [names[name] for name in absent],
            existing=[str(name) for name in lines.columns],
            file=decoded.file,
        )
    return renamed


def _stated_values(rows: pd.DataFrame, name: str) -> pd.Series:
    if name not in rows.columns:
        return pd.Series("", index=rows.index, dtype=object)
    return rows[name].where(~rows[name].isin(EMPTY), "")


def _sessions(lines: pd.DataFrame) -> pd.Series:
    """Return the session of each line: the reception time, numbered where two arrived at once."""
    keys = lines["received"] + "\0" + lines["hash"]
    names: dict[str, str] = {}
    for key, received in zip(keys, lines["received"], strict=True):
        if key not in names:
            alike = sum(name.split(" ")[0] == received for name in names.values())
            names[key] = f"{received} {alike + 1}" if alike else received
    return keys.map(names)


def _trials(lines: pd.DataFrame, judged: pd.DataFrame, values: pd.Series, file: str) -> pd.DataFrame:
    group, number, kinds = _stated_values(judged, "group"), judged["number"], judged["type"]
    item = group.where(group != "", number)
    durations = _stated_values(judged, "rt_ms").set_axis(values.index)
    times = parse_numbers(durations, column="Time taken to answer", file=file)
    return trial_frame(
        {
            "session": judged["session"].array,
            "position": (judged.groupby("session", sort=False).cumcount() + 1).to_numpy(),
            "kind": pd.array([parse_kind(name) or "target" for name in kinds], dtype=object),
            "item": item.array,
            "condition": kinds.array,
            "sentence_id": (item + ":" + kinds).array,
            "text": _texts(lines, judged).array,
            "response": judged["answer"].map(readable).where(values.notna().to_numpy(), "").array,
            "value": values.to_numpy(),
            "status": np.where(values.isna(), "missing", "answered").astype(object),
            "rt_ms": times.to_numpy(),
            "row": values.index.to_numpy(),
        }
    )


def _texts(lines: pd.DataFrame, judged: pd.DataFrame) -> pd.Series:
    """Return the sentence that each judged item showed; empty where only its checksum was saved."""
    sentences = _stated_values(lines, "sentence")
    displayed = sentences.where(sentences != "").groupby([lines["session"], lines["number"]]).ffill()
    texts = displayed.reindex(judged.index).fillna("").map(readable)
    return texts.where(~texts.map(lambda text: bool(_MD5.fullmatch(text))), "")


def _people(lines: pd.DataFrame) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return the participant of each session, and the answers to its forms by question."""
    background: dict[str, dict[str, str]] = {name: {} for name in lines["session"].unique()}
    forms = lines[_stated_values(lines, "field") != ""]
    form_answers = (forms["session"], _stated_values(forms, "field"), _stated_values(forms, "value"))
    for session, question, value in zip(*form_answers, strict=True):
        if readable(value).strip() and question != "_REACTION_TIME_":
            background[session][question] = readable(value).strip()
    stated = {
        session: next((a for q, a in answers.items() if simple_name(q) in PARTICIPANT_NAMES), "")
        for session, answers in background.items()
    }
    names = list(stated.values())
    people = {
        session: name if name and names.count(name) == 1 else session for session, name in stated.items()
    }
    return people, background


def _participants(people: dict[str, str], background: dict[str, dict[str, str]]) -> pd.DataFrame:
    native = []
    for session in people:
        questions = (question for question in background[session] if _NATIVE.search(question))
        flags = [parse_flag(background[session][question]) for question in questions]
        native.append(agreed_answer(pd.Series(flags, dtype=object)))
    answers = [
        {q: a for q, a in background[session].items() if simple_name(q) not in PARTICIPANT_NAMES}
        for session in people
    ]
    return participant_frame(
        {
            "participant": list(people.values()),
            "is_native": pd.array(native, dtype=object),
            "background": answers,
        }
    )
