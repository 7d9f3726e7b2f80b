"""Bayes factors."""

import math

import numpy as np
import pingouin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from analysis.effects.bayes import SCALE, bayes_label, jzs_bayes_factor, share_bayes_factor
from analysis.errors import BadInput


def test_vector_bayes_factor(shared_vectors):
    vector = shared_vectors["bayes_factor"]
    expected = vector["expected"]
    for place, (t, n) in enumerate(vector["input"]):
        two, one_sided = jzs_bayes_factor(t, n), jzs_bayes_factor(t, n, one_sided=True)
        assert two.value == pytest.approx(expected["bf10_two_sided"][place], rel=1e-9)
        assert one_sided.value == pytest.approx(expected["bf_plus0_one_sided"][place], rel=1e-8)


def integral_over_effect_sizes(t, df, size, scale, low=-math.inf):
    """Average the likelihood ratio of t over the Cauchy prior of the effect size."""

    def integrand(d):
        return stats.nct.pdf(t, df, d * size**0.5) * stats.cauchy.pdf(d, 0, scale)

    return sum(integrate.quad(integrand, *ends)[0] for ends in ((low, 0), (0, math.inf))) / stats.t.pdf(t, df)


@pytest.mark.parametrize(("t", "n", "scale"), [(0.0, 5, 1), (2.5, 20, SCALE), (-1.2, 30, 0.3), (4.0, 9, 1.5)])
def test_two_sided_factors_equal_the_integral_over_effect_sizes(t, n, scale):
    expected = integral_over_effect_sizes(t, n - 1, n, scale)
    assert jzs_bayes_factor(t, n, scale=scale).value == pytest.approx(expected, rel=1e-6)


def test_factors_of_independent_samples_equal_the_integral_over_effect_sizes():
    expected = integral_over_effect_sizes(2.2, 41, 18 * 25 / 43, SCALE)
    assert jzs_bayes_factor(2.2, 18, n_other=25).value == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("t", "n"), [(1.7, 12), (-1.2, 30), (4.0, 9)])
def test_one_sided_factors_equal_the_integral_over_effect_sizes(t, n):
    def integrand(d):
        return stats.nct.pdf(t, n - 1, d * n**0.5) * 2 * stats.cauchy.pdf(d, 0, SCALE)

    expected = integrate.quad(integrand, 0, math.inf)[0] / stats.t.pdf(t, n - 1)
    assert jzs_bayes_factor(t, n, one_sided=True).value == pytest.approx(expected, rel=1e-6)


@given(st.floats(-30, 30), st.integers(2, 500))
def test_the_two_one_sided_factors_average_to_the_two_sided(t, n):
    up = jzs_bayes_factor(t, n, one_sided=True).value
    down = jzs_bayes_factor(-t, n, one_sided=True).value
    # pingouin's quadrature is off by up to 1.1e-8
    assert (up + down) / 2 == pytest.approx(jzs_bayes_factor(t, n).value, rel=5e-8)


def test_very_large_t_neither_overflows_nor_fails():
    assert pingouin.bayesfactor_ttest(np.float64(60), 2000, paired=True) == math.inf
    assert jzs_bayes_factor(60.0, 2000).log10 == pytest.approx(445.0371528848829)
    factor = jzs_bayes_factor(500.0, 1000)
    assert factor.status == "ok" and factor.log10 > 300 and factor.value > 1e300
    assert jzs_bayes_factor(40.0, 300).log10 == pytest.approx(118.17678, abs=1e-4)


def test_undefined_factors_have_a_status():
    assert jzs_bayes_factor(None, 10).status == "too_few"
    assert jzs_bayes_factor(2.0, 1).value is None
    assert share_bayes_factor(0, 0).status == "no_data"
    with pytest.raises(BadInput, match="prior"):
        jzs_bayes_factor(1.0, 10, scale=0)


def test_shares_have_the_closed_form():
    assert pingouin.bayesfactor_binom(1080, 1080) == math.inf  # 2**1080 / 1081 is above the largest float
    assert share_bayes_factor(1080, 1080).log10 == pytest.approx(1080 * math.log10(2) - math.log10(1081))
    assert share_bayes_factor(9, 10).value == pytest.approx(2**10 / (11 * math.comb(10, 9)), rel=1e-6)
    assert share_bayes_factor(900, 1800).log10 == pytest.approx(
        (1800 * math.log(2) - math.log(1801) - math.log(math.comb(1800, 900))) / math.log(10)
    )


def test_words():
    assert bayes_label(11) == "strong for a difference" and bayes_label(0.05) == "strong for no difference"
    assert bayes_label(4) == "moderate for a difference" and bayes_label(1.5) == "undecided"
    assert jzs_bayes_factor(None, 10).label == "undefined"
