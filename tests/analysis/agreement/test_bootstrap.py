"""Intervals that resample whole participants."""

import numpy as np
import pytest
from scipy import sparse

from analysis.agreement.bootstrap import cluster_sums, linearized_interval, participant_intervals


def sums_of(n_people=60, seed=5):
    """Simulate the right answers and the number of answers of people, for two statistics."""
    rng = np.random.default_rng(seed)
    n = rng.integers(5, 30, size=(n_people, 2)).astype(float)
    return rng.binomial(n.astype(int), rng.beta(8, 2, size=(n_people, 2))).astype(float), n


def test_bootstrap_equals_a_plain_loop_with_the_same_draws():
    right, n = sums_of()
    found = participant_intervals(right, n, draws=500, seed=7)
    rng = np.random.default_rng(7)
    drawn = rng.integers(len(n), size=(500, len(n)))
    plain = [right[who, 0].sum() / n[who, 0].sum() for who in drawn]
    assert [found.low[0], found.high[0]] == pytest.approx(np.quantile(plain, [0.025, 0.975]))
    assert found.method == ["participant_bootstrap"] * 2


def test_the_same_seed_gives_the_same_interval():
    right, n = sums_of()
    first, second = (participant_intervals(right, n, draws=300, seed=1) for _ in range(2))
    assert (first.low == second.low).all() and (first.high == second.high).all()


def test_closed_form_is_near_the_bootstrap():
    right, n = sums_of(400)
    drawn = participant_intervals(right, n, draws=4000)
    low, high = linearized_interval(right, n)
    assert np.allclose(drawn.low, low, atol=0.004) and np.allclose(drawn.high, high, atol=0.004)


def test_sparse_and_dense_sums_give_the_same_closed_form():
    right, n = sums_of()
    dense = linearized_interval(right, n)
    thin = linearized_interval(sparse.csr_array(right), sparse.csr_array(n))
    assert np.allclose(dense, thin)
    found = participant_intervals(sparse.csr_array(right), sparse.csr_array(n))
    assert found.method == ["participant_linearized"] * 2


@pytest.mark.filterwarnings("error")
def test_full_agreement_keeps_an_interval_and_one_participant_has_none():
    n = np.array([[5.0, 5.0], [5.0, 0.0], [5.0, 0.0]])
    found = participant_intervals(n.copy(), n, draws=100)
    assert found.method == ["participant_wilson", "none"]
    assert found.low[0] == pytest.approx(3 / (3 + 1.959964**2), abs=1e-6) and found.high[0] == 1
    assert np.isnan(found.low[1]) and np.isnan(found.high[1])


def test_sums_by_participant_and_group():
    values, people, groups = np.array([1.0, 0.0, 1.0]), np.array([0, 0, 1]), np.array([0, 1, 1])
    assert cluster_sums(values, people, groups, shape=(2, 2)).tolist() == [[1, 0], [0, 1]]


def test_clustered_answers_make_a_wider_interval_than_pooled_ones():
    right = np.repeat([[10.0], [2.0]], 20, axis=0)
    n = np.full((40, 1), 10.0)
    right = np.minimum(right, n)
    found = participant_intervals(right, n, draws=2000)
    share = right.sum() / n.sum()
    pooled = 2 * 1.96 * (share * (1 - share) / n.sum()) ** 0.5
    assert found.high[0] - found.low[0] > 2 * pooled
