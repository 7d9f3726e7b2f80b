"""Sets for best–worst scaling: every sentence equally often, no pair together more often than needed."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import BadInput
from experiments.design.trials import Stimulus
from experiments.design.tuples import balanced_tuples, most_meetings, tuple_lists


def meetings(sets):
    return Counter(pair for members in sets for pair in combinations(sorted(members), 2))


@settings(max_examples=15, deadline=None)
@given(st.integers(3, 6), st.integers(1, 3), st.integers(0, 30), st.integers(0, 2**20))
def test_each_sentence_occurs_equally_often_and_never_twice_in_a_set(size, rounds, more, seed):
    n, showings = size + 1 + more, size * rounds
    sets = balanced_tuples(n, np.random.default_rng(seed), size=size, showings=showings)
    assert Counter(number for members in sets for number in members) == dict.fromkeys(range(n), showings)
    assert all(len(set(members)) == size for members in sets)


@pytest.mark.parametrize(
    ("n", "size", "showings"), [(40, 4, 8), (60, 4, 8), (30, 3, 6), (100, 5, 5), (5, 4, 4)]
)
def test_no_pair_meets_more_often_than_needed(n, size, showings):
    sets = balanced_tuples(n, np.random.default_rng(7), size=size, showings=showings)
    assert max(meetings(sets).values()) <= most_meetings(n, size=size, showings=showings)


@pytest.mark.parametrize("n", [12, 16, 20, 24])
def test_where_the_bound_is_tight_a_pair_meets_at_most_once_more(n):
    sets = balanced_tuples(n, np.random.default_rng(7), size=4, showings=8)
    assert max(meetings(sets).values()) <= most_meetings(n, size=4, showings=8) + 1


def test_a_seed_gives_the_same_sets_and_another_gives_others():
    first, repeated, other = (balanced_tuples(20, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == repeated != other


@pytest.mark.parametrize(
    ("n", "size", "showings", "says"),
    [
        (4, 4, 4, "at least 5"),
        (10, 2, 4, "Choose 3 to 6"),
        (10, 7, 7, "Choose 3 to 6"),
        (10, 4, 3, "a multiple of 2 times"),
        (9, 4, 6, "a multiple of 4 times"),
        (8, 4, 0, "multiple"),
    ],
)
def test_numbers_that_cannot_be_dealt_evenly_are_refused_with_a_remedy(n, size, showings, says):
    with pytest.raises(BadInput, match=says):
        balanced_tuples(n, np.random.default_rng(1), size=size, showings=showings)


def test_lists_share_the_sets_of_each_paradigm_evenly():
    stimuli = [Stimulus(f"{p}{i}", f"{p}{i}", paradigm=p) for p in ("npi", "wh") for i in range(8)]
    lists = tuple_lists(stimuli, np.random.default_rng(1), size=4, showings=4, n_lists=4)
    assert [Counter(trial.paradigm for trial in trials) for trials in lists] == [{"npi": 2, "wh": 2}] * 4
    for trials in lists:
        showings = Counter(key for trial in trials for key in trial.key.split(","))
        assert set(showings.values()) == {1}
    with pytest.raises(BadInput, match="divides 8"):
        tuple_lists(stimuli, np.random.default_rng(1), size=4, showings=4, n_lists=3)
