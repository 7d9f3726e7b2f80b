"""Clusters of pairs and cluster-bootstrap intervals, for pairs that are not independent."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from ..agreement.bootstrap import effective_wilson_interval, linearize
from ..columns import require_columns

RESAMPLES = 10_000
BLOCK = 5_000_000  # weights drawn at once (40 MB)
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


def cluster_bootstrap(
    clusters: pd.Series,
    values: npt.NDArray[np.float64],
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> npt.NDArray[np.float64]:
    """Return 95 % percentile intervals of column means, resampling whole clusters.

    Notes
    -----
    Weights W ~ multinomial(C; 1/C); statistic (W·S)/(W·N). It generalizes over clusters of pairs,
    not over participants.

    Examples
    --------
    >>> clusters, values = pd.Series(["x", "x", "y", "y"]), np.array([[1.0], [1.0], [0.0], [0.0]])
    >>> cluster_bootstrap(clusters, values, rng=np.random.default_rng(0), resamples=200).tolist()
    [[0.0, 1.0]]
    """
    sums, counts = cluster_sums(clusters, values)
    n_clusters = sums.shape[0]
    if n_clusters < 2:
        return np.full((values.shape[1], 2), np.nan)
    means = []
    for weights in cluster_weights(n_clusters, resamples, rng=rng):
        with np.errstate(invalid="ignore", divide="ignore"):
            means.append((weights @ sums) / (weights @ counts))
    return percentiles(np.concatenate(means))


def cluster_intervals(clusters: pd.Series, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return 95 % intervals of column means of zeros and ones, for few or many clusters.

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
    low, high = effective_wilson_interval(terms)
    freedom = np.maximum(n_clusters - 1, 1)
    q2 = scipy.stats.t.ppf(0.975, freedom) ** 2 / np.maximum(n_clusters, 1)
    centre = (ratio + q2 / 2) / (1 + q2)
    half = np.sqrt(q2 * (ratio * (1 - ratio) + q2 / 4)) / (1 + q2)
    is_constant = terms.variance(n_clusters) <= ROUNDING
    low, high = np.where(is_constant, centre - half, low), np.where(is_constant, centre + half, high)
    low, high = np.where(ratio == 0, 0.0, low), np.where(ratio == 1, 1.0, high)
    ends: npt.NDArray[np.float64] = np.column_stack([low, high])
    ends[n_clusters < FEWEST_CLUSTERS] = np.nan
    return ends


def correlation_interval(
    clusters: pd.Series, human_delta: npt.NDArray[np.float64], model_delta: npt.NDArray[np.float64]
) -> tuple[float | None, float | None]:
    """Return the 95 % interval of Pearson's r of differences by the jackknife over clusters.

    Notes
    -----
    Fisher's z of r without each cluster; quantile of t with C - 1 degrees of freedom. Undefined below five
    clusters.

    References
    ----------
    Efron & Tibshirani (1993), *An Introduction to the Bootstrap*, chapter 11.
    """
    complete = ~(np.isnan(human_delta) | np.isnan(model_delta))
    x, y = model_delta[complete], human_delta[complete]
    n_clusters = clusters[complete].nunique()
    if n_clusters < FEWEST_CLUSTERS:
        return None, None
    moments = np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])
    sums, _ = cluster_sums(clusters[complete], moments)
    total = sums.sum(axis=0)
    n, sx, sy, sxx, syy, sxy = np.vstack([total, total - sums]).T
    spread_x, spread_y = n * sxx - sx**2, n * syy - sy**2
    if (spread_x <= ROUNDING * n * sxx).any() or (spread_y <= ROUNDING * n * syy).any():
        return None, None
    limit = 1 - ROUNDING
    z = np.arctanh(np.clip((n * sxy - sx * sy) / np.sqrt(spread_x * spread_y), -limit, limit))
    error = np.sqrt((n_clusters - 1) / n_clusters * ((z[1:] - z[1:].mean()) ** 2).sum())
    reach = scipy.stats.t.ppf(0.975, n_clusters - 1) * error
    return float(np.tanh(z[0] - reach)), float(np.tanh(z[0] + reach))


def correlation_bootstrap(
    clusters: pd.Series,
    human_delta: npt.NDArray[np.float64],
    model_delta: npt.NDArray[np.float64],
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> tuple[float | None, float | None]:
    """Return the 95 % interval of Pearson's r of differences, resampling whole clusters.

    References
    ----------
    Owen (2007), "The pigeonhole bootstrap", Annals of Applied Statistics 1.
    """
    complete = ~(np.isnan(human_delta) | np.isnan(model_delta))
    x, y = model_delta[complete], human_delta[complete]
    if x.size < 3 or clusters[complete].nunique() < 2:
        return None, None
    moments = np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])
    sums, _ = cluster_sums(clusters[complete], moments)
    n_clusters = sums.shape[0]
    draws = []
    for weights in cluster_weights(n_clusters, resamples, rng=rng):
        n, sx, sy, sxx, syy, sxy = (weights @ sums).T
        spread_x, spread_y = n * sxx - sx**2, n * syy - sy**2
        varied = (spread_x > ROUNDING * n * sxx) & (spread_y > ROUNDING * n * syy)
        r = np.full(n.shape, np.nan)
        np.divide(n * sxy - sx * sy, np.sqrt(np.abs(spread_x * spread_y)), out=r, where=varied)
        draws.append(np.clip(r, -1, 1))  # rounding may exceed 1
    low, high = percentiles(np.concatenate(draws)[:, None])[0]
    return (float(low), float(high)) if np.isfinite(low) else (None, None)


def cluster_weights(
    n_clusters: int, resamples: int, *, rng: np.random.Generator
) -> Iterator[npt.NDArray[np.float64]]:
    """Yield multinomial cluster weights, draws by clusters, in blocks of bounded size.

    Examples
    --------
    >>> [block.sum(axis=1).tolist() for block in cluster_weights(3, 2, rng=np.random.default_rng(0))]
    [[3.0, 3.0]]
    """
    block = max(1, BLOCK // n_clusters)
    even = np.full(n_clusters, 1 / n_clusters)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        yield rng.multinomial(n_clusters, even, size=size).astype(np.float64)


def percentiles(draws: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the 2.5 and 97.5 percentiles of each column; undefined draws are omitted.

    Examples
    --------
    >>> percentiles(np.arange(101.0)[:, None]).tolist()
    [[2.5, 97.5]]
    """
    finite = np.isfinite(draws)
    defined = np.where(finite, draws, np.where(finite.any(axis=0), np.nan, 0.0))
    ends = np.nanpercentile(defined, [2.5, 97.5], axis=0)
    return np.where(finite.any(axis=0), np.asarray(ends, dtype=np.float64), np.nan).T
