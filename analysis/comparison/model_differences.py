"""Tests of every two models on the same pairs: cluster flips, exact McNemar, corrections and intervals."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from ..multiple_tests import with_adjusted
from ..rows import none_if_nan
from .criteria import FloatArray, Signs, acceptability_delta_criterion, as_floats
from .intervals import BLOCK, cluster_bootstrap, cluster_sums, cluster_weights, percentiles
from .pairs import PairTable

FLIPS = 10_000


def mcnemar_p(first: npt.ArrayLike, second: npt.ArrayLike) -> float | None:
    """Return the exact McNemar p of two models' passes on the same pairs.

    Notes
    -----
    It treats pairs as independent, which pairs of one phenomenon are not: prefer
    :func:`cluster_flip_p`.

    Examples
    --------
    >>> round(mcnemar_p([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0]), 4)
    0.0625
    """
    difference = as_floats(first) - as_floats(second)
    better, worse = int((difference > 0).sum()), int((difference < 0).sum())
    if better + worse == 0:
        return None
    return float(scipy.stats.binomtest(better, better + worse).pvalue)


def cluster_flip_p(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    clusters: pd.Series,
    *,
    rng: np.random.Generator,
    flips: int = FLIPS,
) -> float | None:
    """Return the p of a permutation test that exchanges the two models in whole clusters at random.

    Notes
    -----
    ``(1 + #{|T*| >= |T|}) / (1 + flips)`` with T the difference in number passed; None when no cluster
    differs.

    Examples
    --------
    >>> families = pd.Series(list("abcdef"))
    >>> p = cluster_flip_p([1] * 6, [0] * 6, families, rng=np.random.default_rng(0), flips=1000)
    >>> 0.02 < p < 0.05  # two of 64 exchanges are as far
    True
    """
    difference = as_floats(first) - as_floats(second)
    sums, _ = cluster_sums(clusters, difference[:, None])
    by_cluster = sums[:, 0]
    if not by_cluster.any():
        return None
    by_cluster = by_cluster[by_cluster != 0]  # exchanging models in a cluster of zeros changes nothing
    block = max(1, BLOCK // by_cluster.size)  # bounds the memory of the matrix of signs
    as_extreme = 0
    for start in range(0, flips, block):
        signs = rng.integers(0, 2, size=(min(block, flips - start), by_cluster.size)) * 2.0 - 1.0
        # Ties count as extreme; without the tolerance, rounding of the sums would decide them.
        as_extreme += int((np.abs(signs @ by_cluster) >= abs(by_cluster.sum()) - 1e-9).sum())
    return (1 + as_extreme) / (1 + flips)  # the observed assignment is one of the permutations


def model_differences(
    table: PairTable, *, deltas: Sequence[float], signs: Signs, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Test the ADC of every two models at every δ on the pairs that both scored.

    Notes
    -----
    ``a``, ``b``, ``delta``, ``pairs``, ``difference`` (ADC of a minus that of b), ``p`` (cluster flip),
    ``p_mcnemar``, ``p_holm`` and ``p_bh`` (over the pairs of models at one δ).

    References
    ----------
    McNemar (1947), Psychometrika 12; Holm (1979), Scandinavian Journal of Statistics 6.
    """
    columns = ("pairs", "difference", "p", "p_mcnemar", "p_holm", "p_bh")
    return [
        {"a": row["a"], "b": row["b"], "delta": format(delta, "g"), **{name: row[name] for name in columns}}
        for delta in deltas
        for row in _paired_tests(_adc_by_model(table, delta, signs=signs), table.clusters, rng=rng)
    ]


RESAMPLES = 2_000
ROUNDING = 1e-12  # relative to n²: below it a variance is rounding error


def model_tests(
    table: PairTable, *, deltas: Sequence[float], signs: Signs, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Test every two models by every criterion on the pairs that both scored, with intervals.

    Notes
    -----
    ``criterion`` (``blimp``, ``adc 0.5`` …, ``pearson r``), ``a``, ``b``, ``pairs``, ``a_value``,
    ``b_value`` (over the shared pairs), ``difference``, ``ci_low``, ``ci_high`` (bootstrap of whole
    clusters), ``p`` (models exchanged in whole clusters, 10,000 times), ``p_mcnemar`` (treats pairs as
    independent), ``p_holm`` and ``p_bh`` (over the pairs of models within a criterion). Correlations have
    an interval and no p; the interval of the difference of two dependent correlations comes from one
    bootstrap of both.

    References
    ----------
    McNemar (1947), Psychometrika 12; Holm (1979), Scandinavian Journal of Statistics 6.
    """
    criteria = {"blimp": {name: table.prefers_good[name].to_numpy(dtype=float) for name in table.models}}
    if table.is_labeled.any():
        criteria |= {f"adc {delta:g}": _adc_by_model(table, delta, signs=signs) for delta in deltas}
    rows = [
        # The difference of the two values, not the mean gap: they can differ in the last bit.
        {"criterion": criterion, **row, "difference": _difference(row["a_value"], row["b_value"])}
        for criterion, passes in criteria.items()
        for row in _paired_tests(passes, table.clusters, rng=rng, resamples=RESAMPLES)
    ]
    if table.is_labeled.any():
        for a, b in combinations(table.models, 2):
            rows.append({"criterion": "pearson r", "a": a, "b": b, **_correlations(table, a, b, rng=rng)})
    return rows


def _adc_by_model(table: PairTable, delta: float, *, signs: Signs) -> dict[str, FloatArray]:
    """Return 1 where a pair meets the ADC, 0 where not, NaN where a difference is missing, by model."""
    human = table.human_delta
    return {
        name: acceptability_delta_criterion(
            human, table.model_delta[name], delta=delta, signs=signs
        ).to_numpy(dtype=float, na_value=np.nan)
        for name in table.models
    }


def _paired_tests(
    passes: dict[str, FloatArray], clusters: pd.Series, *, rng: np.random.Generator, resamples: int = 0
) -> list[dict[str, Any]]:
    """Test every two models by one criterion; without ``resamples`` there are no intervals."""
    rows = [
        {"a": a, "b": b, **_paired_test(passes[a], passes[b], clusters, rng=rng, resamples=resamples)}
        for a, b in combinations(passes, 2)
    ]
    return with_adjusted(rows, [row["p"] for row in rows])


def _paired_test(
    first: FloatArray, second: FloatArray, clusters: pd.Series, *, rng: np.random.Generator, resamples: int
) -> dict[str, Any]:
    gap = first - second
    shared = ~np.isnan(gap)
    if not shared.any():
        return _row(0)
    interval = None
    if resamples:
        interval = cluster_bootstrap(clusters, gap[:, None], rng=rng, resamples=resamples)[0]
    return _row(
        int(shared.sum()),
        values=(float(first[shared].mean()), float(second[shared].mean())),
        difference=float(gap[shared].mean()),
        interval=interval,
        p=cluster_flip_p(first, second, clusters, rng=rng),
        p_mcnemar=mcnemar_p(first, second),
    )


def _correlations(table: PairTable, a: str, b: str, *, rng: np.random.Generator) -> dict[str, Any]:
    human = table.human_delta.to_numpy(dtype=float)
    delta_a, delta_b = (table.model_delta[name].to_numpy(dtype=float) for name in (a, b))
    complete = ~(np.isnan(human) | np.isnan(delta_a) | np.isnan(delta_b))
    x, y, z = human[complete], delta_a[complete], delta_b[complete]
    if x.size < 3 or any(np.ptp(values) == 0 for values in (x, y, z)):
        return {**_row(int(complete.sum())), "p_holm": None, "p_bh": None}
    moments = np.column_stack([np.ones_like(x), x, y, z, x * x, y * y, z * z, x * y, x * z])
    sums, _ = cluster_sums(table.clusters[complete], moments)
    r_a, r_b = (none_if_nan(float(r[0])) for r in _two_correlations(sums.sum(axis=0)[None, :]))
    interval = None
    if sums.shape[0] > 1:
        draws = [
            np.subtract(*_two_correlations(weights @ sums))
            for weights in cluster_weights(sums.shape[0], RESAMPLES, rng=rng)
        ]
        interval = percentiles(np.concatenate(draws)[:, None])[0]
    row = _row(int(complete.sum()), values=(r_a, r_b), difference=_difference(r_a, r_b), interval=interval)
    return {**row, "p_holm": None, "p_bh": None}


def _two_correlations(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the correlations of y and of z with x from sums of moments, one row per draw."""
    n, sx, sy, sz, sxx, syy, szz, sxy, sxz = sums.T
    spreads = [n * squares - total**2 for squares, total in ((sxx, sx), (syy, sy), (szz, sz))]
    with np.errstate(invalid="ignore", divide="ignore"):
        # A spread this small is rounding error of a constant column.
        scale = [np.where(spread > ROUNDING * n * n, spread, np.nan) for spread in spreads]
        return (
            (n * sxy - sx * sy) / np.sqrt(scale[0] * scale[1]),
            (n * sxz - sx * sz) / np.sqrt(scale[0] * scale[2]),
        )


def _difference(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second


def _row(
    pairs: int,
    *,
    values: tuple[float | None, float | None] = (None, None),
    difference: float | None = None,
    interval: FloatArray | None = None,
    p: float | None = None,
    p_mcnemar: float | None = None,
) -> dict[str, Any]:
    low, high = (None, None) if interval is None or not np.isfinite(interval).all() else map(float, interval)
    return {
        "pairs": pairs,
        "a_value": values[0],
        "b_value": values[1],
        "difference": difference,
        "ci_low": low,
        "ci_high": high,
        "p": p,
        "p_mcnemar": p_mcnemar,
    }
