"""The cumulative link model."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.miscmodels.ordinal_model import OrderedModel

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


@pytest.mark.parametrize("seed", range(4))
def test_estimates_and_errors_equal_those_of_statsmodels(seed):
    rng = np.random.default_rng(seed)
    x = pd.DataFrame({"good": rng.integers(0, 2, 150).astype(float), "length": rng.normal(size=150)})
    latent = 0.8 * x["good"] - 0.4 * x["length"] + rng.logistic(size=150)
    ratings = pd.Series(np.digitize(latent, [-2, -1, 0, 1, 2]).astype(float))
    fit = cumulative_link(ratings, x)
    peer = OrderedModel(pd.Series(pd.Categorical(ratings, ordered=True)), x, distr="logit")
    other = peer.fit(method="bfgs", maxiter=500, gtol=1e-8, disp=False)
    thresholds = peer.transform_threshold_params(other.params.to_numpy())[1:-1]
    assert fit.beta == pytest.approx(dict(other.params[["good", "length"]]), abs=1e-4)
    assert fit.se == pytest.approx(dict(other.bse[["good", "length"]]), abs=1e-4)
    assert fit.thresholds == pytest.approx(list(thresholds), abs=1e-4)


@pytest.mark.filterwarnings("error")
def test_separated_ratings_have_no_estimate():
    good = pd.DataFrame({"good": [0.0, 0, 0, 0, 1, 1, 1, 1]})
    fit = cumulative_link(pd.Series([1.0, 2, 1, 2, 6, 7, 6, 7]), good)
    assert (fit.status, fit.beta) == ("not_converged", {})


def test_vector_clm(shared_vectors):
    vector = shared_vectors["clm"]
    frame = pd.DataFrame(vector["input"], columns=["good", "rating"])
    fit = cumulative_link(frame["rating"], frame[["good"]])
    expected = vector["expected"]
    assert fit.beta["good"] == pytest.approx(expected["beta"], abs=vector["tolerance"])
    assert fit.se["good"] == pytest.approx(expected["se"], abs=vector["tolerance"])
    assert fit.z["good"] == pytest.approx(expected["z"], abs=vector["tolerance"])
    assert fit.thresholds == pytest.approx(expected["thresholds"], abs=vector["tolerance"])
