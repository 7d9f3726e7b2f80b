"""Insertion of filler, catch, practice and anchor trials into a list."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from analysis.errors import BadInput
from experiments.design.trials import Kind, PlannedTrial, Stimulus, plan_trial

Entry = TypeVar("Entry", Stimulus, PlannedTrial)


def _plan_randomly(
    stimuli: Sequence[Stimulus], rng: np.random.Generator, *, kind: Kind, sided: bool
) -> list[PlannedTrial]:
    """Plan stimuli in random order; in forced choice the sides alternate from a random start."""
    start = int(rng.integers(2))
    trials = []
    for place, index in enumerate(rng.permutation(len(stimuli))):
        first = (start + place) % 2 == 0 if sided else None
        trials.append(plan_trial(stimuli[index], kind=kind, expected_first=first))
    return trials


def with_fillers(
    targets: Sequence[PlannedTrial],
    fillers: Sequence[Stimulus],
    rng: np.random.Generator,
    *,
    n: int | None = None,
    sided: bool = False,
) -> list[PlannedTrial]:
    """Add fillers to the targets of a list.

    Notes
    -----
    z-scores depend on every rated sentence, so all lists share their fillers: the first ``n`` in the given
    order instead of a random sample.
    """
    number = len(fillers) if n is None else n
    if number > len(fillers):
        raise BadInput(
            f"{number} fillers were requested, but there are only {len(fillers)}.",
            remedy="Add filler sentences.",
        )
    return [*targets, *_plan_randomly(fillers[:number], rng, kind="filler", sided=sided)]


def spread_catch(
    trials: Sequence[PlannedTrial],
    catch: Sequence[Stimulus],
    rng: np.random.Generator,
    *,
    sided: bool = False,
) -> list[PlannedTrial]:
    """Insert catch trials into an ordered list, one in each of as many equal segments.

    Examples
    --------
    >>> trials = [PlannedTrial(str(i), str(i)) for i in range(6)]
    >>> mixed = spread_catch(trials, [Stimulus("x", "x"), Stimulus("y", "y")], np.random.default_rng(1))
    >>> [trial.kind[0] for trial in mixed]
    ['t', 't', 't', 'c', 't', 't', 't', 'c']
    """
    return insert_catch(trials, _plan_randomly(catch, rng, kind="catch", sided=sided), rng)


def insert_catch(
    trials: Sequence[PlannedTrial], catch: Sequence[PlannedTrial], rng: np.random.Generator
) -> list[PlannedTrial]:
    """Insert planned catch trials, in this order, at random places of as many equal segments."""
    if len(catch) > len(trials):
        raise BadInput(
            f"{len(catch)} catch trials cannot be spread over {len(trials)} other trials.",
            remedy="Use fewer catch trials.",
        )
    mixed: list[PlannedTrial] = []
    edges = np.linspace(0, len(trials), len(catch) + 1).astype(int)
    for catch_trial, low, high in zip(catch, edges[:-1], edges[1:], strict=True):
        after = int(rng.integers(low, high)) + 1
        mixed.extend([*trials[low:after], catch_trial, *trials[after:high]])
    return mixed or list(trials)


def shuffle(entries: Sequence[Entry], rng: np.random.Generator) -> list[Entry]:
    """Return stimuli or trials in random order."""
    return [entries[index] for index in rng.permutation(len(entries))]


def prepend_trials(
    trials: Sequence[PlannedTrial],
    leading: Sequence[Stimulus],
    rng: np.random.Generator,
    *,
    kind: Kind = "practice",
    sided: bool = False,
) -> list[PlannedTrial]:
    """Put practice trials or anchors before the trials of a list."""
    start = int(rng.integers(2))
    leading_trials = [
        plan_trial(stimulus, kind=kind, expected_first=(start + place) % 2 == 0 if sided else None)
        for place, stimulus in enumerate(leading)
    ]
    return [*leading_trials, *trials]
