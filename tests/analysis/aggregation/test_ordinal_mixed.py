"""The mixed cumulative link model equals R's, and says what it cannot fit."""

import numpy as np
import pandas as pd
import pytest

from analysis.aggregation.ordinal import mixed_cumulative_link


def test_vector_clmm(shared_vectors):
    vector = shared_vectors["clmm"]
    rows = pd.DataFrame(
        shared_vectors["five_analyses"]["input"], columns=["participant", "item", "condition", "y"]
    )
    good = (rows["condition"] == "good").astype(float)
    fit = mixed_cumulative_link(
        pd.Series(vector["input"]["likert"]), good, participants=rows["participant"], items=rows["item"]
    )
    assert fit.status == "ok"
    for name, expected in vector["expected"].items():
        assert getattr(fit, name) == pytest.approx(expected, abs=vector["tolerance"]), name


def test_simulated_effect_and_spread_of_participants_are_recovered():
    rng = np.random.default_rng(3)
    participant, item = np.repeat(np.arange(60), 20), np.tile(np.arange(20), 60)
    good = ((participant + item) % 2).astype(float)
    latent = 2 * good + rng.normal(0, 1, 60)[participant] + rng.logistic(size=1200)
    rating = pd.Series(np.digitize(latent, [-1, 0.5, 2, 3.5]))
    fit = mixed_cumulative_link(rating, pd.Series(good), participants=participant, items=item)
    assert fit.beta == pytest.approx(2, abs=4 * fit.se)
    assert 0.5 < fit.var_participant < 1.7
    assert fit.var_item < 0.1


@pytest.mark.parametrize(("ratings", "status"), [([], "no_data"), ([3, 3, 3, 3], "no_variation")])
def test_what_cannot_be_fitted_has_a_status_and_no_numbers(ratings, status):
    ids = list(range(len(ratings)))
    x = pd.Series([float(number % 2) for number in ids], dtype=float)
    fit = mixed_cumulative_link(pd.Series(ratings, dtype=float), x, participants=ids, items=ids)
    assert (fit.status, fit.beta) == (status, None)
