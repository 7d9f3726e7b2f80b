"""Correlation and regression of human differences on those of models."""

from itertools import combinations
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..pingouin_options import unrounded_pingouin
from .criteria import as_floats


class Association(TypedDict):
    """Correlations and regression line of human differences on a model's."""

    n: int
    pearson_r: float | None
    spearman_r: float | None
    slope: float | None
    intercept: float | None
    mean_abs_difference: float | None
    status: str


def association(human_delta: npt.ArrayLike, model_delta: npt.ArrayLike) -> Association:
    """Correlate human differences with a model's and fit a straight line.

    Notes
    -----
    ``n``, ``pearson_r`` and ``spearman_r`` (``pingouin.corr``; ties share their mean rank), ``slope`` and
    ``intercept`` of the least-squares line Δh = intercept + slope · Δlm,
    ``mean_abs_difference`` = mean |Δh - Δlm|, and
    ``status``: ``ok``, ``no_data``, ``too_few`` (below three pairs) or ``constant``.

    Undefined numbers are None. Pairs of one phenomenon are not independent; intervals come from
    :func:`obelus.comparison.intervals.cluster_bootstrap`.

    Examples
    --------
    >>> round(association([1.0, 2.0, 4.0], [2.0, 5.0, 6.0])["pearson_r"], 4)
    0.891
    """
    human, model = as_floats(human_delta), as_floats(model_delta)
    complete = ~(np.isnan(human) | np.isnan(model))
    x, y = model[complete], human[complete]
    distance = float(np.abs(y - x).mean()) if x.size else None
    if x.size < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        status = "no_data" if not x.size else "too_few" if x.size < 3 else "constant"
        return Association(
            n=int(x.size), pearson_r=None, spearman_r=None, slope=None, intercept=None,
            mean_abs_difference=distance, status=status,
        )  # fmt: skip
    slope = float(np.cov(x, y, ddof=0)[0, 1] / x.var())
    with unrounded_pingouin() as pingouin:
        pearson, spearman = (
            float(pingouin.corr(x, y, method=method)["r"].iloc[0]) for method in ("pearson", "spearman")
        )
    return Association(
        n=int(x.size),
        pearson_r=pearson,
        spearman_r=spearman,
        slope=slope,
        intercept=float(y.mean() - slope * x.mean()),
        mean_abs_difference=distance,
        status="ok",
    )


def pearson_r(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> float:
    """Return Pearson's correlation of two arrays without missing values, for loops over splits.

    ``pingouin.corr`` gives the same number, of 200 pairs in 1.7 ms instead of 0.011 ms.

    Examples
    --------
    >>> round(pearson_r(np.array([1.0, 2, 3]), np.array([1.0, 2, 4])), 4)
    0.982
    """
    a, b = x - x.mean(), y - y.mean()
    return float(np.clip((a @ b) / np.sqrt((a @ a) * (b @ b)), -1.0, 1.0))


def correlation_matrix(deltas: pd.DataFrame) -> pd.DataFrame:
    """Correlate every two columns of differences (humans and models) over the pairs with both.

    Examples
    --------
    >>> deltas = pd.DataFrame({"people": [1.0, 0, 2, -1], "model": [1.0, 1, 3, 0]})
    >>> correlation_matrix(deltas)[["a", "b", "n"]].values.tolist()
    [['people', 'model', 4]]
    """
    names = [str(column) for column in deltas.columns]
    rows = []
    for a, b in combinations(names, 2):
        cell = association(deltas[a].to_numpy(), deltas[b].to_numpy())
        rows.append((a, b, cell["n"], cell["pearson_r"], cell["spearman_r"]))
    return pd.DataFrame(rows, columns=["a", "b", "n", "pearson_r", "spearman_r"])


def correlation_rows(deltas: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the correlation matrix as rows ready for JSON, undefined numbers as None.

    Examples
    --------
    >>> deltas = pd.DataFrame({"people": [1.0, 0, 2, -1], "model": [1.0, 1, 3, 0]})
    >>> len(correlation_rows(deltas))
    1
    """
    rows = correlation_matrix(deltas).astype(object)
    return [
        {str(key): None if pd.isna(value) else value for key, value in row.items()}
        for row in rows.to_dict("records")
    ]
