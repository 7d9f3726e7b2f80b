"""Pairs of groups that occur together in the rows of a frame, as integers."""

import numpy as np
import pandas as pd

from analysis.rows import Codes, Floats

_MOST_SPREAD = 2
"""Pairs of groups that there could be, for each row: up to there a table of all of them is the quickest."""


def joint_codes(first: Codes, second: Codes) -> tuple[Codes, Codes, Codes]:
    """Number the pairs of groups that occur together.

    Parameters
    ----------
    first, second : arrays of int
        Codes of two groupings of the same rows.

    Returns
    -------
    codes : array of int
        The pair of each row, numbered in the order of (first, second).
    firsts, seconds : arrays of int
        The two groups of each pair.
    """
    width = int(second.max()) + 1 if len(second) else 1
    cells = first * width + second
    if len(cells) and (int(first.max()) + 1) * width <= _MOST_SPREAD * len(cells):
        occurs = np.bincount(cells) > 0  # a place for every pair there could be: no hashing, no sorting
        keys = np.flatnonzero(occurs)
        place: Codes = (np.cumsum(occurs) - 1)[cells]
        return place, keys // width, keys % width
    codes, uniques = pd.factorize(cells, sort=True)
    keys = np.asarray(uniques, dtype=np.int64)
    return codes.astype(np.int64), keys // width, keys % width


def joint_counts(first: Codes, second: Codes) -> tuple[Floats, Codes, Codes]:
    """Count the pairs of groups that occur together.

    Parameters
    ----------
    first, second : arrays of int
        Codes of two groupings of the same rows.

    Returns
    -------
    counts : array of float
        Rows of each pair, in the order of (first, second).
    firsts, seconds : arrays of int
        The two groups of each pair.
    """
    width = int(second.max()) + 1 if len(second) else 1
    if len(first) and (int(first.max()) + 1) * width <= _MOST_SPREAD * len(first):
        every = np.bincount(first * width + second)
        keys = np.flatnonzero(every)
        return every[keys].astype(np.float64), keys // width, keys % width
    codes, firsts, seconds = joint_codes(first, second)
    return np.bincount(codes, minlength=len(firsts)).astype(np.float64), firsts, seconds
