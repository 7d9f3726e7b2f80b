"""Who answered, and when they sat down: the sessions and participants of a PCIbex results file.

A respondent is one (reception time, address hash, ParticipantID); the hash tells respondents apart while the
file is read and goes no further.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from experiments.materials.schema import simple_name
from judgments.sources.base import participant_frame, session_frame
from judgments.sources.pcibex_lines import readable
from judgments.sources.values import EMPTY, flag_of

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
_NATIVE = re.compile(r"nativ|mother|língua|lingua", re.IGNORECASE)


def participant_column(lines: pd.DataFrame) -> str:
    """Find the column that names participants.

    Parameters
    ----------
    lines : DataFrame of str
        From :func:`judgments.sources.pcibex_lines.lines_of`.

    Returns
    -------
    str
        Empty where there is none.

    Examples
    --------
    >>> participant_column(pd.DataFrame(columns=["label", "ParticipantID"]))
    'ParticipantID'
    """
    simple = {simple_name(str(name)): str(name) for name in lines.columns}
    return next((simple[name] for name in _PARTICIPANT if name in simple), "")


def session_names(lines: pd.DataFrame) -> pd.Series:
    """Name every line's session: reception time and participant, numbered where two would be alike.

    Parameters
    ----------
    lines : DataFrame of str
        From :func:`judgments.sources.pcibex_lines.lines_of`.

    Returns
    -------
    Series of str, same index
    """
    column = participant_column(lines)
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


def background_of(answers: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Give what each session told about its participant.

    Parameters
    ----------
    answers : DataFrame of str
        Answers that are no judgments: ``session``, ``name`` and ``value``.

    Returns
    -------
    dict of session to dict of question to answer
    """
    told: dict[str, dict[str, str]] = {}
    for session, name, value in zip(answers["session"], answers["name"], answers["value"], strict=True):
        if readable(value).strip():
            told.setdefault(session, {})[name] = readable(value).strip()
    return told


def sessions_of(lines: pd.DataFrame, trials: pd.DataFrame) -> pd.DataFrame:
    """Give one row per session.

    Parameters
    ----------
    lines : DataFrame of str
        With ``session``.
    trials : DataFrame
        A session without any is abandoned.

    Returns
    -------
    DataFrame
        The columns of :func:`judgments.sources.base.session_frame`.
    """
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


def participants_of(lines: pd.DataFrame, background: Mapping[str, dict[str, str]]) -> pd.DataFrame:
    """Give one row per participant.

    Parameters
    ----------
    lines : DataFrame of str
        With ``session``.
    background : mapping
        From :func:`background_of`.

    Returns
    -------
    DataFrame
        The columns of :func:`judgments.sources.base.participant_frame`.
    """
    heads = _heads(lines)
    told = [background.get(session, {}) for session in heads["session"]]
    return participant_frame(
        {
            "participant": _people(heads).array,
            "is_native": pd.array([_native(answers) for answers in told], dtype=object),
            "background": told,
        }
    )


def _heads(lines: pd.DataFrame) -> pd.DataFrame:
    return lines.drop_duplicates("session")


def _people(heads: pd.DataFrame) -> pd.Series:
    """Give the ParticipantID, or the session's own name where there is none or two sessions share it."""
    person = heads["session"].str.partition("-")[2]
    return person.where((person != "") & ~person.duplicated(keep=False), heads["session"])


def _native(answers: Mapping[str, str]) -> bool | None:
    said = [flag_of(answer) for question, answer in answers.items() if _NATIVE.search(question)]
    return next((flag for flag in said if flag is not None), None)


def _moment(milliseconds: Any) -> datetime | None:
    return None if pd.isna(milliseconds) else datetime.fromtimestamp(float(milliseconds) / 1000, tz=UTC)


def _seconds(milliseconds: Any) -> int | None:
    return None if pd.isna(milliseconds) else int(milliseconds // 1000)
