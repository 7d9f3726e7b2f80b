"""Participants in two halves, balanced within list; what the ceilings share."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from analysis.agreement.seats import Seats
from analysis.comparison.criteria import FloatArray

Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def halve(strata: Places, *, rng: np.random.Generator) -> Flags:
    """Put half of each list in the first half; odd ones out alternate, starting at random.

    Parameters
    ----------
    strata : ndarray of int
        The list of each participant.
    rng : Generator
        Source of randomness.

    Returns
    -------
    ndarray of bool
        Whether each participant belongs to the first half.

    Examples
    --------
    >>> int(halve(np.array([0, 0, 1, 1]), rng=np.random.default_rng(0)).sum())
    2
    """
    shuffled = rng.permutation(strata.size)
    order = shuffled[np.argsort(strata[shuffled], kind="stable")]
    in_first = np.zeros(strata.size, dtype=np.bool_)
    in_first[order[int(rng.integers(2)) :: 2]] = True
    return in_first


def first_half(
    participant: Places, strata: Places, seats: Seats | None, *, rng: np.random.Generator
) -> Flags:
    """Tell which rows belong to the first half; who sat several lists is assigned anew in each of them.

    Parameters
    ----------
    participant : ndarray of int
        Of each row.
    strata : ndarray of int
        The list of each participant.
    seats : Seats or None
        Where participants sat several lists that share nothing (see :func:`linked`).
    rng : Generator
        Source of randomness.

    Returns
    -------
    ndarray of bool
        One entry per row.

    Examples
    --------
    >>> rows = np.array([0, 0, 1, 1])
    >>> int(first_half(rows, np.array([0, 0]), None, rng=np.random.default_rng(0)).sum())
    2
    """
    if seats is None:
        return halve(strata, rng=rng)[participant]
    return halve(seats.lists, rng=rng)[seats.of_row]


def linked(names: pd.Index, pairs: pd.DataFrame) -> Places:
    """Number what hangs together: sentences of one pair and pairs of one paradigm.

    Nobody may stand in both halves of it, where two halves are compared.

    Parameters
    ----------
    names : Index
        Ids of the sentences.
    pairs : DataFrame
        ``good_id``, ``bad_id``; ``paradigm`` where known.

    Returns
    -------
    ndarray of int
        One number per sentence.

    Examples
    --------
    >>> pairs = pd.DataFrame({"good_id": ["a", "c"], "bad_id": ["b", "d"]})
    >>> linked(pd.Index(list("abcde")), pairs).tolist()
    [0, 0, 1, 1, 2]
    """
    good, bad = (names.get_indexer(pd.Index(pairs[member].astype(str))) for member in ("good_id", "bad_id"))
    of_pair = len(names) + np.arange(len(pairs))
    ends = [(good, of_pair), (bad, of_pair)]
    size = len(names) + len(pairs)
    if "paradigm" in pairs.columns:
        paradigm, labels = pd.factorize(pairs["paradigm"].astype(str))
        ends.append((of_pair, size + paradigm))
        size += len(labels)
    start, end = (np.concatenate(side) for side in zip(*ends, strict=True))
    known = start >= 0
    edges = (np.ones(int(known.sum())), (start[known], end[known]))
    graph = scipy.sparse.coo_array(edges, shape=(size, size))
    _, component = scipy.sparse.csgraph.connected_components(graph, directed=False)
    return component[: len(names)].astype(np.int64)


def strata_of(kept: pd.DataFrame, participant: Places, *, unit: str = "sentence_id") -> Places:
    """Give each participant's list: the named one, else the set of what was judged.

    Parameters
    ----------
    kept : DataFrame, one row per judgment
        ``list`` where known, else the column ``unit``.
    participant : ndarray of int
        Of each row.
    unit : str
        Column that names what was judged.

    Returns
    -------
    ndarray of int
        One entry per participant.

    Examples
    --------
    >>> rows = pd.DataFrame({"list": ["A", "B", "A"]})
    >>> strata_of(rows, np.array([0, 1, 2])).tolist()
    [0, 1, 0]
    """
    if "list" in kept.columns and kept["list"].notna().all():
        labels = kept.groupby(participant)["list"].first()
    else:
        labels = kept.groupby(participant)[unit].agg(lambda ids: "\n".join(sorted(set(map(str, ids)))))
    return pd.factorize(labels)[0].astype(np.int64)


def pair_places(pairs: pd.DataFrame, names: pd.Index) -> tuple[Places, Places]:
    """Find both members of each pair among judged sentences; pairs with a gap are left out.

    Parameters
    ----------
    pairs : DataFrame
        ``good_id`` and ``bad_id``.
    names : Index
        Judged sentences.

    Returns
    -------
    tuple of two ndarrays of int
        Places of the good and of the bad members.

    Examples
    --------
    >>> pairs = pd.DataFrame({"good_id": ["a", "c"], "bad_id": ["b", "z"]})
    >>> [place.tolist() for place in pair_places(pairs, pd.Index(list("abc")))]
    [[0], [1]]
    """
    good = names.get_indexer(pd.Index(pairs["good_id"].astype(str)))
    bad = names.get_indexer(pd.Index(pairs["bad_id"].astype(str)))
    known = (good >= 0) & (bad >= 0)
    return good[known].astype(np.int64), bad[known].astype(np.int64)


def mean_shares(shares: Sequence[dict[float, float | None]]) -> dict[float, float | None]:
    """Average ADCs over splits; gaps are left out.

    Parameters
    ----------
    shares : sequence of dict
        ADC by δ.

    Returns
    -------
    dict of δ to float or None

    Examples
    --------
    >>> mean_shares([{1.0: 0.4}, {1.0: 0.6}])
    {1.0: 0.5}
    """
    frame = pd.DataFrame(shares, dtype=float)
    means = frame.mean()
    return {float(delta): None if np.isnan(means[delta]) else float(means[delta]) for delta in frame.columns}


def means_by_code(codes: npt.NDArray[Any], values: FloatArray, *, size: int) -> FloatArray:
    """Average the values of each code.

    Parameters
    ----------
    codes : ndarray of int
        From 0, one per value.
    values : ndarray of float
        Without NaN.
    size : int
        Number of codes.

    Returns
    -------
    ndarray of float
        One entry per code, NaN where it has no value.

    Examples
    --------
    >>> means_by_code(np.array([0, 0, 2]), np.array([1.0, 2.0, 5.0]), size=3).tolist()
    [1.5, nan, 5.0]
    """
    count = np.bincount(codes, minlength=size)
    total = np.bincount(codes, weights=values, minlength=size)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
