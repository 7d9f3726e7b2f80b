"""Tests of every two models on the same pairs: cluster flips, exact McNemar, corrections and intervals."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from ..multiple_tests import with_adjusted
from .correlation import pearson_r
from .criteria import FloatArray, Signs, acceptability_delta_criterion, as_floats
from .intervals import cluster_sums, correlation_difference_interval, difference_interval
from .pairs import PairTable

FLIPS = 10_000
BLOCK = 5_000_000  # signs drawn at once (40 MB)


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
    T is the difference in number passed. Exact over all 2^C exchanges of the C clusters that differ where
    these are no more than ``flips``; else ``(1 + #{|T*| >= |T|}) / (1 + flips)`` of exchanges at random. None
    when no cluster differs.

    Examples
    --------
    >>> families = pd.Series(list("abcdef"))
    >>> cluster_flip_p([1] * 6, [0] * 6, families, rng=np.random.default_rng(0))  # two of 64 are as far
    0.03125
    """
    difference = as_floats(first) - as_floats(second)
    sums, _ = cluster_sums(clusters, difference[:, None])
    by_cluster = sums[:, 0]
    if not by_cluster.any():
        return None
    by_cluster = by_cluster[by_cluster != 0]  # exchanging models in a cluster of zeros changes nothing
    total = abs(by_cluster.sum()) - 1e-9
    if 2**by_cluster.size <= flips:
        exchanges = np.arange(2**by_cluster.size)[:, None] >> np.arange(by_cluster.size) & 1
        return float((np.abs((exchanges * 2.0 - 1.0) @ by_cluster) >= total).mean())
    block = max(1, BLOCK // by_cluster.size)  # bounds the memory of the matrix of signs
    as_extreme = 0
    for start in range(0, flips, block):
        signs = rng.integers(0, 2, size=(min(block, flips - start), by_cluster.size)) * 2.0 - 1.0
        # Ties count as extreme; without the tolerance, rounding of the sums would decide them.
        as_extreme += int((np.abs(signs @ by_cluster) >= total).sum())
    return (1 + as_extreme) / (1 + flips)  # the observed assignment is one of the permutations


def least_flip_p(
    first: npt.ArrayLike, second: npt.ArrayLike, clusters: pd.Series, *, flips: int = FLIPS
) -> float | None:
    """Return the least p that :func:`cluster_flip_p` can have: 2 / 2^C for the C clusters that differ.

    Notes
    -----
    With fewer than six clusters it is above .05, so that the test cannot reject.

    Examples
    --------
    >>> least_flip_p([1] * 5, [0] * 5, pd.Series(list("abcde")))
    0.0625
    """
    sums, _ = cluster_sums(clusters, (as_floats(first) - as_floats(second))[:, None])
    n_different = int(np.count_nonzero(sums))
    return max(2.0 ** (1 - n_different), 1 / (1 + flips)) if n_different else None


def model_differences(
    table: PairTable, *, deltas: Sequence[float], signs: Signs, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Test the ADC of every two models at every δ on the pairs that both scored.

    Notes
    -----
    ``a``, ``b``, ``delta``, ``pairs``, ``difference`` (ADC of a minus that of b) with ``ci_low`` and
    ``ci_high`` (clusters as units), ``p`` (cluster flip), ``p_least`` (the least possible), ``p_mcnemar``,
    ``p_holm`` and ``p_bh`` (over the pairs of models at one δ).

    References
    ----------
    McNemar (1947), Psychometrika 12; Holm (1979), Scandinavian Journal of Statistics 6.
    """
    return [
        {"a": row["a"], "b": row["b"], "delta": format(delta, "g"), **{name: row[name] for name in _COLUMNS}}
        for delta in deltas
        for row in _paired_tests(_adc_by_model(table, delta, signs=signs), table.clusters, rng=rng)
    ]


_COLUMNS = ("pairs", "difference", "ci_low", "ci_high", "p", "p_least", "p_mcnemar", "p_holm", "p_bh")


def blimp_differences(
    table: PairTable, is_counted: npt.NDArray[np.bool_], *, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Test every two models by the BLiMP criterion, as :func:`model_differences` does by the ADC."""
    passes = {
        name: np.where(is_counted, table.prefers_good[name].to_numpy(dtype=float), np.nan)
        for name in table.models
    }
    return [
        {"a": row["a"], "b": row["b"], **{name: row[name] for name in _COLUMNS}}
        for row in _paired_tests(passes, table.clusters, rng=rng)
    ]


def model_tests(
    table: PairTable, *, deltas: Sequence[float], signs: Signs, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Test every two models by every criterion on the pairs that both scored, with intervals.

    Notes
    -----
    ``criterion`` (``blimp``, ``adc 0.5`` …, ``pearson r``), ``a``, ``b``, ``pairs``, ``a_value``,
    ``b_value`` (over the shared pairs), ``difference``, ``ci_low``, ``ci_high`` (clusters as units), ``p``
    (models exchanged in whole clusters), ``p_least`` (the least possible), ``p_mcnemar``
    (treats pairs as independent), ``p_holm`` and ``p_bh`` (over the pairs of models within a criterion).
    Correlations have an interval, by the jackknife over clusters of both, and no p.

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
        for row in _paired_tests(passes, table.clusters, rng=rng)
    ]
    if table.is_labeled.any():
        for a, b in combinations(table.models, 2):
            rows.append({"criterion": "pearson r", "a": a, "b": b, **_correlations(table, a, b)})
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
    passes: dict[str, FloatArray], clusters: pd.Series, *, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Test every two models by one criterion."""
    rows = [
        {"a": a, "b": b, **_paired_test(passes[a], passes[b], clusters, rng=rng)}
        for a, b in combinations(passes, 2)
    ]
    return with_adjusted(rows, [row["p"] for row in rows])


def _paired_test(
    first: FloatArray, second: FloatArray, clusters: pd.Series, *, rng: np.random.Generator
) -> dict[str, Any]:
    gap = first - second
    shared = ~np.isnan(gap)
    if not shared.any():
        return _row(0)
    return _row(
        int(shared.sum()),
        values=(float(first[shared].mean()), float(second[shared].mean())),
        difference=float(gap[shared].mean()),
        interval=difference_interval(clusters, gap),
        p=cluster_flip_p(first, second, clusters, rng=rng),
        p_least=least_flip_p(first, second, clusters),
        p_mcnemar=mcnemar_p(first, second),
    )


def _correlations(table: PairTable, a: str, b: str) -> dict[str, Any]:
    human = table.human_delta.to_numpy(dtype=float)
    first, second = (table.model_delta[name].to_numpy(dtype=float) for name in (a, b))
    shared = np.where(np.isnan(first) | np.isnan(second), np.nan, human)
    r_a, r_b = (_pearson_r(shared, model) for model in (first, second))
    interval = correlation_difference_interval(table.clusters, human, first, second)
    n = int((~np.isnan(shared)).sum())
    row = _row(n, values=(r_a, r_b), difference=_difference(r_a, r_b), interval=interval)
    return {**row, "p_holm": None, "p_bh": None}


def _pearson_r(human: FloatArray, model: FloatArray) -> float | None:
    complete = ~np.isnan(human)
    x, y = human[complete], model[complete]
    rounding = 1e-12 * np.abs(y).max(initial=0.0)
    return pearson_r(x, y) if x.size >= 3 and np.ptp(x) > 0 and np.ptp(y) > rounding else None


def _difference(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second


def _row(
    pairs: int,
    *,
    values: tuple[float | None, float | None] = (None, None),
    difference: float | None = None,
    interval: tuple[float | None, float | None] = (None, None),
    p: float | None = None,
    p_least: float | None = None,
    p_mcnemar: float | None = None,
) -> dict[str, Any]:
    return {
        "pairs": pairs,
        "a_value": values[0],
        "b_value": values[1],
        "difference": difference,
        "ci_low": interval[0],
        "ci_high": interval[1],
        "p": p,
        "p_least": p_least,
        "p_mcnemar": p_mcnemar,
    }
