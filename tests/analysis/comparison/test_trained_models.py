"""What is known of models, and what it explains: learning curves over training sizes, filtered training."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.comparison.in_depth.filtered_training import filtered_training
from analysis.comparison.in_depth.learning_curves import learning_curve, learning_curves
from analysis.comparison.in_depth.models import read_roster, roster
from analysis.comparison.pairs import pair_table
from analysis.errors import BadInput, UnknownName


def test_learning_curve_intervals_equal_scipy_and_brute_force():
    x = np.repeat([20.0, 21.0, 22.0, 23.0], 3)
    y = 0.1 + 0.03 * x + np.random.default_rng(0).normal(0, 0.01, x.size)
    curve, line = learning_curve(2**x, y), stats.linregress(x, y)
    half = stats.t.ppf(0.975, x.size - 2) * line.stderr
    assert curve.slope_interval() == pytest.approx((line.slope - half, line.slope + half))
    grid = np.linspace(10, 60, 500_001)
    mean = line.intercept + line.slope * grid
    se = curve.residual_sd * np.sqrt(1 / x.size + (grid - x.mean()) ** 2 / curve.spread_log2)
    within = grid[np.abs(0.9 - mean) <= stats.t.ppf(0.975, x.size - 2) * se]
    assert curve.log2_tokens_interval(0.9) == pytest.approx((within.min(), within.max()), abs=1e-3)
    flat = learning_curve(2**x, np.tile([0.5, 0.6, 0.4], 4))
    assert flat.log2_tokens_interval(0.9) is None


def _trained(pairs, right_share):
    """Scores of models that get the first so many pairs right."""
    columns = {"sentence_id": [*pairs["good_id"], *pairs["bad_id"]]}
    for name, share in right_share.items():
        right = np.arange(len(pairs)) % 10 < round(share * 10)
        columns[name] = np.where(np.concatenate([right, ~right]), -10.0, -12.0).tolist()
    return pd.DataFrame(columns)


def test_learning_curves_by_phenomenon_with_seeds_as_points(frames):
    human, pairs, _ = frames
    scores = _trained(pairs, {"a1": 0.5, "a2": 0.6, "b1": 0.7, "b2": 0.7, "x": 0.9})
    models = pd.DataFrame({
        "model": ["a1", "a2", "b1", "b2", "x"], "family": ["lstm"] * 4 + ["other"],
        "training_tokens": [2**20, 2**20, 2**22, 2**22, 2**20], "seed": [1, 2, 1, 2, 1],
    })  # fmt: skip
    table = pair_table(human, pairs, scores)
    rows = learning_curves(table, roster(table.models, models), pd.Series(np.ones(len(pairs))))
    assert {row["family"] for row in rows} == {"lstm"} and len(rows) == 7
    every = rows[0]
    assert every["group"] == "all" and [point["seed"] for point in every["points"]] == ["1", "2", "1", "2"]
    assert every["slope_per_doubling"] == pytest.approx(
        stats.linregress([20, 20, 22, 22], [0.5, 0.6, 0.7, 0.7]).slope
    )
    assert every["target"] == 1 and every["status"] in {"beyond_data", "not_estimable"}


def test_filtered_training_compares_seeds_of_about_the_same_size(frames, shared_vectors):
    human, pairs, _ = frames
    shares = {"f1": 0.8, "f2": 0.9, "small": 0.3, "n1": 0.6, "n2": 0.7}
    models = pd.DataFrame({
        "model": list(shares), "family": "lstm", "training_tokens": [1000, 1010, 100, 990, 1005],
        "corpus": ["", "", "", "Paradigm-3", "Paradigm-3"],
    })  # fmt: skip
    table = pair_table(human, pairs, _trained(pairs, shares))
    rows = filtered_training(table, roster(table.models, models))["deltas"]
    every = rows[0]
    assert (every["group"], every["seeds_full"], every["seeds_filtered"]) == ("all", 2, 2)
    assert every["accuracy_delta"] == pytest.approx(100 * (0.65 - 0.85))
    welch = stats.ttest_ind([60, 70], [80, 90], equal_var=False).confidence_interval()
    assert (every["ci_low"], every["ci_high"]) == pytest.approx((welch.low, welch.high))
    assert every["probability_delta_full"] == pytest.approx(2 * 0.85 - 2 * 0.15)
    assert [row["group"] for row in rows if row["targeted"]] == ["paradigm 3"]


def test_a_shipped_filter_targets_the_paradigms_of_its_file(frames):
    human, pairs, _ = frames
    renamed = pairs.assign(paradigm=pairs["paradigm"].replace({"paradigm 3": "passive_2"}))
    models = pd.DataFrame({"model": ["f", "n"], "family": "lstm", "corpus": ["", "passive"]})
    table = pair_table(human, renamed, _trained(renamed, {"f": 0.8, "n": 0.6}))
    rows = filtered_training(table, roster(table.models, models))["deltas"]
    assert [row["group"] for row in rows if row["targeted"]] == ["passive_2"]


def test_what_is_known_of_models_is_checked(tmp_path):
    with pytest.raises(UnknownName, match="Did you mean 'gpt2'"):
        roster(["gpt2"], pd.DataFrame({"model": ["gpt"]}))
    with pytest.raises(UnknownName, match="one_prefix"):
        roster(["a"], pd.DataFrame({"model": ["a"], "method": ["one_prefx"]}))
    path = tmp_path / "models.csv"
    path.write_text("model,training_tokens\na,1000\nb,many\n")
    with pytest.raises(BadInput, match=r"models\.csv, row 3, column 'training_tokens'"):
        read_roster(path)
    path.write_text("name\na\n")
    with pytest.raises(BadInput, match="which model"):
        read_roster(path)
