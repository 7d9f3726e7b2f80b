"""Intervals that hold at every look: exact chances of ever missing, and a grid instead of halving."""

import numpy as np
import pytest

from analysis.aggregation.proportions import wilson_interval
from analysis.agreement.sequential import anytime_interval, mixture_evidence
from analysis.errors import BadInput

LOOKS = 150


def chance_of_ever_missing(interval, share, *, first=1, looks=LOOKS):
    """Exactly: walk through every number of yes after each participant, stopping where the truth is out."""
    still_in, missed = np.array([1.0]), 0.0
    for n in range(1, looks + 1):
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


def test_shares_of_several_items_by_people_who_differ_are_covered_too():
    rng, mean, n_studies = np.random.default_rng(5), 0.8, 2_000
    person = rng.beta(4, 1, size=(n_studies, LOOKS))  # each person's own chance, with mean .8
    shares = rng.binomial(5, person) / 5
    totals, n = shares.cumsum(axis=1), np.arange(1, LOOKS + 1)
    evidence = mixture_evidence(totals, n, mean)
    assert (evidence.max(axis=1) >= np.log(20)).mean() <= 0.05
    low, high = anytime_interval(totals[:50], n)
    inside = (low <= mean) & (mean <= high)
    assert (inside == (evidence[:50] < np.log(20))).all()


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


def test_nobody_yet_means_nothing_known():
    assert [float(end) for end in anytime_interval(0, 0)] == [0.0, 1.0]


def test_the_order_of_arrival_and_the_number_of_looks_leave_the_interval_alone():
    rng = np.random.default_rng(1)
    shares = rng.random(40)
    first, again = (anytime_interval(values.sum(), 40) for values in (shares, rng.permutation(shares)))
    assert np.allclose(first, again, atol=1e-9)


def test_it_is_wider_than_one_planned_look_and_narrows():
    widths = [np.subtract(*anytime_interval(0.9 * n, n)[::-1]) for n in (10, 100, 1000)]
    wilson = [np.subtract(*wilson_interval(0.9 * n, n)[::-1]) for n in (10, 100, 1000)]
    assert widths == sorted(widths, reverse=True)
    assert all(w < own < 2 * w for own, w in zip(widths, wilson, strict=True))


@pytest.mark.parametrize("wrong", [{"total": 5, "n": 4}, {"total": -1, "n": 4}])
def test_impossible_sums_are_refused(wrong):
    with pytest.raises(BadInput, match="between 0 and 1"):
        anytime_interval(wrong["total"], wrong["n"])
    with pytest.raises(BadInput, match="confidence"):
        anytime_interval(1, 2, confidence=95)
