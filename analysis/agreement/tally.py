"""Disagreement counted in a table of units by points, where answers are the few points of a scale."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.rows import Codes, Floats, chunks, group_codes

MOST_POINTS = 128
_IN_CACHE = 30_000
_MOST_SPREAD = 2
"""Cells of the table for each row, and units that there could be for each row."""


@dataclass(frozen=True)
class Tally:
    """How often each point was given to each unit that has two answers or more."""

    counts: Floats
    """Units by points."""
    points: Floats


def tally(answers: pd.DataFrame) -> Tally | None:
    """Count whole numbers of a short scale; None where the answers are others or too spread out.

    Parameters
    ----------
    answers : DataFrame, one row per answer
        ``unit`` and ``value``; rows without a value are left out.

    Returns
    -------
    Tally or None
        Points that nobody gave are left out.

    Examples
    --------
    >>> found = tally(pd.DataFrame({"unit": [1, 1, 2], "value": [3.0, 7.0, 3.0]}))
    >>> found.counts.tolist(), found.points.tolist()
    ([[1.0, 1.0]], [3.0, 7.0])
    """
    column = answers["value"]
    if not len(column) or not isinstance(column.dtype, np.dtype) or column.dtype.kind not in "iuf":
        return None
    value, unit = column.to_numpy(dtype=np.float64), answers["unit"]
    if np.isnan(value.min()):
        known = ~np.isnan(value)
        value, unit = value[known], unit[known]
    if not len(value) or not value.max() - value.min() < MOST_POINTS:
        return None
    low, n_points = float(value.min()), int(value.max() - value.min()) + 1
    number, first = _numbered(unit)
    n_cells = (int(number.max()) - first + 1) * n_points
    if n_cells > max(_MOST_SPREAD * len(value), 10_000) or low != np.floor(low):
        return None
    found = np.zeros(n_cells, dtype=np.int64)
    for rows in chunks(len(value), size=max(_IN_CACHE, n_cells)):
        shifted = value[rows] - low
        cells = shifted.astype(np.int64)
        if (shifted != cells).any():
            return None
        cells += (number[rows] - first) * n_points
        found += np.bincount(cells, minlength=n_cells)
    counts = found.reshape(-1, n_points)
    used = counts.sum(axis=0) > 0
    paired = counts.sum(axis=1) >= 2
    return Tally(counts[paired][:, used].astype(np.float64), (low + np.arange(n_points))[used])


def tallied_disagreements(tallied: Tally, *, level: str) -> tuple[float, float]:
    """Give D_o and D_e of a tally with at least one unit.

    Parameters
    ----------
    tallied : Tally
    level : {"nominal", "ordinal", "interval", "ratio"}

    Returns
    -------
    observed, expected : float

    Notes
    -----
    With coincidences o_vw = Σ_i n_iv n_iw / (n_i - 1) between different points and n_v = Σ_i n_iv,
    D_o = Σ o_vw d²_vw / N and D_e = Σ n_v n_w d²_vw / (N (N - 1)): a product of two small tables.

    References
    ----------
    Krippendorff (2019), *Content Analysis*, 4th edition.

    Examples
    --------
    >>> one = Tally(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([1.0, 3.0]))
    >>> tallied_disagreements(one, level="interval")
    (2.0, 2.0)
    """
    counts = tallied.counts
    n_point, n_unit = counts.sum(axis=0), counts.sum(axis=1)
    total = float(n_point.sum())
    distances = _squared_distances(tallied.points, n_point, level=level)
    coincidences = counts.T @ (counts / (n_unit - 1)[:, None])
    observed = float((coincidences * distances).sum()) / total
    return observed, float(n_point @ distances @ n_point) / (total * (total - 1))


def _squared_distances(points: Floats, n_point: Floats, *, level: str) -> Floats:
    if level == "nominal":
        return 1.0 - np.eye(len(points))
    if level == "ratio":
        both = points[:, None] + points
        share = np.divide(points[:, None] - points, both, out=np.zeros_like(both), where=both != 0)
        return np.square(share)
    place = np.cumsum(n_point) - n_point / 2 if level == "ordinal" else points
    return np.square(place[:, None] - place)


def _numbered(column: pd.Series) -> tuple[Codes, int]:
    """Number the units in any order, and give the first number; whole numbers in a narrow range stay."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu":
        number = column.to_numpy(dtype=np.int64)
        low = int(number.min())
        if int(number.max()) - low < _MOST_SPREAD * len(number):
            return number, low
    return group_codes(column)[0], 0
