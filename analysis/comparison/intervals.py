"""Clusters of pairs, and intervals over them, for pairs that are not independent."""

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from ..agreement.bootstrap import effective_wilson_interval, linearize
from ..columns import require_columns

ROUNDING = 1e-12  # relative to the sum of squares: below it a variance is rounding error
FEWEST_CLUSTERS = 5  # with fewer there is no interval
SHARED = "shared sentences"


def cluster_basis(pairs: pd.DataFrame) -> str:
    """Return the property that defines the clusters of pairs.

    Examples
    --------
    >>> cluster_basis(pd.DataFrame({"phenomenon": ["islands", ""], "paradigm": ["a", "b"]}))
    'paradigm'
    """
    for column in ("phenomenon", "paradigm"):
        if (
            column in pairs.columns
            and pairs[column].notna().all()
            and (pairs[column].astype(str) != "").all()
        ):
            return column
    return SHARED


def pair_clusters(pairs: pd.DataFrame) -> pd.Series:
    """Return the cluster of each pair: its phenomenon, its paradigm, or the pairs it shares sentences with.

    Notes
    -----
    Without phenomena and paradigms, clusters are the connected components of pairs that share sentences.

    Examples
    --------
    >>> pairs = pd.DataFrame({"good_id": ["a", "a", "c"], "bad_id": ["b", "d", "e"]})
    >>> pair_clusters(pairs).tolist()
    ['family 0', 'family 0', 'family 1']
    """
    require_columns(pairs, "good_id", "bad_id")
    basis = cluster_basis(pairs)
    if basis != SHARED:
        return pairs[basis].astype(str)
    codes, sentences = pd.factorize(pd.concat([pairs["good_id"], pairs["bad_id"]]).astype(str))
    good, bad = codes[: len(pairs)], codes[len(pairs) :]
    shape = (len(sentences), len(sentences))
    graph = scipy.sparse.coo_array((np.ones(len(pairs)), (good, bad)), shape=shape)
    _, component = scipy.sparse.csgraph.connected_components(graph, directed=False)
    return pd.Series([f"family {label}" for label in component[good]], index=pairs.index, dtype=object)


FOLDS = 10


def cluster_folds(clusters: pd.Series, *, folds: int = FOLDS) -> npt.NDArray[np.float64]:
    """Return the fold of each row: whole clusters, dealt out from the largest; NaN without a cluster.

    Examples
    --------
    >>> cluster_folds(pd.Series(["x", "y", "y", "z"]), folds=2).tolist()
    [1.0, 0.0, 0.0, 0.0]
    """
    sizes = clusters.value_counts()
    fold_of = {name: float(place % folds) for place, name in enumerate(sizes.index)}
    return clusters.map(fold_of).to_numpy(dtype=np.float64)


def cluster_sums(
    clusters: pd.Series, values: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return sums and counts of values within clusters, missing values omitted.

    Examples
    --------
    >>> clusters, values = pd.Series(["x", "x", "y"]), np.array([[1.0], [2.0], [np.nan]])
    >>> [part.tolist() for part in cluster_sums(clusters, values)]
    [[[3.0], [0.0]], [[2.0], [0.0]]]
    """
    codes, names = pd.factorize(clusters)
    membership = scipy.sparse.coo_array(
        (np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(len(names), len(codes))
    )
    complete = ~np.isnan(values)
    return membership @ np.where(complete, values, 0.0), membership @ complete.astype(np.float64)


def cluster_intervals(
    clusters: pd.Series, values: npt.NDArray[np.float64], *, confidence: float = 0.95
) -> npt.NDArray[np.float64]:
    """Return intervals of column means of zeros and ones, for few or many clusters.

    Notes
    -----
    Wilson's interval with the effective number of independent pairs and the quantile of t with C - 1 degrees
    of freedom; where all clusters have one share, with C pairs. NaN below five clusters, of which no method
    covers 95 %. Coverage: ``benchmarks/analysis/bench_cluster_coverage.py``.

    References
    ----------
    Dean & Pagano (2015), Journal of Survey Statistics and Methodology 3(4), 484-503.

    Examples
    --------
    >>> clusters, values = pd.Series(list("aabbccddee")), np.array([[1.0, 0.0] * 5]).T
    >>> cluster_intervals(clusters, values).round(2).tolist()
    [[0.11, 0.89]]
    """
    terms = linearize(*cluster_sums(clusters, values))
    n_clusters, ratio = terms.contributors, np.clip(terms.ratio, 0, 1)
    low, high = effective_wilson_interval(terms, confidence=confidence)
    q2 = _quantiles(n_clusters, confidence) ** 2 / np.maximum(n_clusters, 1)
    centre = (ratio + q2 / 2) / (1 + q2)
    half = np.sqrt(q2 * (ratio * (1 - ratio) + q2 / 4)) / (1 + q2)
    is_constant = terms.variance(n_clusters) <= ROUNDING
    low, high = np.where(is_constant, centre - half, low), np.where(is_constant, centre + half, high)
    low, high = np.where(ratio == 0, 0.0, low), np.where(ratio == 1, 1.0, high)
    ends: npt.NDArray[np.float64] = np.column_stack([low, high])
    ends[n_clusters < FEWEST_CLUSTERS] = np.nan
    return ends


def _quantiles(n_clusters: npt.ArrayLike, confidence: float) -> npt.NDArray[np.float64]:
    """Return the quantiles of t with C - 1 degrees of freedom."""
    freedom = np.maximum(np.asarray(n_clusters) - 1, 1)
    return np.asarray(scipy.stats.t.ppf(0.5 + confidence / 2, freedom), dtype=np.float64)


def difference_interval(
    clusters: pd.Series, gap: npt.NDArray[np.float64], *, confidence: float = 0.95
) -> tuple[float | None, float | None]:
    """Return the interval of the mean difference between two models that passed the same pairs.

    Notes
    -----
    The mean ± t · its error with clusters as units, C - 1 degrees of freedom. Where all clusters have one
    difference, the half-width is that of Wilson's interval of none among C. Undefined below five clusters.

    Examples
    --------
    >>> ends = difference_interval(pd.Series(list("abcde")), np.array([1.0, 0, 1, 0, 0]))
    >>> [round(end, 2) for end in ends]
    [-0.28, 1.0]
    """
    terms = linearize(*cluster_sums(clusters, gap[:, None]))
    n_clusters = int(terms.contributors[0])
    if n_clusters < FEWEST_CLUSTERS:
        return None, None
    quantile, variance = float(_quantiles(n_clusters, confidence)), float(terms.variance(n_clusters)[0])
    reach = quantile * variance**0.5 if variance > ROUNDING else quantile**2 / (n_clusters + quantile**2)
    mean = float(terms.ratio[0])
    return max(mean - reach, -1.0), min(mean + reach, 1.0)


def correlation_interval(
    clusters: pd.Series,
    human_delta: npt.NDArray[np.float64],
    model_delta: npt.NDArray[np.float64],
    *,
    confidence: float = 0.95,
) -> tuple[float | None, float | None]:
    """Return the interval of Pearson's r of differences by the jackknife over clusters.

    Notes
    -----
    Fisher's z of r without each cluster; quantile of t with C - 1 degrees of freedom. Undefined below five
    clusters.

    References
    ----------
    Efron & Tibshirani (1993), *An Introduction to the Bootstrap*, chapter 11.
    """
    z = _leave_one_out_z(clusters, human_delta, model_delta)
    if z is None:
        return None, None
    reach = float(_quantiles(len(z) - 1, confidence)) * _jackknife_error(z)
    return float(np.tanh(z[0] - reach)), float(np.tanh(z[0] + reach))


def correlation_difference_interval(
    clusters: pd.Series,
    human_delta: npt.NDArray[np.float64],
    first: npt.NDArray[np.float64],
    second: npt.NDArray[np.float64],
    *,
    confidence: float = 0.95,
) -> tuple[float | None, float | None]:
    """Return the interval of the difference of two models' correlations, over the pairs that both scored.

    Notes
    -----
    Jackknife over clusters of the difference of both r; quantile of t with C - 1 degrees of freedom.
    """
    shared = np.where(np.isnan(first) | np.isnan(second), np.nan, human_delta)
    zs = [_leave_one_out_z(clusters, shared, model) for model in (first, second)]
    if zs[0] is None or zs[1] is None:
        return None, None
    difference = np.tanh(zs[0]) - np.tanh(zs[1])
    reach = float(_quantiles(len(difference) - 1, confidence)) * _jackknife_error(difference)
    return max(float(difference[0]) - reach, -2.0), min(float(difference[0]) + reach, 2.0)


def _jackknife_error(values: npt.NDArray[np.float64]) -> float:
    """Return the jackknife error; the first value is that of all clusters, the others lack one each."""
    n = len(values) - 1
    return float(np.sqrt((n - 1) / n * ((values[1:] - values[1:].mean()) ** 2).sum()))


def _leave_one_out_z(
    clusters: pd.Series, human_delta: npt.NDArray[np.float64], model_delta: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64] | None:
    """Return Fisher's z of r over all clusters, then without each; None where undefined."""
    complete = ~(np.isnan(human_delta) | np.isnan(model_delta))
    x, y = model_delta[complete], human_delta[complete]
    if clusters[complete].nunique() < FEWEST_CLUSTERS:
        return None
    moments = np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])
    sums, _ = cluster_sums(clusters[complete], moments)
    total = sums.sum(axis=0)
    n, sx, sy, sxx, syy, sxy = np.vstack([total, total - sums]).T
    spread_x, spread_y = n * sxx - sx**2, n * syy - sy**2
    if (spread_x <= ROUNDING * n * sxx).any() or (spread_y <= ROUNDING * n * syy).any():
        return None
    limit = 1 - ROUNDING
    z: npt.NDArray[np.float64] = np.arctanh(
        np.clip((n * sxy - sx * sy) / np.sqrt(spread_x * spread_y), -limit, limit)
    )
    return z
