"""Correlation matrices of differences and of paradigm accuracies, humans among the judges."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ..ceilings.noise import PEOPLE
from ..correlation import association
from ..intervals import correlation_bootstrap
from ..pairs import PairTable

RESAMPLES = 2_000


def delta_matrix(
    table: PairTable, *, ceiling: dict[str, Any] | None, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Correlate the differences of every two judges over the pairs with both.

    Notes
    -----
    ``a``, ``b``, ``n``, ``pearson_r``, ``spearman_r``, ``ci_low``, ``ci_high`` (of Pearson's r, whole
    clusters resampled), ``ceiling`` (with humans only) and ``status``.

    Standardization of a model's scores does not change its r with humans.

    References
    ----------
    Pearson (1896), Philosophical Transactions of the Royal Society A 187.
    """
    judges = table.model_delta.copy()
    if table.is_labeled.any():
        judges.insert(0, PEOPLE, table.human_delta.to_numpy())
    return _cells(judges, table.clusters, ceiling=ceiling, rng=rng)


def paradigm_matrix(
    accuracies: pd.DataFrame, *, ceiling: dict[str, Any] | None, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Correlate the accuracies of every two judges over paradigms.

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
    """Return the share of pairs that each judge gets right, by paradigm.

    Notes
    -----
    Pairs without a score are not in a model's denominator.

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
    for a, b in combinations(names, 2):
        first, second = judges[a].to_numpy(dtype=float), judges[b].to_numpy(dtype=float)
        correlation = association(first, second)
        low, high = (
            correlation_bootstrap(clusters, first, second, rng=rng, resamples=RESAMPLES)
            if correlation["status"] == "ok"
            else (None, None)
        )
        cells.append({
            "a": a, "b": b, "n": correlation["n"],
            "pearson_r": correlation["pearson_r"], "spearman_r": correlation["spearman_r"],
            "ci_low": low, "ci_high": high,
            "ceiling": ceiling["model"] if ceiling and PEOPLE in (a, b) else None,
            "status": correlation["status"],
        })  # fmt: skip
    return cells
