"""Balanced lists: each item once, every condition and side equally often."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadInput
from experiments.design import Stimulus, complete_lists, forced_choice_lists, latin_square_lists


def cells(n_items, n_conditions, *, paradigm="p"):
    return [
        Stimulus(f"{paradigm}-{i}-{c}", f"{paradigm}-{i}", f"c{c}", paradigm)
        for i in range(n_items)
        for c in range(n_conditions)
    ]


def pairs(n, *, paradigm="p"):
    return [Stimulus(f"{paradigm}{i}", f"{paradigm}{i}", paradigm=paradigm) for i in range(n)]


@given(st.integers(1, 13), st.integers(1, 5), st.integers(1, 3), st.integers(0, 99))
def test_each_item_once_per_list_and_every_sentence_equally_often(n_items, n_conditions, times, seed):
    lists = latin_square_lists(
        cells(n_items, n_conditions), np.random.default_rng(seed), n_lists=n_conditions * times
    )
    assert len(lists) == n_conditions * times
    for trials in lists:
        assert Counter(trial.item for trial in trials) == {f"p-{i}": 1 for i in range(n_items)}
        counts = [Counter(t.condition for t in trials)[f"c{c}"] for c in range(n_conditions)]
        assert max(counts) - min(counts) <= (1 if n_items % n_conditions else 0)
    showings = Counter(trial.key for trials in lists for trial in trials)
    assert set(showings.values()) == {times} and len(showings) == n_items * n_conditions


@given(st.lists(st.integers(1, 7), min_size=1, max_size=4), st.integers(0, 99))
def test_expected_member_is_on_both_sides_equally(sizes, seed):
    stimuli = [pair for place, size in enumerate(sizes) for pair in pairs(size, paradigm=f"p{place}-")]
    lists = forced_choice_lists(stimuli, np.random.default_rng(seed), n_lists=4)
    for trials in lists:
        assert len({trial.item for trial in trials}) == len(trials) == len(stimuli)
        assert abs(sum(1 if trial.expected_first else -1 for trial in trials)) <= 1
        for paradigm in {trial.paradigm for trial in trials}:
            assert abs(sum(1 if t.expected_first else -1 for t in trials if t.paradigm == paradigm)) <= 1
    first = Counter(trial.key for trials in lists for trial in trials if trial.expected_first)
    assert set(first.values()) == {2}


def test_paradigms_with_different_numbers_of_conditions_share_lists():
    lists = latin_square_lists(
        cells(4, 2, paradigm="two") + cells(3, 3, paradigm="three"), np.random.default_rng(1)
    )
    assert len(lists) == 6
    assert all(len(trials) == 7 for trials in lists)


@given(st.integers(0, 20))
def test_same_seed_gives_same_lists_whatever_the_order_of_the_input(seed):
    stimuli = cells(6, 2)
    first = latin_square_lists(stimuli, np.random.default_rng(seed))
    assert latin_square_lists(stimuli[::-1], np.random.default_rng(seed)) == first


def test_items_with_several_pairs_show_one_of_them_per_list_on_both_sides():
    lists = forced_choice_lists(cells(4, 2), np.random.default_rng(1))
    assert len(lists) == 4
    assert all(len({trial.item for trial in trials}) == len(trials) == 4 for trials in lists)
    showings = Counter((trial.key, trial.expected_first) for trials in lists for trial in trials)
    assert len(showings) == 16 and set(showings.values()) == {1}
    for trials in lists:
        assert Counter((t.condition, t.expected_first) for t in trials) == {
            (c, side): 1 for c in ("c0", "c1") for side in (True, False)
        }


def test_complete_lists_hold_every_sentence():
    lists = complete_lists(cells(3, 2), np.random.default_rng(1), n_lists=2)
    assert [len(trials) for trials in lists] == [6, 6]


def test_hole_is_named():
    with pytest.raises(BadInput, match="item 'p-1' of 'p' has no sentence in condition 'c1'"):
        latin_square_lists(cells(2, 2)[:-1], np.random.default_rng(1))


def test_unbalanceable_number_of_lists_is_refused():
    with pytest.raises(BadInput, match="multiple of 2"):
        forced_choice_lists(pairs(4), np.random.default_rng(1), n_lists=3)


def test_double_key_is_refused():
    with pytest.raises(BadInput, match="occurs twice"):
        forced_choice_lists(pairs(2) + pairs(1), np.random.default_rng(1))


def test_no_material_is_refused():
    with pytest.raises(BadInput, match="at least one"):
        latin_square_lists([], np.random.default_rng(1))
