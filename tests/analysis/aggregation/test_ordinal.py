"""The cumulative link model."""

import numpy as np
import pandas as pd
import pytest

from analysis.aggregation.ordinal import cumulative_link


def test_known_effect_and_thresholds_are_recovered():
    rng = np.random.default_rng(2)
    good = rng.integers(0, 2, 4000)
    latent = 1.5 * good + rng.logistic(size=4000)
    ratings = pd.Series(np.digitize(latent, [-1.0, 0.5, 2.0]) + 1)
    fit = cumulative_link(ratings, pd.DataFrame({"good": good}))
    assert fit.status == "ok" and fit.n == 4000
    assert fit.beta["good"] == pytest.approx(1.5, abs=0.15)
    assert fit.thresholds == pytest.approx([-1.0, 0.5, 2.0], abs=0.15)


@pytest.mark.filterwarnings("error")
def test_constant_ratings_or_no_ratings_have_no_model():
    predictors = pd.DataFrame({"good": [0, 1, 0, 1]})
    assert cumulative_link(pd.Series([4, 4, 4, 4]), predictors).status == "no_variation"
    assert cumulative_link(pd.Series([np.nan] * 4), predictors).status == "no_data"
    assert cumulative_link(pd.Series([1, 2, 3, 4]), predictors * 0).status == "no_variation"


def test_vector_clm(shared_vectors):
    vector = shared_vectors["clm"]
    frame = pd.DataFrame(vector["input"], columns=["good", "rating"])
    fit = cumulative_link(frame["rating"], frame[["good"]])
    expected = vector["expected"]
    assert fit.beta["good"] == pytest.approx(expected["beta"], abs=vector["tolerance"])
    assert fit.se["good"] == pytest.approx(expected["se"], abs=vector["tolerance"])
    assert fit.z["good"] == pytest.approx(expected["z"], abs=vector["tolerance"])
    assert fit.thresholds == pytest.approx(expected["thresholds"], abs=vector["tolerance"])
