"""Chances that decisions change: every possible future written out by hand."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import beta, comb

from analysis.agreement.inclusion import Tally, parse_rule
from analysis.agreement.majority import majority_status
from analysis.agreement.predictive import (
    agreement_probabilities,
    decision_outlook,
    item_outlook,
    items_likely_to_change,
    poisson_binomial,
)
from analysis.errors import BadInput

K, N = [9, 8, 5, 6, 2], [10, 10, 10, 11, 10]


def chance(y, m, k, n):
    return comb(m, y) * beta(1 + k + y, 1 + n - k + m - y) / beta(1 + k, 1 + n - k)


def futures(more, k=K, n=N):
    """Every outcome with its probability."""
    for future in itertools.product(range(more + 1), repeat=len(k)):
        p = np.prod([chance(y, more, a, b) for y, a, b in zip(future, k, n, strict=True)])
        yield p, [a + y for a, y in zip(k, future, strict=True)], [b + more for b in n]


def decided(rule, k, n):
    words = majority_status(k, n)
    usable = int(np.isin(words, ("expected", "unexpected", "tie")).sum())
    return rule.decide(Tally(int((words == "expected").sum()), usable, list(zip(k, n, strict=True))))


@pytest.mark.parametrize("more", [1, 3])
def test_majorities_change_as_often_as_in_all_futures(more):
    outlook = item_outlook(K, N, more=more)
    now = majority_status(K, N)
    for place in range(len(K)):
        changed = sum(p for p, k, n in futures(more) if majority_status(k, n)[place] != now[place])
        assert outlook.p_change[place] == pytest.approx(changed, abs=1e-9)


@pytest.mark.parametrize("rule", ["blimp", "3/5", "5/5"])
def test_count_rules_decide_as_often_as_in_all_futures(rule):
    chosen = parse_rule(rule)
    now = decided(chosen, K, N)
    outlook = decision_outlook(chosen, K, N, now=now, more=3)
    included = sum(p for p, k, n in futures(3) if decided(chosen, k, n) == "included")
    other = sum(p for p, k, n in futures(3) if decided(chosen, k, n) != now)
    assert (outlook.p_included, outlook.p_change) == pytest.approx((included, other), abs=1e-9)
    assert outlook.method == "exact"


def test_items_that_have_too_few_judgments_yet_may_get_enough():
    chosen, k, n = parse_rule("2/2"), [1, 2], [1, 2]
    assert decided(chosen, k, n) == "insufficient_items"
    outlook = decision_outlook(chosen, k, n, now="insufficient_items", more=2)
    included = sum(p for p, a, b in futures(2, k, n) if decided(chosen, a, b) == "included")
    assert outlook.p_included == pytest.approx(included) and outlook.p_change == pytest.approx(1)
    assert decision_outlook(chosen, [0, 0], [0, 0], now="insufficient_items", more=2).p_change == 0


def test_share_rules_are_drawn_close_to_all_futures():
    chosen = parse_rule("0.6")
    included = sum(p for p, k, n in futures(3) if decided(chosen, k, n) == "included")
    outlook = decision_outlook(chosen, K, N, now="rejected", more=3, draws=40_000)
    assert outlook.method == "drawn"
    assert outlook.p_included == pytest.approx(included, abs=0.012)
    assert outlook.p_change == pytest.approx(outlook.p_included)


def test_large_paradigms_take_the_normal_form_and_it_agrees_with_draws():
    rng = np.random.default_rng(3)
    n = rng.integers(10, 20, size=300)
    k = rng.binomial(n, 0.85)
    shares = [Fraction(int(a), int(b)) for a, b in zip(k, n, strict=True)]
    rule = parse_rule(f"{float(sum(shares) / 300) - 0.01:.4f}")
    normal = decision_outlook(rule, k, n, now="included", more=5)
    sampled = decision_outlook(rule, k, n, now="included", more=5, draws=6_000)
    assert (normal.method, sampled.method) == ("normal", "drawn")
    assert normal.p_included == pytest.approx(sampled.p_included, abs=0.02)


def test_halves_count_for_both_sides():
    plain, halved = item_outlook([4], [6], more=1), item_outlook([3], [6], halves=[2], more=1)
    assert halved.now.tolist() == plain.now.tolist() == ["expected"]
    assert halved.p_change == pytest.approx(plain.p_change)


def test_agreement_probabilities_sum_to_one_and_follow_laplace():
    chances = agreement_probabilities([3, 0], [4, 0], more=4)
    assert chances.sum(axis=1) == pytest.approx([1, 1])
    assert chances[1] == pytest.approx([0.2] * 5)
    assert agreement_probabilities([3], [4], more=1)[0, 1] == pytest.approx(4 / 6)


def test_poisson_binomial_is_the_convolution():
    chances = [0.1, 0.9, 0.5]
    expected = [0.0] * 4
    for outcome in itertools.product([0, 1], repeat=3):
        expected[sum(outcome)] += np.prod([p if o else 1 - p for p, o in zip(chances, outcome, strict=True)])
    assert poisson_binomial(chances) == pytest.approx(expected)


def test_the_likeliest_changes_come_first():
    outlook = item_outlook([10, 6, 5, 0], [10, 10, 10, 0], more=2)
    assert items_likely_to_change(outlook, least=0.05).tolist() == [2, 1]


def test_no_further_judgments_are_refused():
    with pytest.raises(BadInput, match="at least 1"):
        item_outlook([1], [2], more=0)
