"""Pseudo-log-likelihoods equal an explicit loop over masks; marks around a sentence are never scored."""

import numpy as np
import pytest

from analysis.errors import BadInput, UnknownName
from analysis.scoring import scorer
from analysis.scoring.base import FLAGS
from analysis.scoring.scorers.masked import masked_copies
from tests.analysis.scoring.neural.conftest import MASKED, SENTENCES, peaked, saved, word_tokenizer

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")


def by_hand(tiny, sentence, method):
    """One masked copy after the other, logits of the whole model."""
    read = tiny.tokenizer(sentence)
    ids, words, total = read["input_ids"], read.word_ids(), 0.0
    for place, word in enumerate(words):
        if word is None:
            continue
        copy = list(ids)
        copy[place] = tiny.tokenizer.mask_token_id
        for later in range(place + 1, len(ids)):
            if method == "pll-l2r" and words[later] == word:
                copy[later] = tiny.tokenizer.mask_token_id
        with torch.no_grad():
            logits = tiny.model(input_ids=torch.tensor([copy])).logits[0, place].double()
        total += float(torch.log_softmax(logits, -1)[ids[place]])
    return total


@pytest.mark.parametrize("method", ["pll", "pll-l2r"])
@pytest.mark.parametrize("name", MASKED)
def test_every_architecture_is_scored_as_by_hand(masked, name, method):
    tiny = masked(name)
    model = scorer(tiny.address("hf-masked", method=method, words="punctuation"))
    logprobs = model.score(SENTENCES).logprob
    np.testing.assert_allclose(
        logprobs, [by_hand(tiny, sentence, method) for sentence in SENTENCES], atol=1e-4
    )
    assert model.why.startswith("last layer and head at the mask: ")


def test_an_architecture_of_another_build_takes_the_next_path_with_the_reason(tmp_path):
    transformers = pytest.importorskip("transformers")
    config = transformers.DistilBertConfig(
        vocab_size=300, dim=24, n_layers=2, n_heads=2, hidden_dim=48, max_position_embeddings=64
    )
    torch.manual_seed(20)
    tiny = saved(tmp_path, peaked(transformers.DistilBertForMaskedLM(config)), word_tokenizer())
    model = scorer(tiny.address("hf-masked", method="pll"))
    logprobs = model.score(SENTENCES).logprob
    np.testing.assert_allclose(
        logprobs, [by_hand(tiny, sentence, "pll") for sentence in SENTENCES], atol=1e-4
    )
    assert model.why.startswith("head at the mask: ")
    assert "; last layer and head at the mask fails (AttributeError" in model.why


def test_both_methods_agree_where_every_word_is_one_token():
    ids, words = [[2, 7, 8, 9, 3]], [[None, 0, 1, 2, None]]
    copies_pll, other = (masked_copies(ids, words, mask=4, method=method) for method in ("pll", "pll-l2r"))
    assert copies_pll == other


def test_a_copy_that_two_sentences_share_is_made_once():
    ids, words = [[2, 7, 8, 3], [2, 7, 9, 3]], [[None, 0, 1, None]] * 2
    batch = masked_copies(ids, words, mask=4)
    assert len(batch.copies) == 4 and batch.of == [[0, 1], [2, 3]]
    batch = masked_copies([[2, 7, 8, 3], [2, 7, 8, 3]], words, mask=4)
    assert len(batch.copies) == 2 and batch.of == [[0, 1], [0, 1]]


def test_order_and_company_do_not_change_a_score(masked):
    model = scorer(masked("bert").address("hf-masked"))
    alone = [float(model.score([sentence]).logprob[0]) for sentence in SENTENCES]
    np.testing.assert_allclose(
        model.score([*reversed(SENTENCES), *SENTENCES]).logprob, [*reversed(alone), *alone], atol=1e-5
    )


def test_a_cased_pair_under_an_uncased_tokenizer_is_flagged(masked):
    scores = scorer(masked("bert").address("hf-masked")).score(["Dogs sleep.", "dogs sleep.", "no dog"])
    assert scores.logprob[0] == scores.logprob[1]
    same = FLAGS["indistinguishable from another sentence"]
    assert (scores.flags & same > 0).tolist() == [True, True, False]
    assert (scores.flags & FLAGS["normalised by the tokenizer"] > 0).tolist() == [True, False, False]


def test_unknown_signs_are_counted_and_empty_and_long_sentences_left_out(masked):
    scores = scorer(masked("bert").address("hf-masked")).score(["漢", "", "dogs " * 300, "dogs"])
    assert scores.n_unk.tolist()[0] == 1
    assert np.isnan(scores.logprob).tolist() == [False, True, True, False]


def test_a_model_without_a_mask_is_refused_with_the_suitable_kind_of_scorer(causal):
    with pytest.raises(BadInput, match="cannot be opened|no mask token"):
        scorer(causal("gpt2").address("hf-masked"))


def test_an_unknown_method_is_named(masked):
    with pytest.raises(UnknownName, match="ppl"):
        scorer(masked("bert").address("hf-masked", method="ppl"))
