"""Fillers, catch and practice trials in their places."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadInput
from experiments.design import PlannedTrial, Stimulus, prepend_trials, spread_catch, with_fillers

TARGETS = [PlannedTrial(f"t{i}", f"t{i}", paradigm="p") for i in range(10)]


def stimuli(prefix, n):
    return [Stimulus(f"{prefix}{i}", f"{prefix}{i}") for i in range(n)]


@given(st.integers(1, 40), st.data(), st.integers(0, 30))
def test_catch_trials_are_spread_one_per_stretch(n, data, seed):
    k = data.draw(st.integers(0, n))
    targets = [PlannedTrial(f"t{i}", f"t{i}") for i in range(n)]
    woven = spread_catch(targets, stimuli("c", k), np.random.default_rng(seed))
    places = [place for place, trial in enumerate(woven) if trial.kind == "catch"]
    assert len(places) == k and 0 not in places
    assert all(b - a > 1 for a, b in zip(places, places[1:], strict=False))
    assert [trial for trial in woven if trial.kind == "target"] == targets


def test_sides_of_catch_trials_are_balanced():
    woven = spread_catch(TARGETS, stimuli("c", 4), np.random.default_rng(1), sided=True)
    assert sum(bool(trial.expected_first) for trial in woven if trial.kind == "catch") == 2


def test_more_catch_trials_than_targets_is_refused():
    with pytest.raises(BadInput, match="cannot be spread"):
        spread_catch(TARGETS[:1], stimuli("c", 2), np.random.default_rng(1))


def test_every_list_gets_the_same_fillers():
    filler_keys = [
        {
            t.key
            for t in with_fillers(TARGETS, stimuli("f", 8), np.random.default_rng(seed), n=5)
            if t.kind == "filler"
        }
        for seed in range(5)
    ]
    assert filler_keys == [{"f0", "f1", "f2", "f3", "f4"}] * 5


def test_too_few_fillers_is_refused():
    with pytest.raises(BadInput, match="9 fillers were requested, but there are only 2"):
        with_fillers(TARGETS, stimuli("f", 2), np.random.default_rng(1), n=9)


def test_practice_comes_first_in_the_given_order():
    trials = prepend_trials(TARGETS, stimuli("p", 3), np.random.default_rng(1))
    assert [trial.key for trial in trials[:3]] == ["p0", "p1", "p2"] and trials[3:] == TARGETS
