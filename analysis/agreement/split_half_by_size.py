"""How reliable means would be with fewer participants: split halves of random samples of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy

from analysis.agreement.seats import seats_of
from analysis.columns import require_columns
from analysis.comparison.halves import strata_of
from analysis.errors import BadInput, NotEnoughData
from analysis.rows import Codes, Flags, Floats, group_codes, is_kind, numbers

DRAWS = 200
_BLOCK = 4_000_000


def split_half_by_size(
    judgments: pd.DataFrame,
    *,
    unit: str = "sentence_id",
    sizes: Sequence[int] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> pd.DataFrame:
    """Draw n participants without replacement, split them within list, correlate the halves' unit means.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        As for :func:`analysis.agreement.split_half.split_half`.
    unit : str
        Column of what is averaged.
    sizes : sequence of int, optional
        Numbers of participants; by default ten steps up to all of them.
    draws : int
        Samples of each size.
    seed : int

    Returns
    -------
    DataFrame
        ``n``, ``units`` (mean number of units that both halves judged), ``r``, ``spearman_brown`` (means over
        draws), ``low``, ``high`` (2.5 and 97.5 percentiles of Spearman–Brown over draws: the spread of
        samples, no confidence interval), ``ceiling`` = √Spearman–Brown and ``status``: ``ok`` or ``too_few``.

    Raises
    ------
    MissingColumns, NotEnoughData, BadInput
        If a column is absent, there are fewer than four participants, or a size is out of range.

    See Also
    --------
    analysis.agreement.split_half.split_half : The same with all participants.

    Notes
    -----
    Draws in which fewer than three units are judged by both halves, or do not vary, are left out.

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
    used = is_kind(judgments, ("target",)) & ~np.isnan(value)
    rows = judgments.loc[used]
    person, people = group_codes(rows["participant"])
    thing, things = group_codes(rows[unit])
    if len(people) < 4 or len(things) < 3:
        message = f"{len(people)} participants and {len(things)} units cannot be halved."
        raise NotEnoughData(message, remedy="Reliability by size needs four participants and three units.")
    wanted = list(sizes) if sizes is not None else _steps(len(people))
    if min(wanted) < 2 or max(wanted) > len(people):
        raise BadInput(f"sizes lie between 2 and {len(people)}.", column="sizes")
    seats = seats_of(rows, person, thing)
    lists = strata_of(rows, person, unit=unit) if seats is None else seats.lists
    owner = np.arange(len(people)) if seats is None else seats.person
    person = person if seats is None else seats.of_row
    shape = (len(lists), len(things))
    centred = value[used] - value[used].mean()
    count, total = (
        scipy.sparse.csr_array(scipy.sparse.coo_array((data, (person, thing)), shape=shape).tocsr())
        for data in (np.ones(len(centred)), centred)
    )
    rng = np.random.default_rng(seed)
    return pd.DataFrame([_at(n, count, total, lists, owner, draws=draws, rng=rng) for n in wanted])


def _steps(n_people: int) -> list[int]:
    """Ten even steps up to all participants; fewer where there are few."""
    steps = np.unique(np.linspace(0, n_people, 11).round().astype(int))
    return [int(size) for size in steps if size >= 4]


def _at(
    n: int, count: Any, total: Any, lists: Codes, owner: Codes, *, draws: int, rng: np.random.Generator
) -> dict[str, Any]:
    block = max(1, _BLOCK // max(count.shape))
    parts, units = [], []
    for start in range(0, draws, block):
        first, second = _halves(n, lists, owner, size=min(block, draws - start), rng=rng)
        r, shared = _correlations(count, total, first, second)
        parts.append(r)
        units.append(shared)
    r = np.concatenate(parts)
    known = r[~np.isnan(r)]
    if not len(known):
        gap = dict.fromkeys(("r", "spearman_brown", "low", "high", "ceiling"))
        return {"n": n, "units": float(np.concatenate(units).mean()), **gap, "status": "too_few"}
    stepped = 2 * known / (1 + np.maximum(known, -1 + 1e-12))
    mean = float(stepped.mean())
    low, high = np.percentile(stepped, [2.5, 97.5])
    return {
        "n": n,
        "units": float(np.concatenate(units).mean()),
        "r": float(known.mean()),
        "spearman_brown": mean,
        "low": float(low),
        "high": float(high),
        "ceiling": mean**0.5 if mean > 0 else None,
        "status": "ok",
    }


def _halves(
    n: int, lists: Codes, owner: Codes, *, size: int, rng: np.random.Generator
) -> tuple[Flags, Flags]:
    """Give the seats of both halves of n participants, one row per draw; lists are balanced."""
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
    known = ~np.isnan(means[0]) & ~np.isnan(means[1])
    shared = known.sum(axis=1)
    sides = []
    for mean in means:
        filled = np.where(known, mean, 0.0)
        centre = np.divide(filled.sum(axis=1), shared, out=np.zeros(len(shared)), where=shared > 0)
        sides.append(np.where(known, filled - centre[:, None], 0.0))
    spread = np.sqrt((sides[0] ** 2).sum(axis=1) * (sides[1] ** 2).sum(axis=1))
    defined = (shared >= 3) & (spread > 1e-12)
    product = (sides[0] * sides[1]).sum(axis=1)
    r: Floats = np.divide(product, spread, out=np.full(len(shared), np.nan), where=defined)
    return r, shared.astype(np.float64)
