"""The pairs of an MTurk batch file: which columns hold the members, the answer and the condition of each."""

import re
from dataclasses import dataclass

from analysis.errors import MissingColumns

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
    """Find the pairs in the order in which the file names them.

    Parameters
    ----------
    columns : list of str
    file : str
        Named in messages.

    Returns
    -------
    list of Slot

    Raises
    ------
    MissingColumns
        If there are no pairs, or a member or the answer of one is absent.
    """
    members: dict[str, dict[str, str]] = {}
    conditions: dict[str, str] = {}
    answers: dict[str, str] = {}
    for column in columns:
        if found := _MEMBER.fullmatch(column):
            members.setdefault(found[1], {})["1" if found[2] in "1aA" else "2"] = column
        elif found := _CONDITION.fullmatch(column):
            conditions[found[1] or found[2]] = column
        elif found := _ANSWER.fullmatch(column):
            answers[found[1]] = column
    if not members:
        raise MissingColumns(["Input.field_1_1", "Input.field_1_2"], found=columns, file=file)
    order = [*conditions, *(number for number in members if number not in conditions)]
    slots = []
    for number in (number for number in order if number in members):
        absent = [f"Input.field_{number}_{side}" for side in "12" if side not in members[number]]
        absent += [] if number in answers else [f"Answer.Choice{number}"]
        if absent:
            raise MissingColumns(absent, found=columns, file=file)
        pair = members[number]
        slots.append(Slot(number, pair["1"], pair["2"], answers[number], conditions.get(number, "")))
    return slots
