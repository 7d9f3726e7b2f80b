"""A comparison in depth: every section against an independent route."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from analysis.comparison.adc_curve import adc_area
from analysis.comparison.ceilings.noise import correlation_ceilings, people_right
from analysis.comparison.in_depth.predictors import bin_accuracy
from analysis.comparison.in_depth.report import depth_report
from analysis.comparison.pairs import pair_table
from analysis.comparison.text_tables import depth_text

N = 60


def ratings(human, *, people=24, noise=0.5, seed=2):
    rng = np.random.default_rng(seed)
    return pd.DataFrame([
        {"participant": f"P{person}", "sentence_id": row.sentence_id, "task": "likert",
         "value": row.score + rng.normal(0, noise)}
        for person in range(people) for row in human.itertuples()
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
    cells = {(delta["a"], delta["b"]): delta for delta in document["correlations"]["deltas"]}
    assert cells["people", "near:lp"]["n"] == N and cells["near:lp", "gaps:slor"]["n"] == N - 7
    for (a, b), cell in cells.items():
        assert cell["pearson_r"] == pytest.approx(expected.loc[a, b])
        assert cell["ci_low"] <= cell["pearson_r"] <= cell["ci_high"]
        assert cell["ceiling"] is None


def test_partial_correlations_with_people_are_those_of_residuals(frames):
    human, pairs, scores = frames
    table = pair_table(human, pairs, scores)
    cells = {(cell["a"], cell["b"]): cell for cell in depth_report(*frames)["correlations"]["deltas"]}
    length = pairs["sentence_good"].str.split().str.len().to_numpy(dtype=float)
    for name in ("near:lp", "gaps:slor"):
        known = table.model_delta[name].notna().to_numpy()
        design = np.column_stack([np.ones(known.sum()), length[known]])
        columns = [table.human_delta[known], table.model_delta[name][known]]
        residuals = [y - design @ np.linalg.lstsq(design, y, rcond=None)[0] for y in columns]
        cell = cells["people", name]
        assert cell["partial_r"] == pytest.approx(stats.pearsonr(*residuals).statistic)
        assert cell["partial_n"] == cell["n"] == known.sum() and cell["controls"] == ["length"]
    assert "partial_r" not in cells["near:lp", "gaps:slor"]


def test_predictors_given_for_every_pair_are_held_constant_too(frames):
    human, pairs, scores = frames
    pairs = pairs.assign(dependency_length=np.arange(len(pairs)) % 5, attractor=1)  # a constant is no control
    cell = depth_report(human, pairs, scores)["correlations"]["deltas"][0]
    assert cell["controls"] == ["length", "dependency_length"] and cell["partial_r"] is not None
    cell = depth_report(human, pairs[["pair_id", "good_id", "bad_id"]], scores)["correlations"]["deltas"][0]
    assert cell["controls"] == [] and cell["partial_r"] is None


def test_matrix_of_paradigms_correlates_accuracies(frames):
    human, pairs, scores = frames
    document = depth_report(human, pairs, scores, judgments=ratings(human))
    accuracies = pd.DataFrame(document["correlations"]["accuracies"]).set_index("paradigm")
    assert len(accuracies) == 12
    expected = accuracies.astype(float).corr().loc["near:lp", "far:lp"]
    cell = next(
        paradigm
        for paradigm in document["correlations"]["paradigms"]
        if (paradigm["a"], paradigm["b"]) == ("near:lp", "far:lp")
    )
    assert cell["n"] == 12 and cell["pearson_r"] == pytest.approx(expected)


def test_ceiling_is_the_root_of_the_reliability_that_was_put_in():
    rng = np.random.default_rng(8)
    names = [f"s{i}" for i in range(400)]
    truth, people, noise = rng.normal(0, 1, 400), 12, 3.0
    judgments = pd.DataFrame([
        {"participant": f"P{person}", "sentence_id": name, "task": "likert",
         "value": t + rng.normal(0, noise)}
        for person in range(people) for name, t in zip(names, truth, strict=True)
    ])  # fmt: skip
    pairs = pd.DataFrame({
        "pair_id": range(200), "good_id": names[:200], "bad_id": names[200:],
        "paradigm": [i // 10 for i in range(200)],
    })  # fmt: skip
    ceilings = correlation_ceilings(judgments, pairs, rng=rng)["deltas"]
    delta = truth[:200] - truth[200:]
    reliability = delta.var() / (delta.var() + 2 * noise**2 / people)
    assert ceilings["status"] == "ok" and ceilings["n"] == 200
    assert ceilings["reliability"] == pytest.approx(reliability, abs=0.05)
    assert ceilings["model"] == pytest.approx(math.sqrt(reliability), abs=0.03)
    assert (
        correlation_ceilings(judgments[judgments["participant"] == "P1"], pairs, rng=rng)["deltas"]["model"]
        is None
    )


def test_people_are_individuals_in_forced_choice_and_an_aggregate_in_ratings(frames):
    human, pairs, _ = frames
    table = pair_table(human, pairs, frames[2])
    choices = pd.DataFrame([
        {"participant": f"P{person}", "pair_id": pair, "sentence_id": "", "task": "forced_choice",
         "value": float(person < 3)}
        for person in range(4) for pair in pairs["pair_id"]
    ])  # fmt: skip
    right, basis = people_right(table.human_delta, pairs, choices)
    assert right.tolist() == [0.75] * N and "shares of choices" in basis
    right, basis = people_right(table.human_delta, pairs, ratings(human))
    assert right.tolist() == (table.human_delta > 0).astype(float).tolist() and "score higher" in basis


def test_curves_have_exact_areas_chance_below_and_people_above(frames):
    human, pairs, scores = frames
    table = pair_table(human, pairs, scores)
    document = depth_report(human, pairs, scores, judgments=ratings(human))
    curves = {(curve["judge"], curve["kind"]): curve for curve in document["curves"]["curves"]}
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
    assert [bin["label"] for bin in by_length] == ["3", "4", "5", "6"]
    assert sum(bin["n"] for bin in by_length) == N
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
    assert [bin["label"] for bin in attractor["bins"]] == ["none", "plural"]


def test_many_values_become_five_parts_of_equal_size():
    parts = bin_accuracy(pd.Series(np.arange(100.0)), np.ones(100))
    assert [part["n"] for part in parts] == [20] * 5 and parts[0]["label"] == "0 to 19"
    assert bin_accuracy(pd.Series([None, None]), [1, 0]) == []


def test_li_adger_beside_gpt2_as_released(shared_data):
    folder = shared_data("li-adger")
    other = shared_data("paired-gpt2-li") / "Sprouse2013Ratings.csv"
    human = pd.read_csv(folder / "human_ME_results_li-adger_sentences.csv")
    human = human.rename(columns={"id": "sentence_id", "judgement": "score"})[["sentence_id", "score"]]
    table = pd.read_csv(folder / "li-adger_min_pairs.csv")
    pairs = pd.DataFrame({
        "pair_id": [f"p{i}" for i in table.index],
        "good_id": table["gramm_id"], "bad_id": table["ungramm_id"],
        "sentence_good": table["gramm_sentence"],
    })  # fmt: skip
    rated = pd.read_csv(other)
    r = stats.pearsonr(rated["mean_acc"], -rated["mean_surprisal"]).statistic
    assert r == pytest.approx(0.317, abs=0.001)  # the file's README
    sentences = human.drop_duplicates("sentence_id")
    lengths = dict(zip(table["gramm_id"], table["gramm_sentence"].str.len(), strict=True))
    lengths |= dict(zip(table["ungramm_id"], table["ungramm_sentence"].str.len(), strict=True))
    scores = pd.DataFrame({"sentence_id": list(lengths), "short": [-float(n) for n in lengths.values()]})
    document = depth_report(sentences, pairs, scores)
    assert document["people"]["pairs"] == 2391
    people = next(
        row for row in document["predictors"] if (row["predictor"], row["judge"]) == ("confidence", "people")
    )
    shares = [part["accuracy"] for part in people["bins"]]
    assert people["n"] == 2391 and shares[0] < 0.85 and min(shares[2:]) > 0.99
    curves = {curve["kind"]: curve for curve in document["curves"]["curves"]}
    assert curves["constant"]["area"] == pytest.approx(0.79, abs=0.01)
    assert curves["constant"]["area"] > curves["recalibrated"]["area"] - 0.02 > curves["chance"]["area"]
