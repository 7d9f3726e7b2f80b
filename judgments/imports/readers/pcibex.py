"""Reader of raw PCIbex results: answers on scales are judgments, other answers background.

Comments in the file name the columns of the lines below them. A line has the columns of the newest such list
with as many names as the line has cells, because a short trial does not repeat an earlier list. A session is
one combination of reception time, address hash and ParticipantID; the hash is not stored.
"""

import html
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.errors import BadInput, MissingColumns, UnknownName
from experiments.materials.delimited import delimited_rows
from experiments.materials.encoding import Decoded, read_text
from experiments.materials.readers.sheets import object_frame
from experiments.materials.schema import CONTEXT, are_levels, simple_name
from judgments.imports.readers.answers import (
    LONGEST_LIKERT,
    Answers,
    Clues,
    Pairs,
    read_answers,
    select_rows,
    task_of_kind,
)
from judgments.imports.readers.base import (
    JudgmentFile,
    SourceOptions,
    check_within_scale,
    participant_frame,
    refuse_empty,
    session_frame,
    trial_frame,
)
from judgments.imports.readers.cells import EMPTY, parse_flag, parse_kind
from judgments.imports.readers.shapes import OpenAnswer

_COLUMN = re.compile(r"#\s*(\d+)\.\s*(.*?)\.?\s*$|#\s*Col\.\s*(\d+):\s*(.*?)\.?\s*$")
_NEXT_LINE = re.compile(r"#\s*Line\s+(\d+):")
_FIRST_7 = re.compile(r"#\s*\.\.\.First 7\.\.\.")
_BRACKETED = re.compile(r"\[(\d+)\]\s*(.*?)\.?\s*(?= -- \[|$)")
_FIRST_NAMES = (
    "Time results were received",
    "MD5 hash of participant's IP address",
    "Controller name",
    "Item number",
    "Element number",
    "Type",
    "Group",
)  # of Ibex, which its terse comments do not repeat
_AGENT = re.compile(r"#\s*USER AGENT:\s*(.*)", re.IGNORECASE)
_NAMES = {
    "time results were received": "received",  # as Ibex and PCIbex wrote until about 2020
    "results reception time": "received",
    "md5 hash of participant's ip address": "hash",
    "md5 hash that hopefully uniquely identifies participant": "hash",
    "order number of item": "order",
    "label": "label",
    "pennelementtype": "type",
    "pennelementname": "name",
    "parameter": "parameter",
    "value": "value",
    "eventtime": "time",
}
_N_COMMON = 7  # columns before those of PennController
#: Columns of PCIbex until about 2020 → ours; newer files may have columns of the study with these names.
_FORMER = {
    "item number": "order",
    "element number": "inner element number",
    "type": "label",
    "group": "latin square group",
}
STANDARD = frozenset(
    {*_NAMES.values(), "controller name", "inner element number", "latin square group", "comments"}
)
"""Columns that every file has, under our names."""
Line = dict[str, str]


def read_lines(decoded: Decoded) -> pd.DataFrame:
    """Return the lines of a file as one table.

    Notes
    -----
    ``received``, ``order``, ``label``, ``type``, ``name``, ``parameter``, ``value``, ``time``, the
    script's own columns, and ``agent`` and ``row``; empty where a line has no such column.
    """
    lines = raw_lines(decoded)
    refuse_empty(
        lines, file=decoded.file, remedy="Give the raw results as PCIbex shows them, with its comments."
    )
    _require(lines, decoded.file)
    return lines


def raw_lines(decoded: Decoded) -> pd.DataFrame:
    """Return all lines with the columns that the comments above them name, ``agent`` and ``row``."""
    lines = list(_lines(decoded))
    return object_frame(
        lines, range(len(lines)), n_bytes=len(decoded.text), file=decoded.file, absent=""
    ).rename_axis(index=None)


def readable(value: str) -> str:
    """Decode a value to the text that participants saw: without percent codes, tags and entities.

    Examples
    --------
    >>> readable("<p style=font-size:20>S&atilde;o Paulo%2C Brasil</p>")
    'São Paulo, Brasil'
    """
    decoded = re.sub(r"%(0A|0D|22|25|2C)", lambda code: chr(int(code[1], 16)), value)
    return html.unescape(re.sub(r"<[A-Za-z/][^>]*>", "", decoded))


def _require(lines: pd.DataFrame, file: str) -> None:
    needed = ("received", "order", "label", "type", "name", "parameter", "value", "time")
    absent = [name for name in needed if name not in lines.columns]
    if absent and {"item number", "group"} <= {str(name).lower() for name in lines.columns}:
        raise BadInput(
            "these are results of classic Ibex, not of PCIbex.", file=file, remedy="Use --format ibex."
        )
    if absent:
        names = {field: name for name, field in _NAMES.items()}
        columns = [names.get(str(name), str(name)) for name in lines.columns]
        raise MissingColumns([names[name] for name in absent], existing=columns, file=file)


class _Formats:
    """Lists of columns that comments name: those of the last comment, and the newest of each length."""

    def __init__(self) -> None:
        self.lists: dict[int, list[str]] = {}
        self.group: list[tuple[str, ...]] = []  # formats of the lines that follow, in turn
        self.current: tuple[str, ...] = ()
        self.n_lines = 0  # since the comment

    def read(self, comment: str) -> None:
        """Take the names of columns from a comment: numbered, in groups of lines, or in brackets."""
        if self.n_lines:
            self.group, self.n_lines = [], 0
        if match := _COLUMN.match(comment):
            number, name = int(match[1] or match[3]), match[2] if match[1] else match[4]
            self.current = (*self.current[: number - 1], name)
        elif (match := _NEXT_LINE.match(comment)) and int(match[1]) > 1:
            self.group.append(self.current)
        elif match := _FIRST_7.match(comment):
            self.current = _FIRST_NAMES + tuple(name for _, name in _BRACKETED.findall(comment))

    def columns(self, cells: list[str]) -> tuple[list[str] | None, list[str]]:
        """Return the columns of the next line, and its cells, of which a comma may have made too many."""
        if not self.n_lines:
            self.group.append(self.current)
            for names in self.group:
                self.lists[len(names)] = _columns(names)
        turn = _columns(self.group[self.n_lines % len(self.group)])
        self.n_lines += 1
        if len(cells) > 2 and cells[2].strip() == "Form":
            forms = [names for names in (turn, *self.lists.values()) if "Field name" in names]
            if forms and len(cells) > len(forms[0]):
                return forms[0], _with_commas(cells, forms[0])
        return (turn if len(turn) == len(cells) else self.lists.get(len(cells))), cells


def _with_commas(cells: list[str], names: list[str]) -> list[str]:
    """Join the cells that commas in an answer made too many."""
    place = next(names.index(name) for name in ("Field value", "value") if name in names)
    surplus = len(cells) - len(names)
    answer = ",".join(cells[place : place + surplus + 1])
    return [*cells[:place], answer, *cells[place + surplus + 1 :]]


def _lines(decoded: Decoded) -> Iterator[Line]:
    """Yield each line as a dict, keyed by the columns of its turn, else by the newest list of its length."""
    formats = _Formats()
    agent = ""
    text = re.sub(r"\r\n?", "\n", decoded.text)
    for row, line in enumerate(text.split("\n"), start=1):
        if line.startswith("#"):
            formats.read(line)
            if match := _AGENT.match(line):
                agent = match[1].strip()
        elif line.strip():
            yield _cells(line, formats, row, decoded.file) | {"agent": agent, "row": str(row)}


@cache
def _columns(names: tuple[str, ...]) -> list[str]:
    """Return our names of a list of columns; ``_FORMER`` names the first ones of a former PCIbex."""
    lower = [name.lower() for name in names]
    is_former = "pennelementname" in lower and "order number of item" not in lower
    n_former = _N_COMMON if is_former else 0
    first = [_FORMER.get(name.lower(), _column(name)) for name in names[:n_former]]
    return [*first, *map(_column, names[n_former:])]


def _column(name: str) -> str:
    return _NAMES.get(name.lower(), name if name.lower() not in STANDARD else name.lower())


def _cells(line: str, formats: _Formats, row: int, file: str) -> Line:
    quoted = line.startswith('"') or ',"' in line
    raw = next(delimited_rows(line, delimiter=",", file=file))[1] if quoted else line.split(",")
    names, cells = formats.columns(raw)
    if names is None:
        lengths = ", ".join(str(length) for length in sorted(formats.lists))
        raise BadInput(
            f"{len(cells)} cells, while the comments above name lists of {lengths} columns.",
            file=file,
            row=row,
            remedy="Give the raw results with their comments, unchanged by a spreadsheet.",
        )
    return dict(zip(names, cells, strict=True))


PARTICIPANT_NAMES = (
    "participantid",
    "participant_id",
    "participant",
    "subject",
    "prolific_pid",
    "prolificid",
    "id",
    "worker",
)
_NATIVE = re.compile(r"nativ|mother|língua|lingua", re.IGNORECASE)


def participant_column(lines: pd.DataFrame) -> str:
    """Find the column that names participants.

    Examples
    --------
    >>> participant_column(pd.DataFrame(columns=["label", "ParticipantID"]))
    'ParticipantID'
    """
    simple = {simple_name(str(name)): str(name) for name in lines.columns}
    return next((simple[name] for name in PARTICIPANT_NAMES if name in simple), "")


def session_names(lines: pd.DataFrame) -> pd.Series:
    """Return the session of each line: reception time and participant, numbered to make it unique."""
    column = participant_column(lines)
    hashes = lines["hash"] if "hash" in lines.columns else ""
    block = lines["received"] + "\0" + hashes
    if column:
        stated = lines[column].where(~lines[column].isin(EMPTY))
        person = stated.groupby(block).ffill().fillna(stated.groupby(block).bfill()).fillna("")
    else:
        person = pd.Series("", index=lines.index)
    submission = block + "\0" + person
    names: dict[str, str] = {}
    for key, received, participant in zip(submission, lines["received"], person, strict=True):
        if key not in names:
            plain = f"{received}-{participant}" if participant else received
            alike = sum(name.split(" ")[0] == plain for name in names.values())
            names[key] = f"{plain} {alike + 1}" if alike else plain
    return submission.map(names)


def background_answers(answers: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Return the background answers of each session by question."""
    background: dict[str, dict[str, str]] = {}
    for session, name, value in zip(answers["session"], answers["name"], answers["value"], strict=True):
        if readable(value).strip():
            background.setdefault(session, {})[name] = readable(value).strip()
    return background


def build_sessions(lines: pd.DataFrame, trials: pd.DataFrame) -> pd.DataFrame:
    """Return the frame of sessions."""
    heads = _heads(lines)
    times = pd.to_numeric(lines["time"], errors="coerce").groupby(lines["session"])
    started, ended = times.min(), times.max()
    return session_frame(
        {
            "session": heads["session"].array,
            "participant": _people(heads).array,
            "status": [
                "complete" if session in set(trials["session"]) else "abandoned"
                for session in heads["session"]
            ],
            "started_at": [_timestamp(started[session]) for session in heads["session"]],
            "completed_at": [_timestamp(ended[session]) for session in heads["session"]],
            "work_time_s": [_seconds(ended[session] - started[session]) for session in heads["session"]],
            "user_agent": heads["agent"].str.slice(0, 300).array,
            "attributes": [{} for _ in range(len(heads))],
        }
    )


def build_participants(lines: pd.DataFrame, background: Mapping[str, dict[str, str]]) -> pd.DataFrame:
    """Return the frame of participants."""
    heads = _heads(lines)
    answers_by_session = [background.get(session, {}) for session in heads["session"]]
    return participant_frame(
        {
            "participant": _people(heads).array,
            "is_native": pd.array([_native(answers) for answers in answers_by_session], dtype=object),
            "background": answers_by_session,
        }
    )


def _heads(lines: pd.DataFrame) -> pd.DataFrame:
    return lines.drop_duplicates("session")


def _people(heads: pd.DataFrame) -> pd.Series:
    """Return ParticipantID, or the name of the session where it is missing or shared by two sessions."""
    person = heads["session"].str.partition("-")[2]
    return person.where((person != "") & ~person.duplicated(keep=False), heads["session"])


def _native(answers: Mapping[str, str]) -> bool | None:
    flags = [parse_flag(answer) for question, answer in answers.items() if _NATIVE.search(question)]
    return next((flag for flag in flags if flag is not None), None)


def _timestamp(milliseconds: Any) -> datetime | None:
    return None if pd.isna(milliseconds) else datetime.fromtimestamp(float(milliseconds) / 1000, tz=UTC)


def _seconds(milliseconds: Any) -> int | None:
    return None if pd.isna(milliseconds) else int(milliseconds // 1000)


_ANSWERS = {"Choice", "Final", "Selected", "Selection", "Answer"}
_KEYS = ("PressedKey", "Key")  # the latter where none was pressed
_UNMOVED = "Default"  # what a Scale logs in place of a choice where the preset point was kept


def read_pcibex(path: Path, options: SourceOptions) -> JudgmentFile:
    """Read a raw results file of PCIbex.

    Notes
    -----
    Answers of trials that carry an ``item`` or a ``sentence`` column are judgments; their kind
    follows the trial's label. Other answers are the participant's background. Where trials have several
    answers, the mapping of ``value`` names the PennController element that is the judgment.
    """
    decoded = read_text(path, encoding=options.encoding)
    lines = read_lines(decoded)
    lines["session"] = session_names(lines)
    answers = _last_answers(lines)
    judged, left_out = _judged_answers(answers, options, decoded.file)
    refuse_empty(
        judged, file=decoded.file, remedy="Log the scale and the columns item or sentence in the script."
    )
    is_unmoved = judged["parameter"] == _UNMOVED
    judged = judged.assign(value=judged["value"].where(~is_unmoved, ""))
    rows = judged["row"].astype(int)
    pairs = _pairs(judged, rows)
    read = read_answers(
        judged["value"].map(readable).set_axis(rows),
        options,
        column="Value",
        file=decoded.file,
        clues=_clues(judged),
        pairs=pairs,
    )
    trials, extra = _trials(lines, judged, read, pairs)
    check_within_scale(trials, read.scale, column="Value", file=decoded.file)
    others = answers[~_is_judged(answers)]
    changed = int(len(_choices(lines)) - len(answers))
    notes = [f"{changed} answers were changed before going on; the last one counts"] if changed else []
    if is_unmoved.any():
        notes.append(f"{int(is_unmoved.sum())} scales were left at their default and count as missing")
    return JudgmentFile(
        "pcibex",
        decoded.file,
        read.task,
        trials,
        build_sessions(lines, trials),
        build_participants(lines, background_answers(others)),
        scale=read.scale,
        extra=extra,
        description=decoded.description,
        mapping={"value": "Value", "position": "EventTime", "kind": "Label"},
        notes=(*read.notes, *notes, *left_out, *_texts_note(trials)),
        warnings=read.warnings,
        inferred=decoded.check,
    )


def _judged_answers(
    answers: pd.DataFrame, options: SourceOptions, file: str
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the answers that are judgments, and what is left out; ask where trials have several."""
    where = {_NAMES.get(name.lower(), name): values for name, values in options.where.items()}
    judged = select_rows(answers[_is_judged(answers)], where, file=file)
    elements = list(dict.fromkeys(judged["name"]))
    wanted = options.mapping.get("value", "")
    if wanted and wanted.lower() != "value":
        if wanted not in elements:
            raise UnknownName("element", wanted, elements)
        chosen = judged[judged["name"] == wanted]
        others = ", ".join(name for name in elements if name != wanted)
        return chosen, (f"answers of other elements left out: {others}",) if others else ()
    if judged.duplicated(["session", "order", "label"]).any():
        raise OpenAnswer(
            "trials have several answers.",
            file=file,
            remedy="Map value to the element (PennElementName) that is the judgment.",
            choices=elements,
        )
    return judged, ()


def _clues(judged: pd.DataFrame) -> Clues:
    """Return the slider that the elements state: by their names, or a Scale of more than 11 points."""
    names = list(dict.fromkeys(judged["name"]))
    if all(task_of_kind(name) == "slider" for name in names):
        return Clues("slider", f"as the name of the element {names[0]!r} states")
    points = pd.to_numeric(judged["value"], errors="coerce").dropna()
    if (judged["type"] == "Scale").all() and points.between(0, 100).all() and points.max() > LONGEST_LIKERT:
        return Clues("slider", f"because {names[0]!r} is a Scale of more than {LONGEST_LIKERT} points")
    return Clues()


def _pairs(judged: pd.DataFrame, rows: pd.Series) -> Pairs | None:
    """Return the members of the pairs that the script logs as good and bad; None where it logs none."""
    if not {"good", "bad"} <= set(judged.columns):
        return None
    good, bad = (_stated_values(judged, name).map(readable).set_axis(rows) for name in ("good", "bad"))
    first = _stated_values(judged, "expected_first").map(parse_flag).set_axis(rows).astype(object)
    return Pairs(first.where(first.notna(), None), [good], [bad])


def _choices(lines: pd.DataFrame) -> pd.DataFrame:
    is_answer = lines["parameter"].isin(_ANSWERS) | (lines["parameter"] == _UNMOVED)
    is_answer &= ~lines["type"].isin(("PennController", "Button"))
    return lines[is_answer | _is_key_answer(lines)]


def _is_key_answer(lines: pd.DataFrame) -> "pd.Series[bool]":
    """Return which lines are answers by key; a key without an alternative only continues."""
    is_key = (lines["type"] == "Key") & lines["parameter"].isin(_KEYS)
    n_keys = (
        lines.loc[is_key & (lines["parameter"] == "PressedKey"), "value"].groupby(lines["name"]).nunique()
    )
    return is_key & lines["name"].isin(n_keys.index[n_keys > 1])


def _last_answers(lines: pd.DataFrame) -> pd.DataFrame:
    """Keep the last answer to each question of each trial; a default only where there is no other."""
    choices = _choices(lines)
    times = pd.to_numeric(choices["time"], errors="coerce")
    is_chosen = choices["parameter"] != _UNMOVED
    ordered = choices.assign(at=times, is_chosen=is_chosen).sort_values(["is_chosen", "at"], kind="stable")
    last = ordered.drop_duplicates(["session", "order", "label", "name"], keep="last").sort_index()
    return last.drop(columns="is_chosen")


def _stated_values(rows: pd.DataFrame, name: str) -> pd.Series:
    if name not in rows.columns:
        return pd.Series("", index=rows.index, dtype=object)
    return rows[name].where(~rows[name].isin(EMPTY), "")


def _is_judged(answers: pd.DataFrame) -> "pd.Series[bool]":
    return (_stated_values(answers, "item") != "") | (_stated_values(answers, "sentence") != "")


def _trials(
    lines: pd.DataFrame, judged: pd.DataFrame, read: Answers, pairs: Pairs | None
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Convert judged answers to trials, in the order in which the trials were shown."""
    rows = judged["row"].astype(int)
    values = read.values.to_numpy()
    label = judged["label"]
    item, condition = _stated_values(judged, "item"), _stated_values(judged, "condition")
    key = label + ":" + item.where(item != "", _stated_values(judged, "sentence"))
    ordered = judged.assign(start=_starts(lines, judged)).sort_values(
        ["session", "start", "at"], kind="stable"
    )
    placed = ordered.groupby("session", sort=False).cumcount() + 1
    participant = participant_column(judged)
    used_columns = STANDARD | {participant, "item", "condition", "sentence", "agent", "row", "session", "at"}
    used_columns |= {"good", "bad", "expected_first"} if pairs else set()
    contexts = _stated_values(judged, CONTEXT).map(readable)
    is_of_sentences = contexts.groupby(key + ":" + condition).nunique().max() == 1
    if is_of_sentences and not are_levels(contexts):
        used_columns |= {CONTEXT}
    extra = tuple(
        str(name)
        for name in judged.columns
        if name not in used_columns and (_stated_values(judged, str(name)) != "").any()
    )
    trials = trial_frame(
        {
            "session": judged["session"].array,
            "position": placed.sort_index().to_numpy(),
            "kind": pd.array([parse_kind(name) or "target" for name in label], dtype=object),
            "paradigm": label.array,
            "item": key.array,
            "condition": condition.array,
            "sentence_id": key.where(condition == "", key + ":" + condition).array,
            "text": _stated_values(judged, "sentence").map(readable).array,
            "context": contexts.array if CONTEXT in used_columns else "",
            "good_text": pairs.good[0].array if pairs else "",
            "bad_text": pairs.bad[0].array if pairs else "",
            "expected_first": pairs.is_good_first.array if pairs else None,
            "response": judged["value"].map(readable).where(~pd.isna(values), "").array,
            "value": values,
            "status": pd.array(
                ["missing" if value != value else "answered" for value in values], dtype=object
            ),
            "rt_ms": (judged["at"] - _onsets(lines, judged)).to_numpy(dtype=float),
            "row": rows.array,
            **{f"extra:{name}": _stated_values(judged, name).map(readable).array for name in extra},
        }
    )
    return trials.sort_values(["session", "position"], kind="stable", ignore_index=True), extra


def _starts(lines: pd.DataFrame, judged: pd.DataFrame) -> pd.Series:
    """Return the first time of each judged trial; where no event has one, that of the trial before it."""
    names = ["session", "order", "label"]
    times = pd.to_numeric(lines["time"], errors="coerce")
    first = times.groupby([lines[name] for name in names]).min().rename("start")
    starts = judged[names].merge(first, left_on=names, right_index=True, how="left")["start"]
    return starts.groupby(judged["session"]).ffill().fillna(float("-inf"))  # no event before the first time


def _onsets(lines: pd.DataFrame, judged: pd.DataFrame) -> pd.Series:
    """Return the time at which the text of each judged trial was printed, or else the trial started."""
    names = ["session", "order", "label"]
    onset = pd.Series(float("nan"), index=judged.index)
    for parameter in ("Start", "Print"):
        events = lines[lines["parameter"] == parameter]
        first = pd.to_numeric(events["time"], errors="coerce").groupby([events[name] for name in names]).min()
        onsets = judged[names].merge(first.rename("onset"), left_on=names, right_index=True, how="left")[
            "onset"
        ]
        onset = onsets.where(onsets.notna(), onset)
    return onset.where(onset <= judged["at"])


def _texts_note(trials: pd.DataFrame) -> tuple[str, ...]:
    texts = trials.groupby("sentence_id")["text"].nunique()
    several = int((texts > 1).sum())
    return (
        (f"{several} sentences were shown in more than one wording; each trial keeps what it showed",)
        if several
        else ()
    )
