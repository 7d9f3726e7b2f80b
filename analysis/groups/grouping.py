"""Groups of participants by an answer to the questionnaire, a number, or a column of the judgments."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..errors import BadInput, NotEnoughData, UnknownName

MIN_PARTICIPANTS = 5
"""Fewest participants of a group that is compared."""
MAX_GROUPS = 6
"""Most groups; numbers with more values are divided into ranges."""
NO_ANSWER = "no answer"
_WORDS = {"True": "yes", "False": "no"}


@dataclass(frozen=True)
class Grouping:
    """Groups of participants by one question or column."""

    name: str
    of_participant: "pd.Series[Any]"
    """Group by participant; participants left out are absent."""
    reference: str
    """The group that the others are compared with."""
    groups: list[dict[str, Any]]
    """``value``, ``participants`` and ``is_reference``, the reference first."""
    left_out: list[dict[str, Any]]
    """``value``, ``participants`` and ``reason``."""
    cuts: tuple[float, ...] = ()
    """Highest number of each range but the last, where a number divides the participants."""

    @property
    def others(self) -> list[str]:
        """The groups that are compared with the reference."""
        return [group["value"] for group in self.groups if not group["is_reference"]]


def group_participants(
    judgments: pd.DataFrame,
    group: str = "",
    *,
    background: pd.DataFrame | None = None,
    reference: str = "",
    cuts: Sequence[float] = (),
) -> Grouping:
    """Divide the participants by a question of ``background`` or by a column of the judgments.

    Notes
    -----
    Without ``group`` the first question, then column, that gives two groups. Answers of fewer than five
    participants and missing ones are left out and counted. A number of more than six values is divided after
    each of ``cuts``, by default after its median. The reference is the largest group unless it is named.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": list("abcdefghijk"), "dialect": ["north"] * 6 + ["south"] * 5})
    >>> found = group_participants(rows, "dialect")
    >>> found.reference, found.others, group_participants(rows).name
    ('north', ['south'], 'dialect')
    """
    people = judgments["participant"].astype(str)
    answers = _answers(judgments, people, background)
    if group:
        if group not in answers:
            raise UnknownName("question or column", group, list(answers))
        return _divide(group, answers[group](), reference=reference, cuts=cuts)
    for name in answers:
        try:
            return _divide(name, answers[name](), reference=reference, cuts=cuts)
        except BadInput:
            continue
    raise NotEnoughData(
        f"no question and no column gives two groups of at least {MIN_PARTICIPANTS} participants.",
        remedy="Ask participants for their background, or import a column with their answers.",
    )


#: Columns of judgments that are no property of the participant.
_NOT_OF_PEOPLE = frozenset(
    """participant session trial position kind task item condition sentence_id pair_id response value
    scale_low scale_high modulus shown_first expected_first expected correct status rt_ms session_status
    phenomenon paradigm round flagged n_planned sentence sentence_good sentence_bad chosen z z_log exclusion
    excluded_by exclusion_plan""".split()  # noqa: SIM905  (a list of words reads better in lines)
)


def _answers(
    judgments: pd.DataFrame, people: "pd.Series[str]", background: pd.DataFrame | None
) -> dict[str, Any]:
    """Return a function for each question and column, questions first, that gives answers by participant."""
    functions: dict[str, Any] = {}
    if background is not None:
        answered = background[background["participant"].astype(str).isin(set(people))]
        by_person = answered.set_index(answered["participant"].astype(str))
        functions |= {
            str(name): lambda name=name: by_person[name] for name in answered.columns if name != "participant"
        }
    names = [str(name) for name in judgments.columns if name not in _NOT_OF_PEOPLE]
    for name in sorted(names, key=lambda name: name == "list"):  # other properties before the lists
        functions.setdefault(name, lambda name=name: _of_column(judgments, people, name))
    return functions


def _of_column(judgments: pd.DataFrame, people: "pd.Series[str]", name: str) -> "pd.Series[Any]":
    cells = pd.DataFrame({"participant": people, "answer": judgments[name].astype(object)})
    answers = cells.dropna().drop_duplicates()
    repeated = answers["participant"].duplicated()
    if repeated.any():
        person = answers.loc[repeated, "participant"].iloc[0]
        raise BadInput(
            f"participant {person} has several values.",
            column=name,
            remedy="A group is a property of participants: give a column with one value for each.",
        )
    return answers.set_index("participant")["answer"].reindex(people.unique())


def _divide(name: str, answers: "pd.Series[Any]", *, reference: str, cuts: Sequence[float]) -> Grouping:
    words = answers.map(lambda cell: "" if pd.isna(cell) else str(cell).strip())
    words = words.replace(_WORDS)
    numbers = pd.to_numeric(words.where(words != ""), errors="coerce")
    is_number = bool(numbers.notna().any()) and numbers[words != ""].notna().all()
    if is_number and (cuts or numbers.nunique() > MAX_GROUPS):
        ends = sorted({float(cut) for cut in cuts}) or [float(numbers.median())]
        words = _ranges(numbers, ends)
    elif cuts:
        raise BadInput("the answers are no numbers.", column=name, remedy="Leave the cuts out.")
    else:
        ends = []
    sizes = words[words != ""].value_counts()
    compared = sorted(sizes[sizes >= MIN_PARTICIPANTS].index, key=lambda word: (-sizes[word], word))
    small = f"fewer than {MIN_PARTICIPANTS} participants"
    left_out = [
        {"value": str(word), "participants": int(sizes[word]), "reason": small}
        for word in sorted(sizes[sizes < MIN_PARTICIPANTS].index)
    ]
    if n_missing := int((words == "").sum()):
        left_out.append({"value": NO_ANSWER, "participants": n_missing, "reason": NO_ANSWER})
    if len(compared) < 2:
        raise NotEnoughData(
            f"{name} does not give two groups of at least {MIN_PARTICIPANTS} participants.", column=name
        )
    if len(compared) > MAX_GROUPS:
        raise BadInput(
            f"there are {len(compared)} different answers.",
            column=name,
            remedy=f"Give a question with at most {MAX_GROUPS}, or a number.",
        )
    if reference and reference not in compared:
        raise UnknownName("group", reference, compared)
    chosen = reference or compared[0]
    return Grouping(
        name,
        words[words.isin(compared)],
        chosen,
        [
            {"value": word, "participants": int(sizes[word]), "is_reference": word == chosen}
            for word in sorted(compared, key=lambda word: word != chosen)
        ],
        left_out,
        tuple(ends),
    )


def _ranges(numbers: "pd.Series[float]", ends: list[float]) -> "pd.Series[Any]":
    """Name the range of each number: up to each end, above the last; empty for none."""
    labels = [f"up to {ends[0]:g}"]
    labels += [f"above {low:g} up to {high:g}" for low, high in zip(ends, ends[1:], strict=False)]
    labels.append(f"above {ends[-1]:g}")
    places = np.searchsorted(ends, numbers.to_numpy(), side="left")
    texts = np.array(labels, dtype=object)[np.minimum(places, len(ends))]
    texts[numbers.isna().to_numpy()] = ""
    return pd.Series(texts.tolist(), index=numbers.index, dtype=object)
