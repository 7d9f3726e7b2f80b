"""Rasch's and the two-parameter model: published estimates of LSAT section 6, recovery, and limits."""

import numpy as np
import pytest
from scipy.special import expit

from analysis.aggregation.item_response import estimate_abilities, fit_item_response

# Bock & Lieberman (1970), Psychometrika 35: answers of 1,000 persons to five items, by pattern.
LSAT6 = (
    "00000:3 00001:6 00010:2 00011:11 00100:1 00101:1 00110:3 00111:4 01000:1 01001:8 01011:16 01101:3 "
    "01110:2 01111:15 10000:10 10001:29 10010:14 10011:81 10100:3 10101:28 10110:15 10111:80 11000:16 "
    "11001:56 11010:21 11011:173 11100:11 11101:61 11110:28 11111:298"
)
# R's ltm, rasch(LSAT) and ltm(LSAT ~ z1), as printed in its manual and tutorials.
RASCH = [-3.6153, -1.3224, -0.3176, -1.7301, -2.7802]
TWO_PARAMETER = [-3.3597, -1.3696, -0.2799, -1.8659, -3.1236]
DISCRIMINATION = [0.8254, 0.7229, 0.8905, 0.6886, 0.6575]
ERRORS = [0.8669, 0.3073, 0.0997, 0.4341, 0.8700, 0.2581, 0.1867, 0.2326, 0.1852, 0.2100]


@pytest.fixture
def lsat():
    """One row per person."""
    patterns = [pattern.split(":") for pattern in LSAT6.split()]
    return np.repeat([[int(x) for x in bits] for bits, _ in patterns], [int(n) for _, n in patterns], axis=0)


def test_published_estimates_of_the_lsat(lsat):
    assert lsat.sum(axis=0).tolist() == [924, 709, 553, 763, 870]
    rasch = fit_item_response(lsat)
    assert rasch.difficulty == pytest.approx(RASCH, abs=1e-4)
    assert rasch.discrimination == pytest.approx([0.7551] * 5, abs=1e-4)
    assert rasch.log_likelihood == pytest.approx(-2466.938, abs=1e-3)
    two = fit_item_response(lsat, has_slopes=True)
    # ltm stops at gradients of 0.024
    assert two.difficulty == pytest.approx(TWO_PARAMETER, abs=3e-3)
    assert two.discrimination == pytest.approx(DISCRIMINATION, abs=1e-3)
    assert two.log_likelihood == pytest.approx(-2466.653, abs=1e-3)
    assert [*two.difficulty_se, *two.discrimination_se] == pytest.approx(ERRORS, abs=2e-3)


def test_missing_answers_leave_the_scale_as_it_is():
    rng = np.random.default_rng(4)
    ability, difficulty = rng.normal(size=600), np.linspace(-2, 2, 20)
    answers = (rng.random((600, 20)) < expit(1.5 * (ability[:, None] - difficulty))).astype(float)
    answers[rng.random(answers.shape) < 0.4] = np.nan
    fit = fit_item_response(answers)
    assert np.abs(fit.difficulty - difficulty).max() < 0.3 and abs(fit.discrimination[0] - 1.5) < 0.15
    assert (np.abs(fit.difficulty - difficulty) < 2.5 * fit.difficulty_se).mean() > 0.9
    estimate, error = estimate_abilities(answers, fit)
    assert np.corrcoef(estimate, ability)[0, 1] > 0.8
    assert (np.abs(estimate - ability) < 1.96 * error).mean() == pytest.approx(0.95, abs=0.03)


def test_all_right_and_all_wrong_have_finite_abilities(lsat):
    items = fit_item_response(lsat)
    takers = np.array([[1.0] * 5, [0.0] * 5, [np.nan] * 5, [1, 1, 1, 1, np.nan]])
    ability, error = estimate_abilities(takers, items)
    assert np.isfinite(ability[:2]).all() and ability[0] > ability[3] > ability[1]
    assert np.isnan(ability[2]) and np.isnan(error[2])


def test_items_answered_alike_are_refused(lsat):
    assert fit_item_response(np.ones((10, 3))).status == "too_few"
    assert fit_item_response(lsat[:, :1]).status == "too_few"
