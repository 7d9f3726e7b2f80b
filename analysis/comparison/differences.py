"""Is one model better than another on the same pairs?"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from analysis.comparison.criteria import Signs, adc_passes, as_floats
from analysis.comparison.deltas import PairTable
from analysis.comparison.intervals import BLOCK, cluster_sums

FLIPS = 10_000


def mcnemar_p(first: npt.ArrayLike, second: npt.ArrayLike) -> float | None:
    """Give the exact McNemar p of two models' passes on the same pairs.

    Parameters
    ----------
    first, second : array-like of 0, 1 or gap
        Whether each pair is passed.

    Returns
    -------
    float or None
        Two-sided p; None when no pair is passed by one model only.

    Notes
    -----
    It takes pairs for independent, which pairs of one phenomenon are not: read
    :func:`cluster_flip_p` first.

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
    """Exchange the two models' names in whole families at random and see how often that matters.

    Parameters
    ----------
    first, second : array-like of 0, 1 or gap
        Whether each pair is passed.
    clusters : Series
        Family of each pair.
    rng : Generator
        Source of randomness.
    flips : int
        Number of random exchanges.

    Returns
    -------
    float or None
        ``(1 + #{|T*| >= |T|}) / (1 + flips)`` with T the difference in number passed; None when no family
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
    by_family = sums[:, 0]
    if not by_family.any():
        return None
    by_family = by_family[by_family != 0]
    block = max(1, BLOCK // by_family.size)
    as_extreme = 0
    for start in range(0, flips, block):
        signs = rng.integers(0, 2, size=(min(block, flips - start), by_family.size)) * 2.0 - 1.0
        as_extreme += int((np.abs(signs @ by_family) >= abs(by_family.sum()) - 1e-9).sum())
    return (1 + as_extreme) / (1 + flips)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct p values for their number by Holm's step-down rule.

    Parameters
    ----------
    p_values : sequence of float or None
        Raw p values; None stays None and does not count.

    Returns
    -------
    list of float or None
        Corrected p values in the same order.

    Examples
    --------
    >>> holm([0.01, None, 0.04])
    [0.02, None, 0.04]
    """
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * p))
        corrected[place] = highest
    return corrected


def model_differences(
    table: PairTable, *, deltas: Sequence[float], signs: Signs, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Test every two models at every δ on the pairs both scored.

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
        ``a``, ``b``, ``delta``, ``pairs``, ``difference`` (ADC of a minus that of b), ``p`` (cluster flip),
        ``p_holm`` (over the pairs of models at one δ) and ``p_mcnemar``.

    References
    ----------
    McNemar (1947), Psychometrika 12; Holm (1979), Scandinavian Journal of Statistics 6.
    """
    human = table.human_delta.to_numpy(dtype=float)
    found: list[dict[str, Any]] = []
    for delta in deltas:
        passed = {
            name: adc_passes(human, table.model_delta[name].to_numpy(dtype=float), delta=delta, signs=signs)
            for name in table.models
        }
        rows = [
            {
                "a": a,
                "b": b,
                "delta": format(delta, "g"),
                **_tests(passed[a], passed[b], table.clusters, rng=rng),
            }
            for a, b in combinations(table.models, 2)
        ]
        corrected = holm([row["p"] for row in rows])
        found += [{**row, "p_holm": p} for row, p in zip(rows, corrected, strict=True)]
    return found


def _tests(
    first: npt.NDArray[np.float64],
    second: npt.NDArray[np.float64],
    clusters: pd.Series,
    *,
    rng: np.random.Generator,
) -> dict[str, Any]:
    gap = first - second
    both = ~np.isnan(gap)
    return {
        "pairs": int(both.sum()),
        "difference": float(gap[both].mean()) if both.any() else None,
        "p": cluster_flip_p(first, second, clusters, rng=rng) if both.any() else None,
        "p_mcnemar": mcnemar_p(first, second),
    }
