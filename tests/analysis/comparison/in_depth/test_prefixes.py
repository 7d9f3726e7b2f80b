"""One- and two-prefix methods: which word after which prefix, its probability, methods side by side."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.comparison.in_depth.models import roster
from analysis.comparison.in_depth.prefixes import critical_region, prefix_methods, sentence_regions
from analysis.comparison.pairs import pair_table
from analysis.errors import BadInput, UnknownName
from analysis.ngrams import train_model, write_arpa
from analysis.ngrams.query import token_logprobs
from analysis.scoring import scorer
from analysis.scoring.words.regions import score_words

CATS = {
    "good_id": "g",
    "bad_id": "b",
    "sentence_good": "The cat eats mice.",
    "sentence_bad": "The cat eat mice.",
}


def test_given_fields_go_before_what_can_be_read_off():
    pair = {
        **CATS,
        "one_prefix_prefix": "The cat",
        "one_prefix_word_good": "eats",
        "one_prefix_word_bad": "eat",
    }
    assert critical_region(pair, "one_prefix")[:4] == ("The cat", "eats", "The cat", "eat")
    assert critical_region(pair, "one_prefix").is_given
    read = critical_region({**CATS, "one_prefix_method": True}, "one_prefix")
    assert read[:4] == ("The cat", "eats", "The cat", "eat") and not read.is_given
    assert critical_region({**CATS, "one_prefix_method": False}, "one_prefix") is None
    assert critical_region(CATS, "two_prefix") is None
    with pytest.raises(UnknownName):
        critical_region(CATS, "three_prefix")


def test_blimps_own_regions_can_be_read_off_its_members(shared_data):
    differing, compared = [], 0
    for path in sorted(shared_data("blimp").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            pair = json.loads(line)
            for method in ("one_prefix", "two_prefix"):
                region = critical_region(pair, method)
                assert (region is not None) == pair[f"{method}_method"]
                if region is None or " " in region.word_good:  # BLiMP takes "went bad" for one word
                    continue
                parts = (f"{method}_prefix", f"{method}_word")
                read = critical_region({k: v for k, v in pair.items() if not k.startswith(parts)}, method)
                compared += 1
                if read is None or read[:4] != region[:4]:
                    differing.append((region, read))
    assert compared > 7_000 and len(differing) < 0.01 * compared, differing[:3]


def test_one_sentence_with_two_regions_is_refused():
    first = {**CATS, "one_prefix_method": True}
    other = {**first, "bad_id": "c", "sentence_bad": "The dog eats mice."}
    with pytest.raises(BadInput, match="two pairs with different critical words"):
        sentence_regions([first, other], "one_prefix")


def test_words_after_prefixes_are_scored_without_what_follows(tmp_path):
    text = [["the", "cat", "eats", "mice"], ["the", "cats", "eat", "mice"], ["the", "cat", "sleeps"]]
    model = train_model(text, order=2)
    write_arpa(model, tmp_path / "two.arpa")
    opened = scorer(f"arpa:{tmp_path / 'two.arpa'}?casing=lower&punctuation=split")
    logprobs = score_words(opened, ["The cat", "The cats", ""], ["eats", "eats", "eats"]).logprob
    sentence_logprobs = token_logprobs(model, [["the", "cat", "eats"], ["the", "cats", "eats"]], eos=False)
    assert logprobs[:2] == pytest.approx(sentence_logprobs.logprob[[2, 5]], abs=1e-5)
    assert logprobs[0] > logprobs[1] and np.isnan(logprobs[2])
    (tmp_path / "s.csv").write_text("sentence_id,score\ng,1\n")
    with pytest.raises(BadInput, match="does not give the probability of a word"):
        score_words(scorer(f"csv:{tmp_path / 's.csv'}"), ["a"], ["b"])


def test_methods_are_side_by_side_on_the_pairs_both_scored():
    good, bad = [f"g{i}" for i in range(8)], [f"b{i}" for i in range(8)]
    pairs = pd.DataFrame({
        "pair_id": range(8), "good_id": good, "bad_id": bad, "phenomenon": ["x", "x", "y", "y"] * 2,
    })  # fmt: skip
    sentence_scores = [0.0] * 8 + [1.0] * 4 + [-1.0] * 4  # wrong on the first four pairs
    prefix = [1.0] * 6 + [np.nan] * 2 + [0.0] * 8  # right wherever it says something
    scores = pd.DataFrame({"sentence_id": good + bad, "m:lp": sentence_scores, "m:one_prefix": prefix})
    table = pair_table(None, pairs, scores)
    rows = prefix_methods(table, roster(table.models), rng=np.random.default_rng(0))
    assert [(row["group"], row["pairs"]) for row in rows] == [("all", 6), ("x", 4), ("y", 2)]
    assert (rows[0]["accuracy"], rows[0]["whole_accuracy"]) == (1.0, pytest.approx(2 / 6))
    assert rows[0]["p"] is not None and rows[0]["p_holm"] == rows[0]["p"]
    alone = roster(["m:one_prefix"])
    assert (
        prefix_methods(
            pair_table(None, pairs, scores.drop(columns="m:lp")), alone, rng=np.random.default_rng(0)
        )
        == []
    )
