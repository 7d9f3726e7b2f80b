"""Split-half reliability of unit means, for all participants and for samples of fewer participants."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..columns import require_columns
from ..errors import BadInput, NotEnoughData
from ..rows import Codes, Flags, Floats, group_codes, is_kind, merge_answers, numbers
from .halves import (
    NoiseCeiling,
    list_strata,
    noise_ceiling,
    participant_slots,
    pool_single_members,
    spearman_brown,
)

SPLITS = 1_000
# When all splits are enumerated: 18 participants.
MAX_SPLITS = 50_000
# Cells of a block of splits in memory (32 MB).
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
        """Highest correlations of a perfect model and of another sample of participants."""
        return noise_ceiling(self.spearman_brown)


def split_half(
    judgments: pd.DataFrame, *, unit: str = "sentence_id", splits: int | str = SPLITS, seed: int = 0
) -> SplitHalf:
    """Split the participants of each list into random halves and correlate the halves' unit means.

    Notes
    -----
    A participant with several lists of different units is reassigned in each list, so that the halves
    of every list have equal size; no participant is in both halves of a unit. Each half's mean of a unit
    is over its own judgments; units that one half lacks are left out of that split. The mean of
    Spearman–Brown values, the Spearman–Brown of the mean r and ICC(C,k) differ slightly.

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
    answered = is_kind(judgments, ("target",)) & ~np.isnan(value)
    rows, value = merge_answers(judgments.loc[answered], value[answered], unit=unit)
    person, people = group_codes(rows["participant"])
    unit_code, unit_names = group_codes(rows[unit])
    lists = list_strata(rows, person, unit=unit) if len(rows) else np.zeros(0, dtype=np.int64)
    sizes = {"n_participants": len(people), "n_units": len(unit_names), "n_lists": len(set(lists.tolist()))}
    if len(rows) == 0:
        return SplitHalf("no_data")
    if len(people) < 2 or len(unit_names) < 3:
        return SplitHalf("too_few", **sizes)
    slots = participant_slots(rows, person, unit_code)
    if slots is not None:
        person, lists = slots.of_row, pool_single_members(slots.lists)
        sizes["n_lists"] = len(set(lists.tolist()))
    sums = _Sums.of(value, person, unit_code, shape=(len(lists), len(unit_names)))
    parts = [sums.correlations(halves) for halves in _halvings(lists, splits=splits, seed=seed, sums=sums)]
    r = np.concatenate(parts)
    return _summary(r, sums, sizes)


def half_correlation(
    judgments: pd.DataFrame, in_first: pd.Series, *, unit: str = "sentence_id"
) -> float | None:
    """Correlate the unit means of two given groups of judgments.

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
    answered = is_kind(judgments, ("target",)) & ~np.isnan(value)
    unit_code, unit_names = group_codes(judgments.loc[answered, unit])
    group = (~in_first.to_numpy(dtype=bool)[answered]).astype(np.int64)
    sums = _Sums.of(value[answered], group, unit_code, shape=(2, max(len(unit_names), 1)))
    r = sums.correlations(np.array([[True, False]]))[0]
    return None if np.isnan(r) else float(r)


@dataclass(frozen=True)
class _Sums:
    """Sums and counts of values, participants × units."""

    total: Any
    count: Any

    @classmethod
    def of(cls, value: Floats, person: Codes, unit_code: Codes, *, shape: tuple[int, int]) -> "_Sums":
        centred = value - value.mean() if len(value) else value
        count, total = (
            scipy.sparse.csr_array(scipy.sparse.coo_array((data, (person, unit_code)), shape=shape).tocsr())
            for data in (np.ones(len(value)), centred)
        )
        if shape[0] * shape[1] <= _BLOCK and count.nnz > 0.1 * shape[0] * shape[1]:
            return cls(total.toarray(), count.toarray())
        return cls(total, count)

    def correlations(self, halves: Flags) -> Floats:
        """Correlate both halves' means, one value per split; NaN where undefined."""
        in_first = halves.astype(np.float64)
        means = []
        for weights in (in_first, 1.0 - in_first):
            count = np.asarray((self.count.T @ weights.T).T)
            total = np.asarray((self.total.T @ weights.T).T)
            means.append(np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0))
        judged_by_both = ~np.isnan(means[0]) & ~np.isnan(means[1])
        n = judged_by_both.sum(axis=1)
        first, second = (
            _center_means(np.where(judged_by_both, mean, 0.0), judged_by_both, n) for mean in means
        )
        spread = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
        defined = (n >= 3) & (spread > 1e-12)
        product = (first * second).sum(axis=1)
        r: Floats = np.divide(product, spread, out=np.full(len(n), np.nan), where=defined)
        return r


def _center_means(means: Floats, judged_by_both: Flags, n: Codes) -> Floats:
    centre = np.divide(means.sum(axis=1), n, out=np.zeros(len(n)), where=n > 0)
    centred: Floats = np.where(judged_by_both, means - centre[:, None], 0.0)
    return centred


def _halvings(lists: Codes, *, splits: int | str, seed: int, sums: _Sums) -> Iterator[Flags]:
    """Yield blocks of splits: true for the participants of the first half."""
    block = max(1, _BLOCK // max(len(lists), sums.count.shape[1]))
    if splits == "all":
        yield from _all_splits(lists, block=block)
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


def _all_splits(lists: Codes, *, block: int) -> Iterator[Flags]:
    n = len(lists)
    half = n // 2
    n_splits = comb(n, half) // (2 if n % 2 == 0 else 1)
    if len(set(lists.tolist())) > 1 or n_splits > MAX_SPLITS:
        raise BadInput("all splits are for one list of at most 18 participants.", remedy="Give a number.")
    chosen = (
        combinations(range(n), half)
        if n % 2
        else ((0, *members) for members in combinations(range(1, n), half - 1))
    )
    while members := list(islice(chosen, block)):
        halves = np.zeros((len(members), n), dtype=bool)
        np.put_along_axis(halves, np.array(members), True, axis=1)
        yield halves


def _summary(r: Floats, sums: _Sums, sizes: dict[str, int]) -> SplitHalf:
    defined = r[~np.isnan(r)]
    if len(defined) == 0:
        total = sums.total if isinstance(sums.total, np.ndarray) else sums.total.toarray()
        return SplitHalf("no_variation" if np.ptp(total) == 0 else "too_few", splits=len(r), **sizes)
    stepped = 2 * defined / (1 + np.maximum(defined, -1 + 1e-12))
    if stepped.mean() < -1:  # the formula has a pole at r = −1
        return SplitHalf("negative", r=float(defined.mean()), splits=len(defined), **sizes)
    return SplitHalf(
        "ok",
        r=float(defined.mean()),
        spearman_brown=float(np.mean(stepped)),
        spearman_brown_of_mean_r=spearman_brown(max(float(defined.mean()), -1 + 1e-12)),
        sd=float(np.std(stepped, ddof=1)) if len(defined) > 1 else None,
        splits=len(defined),
        **sizes,
    )


DRAWS = 200


def split_half_by_size(
    judgments: pd.DataFrame,
    *,
    unit: str = "sentence_id",
    sizes: Sequence[int] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> pd.DataFrame:
    """Estimate split-half reliability for samples of n participants drawn without replacement.

    Notes
    -----
    ``n``, ``units`` (mean number of units that both halves judged), ``r``, ``spearman_brown`` (means over
    draws), ``low``, ``high`` (2.5 and 97.5 percentiles of Spearman–Brown over draws: the spread of
    samples, not a confidence interval), ``ceiling`` = √Spearman–Brown and ``status``: ``ok`` or ``too_few``.

    Samples with fewer than three units judged by both halves, or without variance, are left out.

    Examples
    --------
    >>> rows = pd.DataFrame(
    ...     [(p, i, i + (p * i) % 3) for p in range(8) for i in range(6)],
    ...     columns=["participant", "item", "value"])
    >>> split_half_by_size(rows, unit="item", sizes=[4, 8], draws=20)["n"].tolist()
    [4, 8]
    """
    require_columns(judgments, "participant", "value", unit)
    value = numbers(judgments)
    answered = is_kind(judgments, ("target",)) & ~np.isnan(value)
    rows, value = merge_answers(judgments.loc[answered], value[answered], unit=unit)
    person, people = group_codes(rows["participant"])
    unit_code, unit_names = group_codes(rows[unit])
    if len(people) < 4 or len(unit_names) < 3:
        message = f"{len(people)} participants and {len(unit_names)} units cannot be halved."
        raise NotEnoughData(message, remedy="Reliability by size needs four participants and three units.")
    sample_sizes = list(sizes) if sizes is not None else _default_sizes(len(people))
    if min(sample_sizes) < 2 or max(sample_sizes) > len(people):
        raise BadInput(f"sizes lie between 2 and {len(people)}.", column="sizes")
    slots = participant_slots(rows, person, unit_code)
    lists = list_strata(rows, person, unit=unit) if slots is None else pool_single_members(slots.lists)
    owner = np.arange(len(people)) if slots is None else slots.person
    person = person if slots is None else slots.of_row
    shape = (len(lists), len(unit_names))
    centred = value - value.mean()
    count, total = (
        scipy.sparse.csr_array(scipy.sparse.coo_array((data, (person, unit_code)), shape=shape).tocsr())
        for data in (np.ones(len(centred)), centred)
    )
    rng = np.random.default_rng(seed)
    return pd.DataFrame([_at_size(n, count, total, lists, owner, draws=draws, rng=rng) for n in sample_sizes])


def _default_sizes(n_people: int) -> list[int]:
    """Return ten equal steps up to all participants, without sizes below 4."""
    steps = np.unique(np.linspace(0, n_people, 11).round().astype(int))
    return [int(size) for size in steps if size >= 4]


def _at_size(
    n: int, count: Any, total: Any, lists: Codes, owner: Codes, *, draws: int, rng: np.random.Generator
) -> dict[str, Any]:
    block = max(1, _BLOCK // max(count.shape))
    parts, units = [], []
    for start in range(0, draws, block):
        first, second = _random_halves(n, lists, owner, size=min(block, draws - start), rng=rng)
        r, shared = _correlations(count, total, first, second)
        parts.append(r)
        units.append(shared)
    r = np.concatenate(parts)
    defined = r[~np.isnan(r)]
    if not len(defined):
        gap = dict.fromkeys(("r", "spearman_brown", "low", "high", "ceiling"))
        return {"n": n, "units": float(np.concatenate(units).mean()), **gap, "status": "too_few"}
    stepped = 2 * defined / (1 + np.maximum(defined, -1 + 1e-12))
    mean = float(stepped.mean())
    low, high = np.percentile(stepped, [2.5, 97.5])
    return {
        "n": n,
        "units": float(np.concatenate(units).mean()),
        "r": float(defined.mean()),
        "spearman_brown": mean,
        "low": float(low),
        "high": float(high),
        "ceiling": mean**0.5 if mean > 0 else None,
        "status": "ok",
    }


def _random_halves(
    n: int, lists: Codes, owner: Codes, *, size: int, rng: np.random.Generator
) -> tuple[Flags, Flags]:
    """Draw n participants and split them into halves balanced within lists; one row per draw."""
    place = np.argsort(np.argsort(rng.random((size, int(owner.max()) + 1)), axis=1), axis=1)
    chosen = (place < n)[:, owner]
    keys = np.where(chosen, lists + rng.random((size, len(lists))), np.inf)
    alternate = (np.arange(len(lists)) + rng.integers(2, size=(size, 1))) % 2 == 0
    in_first = np.zeros((size, len(lists)), dtype=bool)
    np.put_along_axis(in_first, np.argsort(keys, axis=1), alternate, axis=1)
    return in_first & chosen, ~in_first & chosen


def _correlations(count: Any, total: Any, first: Flags, second: Flags) -> tuple[Floats, Floats]:
    means = []
    for half in (first.astype(np.float64), second.astype(np.float64)):
        n = np.asarray((count.T @ half.T).T)
        sums = np.asarray((total.T @ half.T).T)
        means.append(np.divide(sums, n, out=np.full(n.shape, np.nan), where=n > 0))
    judged_by_both = ~np.isnan(means[0]) & ~np.isnan(means[1])
    shared = judged_by_both.sum(axis=1)
    sides = []
    for mean in means:
        filled = np.where(judged_by_both, mean, 0.0)
        centre = np.divide(filled.sum(axis=1), shared, out=np.zeros(len(shared)), where=shared > 0)
        sides.append(np.where(judged_by_both, filled - centre[:, None], 0.0))
    spread = np.sqrt((sides[0] ** 2).sum(axis=1) * (sides[1] ** 2).sum(axis=1))
    defined = (shared >= 3) & (spread > 1e-12)
    product = (sides[0] * sides[1]).sum(axis=1)
    r: Floats = np.divide(product, spread, out=np.full(len(shared), np.nan), where=defined)
    return r, shared.astype(np.float64)
