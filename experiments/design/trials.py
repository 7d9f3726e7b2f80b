"""What can be shown, and one planned showing of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from analysis.errors import BadInput

Kind = Literal["target", "filler", "catch", "practice", "anchor"]


@dataclass(frozen=True, order=True)
class Stimulus:
    """One thing a participant can be shown: a sentence, or in forced choice a minimal pair.

    Parameters
    ----------
    key : str
        Id of the sentence or of the pair; unique among the stimuli of a design.
    item : str
        The lexicalization. Sentences of one item differ only by condition; nobody sees two of them.
    condition : str
        Cell of the factorial design; empty in forced choice.
    paradigm : str
        Group of items of one contrast; balance holds within it.
    """

    key: str
    item: str
    condition: str = ""
    paradigm: str = ""


@dataclass(frozen=True)
class PlannedTrial:
    """One showing in one list.

    Parameters
    ----------
    key : str
        Id of the sentence or pair shown.
    item, condition, paradigm : str
        As in :class:`Stimulus`.
    kind : {"target", "filler", "catch", "practice", "anchor"}
        What the trial is for.
    expected_first : bool or None
        Forced choice: whether the expected member is shown first. None in rating tasks.
    position : int
        Place in the list, from 1; 0 while the trial has no place yet.
    """

    key: str
    item: str
    condition: str = ""
    paradigm: str = ""
    kind: Kind = "target"
    expected_first: bool | None = None
    position: int = 0


def planned(stimulus: Stimulus, *, kind: Kind = "target", expected_first: bool | None = None) -> PlannedTrial:
    """Plan one showing of a stimulus, not yet placed.

    Parameters
    ----------
    stimulus : Stimulus
    kind : str
    expected_first : bool or None

    Returns
    -------
    PlannedTrial
        With position 0.
    """
    return PlannedTrial(
        stimulus.key,
        stimulus.item,
        condition=stimulus.condition,
        paradigm=stimulus.paradigm,
        kind=kind,
        expected_first=expected_first,
    )


def numbered(trials: Sequence[PlannedTrial]) -> list[PlannedTrial]:
    """Give each trial its place, from 1.

    Parameters
    ----------
    trials : sequence of PlannedTrial

    Returns
    -------
    list of PlannedTrial
        The same trials in the same order with positions 1, 2, 3, …

    Examples
    --------
    >>> [trial.position for trial in numbered([PlannedTrial("a", "1"), PlannedTrial("b", "2")])]
    [1, 2]
    """
    return [replace(trial, position=place) for place, trial in enumerate(trials, start=1)]


def by_paradigm(stimuli: Iterable[Stimulus]) -> dict[str, list[Stimulus]]:
    """Group stimuli by paradigm, paradigms and stimuli in sorted order.

    Parameters
    ----------
    stimuli : iterable of Stimulus

    Returns
    -------
    dict of str to list of Stimulus
        Sorted, so that a seed gives the same lists whatever order the database answered in.

    Raises
    ------
    BadInput
        If a key stands twice.
    """
    groups: dict[str, list[Stimulus]] = {}
    seen: set[str] = set()
    for stimulus in sorted(stimuli, key=lambda one: (one.paradigm, one.item, one.condition, one.key)):
        if stimulus.key in seen:
            raise BadInput(
                f"stimulus {stimulus.key!r} stands twice in the design.",
                remedy="Give each sentence its own id.",
            )
        seen.add(stimulus.key)
        groups.setdefault(stimulus.paradigm, []).append(stimulus)
    return groups
