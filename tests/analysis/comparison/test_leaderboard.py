"""The leaderboard as a library: what stands in a row, and the order."""

import numpy as np
import pandas as pd
import pytest

from analysis.comparison import compare_report
from analysis.comparison.leaderboard import (
    ComparedModels,
    leaderboard_document,
    leaderboard_rows,
    sort_keys,
    sort_models,
)
from analysis.comparison.text_tables import comparison_text
from analysis.errors import UnknownName


@pytest.fixture
def document():
    rng = np.random.default_rng(1)
    good, bad = [f"g{i}" for i in range(20)], [f"b{i}" for i in range(20)]
    pairs = pd.DataFrame(
        {"pair_id": range(20), "good_id": good, "bad_id": bad, "phenomenon": list("abcde") * 4}
    )
    truth = np.concatenate([rng.normal(1, 0.3, 20), rng.normal(-1, 0.3, 20)])
    human = pd.DataFrame({"sentence_id": good + bad, "score": truth})
    gaps = truth.copy()
    gaps[0] = np.nan
    scores = pd.DataFrame({
        "sentence_id": good + bad, "near": truth + rng.normal(0, 0.1, 40), "far": rng.normal(size=40),
        "gaps": gaps,
    })  # fmt: skip
    judgments = pd.DataFrame([
        {"participant": f"P{person}", "sentence_id": name, "value": t + rng.normal(0, 0.5), "task": "likert"}
        for person in range(10) for name, t in zip(good + bad, truth, strict=True)
    ])  # fmt: skip
    return compare_report(human, pairs, scores, judgments=judgments)


def test_rows_hold_every_number_beside_chance_and_ceiling(document):
    rows = leaderboard_rows(document)
    assert [row["kind"] for row in rows] == ["model"] * 3 + ["constant", "people"]
    near, model = rows[0], document["models"][0]
    assert near["adc_0.5"] == model["adc"]["0.5"] and near["adc_0.5_chance"] == model["chance"]["0.5"]
    assert near["adc_0.5_skill"] == model["skill"]["0.5"]
    assert near["pearson_r_ceiling"] == document["baselines"]["human_ceiling"]["correlation"]["model"]
    assert 0.8 < near["pearson_r_ceiling"] < 1
    people = next(row for row in rows if row["kind"] == "people")
    assert people["pearson_r"] == document["baselines"]["human_ceiling"]["correlation"]["sample"]
    assert people["pearson_r"] < people["pearson_r_ceiling"]
    assert (near["blimp_low"], near["blimp_high"]) == tuple(model["intervals"]["blimp"])
    joint = model["intervals"]["joint"]
    assert [near["adc_0.5_joint_low"], near["adc_0.5_joint_high"]] == joint["adc"]["0.5"]
    assert [near["pearson_r_joint_low"], near["pearson_r_joint_high"]] == joint["pearson_r"]
    assert rows[2]["left_out"] == 1 and all(list(row) == list(near) for row in rows)


def test_order_is_best_first_ties_share_a_rank_and_baselines_stay_last(document):
    rows = leaderboard_rows(document)
    by_r = sort_models(rows, "pearson_r")
    models = [row["pearson_r"] for row in by_r if row["kind"] == "model"]
    assert models == sorted(models, reverse=True)
    assert [row["kind"] for row in by_r[-2:]] == ["constant", "people"] and by_r[-1]["rank"] is None
    assert sort_models(rows, "mean_abs_difference")[0]["model"] == "gaps"  # nearest first
    twice = sort_models([{**rows[0], "model": "z"}, rows[0], rows[1]], "blimp")
    assert [row["rank"] for row in twice] == [1, 1, 3]
    assert [row["model"] for row in sort_models(rows, "model")[:3]] == ["far", "gaps", "near"]
    assert "adc_0.5_skill" in sort_keys(rows) and "blimp_low" not in sort_keys(rows)
    with pytest.raises(UnknownName, match="adc_0.5"):
        sort_models(rows, "adc_0.6")


def test_the_table_shows_the_line_to_people_and_what_is_left_after_it(document):
    text, near = " ".join(comparison_text(document, width=400).split()), document["models"][0]
    assert f"Least squares, Δh = near {near['intercept']:.2f} {near['slope']:+.2f} Δlm; far " in text
    assert f"recalibrated {near['adc_recalibrated']['0.5']:.3f} " in text
    r, reach = near["pearson_r"], document["baselines"]["human_ceiling"]["correlation"]["model"]
    assert near["pearson_r_disattenuated"] == pytest.approx(r / reach)
    low, high = near["intervals"]["joint"]["pearson_r_disattenuated"]
    assert f"(disattenuated): near {r / reach:.3f} [{low:.2f}, {high:.2f}], far " in text
    assert "fitted on the other families of pairs (10 folds)" in text


def test_ranks_have_the_intervals_that_paired_tests_leave(document):
    comparison = ComparedModels(
        document,
        {"deltas": [0.5, 1, 5], "signs": "strict", "already_standardized": False, "seed": 0},
        [{"key": model["model"]} for model in document["models"]],
    )
    board = leaderboard_document([comparison], sort="blimp")
    few = [(row["rank_low"], row["rank_high"]) for row in board["rows"]]
    assert few == [(1, 3)] * 3 + [(None, None)] * 2  # five phenomena: no test can reject
    document["differences_blimp"] = [
        {**row, "p_holm": 0.01 if "far" in (row["a"], row["b"]) else 0.5}
        for row in document["differences_blimp"]
    ]
    board = leaderboard_document([comparison], sort="blimp")
    assert [(row["model"], row["rank_low"], row["rank_high"]) for row in board["rows"][:3]] == [
        ("gaps", 1, 2), ("near", 1, 2), ("far", 3, 3)
    ]  # fmt: skip
    apart = [
        {"kind": "model", "model": name, "blimp": x, "blimp_low": x - 0.1, "blimp_high": x + 0.1}
        for name, x in (("a", 0.9), ("b", 0.6), ("c", 0.75))
    ]
    ranked = sort_models(apart, "blimp")  # of different comparisons
    assert [(row["model"], row["rank_low"], row["rank_high"]) for row in ranked] == [
        ("a", 1, 2), ("c", 1, 3), ("b", 2, 3)
    ]  # fmt: skip
