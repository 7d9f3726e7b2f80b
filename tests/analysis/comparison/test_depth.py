"""A comparison in depth: every section against an independent route."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from analysis.comparison.curve import adc_area
from analysis.comparison.decisions import best_threshold, cross_validated_decisions
from analysis.comparison.deltas import pair_table
from analysis.comparison.depth import depth_report
from analysis.comparison.depth_table import depth_text
from analysis.comparison.filtered_training import filtered_training
from analysis.comparison.learning_curve import learning_curve
from analysis.comparison.mcc import matthews_correlation
from analysis.comparison.noise import correlation_ceilings, people_right
from analysis.comparison.roster import read_roster, roster
from analysis.comparison.shallow import binned
from analysis.comparison.training_size import learning_curves
from analysis.errors import BadInput, UnknownName

N = 60


@pytest.fixture
def frames():
    """Sixty pairs of six phenomena; one model near to people, one far, one with gaps."""
    rng = np.random.default_rng(11)
    good, bad = [f"g{i}" for i in range(N)], [f"b{i}" for i in range(N)]
    pairs = pd.DataFrame({
        "pair_id": [f"p{i}" for i in range(N)], "good_id": good, "bad_id": bad,
        "paradigm": [f"paradigm {i // 5}" for i in range(N)],
        "phenomenon": [f"phenomenon {i // 10}" for i in range(N)],
        "sentence_good": ["word " * (3 + i % 4) for i in range(N)],
        "dependency_length": [i % 5 if i % 7 else None for i in range(N)],
        "attractor": ["none" if i % 2 else "plural" for i in range(N)],
    })  # fmt: skip
    truth = np.concatenate([rng.normal(0.6, 0.5, N), rng.normal(-0.6, 0.5, N)])
    human = pd.DataFrame({"sentence_id": good + bad, "score": truth})
    gaps = truth + rng.normal(0, 1, 2 * N)
    gaps[:7] = np.nan
    scores = pd.DataFrame({
        "sentence_id": good + bad,
        "near:lp": truth * 2 - 20 + rng.normal(0, 0.5, 2 * N),
        "far:lp": rng.normal(-20, 1, 2 * N),
        "gaps:slor": gaps,
    })  # fmt: skip
    return human, pairs, scores


def ratings(human, *, people=24, noise=0.5, seed=2):
    rng = np.random.default_rng(seed)
    return pd.DataFrame([
        {"participant": f"P{one}", "sentence_id": row.sentence_id, "task": "likert",
         "value": row.score + rng.normal(0, noise)}
        for one in range(people) for row in human.itertuples()
    ])  # fmt: skip


def test_document_is_json_the_same_for_a_seed_and_readable(frames):
    human, pairs, scores = frames
    document = depth_report(human, pairs, scores, judgments=ratings(human), seed=4)
    json.dumps(document, allow_nan=False)
    assert depth_report(human, pairs, scores, judgments=ratings(human), seed=4) == document
    text = depth_text(document)
    assert "Two models" in text and "ceiling" in text and "Fieller" in text


def test_matrix_of_differences_counts_each_cell_and_has_pandas_correlations(frames):
    human, pairs, scores = frames
    document = depth_report(human, pairs, scores)
    table = pair_table(human, pairs, scores)
    expected = table.model_delta.assign(people=table.human_delta).corr()
    cells = {(one["a"], one["b"]): one for one in document["correlations"]["deltas"]}
    assert cells["people", "near:lp"]["n"] == N and cells["near:lp", "gaps:slor"]["n"] == N - 7
    for (a, b), one in cells.items():
        assert one["pearson_r"] == pytest.approx(expected.loc[a, b])
        assert one["ci_low"] <= one["pearson_r"] <= one["ci_high"]
        assert one["ceiling"] is None


def test_matrix_of_paradigms_correlates_accuracies(frames):
    human, pairs, scores = frames
    document = depth_report(human, pairs, scores, judgments=ratings(human))
    accuracies = pd.DataFrame(document["correlations"]["accuracies"]).set_index("paradigm")
    assert len(accuracies) == 12
    expected = accuracies.astype(float).corr().loc["near:lp", "far:lp"]
    cell = next(
        one for one in document["correlations"]["paradigms"] if (one["a"], one["b"]) == ("near:lp", "far:lp")
    )
    assert cell["n"] == 12 and cell["pearson_r"] == pytest.approx(expected)


def test_ceiling_is_the_root_of_the_reliability_that_was_put_in():
    rng = np.random.default_rng(8)
    names = [f"s{i}" for i in range(400)]
    truth, people, noise = rng.normal(0, 1, 400), 12, 3.0
    judgments = pd.DataFrame([
        {"participant": f"P{one}", "sentence_id": name, "task": "likert", "value": t + rng.normal(0, noise)}
        for one in range(people) for name, t in zip(names, truth, strict=True)
    ])  # fmt: skip
    pairs = pd.DataFrame({
        "pair_id": range(200), "good_id": names[:200], "bad_id": names[200:],
        "paradigm": [i // 10 for i in range(200)],
    })  # fmt: skip
    found = correlation_ceilings(judgments, pairs, rng=rng)["deltas"]
    delta = truth[:200] - truth[200:]
    reliability = delta.var() / (delta.var() + 2 * noise**2 / people)
    assert found["status"] == "ok" and found["n"] == 200
    assert found["reliability"] == pytest.approx(reliability, abs=0.05)
    assert found["model"] == pytest.approx(math.sqrt(reliability), abs=0.03)
    assert (
        correlation_ceilings(judgments[judgments["participant"] == "P1"], pairs, rng=rng)["deltas"]["model"]
        is None
    )


def test_people_are_individuals_in_forced_choice_and_an_aggregate_in_ratings(frames):
    human, pairs, _ = frames
    table = pair_table(human, pairs, frames[2])
    choices = pd.DataFrame([
        {"participant": f"P{one}", "pair_id": pair, "sentence_id": "", "task": "forced_choice",
         "value": float(one < 3)}
        for one in range(4) for pair in pairs["pair_id"]
    ])  # fmt: skip
    right, basis = people_right(table.human_delta, pairs, choices)
    assert right.tolist() == [0.75] * N and "shares of choices" in basis
    right, basis = people_right(table.human_delta, pairs, ratings(human))
    assert right.tolist() == (table.human_delta > 0).astype(float).tolist() and "score higher" in basis


def test_curves_have_exact_areas_chance_below_and_people_above(frames):
    human, pairs, scores = frames
    table = pair_table(human, pairs, scores)
    document = depth_report(human, pairs, scores, judgments=ratings(human))
    curves = {(one["judge"], one["kind"]): one for one in document["curves"]["curves"]}
    near = curves["near:lp", "model"]
    assert near["area"] == adc_area(table.human_delta, table.model_delta["near:lp"])
    assert all(low <= high for low, high in zip(near["adc"], near["adc"][1:], strict=False))
    trapezoid = np.trapezoid([0, *near["adc"]], [0, *document["curves"]["grid"]]) / 3
    assert near["area"] == pytest.approx(trapezoid, abs=0.02)
    assert curves["near:lp", "chance"]["area"] < near["area"] < curves["people", "people"]["area"]
    assert {kind for _, kind in curves} >= {"recalibrated", "constant", "recalibrated constant"}


def test_two_models_are_tested_by_every_criterion_with_holm_within(frames):
    rows = depth_report(*frames)["tests"]
    assert {row["criterion"] for row in rows} == {"blimp", "adc 0.5", "adc 1", "adc 5", "pearson r"}
    first = next(row for row in rows if row["criterion"] == "blimp")
    assert (first["a"], first["b"], first["pairs"]) == ("near:lp", "far:lp", N)
    assert first["difference"] == pytest.approx(first["a_value"] - first["b_value"])
    assert first["ci_low"] <= first["difference"] <= first["ci_high"]
    blimp = [row for row in rows if row["criterion"] == "blimp"]
    assert max(row["p_holm"] for row in blimp) >= max(row["p"] for row in blimp)
    r = next(row for row in rows if row["criterion"] == "pearson r")
    assert r["p"] is None and r["ci_low"] > 0


def test_a_model_against_itself_differs_by_nothing(frames):
    human, pairs, scores = frames
    twice = scores[["sentence_id", "near:lp"]].assign(copy=scores["near:lp"])
    for row in depth_report(human, pairs, twice)["tests"]:
        assert row["difference"] == pytest.approx(0, abs=1e-12) and row["p"] is None


def test_shallow_predictors_equal_scipy_and_statsmodels(frames):
    human, pairs, scores = frames
    table = pair_table(human, pairs, scores)
    rows = {(row["predictor"], row["judge"]): row for row in depth_report(*frames)["predictors"]}
    right = table.prefers_good["near:lp"].to_numpy()
    words = pairs["sentence_good"].str.split().str.len()
    assert rows["length", "near:lp"]["r"] == pytest.approx(stats.pointbiserialr(right, words).statistic)
    by_length = rows["length", "near:lp"]["bins"]
    assert [one["label"] for one in by_length] == ["3", "4", "5", "6"]
    assert sum(one["n"] for one in by_length) == N
    low, high = proportion_confint(by_length[0]["right"], by_length[0]["n"], method="wilson")
    assert (by_length[0]["ci_low"], by_length[0]["ci_high"]) == pytest.approx((low, high))
    lp = pairs["good_id"].map(scores.set_index("sentence_id")["near:lp"])
    perplexity = np.exp(-lp / words)
    assert rows["perplexity", "near:lp"]["r"] == pytest.approx(
        stats.pointbiserialr(right, perplexity).statistic
    )
    assert ("perplexity", "gaps:slor") not in rows and rows["confidence", "gaps:slor"]["n"] == N - 7
    assert rows["dependency_length", "people"]["n"] == int(pairs["dependency_length"].notna().sum())
    attractor = rows["attractor", "far:lp"]
    assert attractor["status"] == "categories"
    assert [one["label"] for one in attractor["bins"]] == ["none", "plural"]


def test_many_values_become_five_parts_of_equal_size():
    parts = binned(pd.Series(np.arange(100.0)), np.ones(100))
    assert [part["n"] for part in parts] == [20] * 5 and parts[0]["label"] == "0 to 19"
    assert binned(pd.Series([None, None]), [1, 0]) == []


def test_learning_curve_intervals_equal_scipy_and_brute_force():
    x = np.repeat([20.0, 21.0, 22.0, 23.0], 3)
    y = 0.1 + 0.03 * x + np.random.default_rng(0).normal(0, 0.01, x.size)
    found, line = learning_curve(2**x, y), stats.linregress(x, y)
    half = stats.t.ppf(0.975, x.size - 2) * line.stderr
    assert found.slope_interval() == pytest.approx((line.slope - half, line.slope + half))
    grid = np.linspace(10, 60, 500_001)
    mean = line.intercept + line.slope * grid
    se = found.residual_sd * np.sqrt(1 / x.size + (grid - x.mean()) ** 2 / found.spread_log2)
    inside = grid[np.abs(0.9 - mean) <= stats.t.ppf(0.975, x.size - 2) * se]
    assert found.log2_tokens_interval(0.9) == pytest.approx((inside.min(), inside.max()), abs=1e-3)
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
    rows = learning_curves(table, roster(table.models, models), pd.Series(np.ones(N)))
    assert {row["family"] for row in rows} == {"lstm"} and len(rows) == 7
    every = rows[0]
    assert every["group"] == "all" and [one["seed"] for one in every["points"]] == ["1", "2", "1", "2"]
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


def test_threshold_is_the_best_of_all_cuts():
    rng = np.random.default_rng(6)
    label, score = rng.integers(0, 2, 50), np.round(rng.normal(size=50), 1)
    score = score + label * 0.5
    cuts = (np.unique(score)[1:] + np.unique(score)[:-1]) / 2
    best = max(matthews_correlation(label, score > cut).mcc for cut in cuts)
    found = best_threshold(label, score)
    assert matthews_correlation(label, score > found).mcc == pytest.approx(best)
    assert best_threshold([1, 1], [0.1, 0.2]) is None


def test_a_family_is_decided_by_the_thresholds_of_the_others():
    families = pd.Series(["a"] * 4 + ["b"] * 4)
    label = [0, 0, 1, 1, 0, 0, 1, 1]
    score = [0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0]
    found = cross_validated_decisions(label, score, families)
    # by the other family's cut, all of a is called bad and all of b good
    assert (found["tp"], found["fp"], found["tn"], found["fn"]) == (2, 2, 2, 2) and found["mcc"] == 0
    assert (found["threshold_low"], found["threshold_high"]) == (1.5, 11.5)
    assert cross_validated_decisions(label, score, pd.Series(["a"] * 8))["status"] == "too_few"


def test_what_is_known_of_models_is_checked(tmp_path):
    with pytest.raises(UnknownName, match="Did you mean gpt2"):
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


def test_li_adger_beside_gpt2_as_released(shared_data):
    folder = shared_data("li-adger")
    other = shared_data("paired-gpt2-li") / "Sprouse2013Ratings.csv"
    human = pd.read_csv(folder / "human_ME_results_li-adger_sentences.csv")
    human = human.rename(columns={"id": "sentence_id", "judgement": "score"})[["sentence_id", "score"]]
    given = pd.read_csv(folder / "li-adger_min_pairs.csv")
    pairs = pd.DataFrame({
        "pair_id": [f"p{i}" for i in given.index],
        "good_id": given["gramm_id"], "bad_id": given["ungramm_id"],
        "sentence_good": given["gramm_sentence"],
    })  # fmt: skip
    rated = pd.read_csv(other)
    r = stats.pearsonr(rated["mean_acc"], -rated["mean_surprisal"]).statistic
    assert r == pytest.approx(0.317, abs=0.001)  # the file's README
    sentences = human.drop_duplicates("sentence_id")
    lengths = dict(zip(given["gramm_id"], given["gramm_sentence"].str.len(), strict=True))
    lengths |= dict(zip(given["ungramm_id"], given["ungramm_sentence"].str.len(), strict=True))
    scores = pd.DataFrame({"sentence_id": list(lengths), "short": [-float(n) for n in lengths.values()]})
    document = depth_report(sentences, pairs, scores)
    assert document["people"]["pairs"] == 2391
    people = next(
        row for row in document["predictors"] if (row["predictor"], row["judge"]) == ("confidence", "people")
    )
    shares = [part["accuracy"] for part in people["bins"]]
    assert people["n"] == 2391 and shares[0] < 0.85 and min(shares[2:]) > 0.99
    curves = {one["kind"]: one for one in document["curves"]["curves"]}
    assert curves["constant"]["area"] == pytest.approx(0.79, abs=0.01)
    assert curves["constant"]["area"] > curves["recalibrated"]["area"] - 0.02 > curves["chance"]["area"]
