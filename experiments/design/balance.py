"""Which list the next participant gets, and whether another one is needed."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np

from analysis.errors import BadInput

Key = TypeVar("Key", int, str)


def least_filled(counts: Mapping[Key, int], rng: np.random.Generator) -> Key:
    """Choose a list with the fewest sessions, by chance among equals.

    Parameters
    ----------
    counts : mapping of list to int
        Completed and live sessions of every open list; a list without sessions is there with 0.
    rng : numpy Generator
        Breaks ties, so that early drop-outs do not all fall on the first list.

    Returns
    -------
    list key
        One of the least filled.

    Raises
    ------
    BadInput
        If there is no list.

    Notes
    -----
    Counting only completed sessions sends the first wave to one list (the well-known Ibex counter); counting
    every start leaves holes at drop-outs. Completed plus live, with leases that expire, does neither.
    The caller holds a row lock between counting and writing.

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


def fewest_planned(showings: Iterable[Mapping[Key, int]], sessions: Mapping[Key, int]) -> int:
    """Count the judgments of the item that will have fewest, once live sessions are done.

    Parameters
    ----------
    showings : iterable of mappings of list to int
        For each item, the lists that show it and how often each does. Items with the same mapping need
        to be given only once.
    sessions : mapping of list to int
        Completed and live sessions; a list that is not there has none.

    Returns
    -------
    int
        0 without items.

    Notes
    -----
    A study has recruited enough when this reaches the judgments wanted per item: counting live sessions
    closes the door before too many have come, and a lease that runs out opens it again.

    Examples
    --------
    >>> fewest_planned([{"A": 1, "B": 1}, {"C": 1}], {"A": 3, "B": 4, "C": 5})
    5
    """
    sums = (sum(times * sessions.get(key, 0) for key, times in one.items()) for one in showings)
    return min(sums, default=0)
