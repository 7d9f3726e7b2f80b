"""The whole comparison: keys of the contract, denominators, baselines, ceiling, seeds."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.comparison import compare_report
from analysis.comparison.baselines import constant_baseline
from analysis.comparison.criteria import adc_met, adc_shares
from analysis.errors import BadInput, MissingColumns, NotEnoughData
from analysis.report.page_findings import comparison_finding

MODEL_KEYS = {
    "model", "pairs", "blimp", "adc", "pearson_r", "spearman_r", "mean_abs_difference", "chance", "skill",
}  # fmt: skip


@pytest.fixture
def study():
    """Twelve pairs of four phenomena; people's scores, one good and one empty-handed model."""
    rng = np.random.default_rng(3)
    good = [f"g{i}" for i in range(12)]
    bad = [f"b{i}" for i in range(12)]
    pairs = pd.DataFrame({
        "pair_id": [f"p{i}" for i in range(12)], "good_id": good, "bad_id": bad,
        "paradigm": [f"paradigm {i // 2}" for i in range(12)],
        "phenomenon": [f"ph {i // 4}" for i in range(12)],
    })  # fmt: skip
    truth = np.concatenate([rng.normal(0.7, 0.3, 12), rng.normal(-0.7, 0.3, 12)])
    human = pd.DataFrame({"sentence_id": good + bad, "score": truth})
    scores = pd.DataFrame({
        "sentence_id": good + bad, "near": truth * 3 + rng.normal(0, 0.2, 24), "far": rng.normal(size=24),
    })  # fmt: skip
    return human, pairs, scores


def likert(sentences, truth, *, participants=16, seed=4):
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(participants):
        points = np.clip(np.round(4 + 2 * np.asarray(truth) + rng.normal(0, 0.7, len(truth))), 1, 7)
        rows += [
            {"participant": f"P{person}", "sentence_id": name, "value": point, "task": "likert"}
            for name, point in zip(sentences, points, strict=True)
        ]
    return pd.DataFrame(rows)


def test_document_has_the_contracts_keys_and_is_json(study):
    document = compare_report(*study)
    assert {"pairs", "labeled_pairs", "standardization", "models", "baselines"} <= set(document)
    assert [model["model"] for model in document["models"]] == ["near", "far"]
    for model in document["models"]:
        assert set(model) >= MODEL_KEYS
        assert set(model["adc"]) == set(model["chance"]) == set(model["skill"]) == {"0.5", "1", "5"}
    assert set(document["baselines"]) >= {"constant", "human_ceiling"}
    assert document["baselines"]["human_ceiling"] is None
    json.dumps(document, allow_nan=False)


def test_numbers_equal_plain_pandas(study):
    human, pairs, scores = study
    near = compare_report(human, pairs, scores)["models"][0]
    z = (scores.set_index("sentence_id")["near"] - scores["near"].mean()) / scores["near"].std(ddof=0)
    people = human.set_index("sentence_id")["score"]
    model_delta = z[pairs["good_id"]].to_numpy() - z[pairs["bad_id"]].to_numpy()
    human_delta = people[pairs["good_id"]].to_numpy() - people[pairs["bad_id"]].to_numpy()
    is_met = (np.sign(model_delta) == np.sign(human_delta)) & (np.abs(model_delta - human_delta) < 0.5)
    assert near["blimp"] == pytest.approx((model_delta > 0).mean())
    assert near["adc"]["0.5"] == pytest.approx(is_met.mean())
    assert near["pearson_r"] == pytest.approx(np.corrcoef(human_delta, model_delta)[0, 1])
    assert near["mean_abs_difference"] == pytest.approx(np.abs(model_delta - human_delta).mean())


def test_scores_already_standardized_are_used_as_given(study):
    human, pairs, _ = study
    scores = human.rename(columns={"score": "people themselves"})
    report = compare_report(human, pairs, scores, already_standardized=True)
    assert report["models"][0]["mean_abs_difference"] == 0
    assert report["models"][0]["adc"]["0.5"] == 1
    assert report["standardization"]["models"] == "as given"
    assert compare_report(human, pairs, scores)["models"][0]["mean_abs_difference"] > 0


def test_standardizing_over_all_sentences_counts_those_outside_the_pairs(study):
    human, pairs, scores = study
    more = pd.concat(
        [scores, pd.DataFrame({"sentence_id": ["x", "y"], "near": [90.0, -90], "far": [0.0, 1]})]
    )
    wide = compare_report(human, pairs, more)
    assert wide["standardization"]["sentences"]["near"] == 26
    assert (
        wide["models"][0]["mean_abs_difference"] != compare_report(*study)["models"][0]["mean_abs_difference"]
    )


def test_without_human_scores_the_blimp_criterion_is_still_given(study):
    _, pairs, scores = study
    document = compare_report(None, pairs, scores)
    assert document["labeled_pairs"] == 0
    near = document["models"][0]
    assert near["blimp"] == 1 and near["pairs"] == 12
    assert near["adc"] == {"0.5": None, "1": None, "5": None}
    assert near["chance"]["0.5"] is None and near["pearson_r"] is None


def test_an_unlabelled_pair_leaves_the_denominator_and_is_named(study):
    human, pairs, scores = study
    human.loc[0, "score"] = np.nan
    document = compare_report(human, pairs, scores)
    assert (document["pairs"], document["labeled_pairs"]) == (12, 11)
    assert document["models"][0]["pairs"] == 11
    assert document["left_out"]["unlabeled"] == {"pairs": 1, "pair_ids": ["p0"]}


def test_a_missing_score_is_named_and_its_pair_counted(study):
    human, pairs, scores = study
    scores.loc[scores["sentence_id"] == "b3", "far"] = np.nan
    document = compare_report(human, pairs, scores)
    assert document["left_out"]["missing_score"] == {
        "far": {"pairs": 1, "pair_ids": ["p3"], "sentence_ids": ["b3"]}
    }
    assert [model["pairs"] for model in document["models"]] == [12, 11]


def test_the_constant_is_the_median_of_peoples_differences(study):
    human, pairs, scores = study
    document = compare_report(human, pairs, scores, constants=[2.0])
    people = human.set_index("sentence_id")["score"]
    deltas = people[pairs["good_id"]].to_numpy() - people[pairs["bad_id"]].to_numpy()
    assert document["baselines"]["constant"]["value"] == pytest.approx(np.median(deltas))
    assert document["baselines"]["constants"][0]["value"] == 2.0


def test_human_ceiling_and_skill_come_from_judgments(study):
    human, pairs, scores = study
    judgments = likert(human["sentence_id"], human["score"])
    document = compare_report(human, pairs, scores, judgments=judgments)
    ceiling = document["baselines"]["human_ceiling"]
    assert ceiling["status"] == "ok" and ceiling["participants"] == 16
    assert ceiling["adc_half"]["0.5"] <= ceiling["adc"]["0.5"] <= 1
    model, constant = document["models"][0], document["baselines"]["constant"]
    expected = (model["adc"]["0.5"] - constant["adc"]["0.5"]) / (
        ceiling["adc"]["0.5"] - constant["adc"]["0.5"]
    )
    assert model["skill"]["0.5"] == pytest.approx(expected)


def test_the_same_seed_gives_the_same_document(study):
    judgments = likert(study[0]["sentence_id"], study[0]["score"])
    report = compare_report(*study, judgments=judgments, seed=7)
    assert report == compare_report(*study, judgments=judgments, seed=7)
    assert report["models"][1]["chance"] != compare_report(*study, seed=8)["models"][1]["chance"]


def test_order_of_rows_changes_no_criterion(study):
    human, pairs, scores = study
    there = compare_report(human, pairs, scores)
    back = compare_report(human[::-1], pairs[::-1], scores[::-1])
    for model, other in zip(there["models"], back["models"], strict=True):
        assert model["adc"] == other["adc"] and model["blimp"] == other["blimp"]


def test_phenomenon_is_the_mean_of_its_paradigms(study):
    far = compare_report(*study)["models"][1]
    first = far["by_phenomenon"][0]
    paradigms = [row["blimp"] for row in far["by_paradigm"] if row["phenomenon"] == first["phenomenon"]]
    assert first["blimp"] == pytest.approx(np.mean(paradigms))
    assert first["paradigms"] == 2


def test_models_are_tested_against_each_other_on_shared_pairs(study):
    rows = compare_report(*study)["differences"]
    assert [(row["a"], row["b"], row["delta"]) for row in rows] == [
        ("near", "far", d) for d in ("0.5", "1", "5")
    ]
    assert all(row["pairs"] == 12 for row in rows)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda h, p, s: (h, p.drop(columns="bad_id"), s), MissingColumns),
        (lambda h, p, s: (h, p, s[["sentence_id"]]), BadInput),
        (lambda h, p, s: (h, p, pd.concat([s, s[:1]])), BadInput),
        (lambda h, p, s: (pd.concat([h, h[:1]]), p, s), BadInput),
        (lambda h, p, s: (h, p, s.assign(near=np.inf)), BadInput),
        (lambda h, p, s: (h, p, s.assign(sentence_id="z" + s["sentence_id"])), NotEnoughData),
        (lambda h, p, s: (h, p[:0], s), NotEnoughData),
    ],
)
def test_frames_that_cannot_be_compared_are_refused(study, change, error):
    with pytest.raises(error):
        compare_report(*change(*study))


def li_adger(shared_data):
    human = pd.read_csv(shared_data("li-adger/human_ME_results_li-adger_sentences.csv"))
    pairs = pd.read_csv(shared_data("li-adger/li-adger_min_pairs.csv"))
    pairs = pairs[pairs["discard"] != "X"]
    score = human.set_index("id")["judgement"]
    return pairs["gramm_id"].map(score) - pairs["ungramm_id"].map(score)


def test_constants_on_li_adger_equal_the_published_baselines(shared_data, shared_vectors):
    delta = li_adger(shared_data)
    assert len(delta) == 2365 and delta.notna().all()
    expected = shared_vectors["adc_baselines"]["expected"]
    baseline = constant_baseline(delta, 1.25)
    assert [round(value, 3) for value in baseline.adc.values()] == [0.496, 0.844, 0.961]
    median = constant_baseline(delta)
    assert median.value == pytest.approx(1.2497, abs=1e-4)
    assert list(median.adc.values()) == pytest.approx(expected["constant_median_1.2497"], abs=1e-3)
    assert list(constant_baseline(delta, 0.0).adc.values()) == expected["zero_delta"]
    assert constant_baseline(delta, 1.30).adc[0.5] == pytest.approx(0.4989, abs=1e-3)
    label = list(constant_baseline(delta, 2.0).adc.values())
    assert label == pytest.approx(expected["expert_label_delta_2.0"], abs=2e-3)


def test_a_model_with_one_score_for_every_sentence_is_constant(study):
    human, pairs, scores = study
    (model,) = compare_report(human, pairs, scores[["sentence_id"]].assign(flat=-1.0))["models"]
    assert model["status"] == "constant" and model["pearson_r"] is None


def test_random_scores_on_li_adger_are_at_the_published_chance(shared_data, shared_vectors):
    delta = li_adger(shared_data).to_numpy()
    rng = np.random.default_rng(0)
    draws = [
        list(constant_shares(delta, rng.normal(size=delta.size) - rng.normal(size=delta.size)))
        for _ in range(200)
    ]
    expected = shared_vectors["adc_baselines"]["expected"]["random_gaussian_mean"]
    assert np.mean(draws, axis=0) == pytest.approx(expected, abs=0.004)


def constant_shares(human, model):
    return adc_shares(human, model, deltas=[0.5, 1, 5], signs="strict").values()


@pytest.mark.parametrize(
    ("vector", "signs"), [("adc_li_adger", "strict"), ("adc_li_adger_published", "published")]
)
def test_the_adc_papers_table_comes_out(shared_data, shared_vectors, vector, signs):
    path = shared_data("li-adger/li-adger_min_pairs_all_models.csv")
    table = pd.read_csv(path)
    for model, counts in shared_vectors[vector]["expected"].items():
        columns = [column for column in table.columns if model in column and "delta" in column]
        if not columns:
            pytest.skip(f"{path.name} has no column of differences for {model}")
        human = table["human_judge_delta"].to_numpy(dtype=float)
        pair_counts = adc_counts(human, table[columns[0]].to_numpy(dtype=float), signs=signs)
        assert pair_counts == counts[1:]


def adc_counts(human, model, *, signs):
    return [int(adc_met(human, model, delta=delta, signs=signs).sum()) for delta in (0.5, 1, 5)]


def test_the_best_of_several_models_has_the_interval_of_all_together(study):
    human, pairs, scores = study
    pairs = pairs.drop(columns="phenomenon")
    report = compare_report(human, pairs, scores)
    for model in report["models"]:
        plain, together = model["intervals"]["pearson_r"], model["intervals"]["simultaneous"]["pearson_r"]
        # six clusters: qt(.9875, 5) / qt(.975, 5) = 3.1634 / 2.5706
        widths = [np.diff(np.arctanh(ends))[0] for ends in (together, plain)]
        assert widths[0] / widths[1] == pytest.approx(3.1634 / 2.5706, abs=1e-3)
    assert "95 % CI for both models together" in comparison_finding(report)
    single = compare_report(human, pairs, scores[["sentence_id", "near"]])
    assert single["models"][0]["intervals"]["simultaneous"] is None
    assert "together" not in comparison_finding(single)
