"""Intervals that hold at every look: exact chances of ever missing, and a grid instead of halving."""

import numpy as np
import pytest

from analysis.aggregation.proportions import wilson_interval
from analysis.agreement.sequential import (
    anytime_interval,
    anytime_mean_interval,
    mixture_evidence,
    share_evidence,
)
from analysis.errors import BadInput

LOOKS = 150


def chance_of_ever_missing(interval, share, *, first=1, n_looks=LOOKS):
    """Exactly: walk through every number of yes after each participant, stopping where the truth is out."""
    still_in, missed = np.array([1.0]), 0.0
    for n in range(1, n_looks + 1):
        still_in = np.append(still_in * (1 - share), 0) + np.append(0, still_in * share)
        if n >= first:
            low, high = interval(np.arange(n + 1), np.full(n + 1, n))
            out = (share < low - 1e-12) | (share > high + 1e-12)
            missed += still_in[out].sum()
            still_in[out] = 0
    return missed


@pytest.mark.parametrize("share", [0.5, 0.85, 0.97])
def test_looking_after_every_participant_misses_the_truth_in_five_percent_at_most(share):
    assert chance_of_ever_missing(anytime_interval, share) <= 0.05


@pytest.mark.parametrize("share", [0.5, 0.85])
def test_wilson_misses_in_a_quarter_and_more_when_looked_at_after_every_participant(share):
    assert chance_of_ever_missing(wilson_interval, share, first=10) > 0.2


def chance_of_ever_missing_a_mean(shares, chances, *, n_looks):
    """Exactly: every count of each possible share after each person, with its probability."""
    mean, still_in, missed = float(np.dot(shares, chances)), {(0,) * len(shares): 1.0}, 0.0
    for _ in range(n_looks):
        reached = {}
        for counts, p in still_in.items():
            for place, chance in enumerate(chances):
                after = (*counts[:place], counts[place] + 1, *counts[place + 1 :])
                reached[after] = reached.get(after, 0.0) + p * chance
        still_in = {}
        for counts, p in reached.items():
            if share_evidence(np.repeat(shares, counts), mean, nodes=64) >= np.log(20):
                missed += p
            else:
                still_in[counts] = p
    return missed


@pytest.mark.parametrize("chances", [(0.1, 0.3, 0.6), (0.02, 0.06, 0.92)])
def test_means_of_shares_are_missed_in_five_percent_at_most(chances):
    assert 0 < chance_of_ever_missing_a_mean((0.0, 0.5, 1.0), chances, n_looks=24) <= 0.05


def test_people_who_differ_are_covered_over_two_hundred_looks():
    rng, mean, people = np.random.default_rng(5), 0.8, 200
    bets = (1 + np.cos((2 * np.arange(1, 65) - 1) * np.pi / 128)) / 2
    missed = wilson_missed = 0
    for _ in range(400):
        shares = rng.binomial(5, rng.beta(4, 1, size=people)) / 5  # each person's own chance, with mean .8
        factors = np.outer(shares, bets) / mean + np.outer(1 - shares, 1 - bets) / (1 - mean)
        evidence = np.log(np.exp(np.log(factors).cumsum(axis=0)).mean(axis=1))
        assert share_evidence(shares[:50], mean, nodes=64) == pytest.approx(evidence[49], abs=1e-9)
        missed += evidence.max() >= np.log(20)
        pooled = (5 * shares).cumsum(), 5 * np.arange(1, people + 1)
        low, high = (ends[9:] for ends in wilson_interval(*pooled))
        wilson_missed += ((mean < low) | (mean > high)).any()
    assert missed <= 0.05 * 400 < 0.3 * 400 < wilson_missed


@pytest.mark.parametrize("yes", [0, 7, 36, 40])
def test_answers_of_zero_and_one_give_the_closed_form(yes):
    low, high = anytime_interval(yes, 40)
    interval = anytime_mean_interval([1.0] * yes + [0.0] * (40 - yes))
    assert interval == pytest.approx((float(low), float(high)), abs=1e-7)


def test_people_alike_give_a_narrower_interval_than_their_sum_alone():
    shares = [0.8, 1.0] * 20
    low, high = anytime_interval(36, 40)
    own_low, own_high = anytime_mean_interval(shares)
    assert low < own_low < 0.9 < own_high < high
    assert own_high - own_low < 0.6 * (high - low)


def test_ends_of_a_mean_are_where_the_evidence_reaches_twenty():
    shares = np.random.default_rng(2).random(30)
    for end in anytime_mean_interval(shares):
        assert share_evidence(shares, end) == pytest.approx(np.log(20), abs=1e-6)
    grid = np.linspace(0.01, 0.99, 99)
    low, high = anytime_mean_interval(shares)
    assert ((share_evidence(shares, grid) < np.log(20)) == ((grid > low) & (grid < high))).all()


@pytest.mark.parametrize(("total", "n"), [(0, 7), (7, 7), (3.4, 9), (18, 20), (412.5, 500)])
def test_ends_are_those_of_a_fine_grid(total, n):
    grid = np.linspace(0, 1, 200_001)
    within = grid[mixture_evidence(total, n, grid) < np.log(20)]
    low, high = anytime_interval(total, n)
    assert (low, high) == pytest.approx((within.min(), within.max()), abs=1e-5)


def test_evidence_is_the_integral_over_the_prior():
    from scipy import integrate, stats

    ratio = lambda q: (q / 0.6) ** 8 * ((1 - q) / 0.4) ** 2 * stats.beta.pdf(q, 2, 3)  # noqa: E731
    expected = np.log(integrate.quad(ratio, 0, 1)[0])
    assert mixture_evidence(8, 10, 0.6, prior=(2, 3)) == pytest.approx(expected, abs=1e-8)


def test_an_interval_without_data_is_the_whole_range():
    assert [float(end) for end in anytime_interval(0, 0)] == [0.0, 1.0]
    assert anytime_mean_interval([]) == (0.0, 1.0)


def test_the_order_of_arrival_and_the_number_of_looks_leave_the_interval_alone():
    rng = np.random.default_rng(1)
    shares = rng.random(40)
    first, permuted = (anytime_mean_interval(values) for values in (shares, rng.permutation(shares)))
    assert first == pytest.approx(permuted, abs=1e-9)


def test_it_is_wider_than_one_planned_look_and_narrows():
    widths = [np.subtract(*anytime_interval(0.9 * n, n)[::-1]) for n in (10, 100, 1000)]
    wilson = [np.subtract(*wilson_interval(0.9 * n, n)[::-1]) for n in (10, 100, 1000)]
    assert widths == sorted(widths, reverse=True)
    assert all(w < wilson_width < 2 * w for wilson_width, w in zip(widths, wilson, strict=True))


@pytest.mark.parametrize("wrong", [{"total": 5, "n": 4}, {"total": -1, "n": 4}])
def test_impossible_sums_are_refused(wrong):
    with pytest.raises(BadInput, match="between 0 and 1"):
        anytime_interval(wrong["total"], wrong["n"])
    with pytest.raises(BadInput, match="between 0 and 1"):
        anytime_mean_interval([0.5, 1.2])
    with pytest.raises(BadInput, match="confidence"):
        anytime_interval(1, 2, confidence=95)
