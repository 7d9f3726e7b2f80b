"""What people said stands beside sentences and pairs, and equals plain pandas."""

import numpy as np
import pandas as pd
import pytest

from analysis.gold.human_scores import human_table
from analysis.gold.tables import pair_table, sentence_table

SENTENCES = pd.DataFrame({"sentence_id": ["a+", "a-", "b+", "b-"], "sentence": ["A.", "*A.", "B.", "*B."]})
PAIRS = pd.DataFrame({"pair_id": ["a", "b"], "good_id": ["a+", "b+"], "bad_id": ["a-", "b-"]})


def choices(values: dict[str, list[float]]) -> pd.DataFrame:
    """Forced choices by pair."""
    rows = [
        {"participant": f"p{n}", "pair_id": pair, "sentence_id": "", "value": value, "kind": "target"}
        for pair, answers in values.items()
        for n, value in enumerate(answers)
    ]
    return pd.DataFrame(rows)


def ratings(rng) -> pd.DataFrame:
    """Twelve people rate four sentences, and catch trials that must not count."""
    rows = [
        {"participant": f"p{n}", "sentence_id": sentence, "value": float(rng.integers(1, 8)), "kind": kind}
        for n in range(12)
        for sentence, kind in [*((name, "target") for name in SENTENCES["sentence_id"]), ("", "catch")]
    ]
    return pd.DataFrame(rows)


def test_choices_become_shares_labels_and_scores():
    judged = choices({"a": [1, 1, 1, 0], "b": [1, 0, 1, 0]})
    sentences = sentence_table(judged, SENTENCES, task="forced_choice")
    pairs = pair_table(judged, sentences, PAIRS, task="forced_choice").set_index("pair_id")
    assert pairs["human_k"].tolist() == [3, 2] and pairs["human_n"].tolist() == [4, 4]
    assert pairs["human_label"].tolist() == ["expected", "tie"]
    human = human_table(sentences, pairs.reset_index(), task="forced_choice").set_index("sentence_id")
    shares = {"a+": 0.75, "a-": 0.25, "b+": 0.5, "b-": 0.5}
    spread = np.std(list(shares.values()))
    assert human["score"].to_dict() == pytest.approx({name: (p - 0.5) / spread for name, p in shares.items()})
    assert human["sd"]["a+"] == pytest.approx(np.std([1, 1, 1, 0], ddof=1) / spread)


def test_shares_without_spread_give_no_scores():
    judged = choices({"a": [1, 0], "b": [0, 1]})
    pairs = pair_table(judged, SENTENCES, PAIRS, task="forced_choice")
    assert len(human_table(SENTENCES, pairs, task="forced_choice")) == 0


def test_unanswered_choices_do_not_count():
    judged = choices({"a": [1, 1, 1, np.nan]})
    pairs = pair_table(judged, SENTENCES, PAIRS, task="forced_choice").set_index("pair_id")
    assert (pairs["human_n"]["a"], pairs["human_n"]["b"]) == (3, 0)
    assert pairs["human_label"].to_dict() == {"a": "expected", "b": "undecided"}


def test_ratings_become_means_of_participant_z():
    judged = ratings(np.random.default_rng(3))
    targets = judged[judged["kind"] == "target"]
    by_person = targets.groupby("participant")["value"]
    z = (targets["value"] - by_person.transform("mean")) / by_person.transform("std")
    expected = z.groupby(targets["sentence_id"]).agg(["mean", "std"])

    sentences = sentence_table(judged, SENTENCES, task="likert").set_index("sentence_id")
    assert np.allclose(sentences["human_mean"], expected["mean"].reindex(sentences.index), atol=1e-11)
    assert np.allclose(sentences["human_sd"], expected["std"].reindex(sentences.index), atol=1e-11)
    pairs = pair_table(judged, sentences.reset_index(), PAIRS, task="likert").set_index("pair_id")
    delta = expected["mean"]["a+"] - expected["mean"]["a-"]
    assert pairs["human_delta"]["a"] == pytest.approx(delta, abs=1e-11)
    assert pairs["human_label"]["a"] == ("expected" if delta > 0 else "unexpected")


def test_yes_no_gives_shares_of_yes():
    judged = pd.DataFrame(
        {
            "participant": ["p1", "p2", "p3"] * 2,
            "sentence_id": ["a+"] * 3 + ["a-"] * 3,
            "value": [1.0, 1, 0, 0, 0, 0],
        }
    )
    sentences = sentence_table(judged, SENTENCES, task="yes_no").set_index("sentence_id")
    assert sentences["human_share"]["a+"] == pytest.approx(2 / 3)
    assert sentences["human_label"].to_dict() == {
        "a+": "acceptable", "a-": "unacceptable", "b+": "undecided", "b-": "undecided",
    }  # fmt: skip
    pairs = pair_table(judged, sentences.reset_index(), PAIRS, task="yes_no").set_index("pair_id")
    assert pairs["human_label"].to_dict() == {"a": "expected", "b": "undecided"}


def test_nothing_judged_is_no_error():
    nobody = choices({"a": [1]}).iloc[:0]
    sentences = sentence_table(nobody, SENTENCES, task="likert")
    assert (sentences["human_n"] == 0).all()
    assert len(human_table(sentences, PAIRS, task="likert")) == 0
