"""Surprisals of neural models: pieces of words, masked tokens, boundaries, a first token without."""

import numpy as np
import pandas as pd
import pytest

from analysis.errors import BadInput
from analysis.scoring import score_sentences, scorer
from analysis.scoring.words.regions import score_words
from analysis.scoring.words.surprisals import require_tokens, surprisal_table
from tests.analysis.scoring.neural.conftest import SENTENCES
from tests.analysis.scoring.neural.test_classifier import classifier
from tests.analysis.scoring.neural.test_lstm import folder_of

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
FRAME = pd.DataFrame({"sentence_id": [f"s{k}" for k in range(len(SENTENCES))], "sentence": SENTENCES})


def tabulated(model, frame=FRAME):
    scored = score_sentences(model, frame, tokens=True)
    return surprisal_table(model, frame, scored.scores), scored.frame.iloc[:, 1]


def sums(table, unit):
    return table[table["unit"] == unit].groupby("sentence_id", sort=False)["surprisal_nats"].sum()


@pytest.mark.parametrize("kind", ["hf-causal", "hf-masked", "lstm"])
def test_tokens_and_words_add_up_to_the_sentence(causal, masked, tmp_path, kind):
    folder_of(tmp_path)
    uris = {"hf-causal": causal("gpt2"), "hf-masked": masked("bert")}
    model = scorer(f"lstm:{tmp_path}" if kind == "lstm" else uris[kind].address(kind))
    table, scores = tabulated(model)
    for unit in ("token", "word"):
        np.testing.assert_allclose(sums(table, unit), -scores, rtol=1e-6)
    words = table[table["unit"] == "word"]
    assert words["text"].tolist() == " ".join(SENTENCES).split()
    if kind != "lstm":
        assert (words["n_tokens"] > 1).any()


def test_first_word_without_a_beginning_mark_is_empty_with_the_reason(causal):
    table, _ = tabulated(scorer(causal("gpt2").address("hf-causal", bos="none")))
    words = table[table["unit"] == "word"]
    first = words["position"] == 1
    assert words["surprisal_nats"][first].isna().all() and words["surprisal_nats"][~first].notna().all()
    assert words["note"][first].str.contains("first token is not scored").all()


def test_corrected_boundaries_are_those_of_words_after_their_prefixes(causal):
    model = scorer(causal("gpt2").address("hf-causal", boundary="corrected"))
    table, _ = tabulated(model, FRAME.iloc[:1])
    words = table[table["unit"] == "word"]
    texts = SENTENCES[0].split()
    prefixes = [" ".join(texts[:k]) for k in range(1, len(texts))]
    expected = -score_words(model, prefixes, texts[1:]).logprob
    np.testing.assert_allclose(words["surprisal_nats"].iloc[1:], expected, atol=1e-5)
    assert np.isnan(words["surprisal_nats"].iloc[0]) and "no prefix" in words["note"].iloc[0]


def test_classifier_has_no_tokens(tmp_path):
    with pytest.raises(BadInput, match="hf-classifier: has no tokens"):
        require_tokens(scorer(classifier(tmp_path, ["bad", "acceptable"]).address("hf-classifier")))
