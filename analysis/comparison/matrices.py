"""Who goes with whom: correlations of differences and of paradigm accuracies, people among the judges."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.comparison.correlation import association
from analysis.comparison.deltas import PairTable
from analysis.comparison.intervals import correlation_bootstrap
from analysis.comparison.noise import PEOPLE

RESAMPLES = 2_000


def delta_matrix(
    table: PairTable, *, ceiling: dict[str, Any] | None, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Correlate the differences of every two judges over the pairs both have.

    Parameters
    ----------
    table : PairTable
        The joined data.
    ceiling : dict or None
        ``deltas`` of :func:`analysis.comparison.noise.correlation_ceilings`.
    rng : Generator
        Source of randomness.

    Returns
    -------
    list of dict
        ``a``, ``b``, ``n``, ``pearson_r``, ``spearman_r``, ``ci_low``, ``ci_high`` (of Pearson's r, families
        of pairs drawn whole), ``ceiling`` (beside people only) and ``status``.

    Notes
    -----
    A model's Δ has the same r with people's whether its scores are standardized or not.

    References
    ----------
    Pearson (1896), Philosophical Transactions of the Royal Society A 187.
    """
    judges = table.model_delta.copy()
    if table.labeled.any():
        judges.insert(0, PEOPLE, table.human_delta.to_numpy())
    return _cells(judges, table.clusters, ceiling=ceiling, rng=rng)


def paradigm_matrix(
    accuracies: pd.DataFrame, *, ceiling: dict[str, Any] | None, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Correlate the accuracies of every two judges over paradigms.

    Parameters
    ----------
    accuracies : DataFrame, one row per paradigm
        One column per judge, people among them; from :func:`paradigm_accuracies`.
    ceiling : dict or None
        ``paradigms`` of :func:`analysis.comparison.noise.correlation_ceilings`.
    rng : Generator
        Source of randomness.

    Returns
    -------
    list of dict
        As :func:`delta_matrix`, paradigms drawn for the interval. Accuracies near 1 are compressed: read
        ``spearman_r`` beside ``pearson_r``.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8, section 5.3 and figure 1.
    """
    return _cells(
        accuracies.reset_index(drop=True),
        pd.Series(accuracies.index.astype(str)),
        ceiling=ceiling,
        rng=rng,
    )


def paradigm_accuracies(table: PairTable, people: pd.Series) -> pd.DataFrame:
    """Give the share of pairs that each judge gets right, paradigm by paradigm.

    Parameters
    ----------
    table : PairTable
        The joined data.
    people : Series of float
        How far people get each pair right (:func:`analysis.comparison.noise.people_right`).

    Returns
    -------
    DataFrame, one row per paradigm
        ``people`` and one column per model, NaN where a judge has no pair; empty without paradigms.

    Notes
    -----
    Pairs without a score leave a model's denominator.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8.
    """
    if "paradigm" not in table.pairs.columns:
        return pd.DataFrame()
    right = table.prefers_good.copy()
    if people.notna().any():
        right.insert(0, PEOPLE, people.to_numpy(dtype=float))
    return right.groupby(table.pairs["paradigm"].astype(str)).mean()


def _cells(
    judges: pd.DataFrame, clusters: pd.Series, *, ceiling: dict[str, Any] | None, rng: np.random.Generator
) -> list[dict[str, Any]]:
    names = [str(column) for column in judges.columns]
    cells = []
    for place, a in enumerate(names):
        for b in names[place + 1 :]:
            one, other = judges[a].to_numpy(dtype=float), judges[b].to_numpy(dtype=float)
            found = association(one, other)
            low, high = (
                correlation_bootstrap(clusters, one, other, rng=rng, resamples=RESAMPLES)
                if found["status"] == "ok"
                else (None, None)
            )
            cells.append({
                "a": a, "b": b, "n": found["n"],
                "pearson_r": found["pearson_r"], "spearman_r": found["spearman_r"],
                "ci_low": low, "ci_high": high,
                "ceiling": ceiling["model"] if ceiling and PEOPLE in (a, b) else None,
                "status": found["status"],
            })  # fmt: skip
    return cells
