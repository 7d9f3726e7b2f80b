"""Intervals over participants: bootstraps and closed forms."""

import numpy as np
import pytest
from scipy import optimize, sparse, stats

from analysis.agreement.bootstrap import cluster_sums, linearize, linearized_interval, participant_intervals
from analysis.errors import UnknownName
from benchmarks.analysis.bench_coverage import coverage_of_means, coverage_of_shares


def sums_of(n_people=60, seed=5):
    """Simulate the right answers and the number of answers of people, for two statistics."""
    rng = np.random.default_rng(seed)
    n = rng.integers(5, 30, size=(n_people, 2)).astype(float)
    return rng.binomial(n.astype(int), rng.beta(8, 2, size=(n_people, 2))).astype(float), n


def test_bootstrap_equals_a_plain_loop_with_the_same_draws():
    right, n = sums_of()
    intervals = participant_intervals(right, n, draws=500, seed=7)
    rng = np.random.default_rng(7)
    resamples = rng.integers(len(n), size=(500, len(n)))
    plain = [right[people, 0].sum() / n[people, 0].sum() for people in resamples]
    assert [intervals.low[0], intervals.high[0]] == pytest.approx(np.quantile(plain, [0.025, 0.975]))
    assert intervals.method == ["participant_bootstrap"] * 2


def test_the_same_seed_gives_the_same_interval():
    right, n = sums_of()
    first, second = (participant_intervals(right, n, draws=300, seed=1) for _ in range(2))
    assert (first.low == second.low).all() and (first.high == second.high).all()


def test_closed_form_is_near_the_bootstrap():
    right, n = sums_of(400)
    intervals = participant_intervals(right, n, draws=4000)
    low, high = linearized_interval(linearize(right, n), n_clusters=400)
    assert np.allclose(intervals.low, low, atol=0.004) and np.allclose(intervals.high, high, atol=0.004)


def test_sparse_and_dense_sums_give_the_same_closed_form():
    right, n = sums_of()
    dense = linearized_interval(linearize(right, n), n_clusters=len(n))
    thin = linearized_interval(linearize(sparse.csr_array(right), sparse.csr_array(n)), n_clusters=len(n))
    assert np.allclose(dense, thin)
    intervals = participant_intervals(sparse.csr_array(right), sparse.csr_array(n))
    assert intervals.method == ["participant_linearized"] * 2


def test_the_closed_form_counts_clusters_without_judgments():
    right, n = np.array([[3.0], [1.0], [2.0], [0.0]]), np.array([[4.0], [4.0], [4.0], [0.0]])
    low, high = linearized_interval(linearize(right, n), n_clusters=4)
    half = 1.959964 * np.sqrt(4 / 3 * 2) / 12
    assert (low[0], high[0]) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-6)


@pytest.mark.filterwarnings("error")
def test_full_agreement_keeps_an_interval_and_one_participant_has_none():
    n = np.array([[5.0, 5.0], [5.0, 0.0], [5.0, 0.0]])
    intervals = participant_intervals(n.copy(), n, draws=100)
    assert intervals.method == ["participant_wilson", "none"]
    assert intervals.low[0] == pytest.approx(3 / (3 + 1.959964**2), abs=1e-6) and intervals.high[0] == 1
    assert np.isnan(intervals.low[1]) and np.isnan(intervals.high[1])


def test_sums_by_participant_and_group():
    values, people, groups = np.array([1.0, 0.0, 1.0]), np.array([0, 0, 1]), np.array([0, 1, 1])
    assert cluster_sums(values, people, groups, shape=(2, 2)).tolist() == [[1, 0], [0, 1]]


def test_clustered_answers_make_a_wider_interval_than_pooled_ones():
    right = np.repeat([[10.0], [2.0]], 20, axis=0)
    n = np.full((40, 1), 10.0)
    right = np.minimum(right, n)
    intervals = participant_intervals(right, n, draws=2000)
    share = right.sum() / n.sum()
    pooled = 2 * 1.96 * (share * (1 - share) / n.sum()) ** 0.5
    assert intervals.high[0] - intervals.low[0] > 2 * pooled


def few_people(n_people=12, n_items=20, seed=3):
    """Simulate participants who all answered as many items."""
    rng = np.random.default_rng(seed)
    right = rng.binomial(n_items, rng.beta(8, 2, size=(n_people, 1))).astype(float)
    return right, np.full((n_people, 1), float(n_items))


def test_few_participants_take_wilson_column_by_column():
    right, n = sums_of(40)
    n[0, 1] = right[0, 1] = 0  # 39 participants in the second column
    intervals = participant_intervals(right, n, draws=200)
    assert intervals.method == ["participant_bootstrap", "participant_wilson_effective"]
    each = [participant_intervals(right, n, draws=200, method=name) for name in ("percentile", "wilson")]
    assert [intervals.low[0], intervals.high[1]] == [each[0].low[0], each[1].high[1]]


def test_wilson_with_effective_number_solves_the_score_equation():
    right, n = few_people()
    shares = (right / n).ravel()
    share, se = shares.mean(), shares.std(ddof=1) / len(shares) ** 0.5
    q, effective = stats.t.ppf(0.975, len(shares) - 1), share * (1 - share) / se**2

    def score(p):
        return (share - p) ** 2 - q**2 * p * (1 - p) / effective

    roots = [optimize.brentq(score, 0, share), optimize.brentq(score, share, 1)]
    intervals = participant_intervals(right, n)
    assert [intervals.low[0], intervals.high[0]] == pytest.approx(roots, abs=1e-9)


def test_bootstrap_t_equals_a_plain_loop_with_the_same_draws():
    right, n = few_people()
    intervals = participant_intervals(right, n, draws=999, seed=7, method="bootstrap-t")
    shares = (right / n).ravel()
    resamples = shares[np.random.default_rng(7).integers(len(shares), size=(999, len(shares)))]
    t = np.sort([(row.mean() - shares.mean()) / (row.std(ddof=1) / len(row) ** 0.5) for row in resamples])
    se = shares.std(ddof=1) / len(shares) ** 0.5
    ends = [shares.mean() - t[974] * se, min(shares.mean() - t[24] * se, 1)]
    assert [intervals.low[0], intervals.high[0]] == pytest.approx(ends)
    assert intervals.method == ["participant_bootstrap_t"]


def test_bca_equals_that_of_scipy():
    right, n = few_people(n_items=500)
    intervals = participant_intervals(right, n, draws=20_000, method="bca")
    peer = stats.bootstrap(
        ((right / n).ravel(),), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1)
    ).confidence_interval
    assert [intervals.low[0], intervals.high[0]] == pytest.approx([peer.low, peer.high], abs=0.002)
    assert intervals.method == ["participant_bca"]


@pytest.mark.parametrize("method", ["auto", "wilson", "percentile", "bootstrap-t", "bca"])
def test_participants_with_one_share_have_an_interval_with_width(method):
    n = np.full((10, 1), 4.0)
    intervals = participant_intervals(n / 2, n, draws=100, method=method)
    assert intervals.method == ["participant_wilson"]
    assert (intervals.low[0], intervals.high[0]) == pytest.approx((0.2366, 0.7634), abs=1e-4)  # 5 of 10


def test_unknown_methods_are_named():
    with pytest.raises(UnknownName, match="method of intervals 'bcaa'"):
        participant_intervals(*few_people(), method="bcaa")


def test_the_default_covers_where_percentiles_do_not():
    size = {"studies": 1000, "draws": 300}
    for people, items, share in ((8, 20, 0.6), (10, 20, 0.89), (10, 20, 0.98)):
        row = coverage_of_shares(people, items, share, methods=("auto", "percentile"), **size)
        assert 0.93 <= row["auto"][0] <= 0.98
        assert row["percentile"][0] < 0.92
    assert 0.93 <= coverage_of_means(10, 4.0, **size)["t"][0] <= 0.97
