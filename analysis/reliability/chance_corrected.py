"""Chance-corrected agreement between annotators: Krippendorff's alpha, Fleiss' kappa, Gwet's AC1.

Alpha uses a table of units by scale points if the answers are few whole numbers, and closed forms on
long data otherwise. The coding of forced choices is arbitrary and changes the correction for chance; see
:func:`label_blind`.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from ..columns import require_columns
from ..errors import BadInput, UnknownName
from ..rows import Codes, Floats, chunks, group_codes, joint_codes, joint_counts, merge_answers

# Scale points; a wider range of answers is computed on long data instead.
MAX_POINTS = 128
# Rows per chunk whose temporary arrays stay in the processor's cache.
_CACHE_ROWS = 30_000
# A sparser table would cost more memory than the rows themselves.
_MAX_CELLS_PER_ROW = 2


@dataclass(frozen=True)
class PointCounts:
    """Number of answers at each scale point, for each unit with at least two answers."""

    counts: Floats
    """Units × points."""
    points: Floats


def point_counts(answers: pd.DataFrame) -> PointCounts | None:
    """Count whole numbers of a short scale; None if the answers are not whole numbers or too sparse.

    Examples
    --------
    >>> table = point_counts(pd.DataFrame({"unit": [1, 1, 2], "value": [3.0, 7.0, 3.0]}))
    >>> table.counts.tolist(), table.points.tolist()
    ([[1.0, 1.0]], [3.0, 7.0])
    """
    column = answers["value"]
    if not len(column) or not isinstance(column.dtype, np.dtype) or column.dtype.kind not in "iuf":
        return None
    value, unit = column.to_numpy(dtype=np.float64), answers["unit"]
    if np.isnan(value.min()):
        answered = ~np.isnan(value)
        value, unit = value[answered], unit[answered]
    if not len(value) or not value.max() - value.min() < MAX_POINTS:
        return None
    low, n_points = float(value.min()), int(value.max() - value.min()) + 1
    number, first = _unit_numbers(unit)
    n_cells = (int(number.max()) - first + 1) * n_points
    if n_cells > max(_MAX_CELLS_PER_ROW * len(value), 10_000) or low != np.floor(low):
        return None
    cell_counts = np.zeros(n_cells, dtype=np.int64)
    for rows in chunks(len(value), size=max(_CACHE_ROWS, n_cells)):
        shifted = value[rows] - low
        cells = shifted.astype(np.int64)
        if (shifted != cells).any():
            return None
        cells += (number[rows] - first) * n_points
        cell_counts += np.bincount(cells, minlength=n_cells)
    counts = cell_counts.reshape(-1, n_points)
    occurs = counts.sum(axis=0) > 0
    paired = counts.sum(axis=1) >= 2
    return PointCounts(counts[paired][:, occurs].astype(np.float64), (low + np.arange(n_points))[occurs])


def count_disagreements(table: PointCounts, *, level: str) -> tuple[float, float]:
    """Compute D_o and D_e of a table with at least one unit.

    Notes
    -----
    With coincidences o_vw = Σ_i n_iv n_iw / (n_i - 1) between different points and n_v = Σ_i n_iv,
    D_o = Σ o_vw d²_vw / N and D_e = Σ n_v n_w d²_vw / (N (N - 1)): a product of two small tables.

    References
    ----------
    Krippendorff (2019), *Content Analysis*, 4th edition.

    Examples
    --------
    >>> table = PointCounts(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([1.0, 3.0]))
    >>> count_disagreements(table, level="interval")
    (2.0, 2.0)
    """
    counts = table.counts
    n_point, n_unit = counts.sum(axis=0), counts.sum(axis=1)
    total = float(n_point.sum())
    distances = _squared_distances(table.points, n_point, level=level)
    coincidences = counts.T @ (counts / (n_unit - 1)[:, None])
    observed = float((coincidences * distances).sum()) / total
    return observed, float(n_point @ distances @ n_point) / (total * (total - 1))


def _squared_distances(points: Floats, n_point: Floats, *, level: str) -> Floats:
    if level == "nominal":
        return 1.0 - np.eye(len(points))
    if level == "ratio":
        sums = points[:, None] + points
        share = np.divide(points[:, None] - points, sums, out=np.zeros_like(sums), where=sums != 0)
        return np.square(share)
    place = np.cumsum(n_point) - n_point / 2 if level == "ordinal" else points
    return np.square(place[:, None] - place)


def _unit_numbers(column: pd.Series) -> tuple[Codes, int]:
    """Number the units, and return the lowest number; ids that are already dense integers are kept."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu":
        number = column.to_numpy(dtype=np.int64)
        low = int(number.min())
        if int(number.max()) - low < _MAX_CELLS_PER_ROW * len(number):
            return number, low
    return group_codes(column)[0], 0


# Cells of a distance table in memory at a time (16 MB).
_BLOCK = 2_000_000


def disagreements(
    answers: pd.DataFrame, table: PointCounts | None, *, level: str
) -> tuple[float, float] | None:
    """Compute D_o and D_e at a level of measurement, from the table if there is one."""
    if table is not None:
        unit, value, n_paired = np.zeros(0, dtype=np.int64), table.points, len(table.counts)
    else:
        unit, value = _multiple_answers(answers)
        n_paired = len(unit)
    if not n_paired:
        return None
    if level == "ratio" and value.min() < 0:
        raise BadInput("the ratio level has no negative numbers.", column="value", remedy="Use interval.")
    if table is not None:
        return count_disagreements(table, level=level)
    if value.min() == value.max():
        return 0.0, 0.0
    by_level = {"ordinal": ordinal_disagreements, "interval": interval_disagreements}
    return by_level.get(level, ratio_disagreements)(unit, value)


def _multiple_answers(answers: pd.DataFrame) -> tuple[Codes, Floats]:
    """Return unit and value of the answers to units with at least two answers."""
    rows = answers[answers["value"].notna()]
    unit, units = group_codes(rows["unit"])
    several = (np.bincount(unit, minlength=len(units)) >= 2)[unit] if len(units) else np.zeros(0, dtype=bool)
    return unit[several], rows["value"].to_numpy(dtype=np.float64)[several]


def interval_disagreements(unit: Codes, value: Floats) -> tuple[float, float]:
    """Compute D_o and D_e with d² = (v - w)².

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
    """Compute D_o and D_e with d² = (Σ_{g=v..w} n_g - (n_v + n_w) / 2)².

    Notes
    -----
    The sum from v to w less half of both ends is the difference of the mid-ranks of v and w, so the
    ordinal level is the interval level of mid-ranks.
    """
    _, place, n = np.unique(value, return_inverse=True, return_counts=True)
    mid_ranks = np.cumsum(n) - n / 2
    return interval_disagreements(unit, mid_ranks[place])


def ratio_disagreements(unit: Codes, value: Floats) -> tuple[float, float]:
    """Compute D_o and D_e with d² = ((v - w) / (v + w))², 0 where both are 0.

    Notes
    -----
    There is no closed form: the cost of D_o grows with the pairs of different values within units, that of
    D_e with all pairs of values; both are computed in blocks of bounded memory.
    """
    values, place = np.unique(value, return_inverse=True)
    cells, unit_of, place_of = joint_codes(unit, place.astype(np.int64))
    count = np.bincount(cells, minlength=len(unit_of)).astype(np.float64)
    n = np.bincount(unit).astype(np.float64)
    total = float(len(value))
    observed = 0.0
    weight = count / np.maximum(n[unit_of] - 1, 1)
    for rows, partners in _pairs_within(unit_of):
        distance = _ratio(values[place_of[rows]], values[place_of[partners]])
        observed += float((weight[rows] * count[partners] * distance).sum())
    n_value = np.bincount(place).astype(np.float64)
    expected, width = 0.0, max(1, _BLOCK // len(values))
    for start in range(0, len(values), width):
        block = slice(start, start + width)
        expected += float(n_value[block] @ _ratio(values[block, None], values[None, :]) @ n_value)
    return observed / total, expected / (total * (total - 1))


def _pairs_within(unit_of: Codes) -> Iterator[tuple[Codes, Codes]]:
    """Yield all ordered pairs of cells within units, in chunks of whole cells; cells are sorted by unit."""
    size = np.bincount(unit_of)
    start = np.concatenate([[0], np.cumsum(size)])[:-1]
    partners = size[unit_of]
    chunk = np.cumsum(partners) // _BLOCK
    for number in range(int(chunk[-1]) + 1 if len(chunk) else 0):
        cells = np.flatnonzero(chunk == number)
        rows = np.repeat(cells, partners[cells])
        first = np.repeat(np.cumsum(partners[cells]) - partners[cells], partners[cells])
        yield rows, start[unit_of[rows]] + np.arange(len(rows)) - first


def _ratio(first: Floats, second: Floats) -> Floats:
    sums = first + second
    shape = np.broadcast(first, second).shape
    share: Floats = np.divide(first - second, sums, out=np.zeros(shape), where=sums > 0)
    return share**2


LEVELS = ("nominal", "ordinal", "interval", "ratio")


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement, or None with the reason in ``status``."""

    value: float | None
    status: str = "ok"


@dataclass(frozen=True)
class CategoryCounts:
    """Counts of each category for each unit, as a long table of non-zero cells."""

    unit: Codes
    category: Codes
    count: Floats
    n: Floats
    """Answers of each unit."""
    n_categories: int

    def pairwise(self) -> Floats:
        """Compute the share of agreeing pairs of answers of each unit; NaN below two answers."""
        agreeing = np.bincount(self.unit, weights=self.count * (self.count - 1), minlength=len(self.n))
        pairs = self.n * (self.n - 1)
        shares: Floats = np.divide(agreeing, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)
        return shares


def category_counts(answers: pd.DataFrame) -> CategoryCounts:
    """Count the categories of each unit."""
    require_columns(answers, "unit", "value")
    rows = one_answer_each(answers)
    unit, units = group_codes(rows["unit"])
    category, categories = group_codes(rows["value"])
    count, unit_of, category_of = joint_counts(unit, category)
    n = np.bincount(unit, minlength=len(units)).astype(np.float64)
    return CategoryCounts(unit_of, category_of, count, n, len(categories))


def one_answer_each(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the answers that are present, those of one ``participant`` to one unit merged.

    Notes
    -----
    Without a column ``participant`` each row is the answer of another annotator. Two choices given equally
    often are no category and are left out.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": list("aab"), "unit": 1, "value": [1, 1, 0]})
    >>> one_answer_each(rows)["value"].tolist()
    [1.0, 0.0]
    """
    rows = answers if answers["value"].notna().all() else answers[answers["value"].notna()]
    if "participant" not in rows.columns:
        return rows
    is_number = pd.api.types.is_numeric_dtype(rows["value"])
    values = rows["value"].to_numpy(dtype=np.float64) if is_number else np.zeros(len(rows))
    merged, values = merge_answers(rows, values, unit="unit")
    if len(merged) == len(rows):
        return rows
    if not is_number:
        message = "a participant answered a unit more than once."
        raise BadInput(message, column="participant", remedy="Give one answer of each participant.")
    is_category = (values != 0.5) | (rows["value"] == 0.5).any()
    counted: pd.DataFrame = merged.assign(value=values)[is_category]
    return counted


def binary_counts(k: Codes, n: Codes) -> CategoryCounts:
    """Count two categories from k of n answers of each unit; units without answers are left out.

    Examples
    --------
    >>> binary_counts(np.array([3, 0]), np.array([4, 0])).count.tolist()
    [1.0, 3.0]
    """
    chosen, total = np.asarray(k)[n > 0].astype(np.float64), np.asarray(n)[n > 0].astype(np.float64)
    unit = np.arange(len(total))
    n_used = int(chosen.sum() > 0) + int((total - chosen).sum() > 0)
    return CategoryCounts(
        unit=np.concatenate([unit, unit]),
        category=np.repeat([0, 1], len(total)),
        count=np.concatenate([total - chosen, chosen]),
        n=total,
        n_categories=n_used,
    )


def percent_agreement(answers: pd.DataFrame | CategoryCounts) -> Coefficient:
    """Compute the mean over units of the share of agreeing pairs of answers.

    Notes
    -----
    P = mean_i Σ_v n_iv (n_iv - 1) / (n_i (n_i - 1)).
    """
    return _mean(_as_category_counts(answers).pairwise())


def fleiss_kappa(answers: pd.DataFrame | CategoryCounts) -> Coefficient:
    """Compute Fleiss' kappa, which requires the same number of answers on each unit.

    References
    ----------
    Fleiss (1971), Psychological Bulletin 76.
    """
    counts = _as_category_counts(answers)
    observed = _mean(counts.pairwise())
    if observed.value is None:
        return observed
    if len(np.unique(counts.n)) > 1:
        return Coefficient(None, "unequal_n")
    share = np.bincount(counts.category, weights=counts.count) / counts.n.sum()
    expected = float((share**2).sum())
    if counts.n_categories < 2:
        return Coefficient(None, "no_variation")
    return Coefficient((observed.value - expected) / (1 - expected))


def gwet_ac1(answers: pd.DataFrame | CategoryCounts) -> Coefficient:
    """Compute Gwet's AC1, which stays close to percent agreement if one category prevails.

    Notes
    -----
    P_e = Σ_v π_v (1 - π_v) / (q - 1) with π_v the mean over all units of n_iv / n_i and q the
    number of categories used; the observed P is over units with at least two answers.

    References
    ----------
    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61.
    """
    counts = _as_category_counts(answers)
    observed = _mean(counts.pairwise())
    if observed.value is None:
        return observed
    share = np.bincount(counts.category, weights=counts.count / counts.n[counts.unit]) / len(counts.n)
    chance = float((share * (1 - share)).sum()) / max(counts.n_categories - 1, 1)
    return Coefficient((observed.value - chance) / (1 - chance))


def krippendorff_alpha(answers: pd.DataFrame | CategoryCounts, *, level: str = "nominal") -> Coefficient:
    """Compute Krippendorff's alpha = 1 - D_o / D_e in one pass over long data.

    Parameters
    ----------
    answers : DataFrame, one row per answer, or CategoryCounts
        A frame needs ``unit`` and ``value``; levels other than nominal need numeric values. Units
        with a single answer are left out. With ``participant``, several answers of one participant to a
        unit count once.
    level : {"nominal", "ordinal", "interval", "ratio"}
        Level of measurement, which defines the distance between two answers: 1 if different (nominal), by
        ranks (ordinal), (a - b)² (interval) or ((a - b) / (a + b))² (ratio).

    Returns
    -------
    Coefficient
        ``status`` is ``no_data`` if no unit has two answers, and ``no_variation`` if all answers are equal.

    Raises
    ------
    UnknownName
        If the level is unknown.
    BadInput
        If a value is negative at the ratio level, or if counts are given for a level other than nominal.

    Notes
    -----
    Nominal: D_o = Σ_i (n_i² - Σ_v n_iv²) / (n_i - 1) / N, D_e = (N² - Σ n_v²) / (N (N - 1)).
    Interval: D_o = 2 Σ_i (n_i Q_i - S_i²) / (n_i - 1) / N, D_e = 2 (N Q - S²) / (N (N - 1)). Ordinal: the
    interval level of mid-ranks. Ratio: d² = ((v - w) / (v + w))²; its cost grows with the square of the
    number of different values. Whole numbers of a short scale are counted first, in a table of units by
    points.

    References
    ----------
    Krippendorff (2019), *Content Analysis*, 4th edition.

    Examples
    --------
    >>> krippendorff_alpha(pd.DataFrame({"unit": [1, 1, 2, 2], "value": [0, 0, 1, 1]})).value
    1.0
    """
    if level not in LEVELS:
        raise UnknownName("level of measurement", level, LEVELS)
    if level != "nominal" and isinstance(answers, CategoryCounts):
        raise BadInput("counts have no distances.", remedy="Give the answers themselves.")
    if isinstance(answers, pd.DataFrame):
        require_columns(answers, "unit", "value")
        answers = one_answer_each(answers)
        table = point_counts(answers)
        if table is not None or level != "nominal":
            parts = disagreements(answers, table, level=level)
            return Coefficient(None, "no_data") if parts is None else _alpha(*parts)
    counts = _as_category_counts(answers)
    paired = counts.n >= 2
    total = counts.n[paired].sum()
    if total == 0:
        return Coefficient(None, "no_data")
    in_paired = paired[counts.unit]
    unit, count = counts.unit[in_paired], counts.count[in_paired]
    squares = np.bincount(unit, weights=count**2, minlength=len(counts.n))
    observed = ((counts.n**2 - squares)[paired] / (counts.n[paired] - 1)).sum() / total
    by_category = np.bincount(counts.category[in_paired], weights=count)
    expected = (total**2 - (by_category**2).sum()) / (total * (total - 1))
    return _alpha(observed, expected)


def _alpha(observed: float, expected: float) -> Coefficient:
    return Coefficient(float(1 - observed / expected)) if expected else Coefficient(None, "no_variation")


def label_blind(k: Codes, n: Codes, *, names: Sequence[str]) -> Codes:
    """Recode forced choices independently of the expected label.

    Notes
    -----
    The result counts choices of one member, for about half of the pairs the expected one: a hash of the
    pair's name decides, so that the coding is reproducible.

    Coded by *expected*, nearly all answers are in one category and alpha collapses (the prevalence paradox):
    .135 on BLiMP's batch, against .649 coded label-blind. Percent agreement is the same.
    """
    reverse = np.array([is_reversed(name) for name in names], dtype=bool)
    recoded: Codes = np.where(reverse, n - k, k)
    return recoded


@lru_cache(maxsize=2**16)  # a report asks twice for each of its pairs
def is_reversed(name: str) -> bool:
    """Return whether a pair is coded by its other member, by a hash of its name."""
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


def _as_category_counts(answers: pd.DataFrame | CategoryCounts) -> CategoryCounts:
    return answers if isinstance(answers, CategoryCounts) else category_counts(answers)


def _mean(pairwise: Floats) -> Coefficient:
    defined = pairwise[~np.isnan(pairwise)]
    return Coefficient(float(defined.mean())) if len(defined) else Coefficient(None, "no_data")
