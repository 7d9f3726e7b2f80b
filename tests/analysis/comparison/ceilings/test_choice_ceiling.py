"""People against people where they chose or said yes: halves, and samples of full size."""

import numpy as np
import pandas as pd
import pytest

from analysis.comparison import compare_report
from analysis.comparison.ceilings.human import human_ceiling
from analysis.comparison.ceilings.noise import correlation_ceilings
from analysis.comparison.ceilings.responses import encode_choices, release_scores
from analysis.comparison.criteria import adc_shares
from analysis.gold.human_scores import human_table
from analysis.gold.tables import pair_table, sentence_table

DELTAS = (0.5, 1.0, 5.0)


@pytest.fixture
def pairs():
    names = [f"p{number}" for number in range(60)]
    good, bad = [f"{name}:g" for name in names], [f"{name}:b" for name in names]
    return pd.DataFrame({"pair_id": names, "good_id": good, "bad_id": bad})


@pytest.fixture
def shares():
    return np.random.default_rng(1).beta(5, 1.5, 60)


def chosen(pairs, shares, *, people=20, seed=2):
    """Forced choices: everyone judges every pair; two lists."""
    rng = np.random.default_rng(seed)
    value = (rng.random((people, len(pairs))) < shares).astype(float)
    frames = [
        pairs.assign(participant=f"P{person}", value=row, list=f"L{person % 2}", task="forced_choice")
        for person, row in enumerate(value)
    ]
    frame = pd.concat(frames, ignore_index=True)
    return frame.assign(
        sentence_id=frame["good_id"].where(frame["value"] == 1, frame["bad_id"]), kind="target"
    )


def said_yes(pairs, shares, *, people=20, seed=3):
    """Yes-no: good members get yes as often as the shares say, bad ones at .3."""
    rng = np.random.default_rng(seed)
    names = [*pairs["good_id"], *pairs["bad_id"]]
    truth = np.concatenate([shares, np.full(len(pairs), 0.3)])
    rows = [
        {"participant": f"P{person}", "sentence_id": name, "value": float(rng.random() < share)}
        for person in range(people)
        for name, share in zip(names, truth, strict=True)
    ]
    return pd.DataFrame(rows).assign(task="yes_no", kind="target")


def ceiling(judgments, pairs, **options):
    return human_ceiling(judgments, pairs, rng=np.random.default_rng(0), deltas=DELTAS, **options)


@pytest.mark.parametrize("task", ["forced_choice", "yes_no"])
def test_scores_are_those_of_a_release(pairs, shares, task):
    judgments = (chosen if task == "forced_choice" else said_yes)(pairs, shares)
    sentences = pd.DataFrame({"sentence_id": [*pairs["good_id"], *pairs["bad_id"]]})
    sentences_seen = sentence_table(judgments, sentences, task=task)
    released = human_table(sentences_seen, pair_table(judgments, sentences_seen, pairs, task=task), task=task)
    released = released.set_index("sentence_id")["score"]
    choices = encode_choices(judgments, pairs, task=task)
    yes = np.bincount(choices.unit, weights=choices.value)
    scores = release_scores(choices, yes, np.bincount(choices.unit).astype(float))
    assert scores[choices.good] == pytest.approx(released[pairs["good_id"]].to_numpy(), abs=1e-6)
    assert scores[choices.bad] == pytest.approx(released[pairs["bad_id"]].to_numpy(), abs=1e-6)


def test_forced_choices_give_a_ceiling_near_that_of_two_real_samples(pairs, shares):
    judgments = chosen(pairs, shares)
    result = ceiling(judgments, pairs)
    assert (result.status, result.basis, result.participants, result.pairs) == ("ok", "forced_choice", 20, 60)
    assert result.adc_half[0.5] < result.adc[0.5] < 1
    assert result.adc[0.5] == pytest.approx(_of_real_samples(pairs, shares), abs=0.06)


def _of_real_samples(pairs, shares):
    """Mean ADC at 0.5 between independent samples of the same size from the true shares."""
    reached = []
    for seed in range(30):
        deltas = []
        for sample in (chosen(pairs, shares, seed=100 + seed), chosen(pairs, shares, seed=500 + seed)):
            choices = encode_choices(sample, pairs, task="forced_choice")
            yes = np.bincount(choices.unit, weights=choices.value)
            scores = release_scores(choices, yes, np.bincount(choices.unit).astype(float))
            deltas.append(scores[choices.good] - scores[choices.bad])
        reached.append(adc_shares(*deltas, deltas=[0.5], signs="strict")[0.5])
    return float(np.mean(reached))


def test_yes_no_answers_give_a_ceiling_too(pairs, shares):
    result = ceiling(said_yes(pairs, shares), pairs)
    assert (result.status, result.basis) == ("ok", "yes_no")
    assert 0.2 < result.adc_half[0.5] < result.adc[0.5] < 1
    assert result.adc[0.5] < result.adc[1.0] <= result.adc[5.0]


def test_more_people_agree_better(pairs, shares):
    few, many = (ceiling(chosen(pairs, shares, people=people), pairs, splits=40) for people in (8, 80))
    assert few.adc_half[0.5] < many.adc_half[0.5]


def test_chosen_sentences_name_the_pair_where_it_is_not_named(pairs, shares):
    judgments = chosen(pairs, shares)
    bare = judgments[["participant", "sentence_id", "value", "task", "list"]]
    assert ceiling(bare, pairs, splits=20) == ceiling(judgments, pairs, splits=20)


def test_too_few_people_strangers_to_the_pairs_and_one_opinion_are_named(pairs, shares):
    judgments = chosen(pairs, shares)
    assert ceiling(judgments[judgments["participant"].isin(["P0", "P1"])], pairs).status == "too_few"
    assert ceiling(judgments.assign(pair_id="other"), pairs).status == "no_data"
    same = judgments.assign(value=0.0)
    half = same.assign(value=[float(number % 2) for number in range(len(same))])
    assert ceiling(same, pairs, splits=5).status == "ok"
    once = half.drop_duplicates("pair_id")
    assert ceiling(once.assign(participant=[f"Q{i % 6}" for i in range(len(once))]), pairs).status == (
        "no_variation"
    )


def test_skill_is_given_for_forced_choices(pairs, shares):
    judgments = chosen(pairs, shares)
    choices = encode_choices(judgments, pairs, task="forced_choice")
    yes = np.bincount(choices.unit, weights=choices.value)
    score = release_scores(choices, yes, np.bincount(choices.unit).astype(float))
    names = [*pairs["good_id"], *pairs["bad_id"]]
    human = pd.DataFrame({
        "sentence_id": names, "score": np.concatenate([score[choices.good], score[choices.bad]])
    })  # fmt: skip
    scores = human.rename(columns={"score": "people again"})
    document = compare_report(human, pairs, scores, judgments=judgments)
    assert document["baselines"]["human_ceiling"]["basis"] == "forced_choice"
    assert document["models"][0]["skill"]["0.5"] > 1
    assert document["conventions"]["ceiling"].startswith("forced choice: split halves")


def test_choices_of_the_same_people_leave_their_ratings_alone():
    rng = np.random.default_rng(2)
    names = [f"s{n}" for n in range(12)]
    pairs = pd.DataFrame({"pair_id": range(6), "good_id": names[:6], "bad_id": names[6:]})
    rated = pd.DataFrame([
        {"participant": p, "sentence_id": name, "task": "likert", "value": 5 - 2 * (n > 5) + rng.normal()}
        for p in range(8) for n, name in enumerate(names)
    ])  # fmt: skip
    answered = rated.assign(task="yes_no", value=(rated["value"] > 4).astype(float))
    alone, with_answers = (
        ceiling(rows, pairs) for rows in (rated, pd.concat([rated, answered], ignore_index=True))
    )
    assert with_answers.basis == "ratings" and with_answers == alone


def several_lists(*, n_people=24, n_lists=60, slots=4, of_list=4, seed=1):
    """Forced choices in many short lists of their own pairs, each judged by four people who sat several."""
    rng = np.random.default_rng(seed)
    names = [f"p{number}" for number in range(n_lists * of_list)]
    pairs = pd.DataFrame(
        {
            "pair_id": names,
            "good_id": [f"{name}:g" for name in names],
            "bad_id": [f"{name}:b" for name in names],
        }
    )
    pairs["share"], pairs["list"] = rng.beta(2, 1, len(pairs)), np.repeat(np.arange(n_lists), of_list)
    frames = [
        pairs[pairs["list"] == number].assign(participant=f"P{person}", task="forced_choice", kind="target")
        for number in range(n_lists)
        for person in rng.choice(n_people, size=slots, replace=False)
    ]
    frame = pd.concat(frames, ignore_index=True)
    frame["value"] = (rng.random(len(frame)) < frame["share"]).astype(float)
    frame["list"] = "L" + frame["list"].astype(str)
    chosen_id = frame["good_id"].where(frame["value"] == 1, frame["bad_id"])
    return frame.assign(sentence_id=chosen_id), pairs.drop(columns=["share", "list"])


def test_people_who_sat_several_lists_set_the_ceiling_that_as_many_others_would():
    judgments, pairs = several_lists()
    distinct_people = judgments.assign(participant=judgments["participant"] + judgments["list"])
    repeated, distinct = [
        correlation_ceilings(rows, pairs, rng=np.random.default_rng(1))["deltas"]
        for rows in (judgments, distinct_people)
    ]
    assert repeated["participants"] == 24 and distinct["participants"] == 240
    assert repeated["reliability"] == pytest.approx(distinct["reliability"], abs=0.01)
    halves = [
        human_ceiling(rows, pairs, rng=np.random.default_rng(1), deltas=DELTAS, splits=100).adc_half[1.0]
        for rows in (judgments, distinct_people)
    ]
    assert halves[0] == pytest.approx(halves[1], abs=0.01)


def test_participants_whose_lists_share_a_paradigm_are_not_split():
    judgments, pairs = several_lists()
    assert encode_choices(judgments, pairs, task="forced_choice").slots is not None
    shared = pairs.assign(paradigm="agreement")
    assert encode_choices(judgments, shared, task="forced_choice").slots is None
