"""Whom a random split of the participants of each list moves: a participant, or one of the lists of one."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.rows import Codes, group_codes


@dataclass(frozen=True)
class Seats:
    """Participants in their lists."""

    of_row: Codes
    lists: Codes
    """Of each seat."""
    person: Codes
    """Of each seat."""


def seats_of(rows: pd.DataFrame, person: Codes, thing: Codes) -> Seats | None:
    """Give each participant one seat per list, where participants sat several lists of different units.

    Parameters
    ----------
    rows : DataFrame, one row per judgment
        ``list`` where known.
    person, thing : arrays of int
        Participant and unit of each row, from 0.

    Returns
    -------
    Seats or None
        None where nobody sat two lists, or somebody judged a unit in two lists and would stand in both of its
        halves: then participants are split.

    Notes
    -----
    A participant who is put into one half for good leaves the halves of all but one list of unequal size, for
    which Spearman–Brown is too low.

    Examples
    --------
    >>> rows = pd.DataFrame({"list": ["A", "B", "A"]})
    >>> seats_of(rows, np.array([0, 0, 1]), np.array([0, 1, 0])).person.tolist()
    [0, 0, 1]
    """
    if not lists_are_named(rows) or not len(rows):
        return None
    sat, names = group_codes(rows["list"].astype(str))
    both = person * len(names) + sat
    seats, first = np.unique(both, return_index=True)
    of_row = np.searchsorted(seats, both).astype(np.int64)
    n_things = int(thing.max()) + 1
    judged = len(np.unique(person * n_things + thing))
    if len(seats) == int(person.max()) + 1 or judged < len(np.unique(of_row * n_things + thing)):
        return None
    return Seats(of_row, sat[first], person[first])


def lists_are_named(rows: pd.DataFrame) -> bool:
    """Tell whether every row names its list.

    Parameters
    ----------
    rows : DataFrame

    Returns
    -------
    bool

    Examples
    --------
    >>> lists_are_named(pd.DataFrame({"list": ["A", ""]}))
    False
    """
    return bool(
        "list" in rows.columns and rows["list"].notna().all() and (rows["list"].astype(str) != "").all()
    )
