"""Which list the next participant gets."""

from collections.abc import Mapping
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
