"""Raw results of PCIbex: lines whose columns are named by comments that change inside the file.

A line is read by the newest list of columns that has as many names as the line has cells, because a short
trial
does not repeat the list that an earlier one gave. A respondent is one (reception time, address hash,
ParticipantID); the hash tells respondents apart while the file is read and goes no further.
"""

import html
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.errors import BadInput, MissingColumns
from experiments.materials.delimited import delimited_rows
from experiments.materials.encoding import Decoded, read_text
from experiments.materials.schema import simple_name
from judgments.sources.base import (
    JudgmentFile,
    SourceOptions,
    check_within_scale,
    participant_frame,
    refuse_empty,
    session_frame,
    trial_frame,
)
from judgments.sources.scales import scale_of
from judgments.sources.values import EMPTY, flag_of, kind_of, numbers_of

_COLUMN = re.compile(r"#\s*(\d+)\.\s*(.*?)\.?\s*$")
_AGENT = re.compile(r"#\s*USER AGENT:\s*(.*)", re.IGNORECASE)
_NAMES = {
    "results reception time": "received",
    "md5 hash of participant's ip address": "hash",
    "order number of item": "order",
    "label": "label",
    "pennelementtype": "type",
    "pennelementname": "name",
    "parameter": "parameter",
    "value": "value",
    "eventtime": "time",
}
_STANDARD = frozenset(
    {*_NAMES.values(), "controller name", "inner element number", "latin square group", "comments"}
)
_PARTICIPANT = (
    "participantid",
    "participant_id",
    "participant",
    "subject",
    "prolific_pid",
    "prolificid",
    "id",
    "worker",
)
_ANSWERS = {"Choice", "Final", "Selected", "Selection", "Answer"}
_NATIVE = re.compile(r"nativ|mother|língua|lingua", re.IGNORECASE)
Line = dict[str, str]


def read_pcibex(path: Path, options: SourceOptions) -> JudgmentFile:
    """Read a raw results file of PCIbex.

    Parameters
    ----------
    path : Path
    options : SourceOptions
        ``scale_low``, ``scale_high`` and ``encoding`` matter.

    Returns
    -------
    JudgmentFile
        Answers of trials that carry an ``item`` or a ``sentence`` column are judgments; their kind
        follows the
        trial's label. Other answers are the participant's background.

    Raises
    ------
    BadInput
        If a line has a length that no list of columns announced, an answer is no number, or is outside
        the scale.
    """
    decoded = read_text(path, encoding=options.encoding)
    lines = pd.DataFrame(_lines(decoded), dtype=object).fillna("")
    refuse_empty(
        lines, file=decoded.file, remedy="Give the raw results as PCIbex shows them, with its comments."
    )
    _require(lines, decoded.file)
    lines["session"] = _sessions_of(lines)
    answers = _last_answers(lines)
    judged = _is_judged(answers)
    trials, extra = _trials(lines, answers[judged], decoded.file)
    refuse_empty(
        trials, file=decoded.file, remedy="Log the scale and the columns item or sentence in the script."
    )
    scale, note = scale_of("likert", trials["value"], low=options.scale_low, high=options.scale_high)
    check_within_scale(trials, scale, column="Value", file=decoded.file)
    background = _background(answers[~judged])
    changed = int(len(_choices(lines)) - len(answers))
    return JudgmentFile(
        "pcibex",
        decoded.file,
        "likert",
        trials,
        _sessions(lines, trials),
        _participants(lines, background),
        scale=scale,
        extra=extra,
        description=decoded.description,
        mapping={"value": "Value", "position": "EventTime", "kind": "Label"},
        notes=(
            note,
            f"{changed} answers were changed before going on; the last one counts",
            *_texts_note(trials),
        ),
    )


def _require(lines: pd.DataFrame, file: str) -> None:
    needed = ("received", "order", "label", "type", "name", "parameter", "value", "time")
    absent = [name for name in needed if name not in lines.columns]
    if absent:
        theirs = {ours: name for name, ours in _NAMES.items()}
        known = [theirs.get(str(name), str(name)) for name in lines.columns]
        raise MissingColumns([theirs[name] for name in absent], found=known, file=file)


def _lines(decoded: Decoded) -> Iterator[Line]:
    """Give every line under the names that hold for it."""
    lists: dict[int, list[str]] = {}
    current: list[str] = []
    agent = ""
    text = re.sub(r"\r\n?", "\n", decoded.text)
    for row, line in enumerate(text.split("\n"), start=1):
        if line.startswith("#"):
            if found := _COLUMN.match(line):
                current = [*current[: int(found[1]) - 1], _column(found[2])]
            elif found := _AGENT.match(line):
                agent = found[1].strip()
        elif line.strip():
            lists[len(current)] = current
            yield _cells(line, lists, row, decoded.file) | {"agent": agent, "row": str(row)}


def _column(name: str) -> str:
    return _NAMES.get(name.lower(), name if name.lower() not in _STANDARD else name.lower())


def _cells(line: str, lists: Mapping[int, list[str]], row: int, file: str) -> Line:
    quoted = line.startswith('"') or ',"' in line
    cells = next(delimited_rows(line, delimiter=",", file=file))[1] if quoted else line.split(",")
    names = lists.get(len(cells))
    if names is None:
        known = ", ".join(str(length) for length in sorted(lists))
        raise BadInput(
            f"{len(cells)} cells, while the comments above name lists of {known} columns.",
            file=file,
            row=row,
            remedy="Give the raw results, unchanged by a spreadsheet.",
        )
    return dict(zip(names, cells, strict=True))


def readable(value: str) -> str:
    """Give a value as its reader saw it: PCIbex's percent codes, tags and entities are undone.

    Parameters
    ----------
    value : str

    Returns
    -------
    str

    Examples
    --------
    >>> readable("<p style=font-size:20>S&atilde;o Paulo%2C Brasil</p>")
    'São Paulo, Brasil'
    """
    decoded = re.sub(r"%(0A|0D|22|25|2C)", lambda code: chr(int(code[1], 16)), value)
    return html.unescape(re.sub(r"<[A-Za-z/][^>]*>", "", decoded))


def _participant_column(lines: pd.DataFrame) -> str:
    simple = {simple_name(str(name)): str(name) for name in lines.columns}
    return next((simple[name] for name in _PARTICIPANT if name in simple), "")


def _sessions_of(lines: pd.DataFrame) -> pd.Series:
    """Name every line's session: reception time and participant, numbered where two would be alike."""
    column = _participant_column(lines)
    hashes = lines["hash"] if "hash" in lines.columns else ""
    block = lines["received"] + "\0" + hashes
    if column:
        named = lines[column].where(~lines[column].isin(EMPTY))
        person = named.groupby(block).ffill().fillna(named.groupby(block).bfill()).fillna("")
    else:
        person = pd.Series("", index=lines.index)
    submission = block + "\0" + person
    names: dict[str, str] = {}
    for key, received, who in zip(submission, lines["received"], person, strict=True):
        if key not in names:
            plain = f"{received}-{who}" if who else received
            alike = sum(name.split(" ")[0] == plain for name in names.values())
            names[key] = f"{plain} {alike + 1}" if alike else plain
    return submission.map(names)


def _choices(lines: pd.DataFrame) -> pd.DataFrame:
    return lines[
        lines["parameter"].isin(_ANSWERS) & (lines["type"] != "PennController") & (lines["type"] != "Button")
    ]


def _last_answers(lines: pd.DataFrame) -> pd.DataFrame:
    """Keep the last answer to each question of each trial."""
    choices = _choices(lines)
    times = pd.to_numeric(choices["time"], errors="coerce")
    ordered = choices.assign(at=times).sort_values("at", kind="stable")
    return ordered.drop_duplicates(["session", "order", "label", "name"], keep="last").sort_index()


def _stated(rows: pd.DataFrame, name: str) -> pd.Series:
    if name not in rows.columns:
        return pd.Series("", index=rows.index, dtype=object)
    return rows[name].where(~rows[name].isin(EMPTY), "")


def _is_judged(answers: pd.DataFrame) -> "pd.Series[bool]":
    return (_stated(answers, "item") != "") | (_stated(answers, "sentence") != "")


def _trials(lines: pd.DataFrame, judged: pd.DataFrame, file: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Make one trial of every judged answer, in the order in which they were given."""
    rows = judged["row"].astype(int)
    values = numbers_of(judged["value"].map(readable).set_axis(rows), column="Value", file=file).to_numpy()
    label = judged["label"]
    item, condition = _stated(judged, "item"), _stated(judged, "condition")
    key = label + ":" + item.where(item != "", _stated(judged, "sentence"))
    placed = (
        judged.sort_values(["session", "at"], kind="stable").groupby("session", sort=False).cumcount() + 1
    )
    participant = _participant_column(judged)
    known = _STANDARD | {participant, "item", "condition", "sentence", "agent", "row", "session", "at"}
    extra = tuple(
        str(name) for name in judged.columns if name not in known and (_stated(judged, str(name)) != "").any()
    )
    trials = trial_frame(
        {
            "session": judged["session"].array,
            "position": placed.sort_index().to_numpy(),
            "kind": pd.array([kind_of(name) or "target" for name in label], dtype=object),
            "paradigm": label.array,
            "item": key.array,
            "condition": condition.array,
            "sentence_id": key.where(condition == "", key + ":" + condition).array,
            "text": _stated(judged, "sentence").map(readable).array,
            "response": judged["value"].map(readable).array,
            "value": values,
            "status": pd.array(
                ["missing" if value != value else "answered" for value in values], dtype=object
            ),
            "rt_ms": (judged["at"] - _onsets(lines, judged)).to_numpy(dtype=float),
            "row": rows.array,
            **{f"extra:{name}": _stated(judged, name).map(readable).array for name in extra},
        }
    )
    return trials.sort_values(["session", "position"], kind="stable", ignore_index=True), extra


def _onsets(lines: pd.DataFrame, judged: pd.DataFrame) -> pd.Series:
    """Give when each judged trial's text was printed, or its trial began."""
    names = ["session", "order", "label"]
    onset = pd.Series(float("nan"), index=judged.index)
    for parameter in ("Start", "Print"):
        shown = lines[lines["parameter"] == parameter]
        first = pd.to_numeric(shown["time"], errors="coerce").groupby([shown[name] for name in names]).min()
        found = judged[names].merge(first.rename("onset"), left_on=names, right_index=True, how="left")[
            "onset"
        ]
        onset = found.where(found.notna(), onset)
    return onset.where(onset <= judged["at"])


def _background(answers: pd.DataFrame) -> dict[str, dict[str, str]]:
    told: dict[str, dict[str, str]] = {}
    for session, name, value in zip(answers["session"], answers["name"], answers["value"], strict=True):
        if readable(value).strip():
            told.setdefault(session, {})[name] = readable(value).strip()
    return told


def _heads(lines: pd.DataFrame) -> pd.DataFrame:
    return lines.drop_duplicates("session")


def _sessions(lines: pd.DataFrame, trials: pd.DataFrame) -> pd.DataFrame:
    heads = _heads(lines)
    times = pd.to_numeric(lines["time"], errors="coerce").groupby(lines["session"])
    begun, ended = times.min(), times.max()
    return session_frame(
        {
            "session": heads["session"].array,
            "participant": _people(heads).array,
            "status": [
                "complete" if session in set(trials["session"]) else "abandoned"
                for session in heads["session"]
            ],
            "started_at": [_moment(begun[session]) for session in heads["session"]],
            "completed_at": [_moment(ended[session]) for session in heads["session"]],
            "work_time_s": [_seconds(ended[session] - begun[session]) for session in heads["session"]],
            "user_agent": heads["agent"].str.slice(0, 300).array,
            "attributes": [{} for _ in range(len(heads))],
        }
    )


def _people(heads: pd.DataFrame) -> pd.Series:
    """Give the ParticipantID, or the session's own name where there is none or two sessions share it."""
    person = heads["session"].str.partition("-")[2]
    return person.where((person != "") & ~person.duplicated(keep=False), heads["session"])


def _participants(lines: pd.DataFrame, background: Mapping[str, dict[str, str]]) -> pd.DataFrame:
    heads = _heads(lines)
    told = [background.get(session, {}) for session in heads["session"]]
    return participant_frame(
        {
            "participant": _people(heads).array,
            "is_native": pd.array([_native(answers) for answers in told], dtype=object),
            "background": told,
        }
    )


def _native(answers: Mapping[str, str]) -> bool | None:
    said = [flag_of(answer) for question, answer in answers.items() if _NATIVE.search(question)]
    return next((flag for flag in said if flag is not None), None)


def _moment(milliseconds: Any) -> datetime | None:
    return None if pd.isna(milliseconds) else datetime.fromtimestamp(float(milliseconds) / 1000, tz=UTC)


def _seconds(milliseconds: Any) -> int | None:
    return None if pd.isna(milliseconds) else int(milliseconds // 1000)


def _texts_note(trials: pd.DataFrame) -> tuple[str, ...]:
    texts = trials.groupby("sentence_id")["text"].nunique()
    several = int((texts > 1).sum())
    return (
        (f"{several} sentences were shown in more than one wording; each trial keeps what it showed",)
        if several
        else ()
    )
