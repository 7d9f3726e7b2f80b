"""Stimuli, and planned trials that show them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Literal

from analysis.errors import BadInput

Kind = Literal["target", "filler", "catch", "practice", "anchor"]


@dataclass(frozen=True, order=True)
class Stimulus:
    """A sentence or, in forced choice, a minimal pair.

    Parameters
    ----------
    key : str
        Id of the sentence or of the pair; unique among the stimuli of a design.
    item : str
        The lexicalization. Sentences of one item differ only in condition; no participant sees two of them.
    condition : str
        Cell of the factorial design; empty in forced choice.
    paradigm : str
        Group of items of one contrast; lists are balanced within it.
    """

    key: str
    item: str
    condition: str = ""
    paradigm: str = ""


@dataclass(frozen=True)
class PlannedTrial:
    """One trial of a list.

    Parameters
    ----------
    key : str
        Id of the sentence or pair shown.
    item, condition, paradigm : str
        As in :class:`Stimulus`.
    kind : {"target", "filler", "catch", "practice", "anchor"}
        Purpose of the trial.
    expected_first : bool or None
        Forced choice: whether the expected member is shown first. None in rating tasks.
    position : int
        Position in the list, from 1; 0 before ordering.
    """

    key: str
    item: str
    condition: str = ""
    paradigm: str = ""
    kind: Kind = "target"
    expected_first: bool | None = None
    position: int = 0


def plan_trial(
    stimulus: Stimulus, *, kind: Kind = "target", expected_first: bool | None = None
) -> PlannedTrial:
    """Plan a trial for a stimulus, without a position."""
    return PlannedTrial(
        stimulus.key,
        stimulus.item,
        condition=stimulus.condition,
        paradigm=stimulus.paradigm,
        kind=kind,
        expected_first=expected_first,
    )


def number_trials(trials: Sequence[PlannedTrial]) -> list[PlannedTrial]:
    """Set the position of each trial, from 1.

    Examples
    --------
    >>> [trial.position for trial in number_trials([PlannedTrial("a", "1"), PlannedTrial("b", "2")])]
    [1, 2]
    """
    return [replace(trial, position=position) for position, trial in enumerate(trials, start=1)]


def by_paradigm(stimuli: Iterable[Stimulus]) -> dict[str, list[Stimulus]]:
    """Group stimuli by paradigm, paradigms and stimuli in sorted order."""
    groups: dict[str, list[Stimulus]] = {}
    keys: set[str] = set()
    for stimulus in sorted(stimuli, key=attrgetter("paradigm", "item", "condition", "key")):
        if stimulus.key in keys:
            raise BadInput(
                f"stimulus {stimulus.key!r} occurs twice in the design.",
                remedy="Give each sentence its own id.",
            )
        keys.add(stimulus.key)
        groups.setdefault(stimulus.paradigm, []).append(stimulus)
    return groups
