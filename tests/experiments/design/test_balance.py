"""The next participant's list."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadInput
from experiments.design import least_filled


@given(st.integers(1, 8), st.integers(0, 60), st.integers(0, 99))
def test_lists_never_differ_by_more_than_one_without_dropout(n_lists, n_participants, seed):
    rng, counts = np.random.default_rng(seed), dict.fromkeys(range(n_lists), 0)
    for _ in range(n_participants):
        counts[least_filled(counts, rng)] += 1
        assert max(counts.values()) - min(counts.values()) <= 1


def test_ties_fall_by_chance():
    chosen = Counter(least_filled({"A": 0, "B": 0}, np.random.default_rng(seed)) for seed in range(100))
    assert min(chosen["A"], chosen["B"]) > 30


def test_no_list_is_refused():
    with pytest.raises(BadInput, match="no open list"):
        least_filled({}, np.random.default_rng(1))
