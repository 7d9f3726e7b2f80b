"""How well one half of the participants predicts the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import scipy

from analysis.agreement.noise_ceiling import NoiseCeiling, noise_ceiling, spearman_brown
from analysis.agreement.seats import lists_are_named, seats_of
from analysis.columns import require_columns
from analysis.errors import BadInput
from analysis.rows import Codes, Flags, Floats, group_codes, is_kind, numbers

SPLITS = 1_000
MOST_SPLITS = 50_000
_BLOCK = 4_000_000


@dataclass(frozen=True)
class SplitHalf:
    """Reliability of unit means over random halves of the participants."""

    status: str
    r: float | None = None
    """Mean over splits of the correlation between the halves' means."""
    spearman_brown: float | None = None
    """Mean over splits of 2r / (1 + r): the reliability of means of all participants."""
    spearman_brown_of_mean_r: float | None = None
    sd: float | None = None
    """Spread of the Spearman–Brown values over splits; not a confidence interval."""
    splits: int = 0
    n_participants: int = 0
    n_units: int = 0
    n_lists: int = 0

    @property
    def ceiling(self) -> NoiseCeiling:
        """What a perfect model, and another sample of people, can reach."""
        return noise_ceiling(self.spearman_brown)


def split_half(
    judgments: pd.DataFrame, *, unit: str = "sentence_id", splits: int | str = SPLITS, seed: int = 0
) -> SplitHalf:
    """Split the participants of each list in halves at random and correlate the halves' unit means.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant``, ``value`` (for example z, or forced choices as 0 and 1) and the unit's
        column. ``list`` keeps the halves balanced; without it participants who judged the same units form
        a list. Targets with a value are used.
    unit : str
        Column of what is averaged: sentence, item or paradigm.
    splits : int or "all"
        Number of random splits; ``all`` goes through every split of one list of few participants.
    seed : int

    Returns
    -------
    SplitHalf
        ``status``: ``ok``, ``no_data``, ``too_few`` (fewer than two participants, or three units in both
        halves) or ``no_variation``.

    Raises
    ------
    MissingColumns
        If a column is absent.
    BadInput
        If ``all`` is asked for several lists or too many participants.

    Notes
    -----
    Who sat several lists of different units is assigned anew in each of them, so that the halves of every
    list are equally large; nobody stands in both halves of a unit. Each half's mean of a unit is over its own
    judgments; units that one half lacks are left out of that
    split. The mean of Spearman–Brown values, the Spearman–Brown of the mean r and ICC(C,k) differ slightly.

    References
    ----------
    Brown (1910), Spearman (1910), British Journal of Psychology 3.

    Examples
    --------
    >>> rows = pd.DataFrame(
    ...     {"participant": list("aaabbb"), "item": [1, 2, 3] * 2, "value": [1, 2, 3, 2, 3, 5]})
    >>> round(split_half(rows, unit="item", splits="all").r, 4)
    0.982
    """
    require_columns(judgments, "participant", "value", unit)
    value = numbers(judgments)
    used = is_kind(judgments, ("target",)) & ~np.isnan(value)
    rows = judgments.loc[used]
    person, people = group_codes(rows["participant"])
    thing, things = group_codes(rows[unit])
    lists = _lists(rows, person, thing) if len(rows) else np.zeros(0, dtype=np.int64)
    sizes = {"n_participants": len(people), "n_units": len(things), "n_lists": len(set(lists.tolist()))}
    if len(rows) == 0:
        return SplitHalf("no_data")
    if len(people) < 2 or len(things) < 3:
        return SplitHalf("too_few", **sizes)
    seats = seats_of(rows, person, thing)
    if seats is not None:
        person, lists = seats.of_row, seats.lists
        sizes["n_lists"] = len(set(lists.tolist()))
    sums = _Sums.of(value[used], person, thing, shape=(len(lists), len(things)))
    parts = [sums.correlations(halves) for halves in _halvings(lists, splits=splits, seed=seed, sums=sums)]
    r = np.concatenate(parts)
    return _summary(r, sums, sizes)


def half_correlation(
    judgments: pd.DataFrame, in_first: pd.Series, *, unit: str = "sentence_id"
) -> float | None:
    """Correlate the unit means of two given groups of judgments.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``value`` and the unit's column.
    in_first : Series of bool, same index
        The judgments of the first group, for example odd participants.
    unit : str

    Returns
    -------
    float or None
        None with fewer than three common units or without variation.

    See Also
    --------
    split_half : Many random halves, with Spearman-Brown.

    Notes
    -----
    Pearson's r over units that both groups judged.

    Examples
    --------
    >>> rows = pd.DataFrame({"sentence_id": list("abc") * 2, "value": [1.0, 2, 3, 2, 4, 6]})
    >>> round(half_correlation(rows, pd.Series([True] * 3 + [False] * 3)), 6)
    1.0
    """
    require_columns(judgments, "value", unit)
    value = numbers(judgments)
    used = is_kind(judgments, ("target",)) & ~np.isnan(value)
    thing, things = group_codes(judgments.loc[used, unit])
    group = (~in_first.to_numpy(dtype=bool)[used]).astype(np.int64)
    sums = _Sums.of(value[used], group, thing, shape=(2, max(len(things), 1)))
    r = sums.correlations(np.array([[True, False]]))[0]
    return None if np.isnan(r) else float(r)


@dataclass(frozen=True)
class _Sums:
    """Sums and counts of values, people × units."""

    total: Any
    count: Any

    @classmethod
    def of(cls, value: Floats, person: Codes, thing: Codes, *, shape: tuple[int, int]) -> "_Sums":
        centred = value - value.mean() if len(value) else value
        count, total = (
            scipy.sparse.csr_array(scipy.sparse.coo_array((data, (person, thing)), shape=shape).tocsr())
            for data in (np.ones(len(value)), centred)
        )
        if shape[0] * shape[1] <= _BLOCK and count.nnz > 0.1 * shape[0] * shape[1]:
            return cls(total.toarray(), count.toarray())
        return cls(total, count)

    def correlations(self, halves: Flags) -> Floats:
        """Give the correlation of both halves' means, one per split; NaN where undefined."""
        first = halves.astype(np.float64)
        means = []
        for weights in (first, 1.0 - first):
            count = np.asarray((self.count.T @ weights.T).T)
            total = np.asarray((self.total.T @ weights.T).T)
            means.append(np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0))
        known = ~np.isnan(means[0]) & ~np.isnan(means[1])
        n = known.sum(axis=1)
        one, other = (_centred(np.where(known, mean, 0.0), known, n) for mean in means)
        spread = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
        defined = (n >= 3) & (spread > 1e-12)
        r: Floats = np.divide((one * other).sum(axis=1), spread, out=np.full(len(n), np.nan), where=defined)
        return r


def _centred(means: Floats, known: Flags, n: Codes) -> Floats:
    centre = np.divide(means.sum(axis=1), n, out=np.zeros(len(n)), where=n > 0)
    centred: Floats = np.where(known, means - centre[:, None], 0.0)
    return centred


def _lists(rows: pd.DataFrame, person: Codes, thing: Codes) -> Codes:
    """Give each participant's list: the named one, else the set of units judged."""
    if lists_are_named(rows):
        labels = rows["list"].astype(str).groupby(person).first()
    else:
        labels = pd.Series(thing.astype(str)).groupby(person).agg(lambda units: " ".join(sorted(set(units))))
    codes = pd.factorize(labels)[0].astype(np.int64)
    shared = len(codes) > 0 and int(codes.max()) + 1 < len(codes)
    return codes if shared else np.zeros_like(codes)  # lists of one each would be halved alike every time


def _halvings(lists: Codes, *, splits: int | str, seed: int, sums: _Sums) -> Iterator[Flags]:
    """Give blocks of splits, as true for the participants of the first half."""
    block = max(1, _BLOCK // max(len(lists), sums.count.shape[1]))
    if splits == "all":
        yield from _every(lists, block=block)
        return
    rng = np.random.default_rng(seed)
    left = int(splits)
    while left > 0:
        size = min(block, left)
        left -= size
        order = np.argsort(lists + rng.random((size, len(lists))), axis=1)
        alternate = (np.arange(len(lists)) + rng.integers(2, size=(size, 1))) % 2 == 0
        halves = np.zeros((size, len(lists)), dtype=bool)
        np.put_along_axis(halves, order, alternate, axis=1)
        yield halves


def _every(lists: Codes, *, block: int) -> Iterator[Flags]:
    n = len(lists)
    half = n // 2
    wanted = comb(n, half) // (2 if n % 2 == 0 else 1)
    if len(set(lists.tolist())) > 1 or wanted > MOST_SPLITS:
        raise BadInput("all splits are for one list of at most 18 participants.", remedy="Give a number.")
    chosen = (
        combinations(range(n), half)
        if n % 2
        else ((0, *rest) for rest in combinations(range(1, n), half - 1))
    )
    while members := list(islice(chosen, block)):
        halves = np.zeros((len(members), n), dtype=bool)
        np.put_along_axis(halves, np.array(members), True, axis=1)
        yield halves


def _summary(r: Floats, sums: _Sums, sizes: dict[str, int]) -> SplitHalf:
    known = r[~np.isnan(r)]
    if len(known) == 0:
        total = sums.total if isinstance(sums.total, np.ndarray) else sums.total.toarray()
        return SplitHalf("no_variation" if np.ptp(total) == 0 else "too_few", splits=len(r), **sizes)
    stepped = 2 * known / (1 + np.maximum(known, -1 + 1e-12))
    return SplitHalf(
        "ok",
        r=float(known.mean()),
        spearman_brown=float(np.mean(stepped)),
        spearman_brown_of_mean_r=spearman_brown(max(float(known.mean()), -1 + 1e-12)),
        sd=float(np.std(stepped, ddof=1)) if len(known) > 1 else None,
        splits=len(known),
        **sizes,
    )
