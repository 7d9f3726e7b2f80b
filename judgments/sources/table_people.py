"""Who answered, and when they sat down: the sessions and participants of a long table."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.errors import BadInput
from judgments.sources.base import participant_frame, session_frame
from judgments.sources.values import agreed, cleaned, flag_of, is_empty

Columns = Mapping[str, str]
LONGEST_NAME = 100
_STATES = frozenset({"complete", "refused", "screened_out", "abandoned", "withdrawn"})


def session_names(frame: pd.DataFrame, columns: Columns) -> "pd.Series[str]":
    """Name the session of every row: as the file says, else by participant and list.

    Parameters
    ----------
    frame : DataFrame of str
    columns : mapping of str to str
        Our column → the file's.

    Returns
    -------
    Series of str, same index
    """
    if "session" in columns:
        return frame[columns["session"]]
    people = frame[columns["participant"]]
    return people + "/" + frame[columns["list"]] if "list" in columns else people


def sessions_of(frame: pd.DataFrame, columns: Columns, *, file: str) -> pd.DataFrame:
    """Give one row per session.

    Parameters
    ----------
    frame : DataFrame of str
    columns : mapping of str to str
    file : str
        Named in errors.

    Returns
    -------
    DataFrame
        See :data:`judgments.sources.base.SESSION_DEFAULTS`.

    Raises
    ------
    BadInput
        If a participant is empty, or a session belongs to two.
    """
    names = session_names(frame, columns)
    people = frame[columns["participant"]]
    _refuse_unclear(names, people, column=columns["participant"], file=file)
    head = frame[~names.duplicated()]
    stated = _cells(head, columns, "session_status")
    native = [flag_of(cell) for cell in _cells(head, columns, "native")]
    return session_frame(
        {
            "session": names[head.index].array,
            "participant": people[head.index].array,
            "list": _cells(head, columns, "list"),
            "status": [_state(state) for state in stated],
            "submission_status": [state.lower() for state in _cells(head, columns, "submission_status")],
            "attributes": [{} if flag is None else {"native": flag} for flag in native],
        }
    )


def _refuse_unclear(names: pd.Series, people: pd.Series, *, column: str, file: str) -> None:
    unnamed = people.index[is_empty(people)]
    if len(unnamed):
        raise BadInput(
            "the participant is empty.",
            file=file,
            row=int(unnamed[0]),
            column=column,
            remedy="Name the participant in every row.",
        )
    long = people.index[people.str.len() > LONGEST_NAME]
    if len(long):
        raise BadInput(
            f"the participant has more than {LONGEST_NAME} characters.",
            file=file,
            row=int(long[0]),
            column=column,
            remedy="Give a shorter name.",
        )
    both = pd.DataFrame({"session": names.array, "person": people.array}, index=names.index).drop_duplicates()
    shared = both[both["session"].duplicated()]
    if len(shared):
        raise BadInput(
            f"session {shared['session'].iloc[0]!r} belongs to two participants.",
            file=file,
            row=int(shared.index[0]),
            column=column,
            remedy="Give every session one participant.",
        )


def _state(stated: str) -> str:
    """Give a session's state; one that was still running when the file was written was abandoned."""
    if stated in _STATES:
        return stated
    return "abandoned" if stated == "active" else "complete"


def _cells(rows: pd.DataFrame, columns: Columns, name: str) -> list[str]:
    return [cleaned(cell) for cell in rows[columns[name]]] if name in columns else [""] * len(rows)


def participants_of(
    frame: pd.DataFrame, columns: Columns, background: Mapping[str, str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Give one row per participant, and warnings.

    Parameters
    ----------
    frame : DataFrame of str
    columns : mapping of str to str
    background : mapping of str to str
        Name of a question → the column with its answers; the first row of a participant counts.

    Returns
    -------
    tuple of (DataFrame, tuple of str)
        See :data:`judgments.sources.base.PARTICIPANT_DEFAULTS`.
    """
    people = frame[columns["participant"]]
    native, differ = _native(frame, columns)
    firsts = frame[~people.duplicated()]
    told: list[dict[str, str]] = [{} for _ in range(len(firsts))]
    for question, column in background.items():
        for answers, cell in zip(told, firsts[column], strict=True):
            if cleaned(cell):
                answers[question] = cleaned(cell)
    table = participant_frame(
        {
            "participant": people[firsts.index].array,
            "is_native": pd.array([native.get(name) for name in people[firsts.index]], dtype=object),
            "background": told,
        }
    )
    if not differ:
        return table, ()
    return table, (f"{differ} participants say both yes and no to being native; it is left empty.",)


def _native(frame: pd.DataFrame, columns: Columns) -> tuple[dict[Any, bool | None], int]:
    """Give what each participant says, and how many say both."""
    if "native" not in columns:
        return {}, 0
    pairs = frame[[columns["participant"], columns["native"]]].drop_duplicates()
    said: dict[Any, list[bool | None]] = {}
    for person, cell in pairs.itertuples(index=False, name=None):
        said.setdefault(person, []).append(flag_of(cell))
    differ = sum({True, False} <= set(answers) for answers in said.values())
    return {person: agreed(pd.Series(answers, dtype=object)) for person, answers in said.items()}, differ
