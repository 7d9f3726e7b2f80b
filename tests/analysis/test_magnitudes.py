"""Training with lines: correlation and exponent against scipy's regression."""

import numpy as np
import pytest
from scipy import stats

from analysis.errors import BadInput
from analysis.magnitudes import proportionality


@pytest.mark.parametrize("seed", range(5))
def test_correlation_and_exponent_are_those_of_a_regression_of_logs(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.uniform(0.2, 3, 6)
    estimates = 100 * lengths**0.8 * np.exp(rng.normal(0, 0.3, 6))
    proportion = proportionality(lengths, estimates)
    fit = stats.linregress(np.log(lengths), np.log(estimates))
    assert (proportion.r, proportion.exponent) == pytest.approx((fit.rvalue, fit.slope))
    doubled = proportionality(lengths, 7 * estimates)  # the modulus drops out
    assert (doubled.r, doubled.exponent) == pytest.approx((proportion.r, proportion.exponent))


@pytest.mark.parametrize("estimates", [[5, 5, 5], [7.0, 7.0, 7.0]])
def test_the_same_number_for_every_line_has_no_correlation(estimates):
    assert proportionality([0.5, 1, 2], estimates).r is None


def test_compressed_ratios_are_consistent_with_an_exponent_below_one():
    fit = proportionality([0.25, 0.5, 1, 2, 4], [50, 71, 100, 141, 200])
    assert fit.r == pytest.approx(1, abs=1e-4) and fit.exponent == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("wrong", [[1, 2], [1, 2, 0], [1, 2, -3]])
def test_lines_without_a_positive_estimate_are_refused(wrong):
    with pytest.raises(BadInput):
        proportionality([1, 2, 3], wrong)
