"""Every two models against each other by every criterion: flips of whole families, Holm, intervals."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.comparison.criteria import FloatArray, Signs, adc_passes
from analysis.comparison.deltas import PairTable
from analysis.comparison.differences import cluster_flip_p, holm, mcnemar_p
from analysis.comparison.intervals import cluster_bootstrap, cluster_sums, cluster_weights, percentiles

RESAMPLES = 2_000
ROUNDING = 1e-12


def head_to_head(
    table: PairTable, *, deltas: Sequence[float], signs: Signs, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Test every two models on the pairs both scored.

    Parameters
    ----------
    table : PairTable
        The joined data.
    deltas : sequence of float
        The δ of the ADC.
    signs : {"strict", "published"}
        How zeros are treated.
    rng : Generator
        Source of randomness.

    Returns
    -------
    list of dict
        ``criterion`` (``blimp``, ``adc 0.5`` …, ``pearson r``), ``a``, ``b``, ``pairs``, ``a_value``,
        ``b_value`` (over the shared pairs), ``difference``, ``ci_low``, ``ci_high`` (families drawn whole),
        ``p`` (models exchanged in whole families, 10,000 times), ``p_holm`` (over the models' pairs within a
        criterion) and ``p_mcnemar`` (takes pairs for independent). Correlations have an interval and no p.

    Notes
    -----
    The difference of two dependent correlations has its interval from one bootstrap of both.

    References
    ----------
    McNemar (1947), Psychometrika 12; Holm (1979), Scandinavian Journal of Statistics 6.
    """
    human = table.human_delta.to_numpy(dtype=float)
    criteria: dict[str, dict[str, FloatArray]] = {
        "blimp": {name: table.prefers_good[name].to_numpy(dtype=float) for name in table.models}
    }
    if table.labeled.any():
        for delta in deltas:
            criteria[f"adc {delta:g}"] = {
                name: adc_passes(
                    human, table.model_delta[name].to_numpy(dtype=float), delta=delta, signs=signs
                )
                for name in table.models
            }
    rows: list[dict[str, Any]] = []
    for criterion, passed in criteria.items():
        found = [
            {"criterion": criterion, "a": a, "b": b, **_shares(passed[a], passed[b], table.clusters, rng=rng)}
            for a, b in combinations(table.models, 2)
        ]
        corrected = holm([row["p"] for row in found])
        rows += [{**row, "p_holm": p} for row, p in zip(found, corrected, strict=True)]
    if table.labeled.any():
        for a, b in combinations(table.models, 2):
            rows.append({"criterion": "pearson r", "a": a, "b": b, **_correlations(table, a, b, rng=rng)})
    return rows


def _shares(
    first: FloatArray, second: FloatArray, clusters: pd.Series, *, rng: np.random.Generator
) -> dict[str, Any]:
    gap = first - second
    both = ~np.isnan(gap)
    if not both.any():
        return _row(0)
    ends = cluster_bootstrap(clusters, gap[:, None], rng=rng, resamples=RESAMPLES)[0]
    return _row(
        int(both.sum()),
        values=(float(first[both].mean()), float(second[both].mean())),
        ends=ends,
        p=cluster_flip_p(first, second, clusters, rng=rng),
        p_mcnemar=mcnemar_p(first, second),
    )


def _correlations(table: PairTable, a: str, b: str, *, rng: np.random.Generator) -> dict[str, Any]:
    human = table.human_delta.to_numpy(dtype=float)
    one, other = (table.model_delta[name].to_numpy(dtype=float) for name in (a, b))
    known = ~(np.isnan(human) | np.isnan(one) | np.isnan(other))
    x, y, z = human[known], one[known], other[known]
    if x.size < 3 or any(np.ptp(values) == 0 for values in (x, y, z)):
        return {**_row(int(known.sum())), "p_holm": None}
    moments = np.column_stack([np.ones_like(x), x, y, z, x * x, y * y, z * z, x * y, x * z])
    sums, _ = cluster_sums(table.clusters[known], moments)
    whole_y, whole_z = _two_r(sums.sum(axis=0)[None, :])
    ends = np.full(2, np.nan)
    if sums.shape[0] > 1:
        draws = [
            np.subtract(*_two_r(weights @ sums))
            for weights in cluster_weights(sums.shape[0], RESAMPLES, rng=rng)
        ]
        ends = percentiles(np.concatenate(draws)[:, None])[0]
    row = _row(int(known.sum()), values=(float(whole_y[0]), float(whole_z[0])), ends=ends)
    return {**row, "p_holm": None}


def _two_r(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the correlations of y and of z with x from sums of moments, one row per draw."""
    n, sx, sy, sz, sxx, syy, szz, sxy, sxz = sums.T
    spread = [n * squares - total**2 for squares, total in ((sxx, sx), (syy, sy), (szz, sz))]
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = [np.where(one > ROUNDING * n * n, one, np.nan) for one in spread]
        return (n * sxy - sx * sy) / np.sqrt(scale[0] * scale[1]), (n * sxz - sx * sz) / np.sqrt(
            scale[0] * scale[2]
        )


def _row(
    pairs: int,
    *,
    values: tuple[float, float] | None = None,
    ends: npt.NDArray[np.float64] | None = None,
    p: float | None = None,
    p_mcnemar: float | None = None,
) -> dict[str, Any]:
    has_ends = ends is not None and bool(np.isfinite(ends).all())
    return {
        "pairs": pairs,
        "a_value": values[0] if values else None,
        "b_value": values[1] if values else None,
        "difference": values[0] - values[1] if values else None,
        "ci_low": float(ends[0]) if has_ends and ends is not None else None,
        "ci_high": float(ends[1]) if has_ends and ends is not None else None,
        "p": p,
        "p_mcnemar": p_mcnemar,
    }
