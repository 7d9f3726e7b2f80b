"""Fillers, catch and practice trials woven into a list."""

from collections.abc import Sequence

import numpy as np

from analysis.errors import BadInput
from experiments.design.trials import Kind, PlannedTrial, Stimulus, planned


def _sided(
    stimuli: Sequence[Stimulus], rng: np.random.Generator, *, kind: Kind, sided: bool
) -> list[PlannedTrial]:
    """Plan stimuli; in forced choice with alternating sides from a random start, in random order."""
    start = int(rng.integers(2))
    trials = []
    for place, index in enumerate(rng.permutation(len(stimuli))):
        first = (start + place) % 2 == 0 if sided else None
        trials.append(planned(stimuli[index], kind=kind, expected_first=first))
    return trials


def with_fillers(
    targets: Sequence[PlannedTrial],
    fillers: Sequence[Stimulus],
    rng: np.random.Generator,
    *,
    n: int | None = None,
    sided: bool = False,
) -> list[PlannedTrial]:
    """Add fillers to a list's targets.

    Parameters
    ----------
    targets : sequence of PlannedTrial
    fillers : sequence of Stimulus
    rng : numpy Generator
    n : int, optional
        How many of the fillers; all when left out.
    sided : bool
        Forced choice: balance the side of the expected member over the fillers.

    Returns
    -------
    list of PlannedTrial
        Targets, then fillers; order them afterwards.

    Raises
    ------
    BadInput
        If there are fewer fillers than asked for.

    Notes
    -----
    z-scores rest on every sentence rated, so lists should share their fillers: the first ``n`` in the
    given order are taken for every list, not a random sample.
    """
    number = len(fillers) if n is None else n
    if number > len(fillers):
        raise BadInput(
            f"{number} fillers were asked for; there are {len(fillers)}.", remedy="Add filler sentences."
        )
    return [*targets, *_sided(fillers[:number], rng, kind="filler", sided=sided)]


def spread_catch(
    trials: Sequence[PlannedTrial],
    catch: Sequence[Stimulus],
    rng: np.random.Generator,
    *,
    sided: bool = False,
) -> list[PlannedTrial]:
    """Weave catch trials into an ordered list, one in each equal stretch.

    Parameters
    ----------
    trials : sequence of PlannedTrial
        In their order.
    catch : sequence of Stimulus
    rng : numpy Generator
        Chooses the place within each stretch and the order of the catch trials.
    sided : bool
        Forced choice: balance the side of the expected member over the catch trials.

    Returns
    -------
    list of PlannedTrial
        Never a catch trial first, and never two in a row.

    Raises
    ------
    BadInput
        If there are more catch trials than other trials.

    Examples
    --------
    >>> trials = [PlannedTrial(str(i), str(i)) for i in range(6)]
    >>> woven = spread_catch(trials, [Stimulus("x", "x"), Stimulus("y", "y")], np.random.default_rng(1))
    >>> [trial.kind[0] for trial in woven]
    ['t', 't', 't', 'c', 't', 't', 't', 'c']
    """
    if len(catch) > len(trials):
        raise BadInput(
            f"{len(catch)} catch trials cannot be spread over {len(trials)} other trials.",
            remedy="Use fewer catch trials.",
        )
    woven: list[PlannedTrial] = []
    edges = np.linspace(0, len(trials), len(catch) + 1).astype(int)
    for one, low, high in zip(
        _sided(catch, rng, kind="catch", sided=sided), edges[:-1], edges[1:], strict=True
    ):
        after = int(rng.integers(low, high)) + 1
        woven.extend([*trials[low:after], one, *trials[after:high]])
    return woven or list(trials)


def shuffled(stimuli: Sequence[Stimulus], rng: np.random.Generator) -> list[Stimulus]:
    """Put stimuli into a random order.

    Parameters
    ----------
    stimuli : sequence of Stimulus
    rng : numpy Generator

    Returns
    -------
    list of Stimulus
    """
    return [stimuli[index] for index in rng.permutation(len(stimuli))]


def led_by(
    trials: Sequence[PlannedTrial],
    first: Sequence[Stimulus],
    rng: np.random.Generator,
    *,
    kind: Kind = "practice",
    sided: bool = False,
) -> list[PlannedTrial]:
    """Put practice trials or anchors before the list.

    Parameters
    ----------
    trials : sequence of PlannedTrial
    first : sequence of Stimulus
        In the order in which they are to be shown.
    rng : numpy Generator
        Chooses the side with which they begin.
    kind : str
    sided : bool
        Forced choice: alternate the side of the expected member.

    Returns
    -------
    list of PlannedTrial
        The leading trials in the given order, then the list.
    """
    start = int(rng.integers(2))
    leading = [
        planned(one, kind=kind, expected_first=(start + place) % 2 == 0 if sided else None)
        for place, one in enumerate(first)
    ]
    return [*leading, *trials]
