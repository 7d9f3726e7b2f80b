"""Intervals of shares with participants as clusters: by bootstrap, and in closed form for few participants.

Pooled binomial intervals ignore the clusters and are about 2.7 times too narrow on BLiMP's batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from ..aggregation.proportions import wilson_interval
from ..choices import INTERVAL_METHODS
from ..errors import UnknownName
from ..rows import Codes, Floats, chunks

DRAWS = 10_000
# Participants × groups; larger tables are sparse (320 MB dense).
DENSE_CELLS = 40_000_000
# Multiplications; about ten seconds, beyond which the closed form is used.
WORK = 20_000_000_000
# Cost of resampling one participant, in multiplications.
_COST_OF_DRAWING = 100
_CHUNK_CELLS = 4_000_000  # cells of a block of samples (32 MB)
# Bootstrap ratios in memory at a time (120 MB).
_STORED_RATIOS = 15_000_000


@dataclass(frozen=True)
class Intervals:
    """Lower and upper ends of several ratios, and the method of each."""

    low: Floats
    high: Floats
    method: list[str]


@dataclass(frozen=True)
class Linearization:
    """Ratios Σ S / Σ N of several columns, and what their linearized variances need."""

    ratio: Floats
    bottom: Floats
    """Σ N."""
    squares: Floats
    """Σ (S_c - A N_c)² over the clusters, A the ratio."""
    contributors: Codes
    """Clusters whose N is not 0."""

    def variance(self, n_clusters: npt.ArrayLike) -> Floats:
        """Compute C / (C - 1) Σ (S_c - A N_c)² / (Σ N)² for C clusters."""
        n = np.asarray(n_clusters, dtype=np.float64)
        squares = self.squares * n / np.maximum(n - 1, 1)
        variance: Floats = np.full(len(self.ratio), np.nan)
        np.divide(squares, self.bottom**2, out=variance, where=self.bottom > 0)
        return variance


def cluster_sums(values: Floats, clusters: Codes, groups: Codes, *, shape: tuple[int, int]) -> Any:
    """Sum values by cluster and group.

    Examples
    --------
    >>> cluster_sums(np.ones(3), np.array([0, 0, 1]), np.array([0, 1, 1]), shape=(2, 2)).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    cells = shape[0] * shape[1]
    if cells <= DENSE_CELLS:
        return np.bincount(clusters * shape[1] + groups, weights=values, minlength=cells).reshape(shape)
    return scipy.sparse.csr_array((values, (clusters, groups)), shape=shape)


def ratio_sums(
    values: Floats,
    clusters: Codes,
    items: Codes,
    weight_of: Floats,
    group_of: Codes,
    *,
    shape: tuple[int, int],
) -> tuple[Any, Any]:
    """Sum values times the weight of their item, and the weights alone, by cluster and group.

    Examples
    --------
    >>> tops, bottoms = ratio_sums(np.array([1.0, 0.0]), np.array([0, 0]), np.array([0, 1]),
    ...     np.array([0.5, 0.25]), np.array([0, 0]), shape=(1, 1))
    >>> tops.tolist(), bottoms.tolist()
    ([[0.5]], [[0.75]])
    """
    if shape[0] * shape[1] > DENSE_CELLS:
        weight, group = weight_of[items], group_of[items]
        return (
            cluster_sums(values * weight, clusters, group, shape=shape),
            cluster_sums(weight, clusters, group, shape=shape),
        )
    tops, bottoms = np.zeros(shape), np.zeros(shape)
    for rows in chunks(len(values)):
        weight = weight_of[items[rows]]
        cells = clusters[rows] * shape[1] + group_of[items[rows]]
        np.add.at(tops.reshape(-1), cells, values[rows] * weight)
        np.add.at(bottoms.reshape(-1), cells, weight)
    return tops, bottoms


FEW_PARTICIPANTS = 40
"""Below this number the percentile bootstrap covers less than its nominal level."""
_NAMES = {
    "wilson": "participant_wilson_effective",
    "percentile": "participant_bootstrap",
    "bootstrap-t": "participant_bootstrap_t",
    "bca": "participant_bca",
}


def participant_intervals(
    numerators: Any,
    denominators: Any,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    confidence: float = 0.95,
    method: str = "auto",
) -> Intervals:
    """Compute participant-cluster intervals of Σ numerators / Σ denominators for each column.

    Notes
    -----
    ``method`` of each column is ``participant_wilson_effective``, the default below 40 participants;
    ``participant_bootstrap`` (percentiles), the default from 40 on; ``participant_bootstrap_t`` or
    ``participant_bca`` where asked for; ``participant_linearized``, the closed form, used if draws ×
    participants × (statistics + 100) exceeds 2 · 10¹⁰, that is from about 18,000 participants on;
    ``participant_wilson``, Wilson over participants, if all participants have the same share, so that nothing
    estimates their variance; or ``none`` (NaN ends) if fewer than two participants contribute.

    Bootstrap: weights W ~ Multinomial(C; 1/C) over the C participants, statistic
    (W·S) / (W·N). Linearized: variance V = C/(C-1) Σ (S_c - A N_c)² / (Σ N)², normal quantiles, cut to
    [0, 1]. Wilson: score interval of A with A (1 - A) / V in place of the number of judgments and the
    quantile of t with C - 1 degrees of freedom. In simulations with 8 to 20 participants the percentile
    bootstrap covers .91 on average, BCa .92, bootstrap-t .96 with intervals up to eight times as wide, Wilson
    .96 (``benchmarks/analysis/bench_coverage.py``). All generalize over speakers, not over items.

    References
    ----------
    Owen (2007), "The pigeonhole bootstrap", Annals of Applied Statistics 1; Dean & Pagano (2015), Journal of
    Survey Statistics and Methodology 3(4), 484–503; Efron & Tibshirani (1993), *An Introduction to the
    Bootstrap*.
    """
    if method not in INTERVAL_METHODS:
        raise UnknownName("method of intervals", method, list(INTERVAL_METHODS))
    n_clusters, n_columns = numerators.shape
    work = draws * n_clusters * (n_columns + _COST_OF_DRAWING)
    low, high = np.full(n_columns, np.nan), np.full(n_columns, np.nan)
    names = np.full(n_columns, _NAMES.get(method, _NAMES["percentile"]), dtype=object)
    terms = linearize(numerators, denominators)
    in_closed_form = np.zeros(n_columns, dtype=bool)
    if method in ("auto", "wilson"):
        in_closed_form = (terms.contributors < FEW_PARTICIPANTS) | (method == "wilson")
    resampled = np.flatnonzero(~in_closed_form)
    if in_closed_form.any():
        ends = effective_wilson_interval(terms, confidence=confidence)
        low[in_closed_form], high[in_closed_form] = (end[in_closed_form] for end in ends)
        names[in_closed_form] = _NAMES["wilson"]
    if len(resampled) and (draws == 0 or work > WORK or scipy.sparse.issparse(numerators)):
        ends = linearized_interval(terms, n_clusters=n_clusters, confidence=confidence)
        low[resampled], high[resampled] = (end[resampled] for end in ends)
        names[resampled] = "participant_linearized"
    elif len(resampled):
        interval = {"bootstrap-t": bootstrap_t_interval, "bca": bca_interval}.get(method, percentile_interval)
        width = max(1, _STORED_RATIOS // draws)
        for start in range(0, len(resampled), width):
            block = resampled[start : start + width]
            # Same samples for every block of columns.
            rng = np.random.default_rng(seed)
            low[block], high[block] = interval(
                numerators[:, block], denominators[:, block], draws=draws, rng=rng, confidence=confidence
            )
    intervals = Intervals(low, high, names.tolist())
    _replace_degenerate_intervals(intervals, terms, confidence=confidence)
    return intervals


def _replace_degenerate_intervals(intervals: Intervals, terms: Linearization, *, confidence: float) -> None:
    """Replace intervals where all participants have one share; set those of fewer than two to NaN."""
    n_people, ratio = terms.contributors, terms.ratio
    is_constant = terms.variance(n_people) <= 1e-12 * np.maximum(ratio, 1e-12) ** 2
    for column in np.flatnonzero((n_people < 2) | is_constant):
        low, high = np.nan, np.nan
        if n_people[column] >= 2:
            n = n_people[column]
            ends = wilson_interval(ratio[column] * n, n, confidence=confidence)
            low, high = float(ends[0]), float(ends[1])
        intervals.low[column], intervals.high[column] = low, high
        intervals.method[column] = "participant_wilson" if n_people[column] >= 2 else "none"


def effective_wilson_interval(terms: Linearization, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Compute the score interval of each ratio with the effective number of independent judgments.

    Notes
    -----
    n = A (1 - A) / V, with V the linearized variance over the C participants of the column; quantile of t
    with C - 1 degrees of freedom. NaN where V is 0 or fewer than two participants contribute.

    References
    ----------
    Dean & Pagano (2015), Journal of Survey Statistics and Methodology 3(4), 484–503; Korn & Graubard (1998),
    Survey Methodology 24(2), 193–201.

    Examples
    --------
    >>> terms = linearize(np.array([[3.0], [1.0], [2.0]]), np.full((3, 1), 4.0))
    >>> low, high = effective_wilson_interval(terms)
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.111, 0.889)
    """
    n_people, ratio, variance = terms.contributors, terms.ratio, terms.variance(terms.contributors)
    q2 = scipy.stats.t.ppf(0.5 + confidence / 2, np.maximum(n_people - 1, 1)) ** 2
    spread = ratio * (1 - ratio)
    n = np.divide(spread, variance, out=np.full(len(ratio), np.nan), where=(variance > 0) & (n_people > 1))
    centre = (ratio + q2 / (2 * n)) / (1 + q2 / n)
    half = np.sqrt(q2 * (spread / n + q2 / (4 * n**2))) / (1 + q2 / n)
    return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


def percentile_interval(
    numerators: Floats, denominators: Floats, *, draws: int, rng: np.random.Generator, confidence: float
) -> tuple[Floats, Floats]:
    """Compute the percentile interval of each ratio."""
    ratios = bootstrap_ratios(numerators, denominators, draws=draws, rng=rng)
    return percentiles(ratios, confidence=confidence)


def bootstrap_t_interval(
    numerators: Floats, denominators: Floats, *, draws: int, rng: np.random.Generator, confidence: float
) -> tuple[Floats, Floats]:
    """Compute the bootstrap-t interval of each ratio, studentized by the linearized standard error.

    Notes
    -----
    A - t*(1 - α/2) SE to A - t*(α/2) SE, cut at 0 and 1. A sample without variance has an infinite t*, and
    an end without a finite quantile is 0 or 1.

    References
    ----------
    Efron & Tibshirani (1993), *An Introduction to the Bootstrap*, §12.5.
    """
    terms = linearize(numerators, denominators)
    ratio, variance = terms.ratio, terms.variance(terms.contributors)
    ratios, errors = _bootstrap_ratios_and_errors(numerators, denominators, draws=draws, rng=rng)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (ratios - ratio) / errors  # infinite without variance, NaN where the sample is at A itself
    tails = [1 - (1 - confidence) / 2, (1 - confidence) / 2]
    ends = np.full((2, len(ratio)), np.nan)
    for column in range(len(ratio)):
        defined = np.sort(
            np.nan_to_num(t[~np.isnan(ratios[:, column]), column], posinf=np.inf, neginf=-np.inf)
        )
        if len(defined):
            ranks = [min(len(defined) - 1, int(tail * len(defined))) for tail in tails]
            ends[:, column] = ratio[column] - defined[ranks] * np.sqrt(variance[column])
    return np.clip(ends[0], 0, 1), np.clip(ends[1], 0, 1)


def _bootstrap_ratios_and_errors(
    numerators: Floats, denominators: Floats, *, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Resample clusters and recompute every ratio with its linearized standard error."""
    n_clusters, n_columns = numerators.shape
    products = [numerators, denominators, numerators**2, numerators * denominators, denominators**2]
    stacked = np.hstack(products)
    ratios, errors = np.full((draws, n_columns), np.nan), np.full((draws, n_columns), np.nan)
    for rows, weights in _samples(n_clusters, 5 * n_columns, draws=draws, rng=rng):
        top, bottom, tops, cross, bottoms = np.split(weights @ stacked, 5, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = top / bottom
            squares = np.maximum(tops - 2 * ratio * cross + ratio**2 * bottoms, 0)
            squares[squares < 1e-12 * bottoms] = 0  # rounding of equal shares
            ratios[rows] = ratio
            errors[rows] = np.sqrt(squares * n_clusters / max(n_clusters - 1, 1)) / bottom
    return ratios, errors


def bca_interval(
    numerators: Floats, denominators: Floats, *, draws: int, rng: np.random.Generator, confidence: float
) -> tuple[Floats, Floats]:
    """Compute the bias-corrected and accelerated interval of each ratio.

    Notes
    -----
    Acceleration from the jackknife over participants; samples at A itself count half in the bias correction.

    References
    ----------
    Efron (1987), Journal of the American Statistical Association 82.
    """
    ratio = linearize(numerators, denominators).ratio
    ratios = bootstrap_ratios(numerators, denominators, draws=draws, rng=rng)
    bottom = denominators.sum(axis=0) - denominators
    jack = np.divide(numerators.sum(axis=0) - numerators, bottom, out=np.tile(ratio, (len(bottom), 1)),
                     where=bottom > 0)  # fmt: skip
    apart = jack.mean(axis=0) - jack
    cubes, squares = (apart**3).sum(axis=0), (apart**2).sum(axis=0)
    speed = np.divide(cubes, 6 * squares**1.5, out=np.zeros(len(ratio)), where=squares > 0)
    ends = np.full((2, len(ratio)), np.nan)
    for column in range(len(ratio)):
        values = ratios[~np.isnan(ratios[:, column]), column]
        if not len(values):
            continue
        below = np.mean(values < ratio[column]) + np.mean(values == ratio[column]) / 2
        bias = scipy.stats.norm.ppf(np.clip(below, 1 / (len(values) + 1), len(values) / (len(values) + 1)))
        z = bias + scipy.stats.norm.ppf([(1 - confidence) / 2, 1 - (1 - confidence) / 2])
        ends[:, column] = np.quantile(values, scipy.stats.norm.cdf(bias + z / (1 - speed[column] * z)))
    return ends[0], ends[1]


def _samples(
    n_clusters: int, n_columns: int, *, draws: int, rng: np.random.Generator
) -> Iterator[tuple[slice, Floats]]:
    """Yield blocks of samples: how often each cluster was drawn."""
    block = max(1, min(draws, _CHUNK_CELLS // max(n_clusters, n_columns, 1)))
    for start in range(0, draws, block):
        size = min(block, draws - start)
        sampled = rng.integers(n_clusters, size=(size, n_clusters))
        sampled += np.arange(size)[:, None] * n_clusters
        weights = np.bincount(sampled.ravel(), minlength=size * n_clusters).reshape(size, n_clusters)
        yield slice(start, start + size), weights.astype(np.float64)


def bootstrap_ratios(
    numerators: Floats, denominators: Floats, *, draws: int, rng: np.random.Generator
) -> Floats:
    """Resample clusters and recompute every ratio.

    Notes
    -----
    Samples are drawn in blocks, so that memory grows with draws × statistics only.
    """
    n_clusters, n_columns = numerators.shape
    stacked = np.hstack([numerators, denominators])
    ratios = np.full((draws, n_columns), np.nan)
    for rows, weights in _samples(n_clusters, 2 * n_columns, draws=draws, rng=rng):
        top, bottom = np.split(weights @ stacked, 2, axis=1)
        np.divide(top, bottom, out=ratios[rows], where=bottom > 0)
    return ratios


def percentiles(ratios: Floats, *, confidence: float) -> tuple[Floats, Floats]:
    """Compute the percentile interval of each column, without samples that have no data.

    Examples
    --------
    >>> low, high = percentiles(np.arange(101.0)[:, None], confidence=0.9)
    >>> low.round(1).tolist(), high.round(1).tolist()
    ([5.0], [95.0])
    """
    tails = [(1 - confidence) / 2, 1 - (1 - confidence) / 2]
    ends = np.full((2, ratios.shape[1]), np.nan)
    complete = np.logical_not(np.isnan(ratios).any(axis=0))
    if complete.any():
        ends[:, complete] = np.quantile(ratios[:, complete], tails, axis=0)
    for column in np.flatnonzero(~complete):
        defined = ratios[:, column][~np.isnan(ratios[:, column])]
        if len(defined):
            ends[:, column] = np.quantile(defined, tails)
    return ends[0], ends[1]


def linearized_interval(
    terms: Linearization, *, n_clusters: int, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """Compute the closed-form cluster interval of each ratio.

    Notes
    -----
    A = Σ S / Σ N; variance C / (C - 1) Σ (S_c - A N_c)² / (Σ N)² over all C clusters;
    A ± z SE, cut at 0 and 1.

    References
    ----------
    Cochran (1977), *Sampling Techniques*, §3.12: proportions in cluster samples.

    Examples
    --------
    >>> terms = linearize(np.array([[3.0], [1.0], [2.0]]), np.full((3, 1), 4.0))
    >>> low, high = linearized_interval(terms, n_clusters=3)
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.217, 0.783)
    """
    z = float(scipy.stats.norm.ppf(0.5 + confidence / 2))
    ratio, se = terms.ratio, np.sqrt(terms.variance(n_clusters))
    return np.clip(ratio - z * se, 0, 1), np.clip(ratio + z * se, 0, 1)


def linearize(numerators: Any, denominators: Any) -> Linearization:
    """Compute the terms of the linearized variance of Σ numerators / Σ denominators for each column.

    Examples
    --------
    >>> terms = linearize(np.array([[3.0], [1.0], [2.0]]), np.full((3, 1), 4.0))
    >>> terms.ratio.tolist(), terms.squares.tolist(), terms.contributors.tolist()
    ([0.5], [2.0], [3])
    """
    top = np.asarray(numerators.sum(axis=0), dtype=np.float64).ravel()
    bottom = np.asarray(denominators.sum(axis=0), dtype=np.float64).ravel()
    ratio = np.divide(top, bottom, out=np.full(len(top), np.nan), where=bottom > 0)
    finite = np.nan_to_num(ratio)
    squares = (
        _column_products(numerators, numerators)
        - 2 * finite * _column_products(numerators, denominators)
        + finite**2 * _column_products(denominators, denominators)
    ).clip(min=0)
    contributors = np.asarray((denominators > 0).sum(axis=0), dtype=np.int64).ravel()
    return Linearization(ratio, bottom, squares, contributors)


def _column_products(first: Any, second: Any) -> Floats:
    if isinstance(first, np.ndarray):
        products: Floats = np.einsum("ij,ij->j", first, second)
        return products
    return np.asarray(first.multiply(second).sum(axis=0), dtype=np.float64).ravel()
