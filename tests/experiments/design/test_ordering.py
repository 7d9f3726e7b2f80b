"""Seeded order that keeps its rules or says which one cannot be met."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadInput
from experiments.design import OrderRules, PlannedTrial, order_trials
from experiments.design.ordering import default_rules, unsatisfiable_rule


def trials(counts):
    return [
        PlannedTrial(f"{value}{i}", f"{value}{i}", paradigm=value, condition="ab"[i % 2])
        for value, count in counts.items()
        for i in range(count)
    ]


counts = st.dictionaries(st.sampled_from("uvwxyz"), st.integers(1, 8), min_size=1, max_size=6)


@given(counts, st.integers(2, 4), st.integers(0, 50))
def test_distance_is_kept_whenever_it_can_be(sizes, distance, seed):
    rules, planned = OrderRules(apart={"paradigm": distance}), trials(sizes)
    if unsatisfiable_rule(planned, rules):
        with pytest.raises(BadInput, match=f"at least {distance} apart"):
            order_trials(planned, np.random.default_rng(seed), rules=rules)
        return
    sequence = order_trials(planned, np.random.default_rng(seed), rules=rules)
    assert Counter(sequence) == Counter(planned)
    for place, trial in enumerate(sequence):
        assert trial.paradigm not in {
            before.paradigm for before in sequence[max(0, place - distance + 1) : place]
        }


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 3), st.integers(0, 50))
def test_runs_are_never_longer_than_allowed(n_a, n_b, longest, seed):
    planned = [PlannedTrial(f"a{i}", f"a{i}", condition="a") for i in range(n_a)]
    planned += [PlannedTrial(f"b{i}", f"b{i}", condition="b") for i in range(n_b)]
    rules = OrderRules(longest_run={"condition": longest})
    if unsatisfiable_rule(planned, rules):
        return
    letters = "".join(t.condition for t in order_trials(planned, np.random.default_rng(seed), rules=rules))
    assert "a" * (longest + 1) not in letters and "b" * (longest + 1) not in letters


def test_several_rules_hold_together():
    planned = trials({"u": 8, "v": 8, "w": 8})
    rules = OrderRules(apart={"paradigm": 2}, longest_run={"condition": 2})
    sequence = order_trials(planned, np.random.default_rng(3), rules=rules)
    assert all(a.paradigm != b.paradigm for a, b in zip(sequence, sequence[1:], strict=False))
    assert not any(len({t.condition for t in sequence[i : i + 3]}) == 1 for i in range(len(sequence) - 2))


@given(st.integers(0, 50))
def test_same_seed_gives_same_order(seed):
    planned = trials({"u": 4, "v": 3, "w": 3})
    rules = OrderRules(apart={"paradigm": 2})
    first = order_trials(planned, np.random.default_rng(seed), rules=rules)
    assert order_trials(planned, np.random.default_rng(seed), rules=rules) == first


def test_orders_differ_between_seeds():
    planned = trials({"u": 6, "v": 6})
    assert len({tuple(order_trials(planned, np.random.default_rng(seed))) for seed in range(20)}) == 20


def test_impossible_rule_is_named_with_its_value():
    with pytest.raises(BadInput, match="5 of 6 trials have paradigm 'u'"):
        order_trials(
            trials({"u": 5, "v": 1}), np.random.default_rng(1), rules=OrderRules(apart={"paradigm": 2})
        )


def test_rules_that_only_together_are_impossible_are_named():
    planned = [PlannedTrial(f"{i}", f"{i}", paradigm="uv"[i % 2], condition="ab"[i % 2]) for i in range(4)]
    planned += [PlannedTrial(f"x{i}", f"x{i}", paradigm="uv"[i % 2], condition="ba"[i % 2]) for i in range(1)]
    rules = OrderRules(apart={"paradigm": 2, "condition": 3})
    with pytest.raises(BadInput, match="condition"):
        order_trials(planned, np.random.default_rng(1), rules=rules)


def test_empty_values_are_free():
    planned = [PlannedTrial(str(i), str(i), kind="filler") for i in range(5)]
    assert len(order_trials(planned, np.random.default_rng(1), rules=OrderRules(apart={"paradigm": 2}))) == 5


def test_usual_rules_give_way_where_they_cannot_be_kept():
    assert default_rules(trials({"u": 6})).apart == {}
    assert default_rules(trials({"u": 3, "v": 3})).apart == {"paradigm": 2}
