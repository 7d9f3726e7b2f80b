"""Choice of the next participant's list, and the progress towards the target number of judgments."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np

from analysis.errors import BadInput

Key = TypeVar("Key", int, str)


def least_filled(counts: Mapping[Key, int], rng: np.random.Generator) -> Key:
    """Choose a list with the fewest sessions, at random among ties.

    Notes
    -----
    Counting only completed sessions sends the first wave to one list (as the counter of Ibex does); counting
    every start leaves gaps after drop-outs. Counting completed and live sessions, with leases that expire,
    avoids both. The caller holds a row lock between counting and writing.

    Examples
    --------
    >>> least_filled({"A": 3, "B": 1, "C": 2}, np.random.default_rng(1))
    'B'
    """
    if not counts:
        raise BadInput("there is no open list.", remedy="Open the study, or add a list to its design.")
    fewest = min(counts.values())
    candidates = sorted(key for key, count in counts.items() if count == fewest)
    return candidates[int(rng.integers(len(candidates)))]


def min_expected_judgments(showings: Iterable[Mapping[Key, int]], sessions: Mapping[Key, int]) -> int:
    """Return the fewest judgments that any sentence or pair will have once the live sessions are complete.

    Notes
    -----
    Recruitment stops when this reaches the target number of judgments. Live sessions are counted so
    that no more participants are admitted than needed; an expired lease admits another one.

    Examples
    --------
    >>> min_expected_judgments([{"A": 1, "B": 1}, {"C": 1}], {"A": 3, "B": 4, "C": 5})
    5
    """
    sums = (sum(times * sessions.get(key, 0) for key, times in showing.items()) for showing in showings)
    return min(sums, default=0)
