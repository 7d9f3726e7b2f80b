"""Correlation matrices of differences and of paradigm accuracies, humans among the judges."""

from contextlib import suppress
from itertools import combinations
from typing import Any

import pandas as pd

from ...pingouin_options import unrounded_pingouin
from ...rows import none_if_nan
from ..ceilings.noise import PEOPLE
from ..correlation import association
from ..intervals import correlation_interval
from ..pairs import PairTable
from .predictors import control_columns


def delta_matrix(table: PairTable, *, ceiling: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Correlate the differences of every two judges over the pairs with both.

    Notes
    -----
    ``a``, ``b``, ``n``, ``pearson_r``, ``spearman_r``, ``ci_low``, ``ci_high`` (of Pearson's r, jackknife
    over clusters), ``ceiling`` (with humans only) and ``status``. With humans ``partial_r`` of
    ``partial_n`` pairs, with the ``controls`` (length and other numeric predictors of the pairs) held
    constant, by ``pingouin.partial_corr``.

    Standardization of a model's scores does not change its r with humans.

    References
    ----------
    Pearson (1896), Philosophical Transactions of the Royal Society A 187.
    """
    judges = table.model_delta.copy()
    if table.is_labeled.any():
        judges.insert(0, PEOPLE, table.human_delta.to_numpy())
    cells = _cells(judges, table.clusters, ceiling=ceiling)
    controls = control_columns(table)
    return [
        cell
        | (partial_correlation(judges[PEOPLE], judges[cell["b"]], controls) if cell["a"] == PEOPLE else {})
        for cell in cells
    ]


def partial_correlation(first: pd.Series, second: pd.Series, controls: pd.DataFrame) -> dict[str, Any]:
    """Correlate two columns with the controls held constant; None without controls or variation.

    Examples
    --------
    >>> human, model = pd.Series([1.0, 2, 4, 3, 5]), pd.Series([2.0, 1, 3, 5, 4])
    >>> found = partial_correlation(human, model, pd.DataFrame({"length": [3.0, 4, 5, 3, 4]}))
    >>> round(found["partial_r"], 3), found["partial_n"], found["controls"]
    (0.874, 5, ['length'])
    """
    names = list(controls.columns)
    rows = controls.assign(first=first, second=second).dropna()
    found: dict[str, Any] = {"partial_r": None, "partial_n": len(rows), "controls": names}
    # pingouin refuses a control that equals one of both columns
    if names and len(rows) > len(names) + 2:
        with suppress(ValueError), unrounded_pingouin() as pingouin:
            r = float(pingouin.partial_corr(rows, x="first", y="second", covar=names)["r"].iloc[0])
            found["partial_r"] = none_if_nan(r)
    return found


def paradigm_matrix(accuracies: pd.DataFrame, *, ceiling: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Correlate the accuracies of every two judges over paradigms.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8, section 5.3 and figure 1.
    """
    return _cells(
        accuracies.reset_index(drop=True),
        pd.Series(accuracies.index.astype(str)),
        ceiling=ceiling,
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
    judges: pd.DataFrame, clusters: pd.Series, *, ceiling: dict[str, Any] | None
) -> list[dict[str, Any]]:
    names = [str(column) for column in judges.columns]
    cells = []
    for a, b in combinations(names, 2):
        first, second = judges[a].to_numpy(dtype=float), judges[b].to_numpy(dtype=float)
        correlation = association(first, second)
        low, high = (
            correlation_interval(clusters, first, second) if correlation["status"] == "ok" else (None, None)
        )
        cells.append({
            "a": a, "b": b, "n": correlation["n"],
            "pearson_r": correlation["pearson_r"], "spearman_r": correlation["spearman_r"],
            "ci_low": low, "ci_high": high,
            "ceiling": ceiling["model"] if ceiling and PEOPLE in (a, b) else None,
            "status": correlation["status"],
        })  # fmt: skip
    return cells
