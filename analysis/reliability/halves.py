"""Random halves of participants, balanced within lists, and the ceilings that follow from their agreement.

A split assigns *slots* to halves: a participant, or each list of a participant who completed several.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from ..rows import Codes, Flags, Floats, group_codes


@dataclass(frozen=True)
class Slots:
    """The units that a random split assigns to halves: one for each participant and list."""

    of_row: Codes
    """Slot of each row."""
    lists: Codes
    """List of each slot."""
    person: Codes
    """Participant of each slot."""


def participant_slots(rows: pd.DataFrame, person: Codes, unit: Codes) -> Slots | None:
    """Allocate one slot per participant and list if participants completed several lists of different units.

    Notes
    -----
    None if no participant completed two lists, or if a participant judged a unit in two lists and could
    therefore be in both of its halves: then whole participants are split.

    Splitting whole participants who completed several lists would leave halves of unequal size in all but
    one list, for which the Spearman–Brown formula is too low.

    Examples
    --------
    >>> rows = pd.DataFrame({"list": ["A", "B", "A"]})
    >>> participant_slots(rows, np.array([0, 0, 1]), np.array([0, 1, 0])).person.tolist()
    [0, 0, 1]
    """
    if not has_list_names(rows) or not len(rows):
        return None
    list_code, names = group_codes(rows["list"].astype(str))
    combined = person * len(names) + list_code
    slots, first = np.unique(combined, return_index=True)
    of_row = np.searchsorted(slots, combined).astype(np.int64)
    n_units = int(unit.max()) + 1
    judged = len(np.unique(person * n_units + unit))
    if len(slots) == int(person.max()) + 1 or judged < len(np.unique(of_row * n_units + unit)):
        return None
    return Slots(of_row, list_code[first], person[first])


def pool_single_members(strata: Codes) -> Codes:
    """Join the strata of one member each, which would be split in the same way every time.

    Examples
    --------
    >>> pool_single_members(np.array([0, 1, 1, 2])).tolist()
    [3, 1, 1, 3]
    """
    codes = np.unique(strata, return_inverse=True)[1].astype(np.int64)
    size = np.bincount(codes)
    return np.where(size[codes] == 1, len(size), codes) if (size == 1).any() and len(size) > 1 else codes


def has_list_names(rows: pd.DataFrame) -> bool:
    """Return whether every row has the name of its list.

    Examples
    --------
    >>> has_list_names(pd.DataFrame({"list": ["A", ""]}))
    False
    """
    return bool(
        "list" in rows.columns and rows["list"].notna().all() and (rows["list"].astype(str) != "").all()
    )


def halve(strata: Codes, *, rng: np.random.Generator) -> Flags:
    """Assign half of each list to the first half at random; odd members alternate between lists.

    Notes
    -----
    Members and lists are shuffled. Lists of one member are pooled: taken in a fixed order they would be
    halved in two ways only.

    Examples
    --------
    >>> int(halve(np.array([0, 0, 1, 1]), rng=np.random.default_rng(0)).sum())
    2
    """
    codes = pool_single_members(strata)
    place = rng.permutation(int(codes.max()) + 1 if codes.size else 0)
    order = np.lexsort((rng.random(codes.size), place[codes]))
    in_first = np.zeros(strata.size, dtype=np.bool_)
    in_first[order[int(rng.integers(2)) :: 2]] = True
    return in_first


def first_half(participant: Codes, strata: Codes, slots: Slots | None, *, rng: np.random.Generator) -> Flags:
    """Return the rows of the first half; a participant with several lists is reassigned in each.

    Examples
    --------
    >>> rows = np.array([0, 0, 1, 1])
    >>> int(first_half(rows, np.array([0, 0]), None, rng=np.random.default_rng(0)).sum())
    2
    """
    if slots is None:
        return halve(strata, rng=rng)[participant]
    return halve(slots.lists, rng=rng)[slots.of_row]


def linked_components(names: pd.Index, pairs: pd.DataFrame) -> Codes:
    """Number the connected components of sentences that share a pair or a paradigm.

    No participant may be in both halves of a component.

    Examples
    --------
    >>> pairs = pd.DataFrame({"good_id": ["a", "c"], "bad_id": ["b", "d"]})
    >>> linked_components(pd.Index(list("abcde")), pairs).tolist()
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
    is_present = start >= 0
    edges = (np.ones(int(is_present.sum())), (start[is_present], end[is_present]))
    graph = scipy.sparse.coo_array(edges, shape=(size, size))
    _, component = scipy.sparse.csgraph.connected_components(graph, directed=False)
    return component[: len(names)].astype(np.int64)


def list_strata(rows: pd.DataFrame, participant: Codes, *, unit: str = "sentence_id") -> Codes:
    """Number each participant's list: by its name, else by the units that participants share.

    Notes
    -----
    Without names, the sets of units that two or more participants judged are lists. Any other participant,
    for example with a missing answer, is of the list that shares most units with the own set, if more than
    half of those in either; all others are pooled. Without two equal sets all participants are of one list.

    Examples
    --------
    >>> rows = pd.DataFrame({"list": ["A", "B", "A"]})
    >>> list_strata(rows, np.array([0, 1, 2])).tolist()
    [0, 2, 0]
    """
    if has_list_names(rows):
        labels = rows["list"].astype(str).groupby(participant).first()
        return pool_single_members(pd.factorize(labels, sort=True)[0].astype(np.int64))
    return pool_single_members(_shared_lists(participant, group_codes(rows[unit].astype(str))[0]))


def _shared_lists(participant: Codes, unit: Codes) -> Codes:
    """Number the sets of units of two or more participants; add the others to the set they share most of."""
    if not len(participant):
        return np.zeros(0, dtype=np.int64)
    shape = (int(participant.max()) + 1, int(unit.max()) + 1)
    judged = scipy.sparse.csr_array((np.ones(len(unit)), (participant, unit)), shape=shape)
    judged.data[:] = 1  # repeated answers are one unit
    judged.sort_indices()
    names = [row.tobytes() for row in np.split(judged.indices, judged.indptr[1:-1])]
    codes = pd.factorize(pd.Series(names, dtype=object))[0].astype(np.int64)
    is_shared = np.bincount(codes)[codes] > 1
    lists, first = np.unique(codes[is_shared], return_index=True)
    if not len(lists):
        return np.zeros(shape[0], dtype=np.int64)
    own = np.flatnonzero(~is_shared)
    kinds = judged[np.flatnonzero(is_shared)[first]]
    common = (judged[own] @ kinds.T).toarray()
    sizes = np.diff(judged.indptr)[own][:, None] + np.diff(kinds.indptr)
    overlap = common / (sizes - common)
    nearest = overlap.argmax(axis=1)
    codes[own] = np.where(overlap.max(axis=1) > 0.5, lists[nearest], codes.max() + 1)
    return codes


def pair_positions(pairs: pd.DataFrame, names: pd.Index) -> tuple[Codes, Codes]:
    """Look up the members of each pair among the judged sentences; incomplete pairs are left out.

    Examples
    --------
    >>> pairs = pd.DataFrame({"good_id": ["a", "c"], "bad_id": ["b", "z"]})
    >>> [positions.tolist() for positions in pair_positions(pairs, pd.Index(list("abc")))]
    [[0], [1]]
    """
    good = names.get_indexer(pd.Index(pairs["good_id"].astype(str)))
    bad = names.get_indexer(pd.Index(pairs["bad_id"].astype(str)))
    is_complete = (good >= 0) & (bad >= 0)
    return good[is_complete].astype(np.int64), bad[is_complete].astype(np.int64)


def mean_shares(shares: Sequence[dict[float, float | None]]) -> dict[float, float | None]:
    """Average ADCs over splits; missing values are left out.

    Examples
    --------
    >>> mean_shares([{1.0: 0.4}, {1.0: 0.6}])
    {1.0: 0.5}
    """
    frame = pd.DataFrame(shares, dtype=float)
    means = frame.mean()
    return {float(delta): None if np.isnan(means[delta]) else float(means[delta]) for delta in frame.columns}


def means_by_code(codes: npt.NDArray[Any], values: Floats, *, size: int) -> Floats:
    """Average the values of each code.

    Examples
    --------
    >>> means_by_code(np.array([0, 0, 2]), np.array([1.0, 2.0, 5.0]), size=3).tolist()
    [1.5, nan, 5.0]
    """
    count = np.bincount(codes, minlength=size)
    total = np.bincount(codes, weights=values, minlength=size)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


@dataclass(frozen=True)
class NoiseCeiling:
    """Highest correlations that can be expected with observed means."""

    model: float | None
    """Of a model that knows the true means: √reliability."""
    sample: float | None
    """Of another sample of participants of the same size: the reliability."""

    def disattenuate(self, r: float | None) -> float | None:
        """Return r divided by the model's ceiling."""
        return None if r is None or not self.model else r / self.model


def noise_ceiling(reliability: float | None) -> NoiseCeiling:
    """Compute the ceilings of a correlation from the reliability of means.

    Notes
    -----
    A perfect model correlates with observed means at √reliability; two samples of participants correlate
    at the reliability.

    Examples
    --------
    >>> ceiling = noise_ceiling(0.81)
    >>> ceiling.model, ceiling.sample, round(ceiling.disattenuate(0.45), 3)
    (0.9, 0.81, 0.5)
    """
    if reliability is None or not reliability > 0:
        return NoiseCeiling(None, None)
    return NoiseCeiling(reliability**0.5, reliability)


def spearman_brown(r: float, *, factor: float = 2.0) -> float:
    """Compute the reliability of a test ``factor`` times as long: m r / (1 + (m - 1) r).

    Examples
    --------
    >>> spearman_brown(0.5)
    0.6666666666666666
    """
    return factor * r / (1 + (factor - 1) * r)
