"""Learning curves, filtered training, Matthews correlation, correlation, tests between models."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.comparison.baselines import recalibrated_delta
from analysis.comparison.correlation import association, correlation_matrix
from analysis.comparison.criteria import matthews_correlation
from analysis.comparison.in_depth.filtered_training import accuracy_delta, probability_delta
from analysis.comparison.in_depth.learning_curves import learning_curve
from analysis.comparison.intervals import (
    correlation_difference_interval,
    correlation_interval,
    difference_interval,
    pair_clusters,
)
from analysis.comparison.model_differences import cluster_flip_p, least_flip_p, mcnemar_p, model_tests
from analysis.comparison.pairs import pair_table
from analysis.errors import BadInput, NotEnoughData
from analysis.multiple_tests import holm


def test_learning_curve_equals_the_vector(shared_vectors):
    vector = shared_vectors["learning_curve"]
    expected = vector["expected"]
    curve = learning_curve(vector["input"]["tokens"], vector["input"]["accuracy"])
    assert curve.slope_per_doubling == pytest.approx(expected["slope_per_doubling"], abs=1e-9)
    assert curve.intercept == pytest.approx(expected["intercept"], abs=1e-9)
    assert curve.r == pytest.approx(expected["r"], abs=1e-9)
    assert curve.log2_tokens_at(0.9) == pytest.approx(expected["log2_tokens_at_0.9"], abs=1e-6)


def test_a_falling_curve_reaches_no_accuracy_and_one_size_makes_no_curve():
    assert learning_curve([1, 2], [0.9, 0.8]).log2_tokens_at(0.95) is None
    with pytest.raises(NotEnoughData):
        learning_curve([4, 4], [0.5, 0.6])


def test_filtered_training_equals_the_vector(shared_vectors):
    vector = shared_vectors["fict"]
    inputs, expected = vector["input"], vector["expected"]
    assert accuracy_delta(inputs["acc_filtered"], inputs["acc_full_seeds"]) == expected["accuracy_delta"]
    delta = probability_delta([inputs["logp_good"]], [inputs["logp_bad"]])
    assert delta.tolist() == [expected["probability_delta"]]


def test_matthews_correlation_equals_the_vector(shared_vectors):
    vector = shared_vectors["mcc"]
    true, predicted = vector["input"]["true"], vector["input"]["pred"]
    assert matthews_correlation(true, predicted).mcc == pytest.approx(vector["expected"]["mcc"], abs=1e-9)
    constant = matthews_correlation(true, [1] * len(true))
    assert (constant.mcc, constant.status) == (0.0, "degenerate")


def test_matthews_correlation_refuses_graded_values():
    with pytest.raises(BadInput):
        matthews_correlation([1, 0], [0.3, 0.9])


def test_association_equals_scipy_and_leaves_gaps_out():
    rng = np.random.default_rng(5)
    human = np.round(rng.normal(size=40), 1)
    model = human * 0.5 + np.round(rng.normal(size=40), 1)
    human[3] = np.nan
    is_present = ~np.isnan(human)
    statistics = association(human, model)
    line = stats.linregress(model[is_present], human[is_present])
    assert statistics["n"] == 39
    assert statistics["pearson_r"] == pytest.approx(line.rvalue)
    assert statistics["slope"] == pytest.approx(line.slope)
    assert statistics["intercept"] == pytest.approx(line.intercept)
    assert statistics["spearman_r"] == pytest.approx(
        stats.spearmanr(human[is_present], model[is_present]).statistic
    )


def test_association_with_a_constant_is_reported_as_undefined():
    statistics = association([1.0, 2.0, 3.0], [1.25, 1.25, 1.25])
    assert (statistics["pearson_r"], statistics["status"]) == (None, "constant")
    assert statistics["mean_abs_difference"] == pytest.approx((0.25 + 0.75 + 1.75) / 3)


def test_correlation_matrix_counts_the_pairs_of_each_cell():
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [2.0, 4, 6, None], "c": [4.0, 3, 2, 1]})
    matrix = correlation_matrix(frame)
    assert matrix["n"].tolist() == [3, 4, 3]
    assert matrix["pearson_r"].round(6).tolist() == [1.0, -1.0, -1.0]


def test_pairs_that_share_sentences_form_one_family():
    pairs = pd.DataFrame({"good_id": ["a", "a", "c", "e"], "bad_id": ["b", "d", "d", "f"]})
    assert pair_clusters(pairs).nunique() == 2
    assert pair_clusters(pairs.assign(phenomenon=["x", "x", "y", "z"])).tolist() == ["x", "x", "y", "z"]


def test_the_interval_of_a_difference_is_that_of_a_t_test_over_clusters_of_equal_size():
    rng = np.random.default_rng(1)
    clusters, gap = pd.Series(np.repeat(list("abcdefgh"), 20)), rng.integers(-1, 2, 160).astype(float)
    means = gap.reshape(8, 20).mean(axis=1)
    plain = stats.ttest_1samp(means, 0).confidence_interval()
    assert difference_interval(clusters, gap) == pytest.approx((plain.low, plain.high))
    assert difference_interval(clusters[:80], gap[:80]) == (None, None)  # four clusters
    low, high = difference_interval(clusters, np.zeros(160))
    assert low == -high and 0.3 < high < 0.5  # no difference in eight clusters


def test_correlations_of_two_models_are_compared_on_the_clusters_of_both():
    rng = np.random.default_rng(2)
    clusters, human = pd.Series(np.repeat(np.arange(12), 10)), rng.normal(size=120)
    near, far = human + rng.normal(size=120), rng.normal(size=120)
    low, high = correlation_difference_interval(clusters, human, near, far)
    assert 0 < low < np.corrcoef(human, near)[0, 1] - np.corrcoef(human, far)[0, 1] < high
    equal = correlation_difference_interval(clusters, human, near, near)
    assert equal == pytest.approx((0, 0))
    wide, narrow = (correlation_interval(clusters, human, near, confidence=level) for level in (0.99, 0.9))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_the_least_p_is_that_of_clusters_which_all_differ_alike():
    families = pd.Series(np.repeat(list("abcdef"), 4))
    for n in (2, 4, 6):
        rows = families.isin(list("abcdef")[:n]).to_numpy()
        first = np.where(rows, 1.0, 0.0)
        least = least_flip_p(first, np.zeros(24), families)
        assert least == 2 / 2**n
        p = cluster_flip_p(first, np.zeros(24), families, rng=np.random.default_rng(0))
        assert p == pytest.approx(least, abs=0.02)
    assert least_flip_p([1.0], [1.0], pd.Series(["a"])) is None


def test_mcnemar_counts_only_pairs_that_differ():
    first, second = [1] * 8 + [0] * 1 + [1] * 20, [0] * 8 + [1] * 1 + [1] * 20
    assert mcnemar_p(first, second) == pytest.approx(stats.binomtest(8, 9).pvalue)
    assert mcnemar_p([1, 0], [1, 0]) is None


def test_flipping_families_is_more_careful_than_flipping_pairs():
    first, second = np.ones(40), np.zeros(40)
    families = pd.Series(np.repeat(["a", "b", "c", "d"], 10))
    p = cluster_flip_p(first, second, families, rng=np.random.default_rng(0))
    assert p == pytest.approx(2 / 16, abs=0.02)
    assert mcnemar_p(first, second) < 1e-9


def test_holm_never_orders_p_values_anew():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_differences_that_are_equal_up_to_rounding_have_no_correlation_and_no_nan():
    members = [f"{side}{place}" for place in range(6) for side in "gb"]
    pairs = pd.DataFrame({"pair_id": range(6), "good_id": members[::2], "bad_id": members[1::2]})
    base = [0.1 * place**2 for place in range(6)]
    human = pd.DataFrame(
        {"sentence_id": members, "score": [float(n * (place % 2 == 0)) for place, n in enumerate(range(12))]}
    )
    scores = pd.DataFrame(
        {
            "sentence_id": members,
            "even": [value for low in base for value in (low + 0.3, low)],
            "other": [float(n * n % 7) for n in range(12)],
        }
    )
    table = pair_table(human, pairs, scores, already_standardized=True)
    assert np.ptp(table.model_delta["even"]) > 0  # rounding
    rows = model_tests(table, deltas=(0.5,), signs="strict", rng=np.random.default_rng(0))
    (row,) = [row for row in rows if row["criterion"] == "pearson r"]
    assert (row["a_value"], row["difference"]) == (None, None) and row["b_value"] is not None
    json.dumps(rows, allow_nan=False)


def test_no_line_goes_through_differences_that_are_equal_but_for_rounding():
    families = pd.Series(["a", "a", "a", "b", "b", "b"])
    equal_but_for_rounding = [0.1 + 0.2, 0.3, 0.3, 1.0, 2.0, 3.0]
    predicted = recalibrated_delta([1.0, 2.0, 3.0, 1.0, 2.0, 3.0], equal_but_for_rounding, families)
    assert np.isnan(predicted[3:]).all() and predicted[:3] == pytest.approx([0.3] * 3)
