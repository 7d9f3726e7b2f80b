"""Intervals that hold for other pairs and other people."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.comparison import compare_report
from analysis.comparison.intervals import cluster_intervals
from analysis.comparison.joint_intervals import joint_intervals
from analysis.comparison.pairs import pair_table

N = 60
GOOD, BAD = [f"g{i}" for i in range(N)], [f"b{i}" for i in range(N)]
PAIRS = pd.DataFrame({"pair_id": [f"p{i}" for i in range(N)], "good_id": GOOD, "bad_id": BAD})
PAIRS["phenomenon"] = [f"ph {i // 2}" for i in range(N)]


def truth_and_model(seed=1):
    rng = np.random.default_rng(seed)
    truth = np.concatenate([rng.normal(0.7, 0.4, N), rng.normal(-0.7, 0.4, N)])
    return truth, pd.DataFrame({"sentence_id": GOOD + BAD, "model": truth + rng.normal(0, 0.5, 2 * N)})


def people(truth, n, *, noise, rng):
    """Ratings of so many people, whose own mean and spread say nothing."""
    rows = truth + noise * rng.normal(size=(n, len(truth)))
    names = np.repeat([f"P{number}" for number in range(n)], len(truth))
    return pd.DataFrame({"participant": names, "sentence_id": (GOOD + BAD) * n, "value": rows.ravel()})


def table_and_intervals(judgments, scores, **settings):
    z = judgments.assign(
        score=judgments.groupby("participant")["value"].transform(lambda x: (x - x.mean()) / x.std())
    )
    human = z.groupby("sentence_id")["score"].mean().reset_index()
    table = pair_table(human, PAIRS, scores)
    return table, joint_intervals(judgments, table, rng=np.random.default_rng(2), **settings)[0]["model"]


def width(ends):
    return ends[1] - ends[0]


def test_people_who_all_answer_alike_leave_the_uncertainty_of_pairs():
    truth, scores = truth_and_model()
    table, intervals = table_and_intervals(people(truth, 8, noise=0, rng=np.random.default_rng(0)), scores)
    passes = (table.human_delta - table.model_delta["model"]).abs().to_numpy() < 1
    pairs_alone = cluster_intervals(table.clusters, passes[:, None].astype(float))[0]
    assert intervals.status == "ok" and intervals.participants == 8
    # the smaller number of participants and clusters gives the degrees of freedom
    assert width(intervals.adc[1]) == pytest.approx(width(pairs_alone) * 2.365 / 2.045, rel=0.05)


def test_the_interval_is_as_wide_as_samples_of_people_and_pairs_differ():
    truth, scores = truth_and_model()
    rng = np.random.default_rng(5)
    model = scores["model"].to_numpy()
    estimates = []
    for _ in range(300):  # new people and new families of pairs each time
        means = people(truth, 10, noise=2, rng=rng).groupby("sentence_id", sort=False)["value"].mean()
        z = (means - means.mean()) / np.sqrt(1 + 2**2 + 0.49 - 0.16)  # as z by participant shrinks them
        places = 2 * rng.integers(N // 2, size=N // 2)[:, None] + [0, 1]
        model_z = (model - model.mean()) / model.std()
        gap = (z.to_numpy()[:N] - z.to_numpy()[N:]) - (model_z[:N] - model_z[N:])
        estimates.append((np.abs(gap) < 1)[places.ravel()].mean())
    expected = 2 * 2.262 * np.std(estimates)  # t of 9 degrees of freedom
    got = [
        width(table_and_intervals(people(truth, 10, noise=2, rng=rng), scores)[1].adc[1]) for _ in range(6)
    ]
    assert np.mean(got) == pytest.approx(expected, rel=0.3)


def test_noisier_people_widen_the_interval():
    truth, scores = truth_and_model()
    few = table_and_intervals(people(truth, 6, noise=2, rng=np.random.default_rng(0)), scores)[1]
    many = table_and_intervals(people(truth, 60, noise=2, rng=np.random.default_rng(0)), scores)[1]
    assert width(few.pearson_r) > width(many.pearson_r)


def test_ceilings_skill_and_corrected_correlations_have_intervals_for_any_order_of_rows():
    truth, scores = truth_and_model()
    judgments = people(truth, 12, noise=0.6, rng=np.random.default_rng(0))
    z = judgments.assign(score=judgments["value"]).groupby("sentence_id")["score"].mean().reset_index()
    shuffled = judgments.sample(frac=1, random_state=3).reset_index(drop=True)
    first, same = (compare_report(z, PAIRS, scores, judgments=rows) for rows in (judgments, shuffled))
    assert json.dumps(first["baselines"]) == json.dumps(same["baselines"])
    people_row, (model,) = first["baselines"]["human_ceiling"], first["models"]
    ends, joint = people_row["intervals"], model["intervals"]["joint"]
    for value, (low, high) in (
        (people_row["adc"]["0.5"], ends["adc"]["0.5"]),
        (people_row["correlation"]["model"], ends["model"]),
        (people_row["correlation"]["sample"], ends["sample"]),
        (model["pearson_r_disattenuated"], joint["pearson_r_disattenuated"]),
        (model["skill"]["0.5"], joint["skill"]["0.5"]),
    ):
        assert low < value < high
    seeds = [compare_report(z, PAIRS, scores, judgments=judgments, seed=seed) for seed in range(4)]
    reliabilities = [one["baselines"]["human_ceiling"]["correlation"]["model"] for one in seeds]
    assert np.ptp(reliabilities) < width(ends["model"]) / 4
    assert model["intervals"]["joint"] == same["models"][0]["intervals"]["joint"]


def test_choices_are_resampled_as_ratings_are():
    truth, scores = truth_and_model()
    rng = np.random.default_rng(0)
    share = 1 / (1 + np.exp(-2 * (truth[:N] - truth[N:])))
    value = (rng.random((20, N)) < share).astype(float)
    judgments = pd.DataFrame(
        {
            "participant": np.repeat([f"P{n}" for n in range(20)], N),
            "pair_id": list(PAIRS["pair_id"]) * 20,
            "sentence_id": np.where(value == 1, GOOD, BAD).ravel(),
            "value": value.ravel(),
            "task": "forced_choice",
        }
    )
    human = pd.DataFrame({"sentence_id": GOOD + BAD, "score": np.concatenate([share, 1 - share]) * 2})
    document = compare_report(human, PAIRS, scores, judgments=judgments)
    joint, pairs_alone = document["models"][0]["intervals"]["joint"], document["models"][0]["intervals"]
    assert joint["status"] == "ok" and joint["participants"] == 20
    low, high = joint["pearson_r"]
    assert low < document["models"][0]["pearson_r"] < high
    assert width(joint["pearson_r"]) > width(pairs_alone["pearson_r"])
    json.dumps(document, allow_nan=False)


def test_three_people_or_one_family_are_too_few():
    truth, scores = truth_and_model()
    judgments = people(truth, 3, noise=1, rng=np.random.default_rng(0))
    assert table_and_intervals(judgments, scores)[1].status == "too_few"
    assert table_and_intervals(judgments, scores)[1].adc == {0.5: None, 1.0: None, 5.0: None}


def test_without_judgments_there_is_none():
    truth, scores = truth_and_model()
    people_scores = pd.DataFrame({"sentence_id": GOOD + BAD, "score": truth})
    model = compare_report(people_scores, PAIRS, scores)["models"][0]
    assert model["intervals"]["joint"] is None
