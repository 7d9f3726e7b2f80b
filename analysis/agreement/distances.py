"""Observed and expected disagreement between numbers, in closed forms on long data.

The parts of Krippendorff's alpha for the levels that need distances; ``unit`` and ``value`` are two
arrays with one entry per answer, of units with at least two answers.
"""

from collections.abc import Iterator

import numpy as np

from analysis.rows import Codes, Floats, joint_codes

_BLOCK = 2_000_000


def interval_disagreements(unit: Codes, value: Floats) -> tuple[float, float]:
    """Give D_o and D_e with d² = (v - w)².

    Parameters
    ----------
    unit : array of int
    value : array of float

    Returns
    -------
    observed, expected : float

    Notes
    -----
    D_o = 2 Σ_i (n_i Q_i - S_i²) / (n_i - 1) / N; D_e = 2 (N Q - S²) / (N (N - 1)), centred first.
    """
    centred = value - value.mean()
    n = np.bincount(unit).astype(np.float64)
    mean = np.divide(np.bincount(unit, weights=centred), n, out=np.zeros(len(n)), where=n > 0)
    within = np.bincount(unit, weights=(centred - mean[unit]) ** 2, minlength=len(n))
    total, several = len(value), n >= 2
    observed = 2 * (n[several] * within[several] / (n[several] - 1)).sum() / total
    expected = 2 * ((centred - centred.mean()) ** 2).sum() / (total - 1)
    return float(observed), float(expected)


def ordinal_disagreements(unit: Codes, value: Floats) -> tuple[float, float]:
    """Give D_o and D_e with d² = (Σ_{g=v..w} n_g - (n_v + n_w) / 2)².

    Parameters
    ----------
    unit : array of int
    value : array of float

    Returns
    -------
    observed, expected : float

    Notes
    -----
    The sum from v to w less half of both ends is the difference of the mid-ranks of v and w, so the
    ordinal level is the interval level of mid-ranks.
    """
    _, place, n = np.unique(value, return_inverse=True, return_counts=True)
    mid_ranks = np.cumsum(n) - n / 2
    return interval_disagreements(unit, mid_ranks[place])


def ratio_disagreements(unit: Codes, value: Floats) -> tuple[float, float]:
    """Give D_o and D_e with d² = ((v - w) / (v + w))², 0 where both are 0.

    Parameters
    ----------
    unit : array of int
    value : array of float
        None of them negative.

    Returns
    -------
    observed, expected : float

    Notes
    -----
    There is no closed form: D_o costs the pairs of different values within units, D_e those
    overall, in blocks of bounded memory.
    """
    values, place = np.unique(value, return_inverse=True)
    cells, unit_of, place_of = joint_codes(unit, place.astype(np.int64))
    count = np.bincount(cells, minlength=len(unit_of)).astype(np.float64)
    n = np.bincount(unit).astype(np.float64)
    total = float(len(value))
    observed = 0.0
    weight = count / np.maximum(n[unit_of] - 1, 1)
    for rows, others in _pairs_within(unit_of):
        observed += float(
            (weight[rows] * count[others] * _ratio(values[place_of[rows]], values[place_of[others]])).sum()
        )
    n_value = np.bincount(place).astype(np.float64)
    expected, width = 0.0, max(1, _BLOCK // len(values))
    for start in range(0, len(values), width):
        block = slice(start, start + width)
        expected += float(n_value[block] @ _ratio(values[block, None], values[None, :]) @ n_value)
    return observed / total, expected / (total * (total - 1))


def _pairs_within(unit_of: Codes) -> Iterator[tuple[Codes, Codes]]:
    """Give all ordered pairs of cells of one unit, in chunks of whole cells; cells come sorted by unit."""
    size = np.bincount(unit_of)
    start = np.concatenate([[0], np.cumsum(size)])[:-1]
    partners = size[unit_of]
    chunk = np.cumsum(partners) // _BLOCK
    for number in range(int(chunk[-1]) + 1 if len(chunk) else 0):
        cells = np.flatnonzero(chunk == number)
        rows = np.repeat(cells, partners[cells])
        first = np.repeat(np.cumsum(partners[cells]) - partners[cells], partners[cells])
        yield rows, start[unit_of[rows]] + np.arange(len(rows)) - first


def _ratio(one: Floats, other: Floats) -> Floats:
    both = one + other
    share: Floats = np.divide(one - other, both, out=np.zeros(np.broadcast(one, other).shape), where=both > 0)
    return share**2
