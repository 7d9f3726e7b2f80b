"""Observed and expected disagreement between numbers, in closed forms on long data.

The parts of Krippendorff's alpha for the levels that need distances; ``unit`` and ``value`` are two
arrays with one entry per answer, of units with at least two answers.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.agreement.tally import Tally, tallied_disagreements
from analysis.errors import BadInput
from analysis.joint_groups import joint_codes
from analysis.rows import Codes, Floats, group_codes

_BLOCK = 2_000_000


def disagreements(answers: pd.DataFrame, tallied: Tally | None, *, level: str) -> tuple[float, float] | None:
    """Give D_o and D_e at a level of measurement, from the tally where there is one.

    Parameters
    ----------
    answers : DataFrame, one row per answer
        ``unit`` and ``value``, numbers.
    tallied : Tally or None
        As from :func:`analysis.agreement.tally.tally`.
    level : {"nominal", "ordinal", "interval", "ratio"}
        ``nominal`` needs a tally.

    Returns
    -------
    observed, expected : float
        None where no unit has two answers; ``expected`` is 0 where all answers are equal.

    Raises
    ------
    BadInput
        If the ratio level meets a negative number.

    See Also
    --------
    analysis.agreement.chance_corrected.krippendorff_alpha : One less their ratio.
    """
    if tallied is not None:
        unit, value, n_paired = np.zeros(0, dtype=np.int64), tallied.points, len(tallied.counts)
    else:
        unit, value = _paired(answers)
        n_paired = len(unit)
    if not n_paired:
        return None
    if level == "ratio" and value.min() < 0:
        raise BadInput("the ratio level has no negative numbers.", column="value", remedy="Use interval.")
    if tallied is not None:
        return tallied_disagreements(tallied, level=level)
    if value.min() == value.max():
        return 0.0, 0.0
    by_level = {"ordinal": ordinal_disagreements, "interval": interval_disagreements}
    return by_level.get(level, ratio_disagreements)(unit, value)


def _paired(answers: pd.DataFrame) -> tuple[Codes, Floats]:
    """Give unit and value of the answers to units with at least two."""
    known = answers[answers["value"].notna()]
    unit, units = group_codes(known["unit"])
    several = (np.bincount(unit, minlength=len(units)) >= 2)[unit] if len(units) else np.zeros(0, dtype=bool)
    return unit[several], known["value"].to_numpy(dtype=np.float64)[several]


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
