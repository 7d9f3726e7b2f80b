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
from analysis.comparison.intervals import cluster_bootstrap, correlation_bootstrap, pair_clusters
from analysis.comparison.model_differences import cluster_flip_p, mcnemar_p, model_tests
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


def test_cluster_bootstrap_is_wider_than_rows_when_clusters_agree():
    rng = np.random.default_rng(1)
    clusters = pd.Series(np.repeat([f"c{i}" for i in range(10)], 20))
    values = np.repeat([1.0, 0.0] * 5, 20)[:, None]
    by_family = cluster_bootstrap(clusters, values, rng=rng, resamples=2000)[0]
    by_row = cluster_bootstrap(pd.Series(range(200)), values, rng=rng, resamples=2000)[0]
    assert by_family[1] - by_family[0] > 3 * (by_row[1] - by_row[0])
    low, high = correlation_bootstrap(
        clusters, np.arange(200.0), np.arange(200.0) + rng.normal(size=200), rng=rng, resamples=500
    )
    assert 0.99 < low <= high <= 1


def test_one_cluster_gives_no_interval():
    interval = cluster_bootstrap(pd.Series(["a", "a"]), np.ones((2, 1)), rng=np.random.default_rng(0))
    assert np.isnan(interval).all()


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
