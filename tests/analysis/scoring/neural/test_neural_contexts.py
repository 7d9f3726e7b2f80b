"""Sentences after a context under neural models: differences of sums, and masked tokens with it in view."""

import numpy as np
import pandas as pd
import pytest

from analysis.errors import BadInput
from analysis.scoring import score_sentences, scorer
from tests.analysis.scoring.neural.conftest import SENTENCES
from tests.analysis.scoring.neural.test_classifier import classifier
from tests.analysis.scoring.neural.test_lstm import folder_of

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")

CONTEXTS = ["Dogs sleep.", "The author that the critics praise laughs.", "A: Who saw it?\nB: Dogs.", ""] * 3
FRAME = pd.DataFrame({
    "sentence_id": [str(number) for number in range(len(SENTENCES))],
    "sentence": SENTENCES,
    "context": CONTEXTS,
})  # fmt: skip


def difference(model):
    """Two sums, subtracted."""
    logprobs = model.score([f"{c} {s}".strip() for c, s in zip(CONTEXTS, SENTENCES, strict=True)]).logprob
    return logprobs - np.nan_to_num(model.score(CONTEXTS).logprob)


@pytest.mark.parametrize("name", ["gpt2", "llama", "bloom"])
def test_causal_score_after_a_context_is_the_difference_of_two_sums(causal, name):
    model = scorer(causal(name).address("hf-causal"))
    values = score_sentences(model, FRAME).frame.iloc[:, 1]
    np.testing.assert_allclose(values, difference(model), atol=1e-5, rtol=1e-6)


def test_without_a_beginning_mark_every_token_after_a_context_counts(causal):
    model = scorer(causal("gpt2").address("hf-causal", bos="none"))
    scored = score_sentences(model, FRAME)
    np.testing.assert_allclose(scored.frame.iloc[:, 1], difference(model), atol=1e-5, rtol=1e-6)
    assert scored.summary["flags"]["first token not scored"] == 3  # those without a context


def test_recurrent_score_after_a_context_is_the_difference_of_two_sums(tmp_path):
    folder_of(tmp_path)
    model = scorer(f"lstm:{tmp_path}")
    values = score_sentences(model, FRAME).frame.iloc[:, 1]
    np.testing.assert_allclose(values, difference(model), atol=1e-5, rtol=1e-6)


@pytest.mark.parametrize("method", ["pll", "pll-l2r"])
def test_masked_score_masks_the_sentence_with_its_context_in_view(masked, method):
    tiny = masked("bert")
    model = scorer(tiny.address("hf-masked", method=method, words="punctuation"))
    scored = score_sentences(model, FRAME.iloc[:4])
    mask = tiny.tokenizer.mask_token_id
    for sentence, context, value in zip(SENTENCES, CONTEXTS, scored.frame.iloc[:, 1], strict=False):
        encoded = tiny.tokenizer(f"{context} {sentence}".strip(), return_offsets_mapping=True)
        ids, words, start = encoded["input_ids"], encoded.word_ids(0), len(context) + bool(context)
        total = 0.0
        for place, (first, end) in enumerate(encoded["offset_mapping"]):
            if end <= start or end == first:
                continue
            copy = list(ids)
            later = [k for k in range(place, len(ids)) if words[k] == words[place]]
            for hidden in later if method == "pll-l2r" else [place]:
                copy[hidden] = mask
            with torch.no_grad():
                logits = tiny.model(input_ids=torch.tensor([copy])).logits[0, place].double()
            total += float(torch.log_softmax(logits, -1)[ids[place]])
        assert value == pytest.approx(total, abs=1e-4), sentence


def test_masked_model_makes_no_copies_for_the_tokens_of_the_context(masked, monkeypatch):
    from analysis.scoring.scorers import masked as module

    copies = []
    real = module.masked_copies

    def count_copies(*args, **options):
        copies.append(real(*args, **options))
        return copies[-1]

    monkeypatch.setattr(module, "masked_copies", count_copies)
    model = scorer(masked("bert").address("hf-masked"))
    frame = FRAME.iloc[[1]]
    score_sentences(model, frame)
    assert len(copies[0].copies) == model.score(frame["sentence"].tolist()).n_tokens[0]


def test_classifier_refuses_contexts_by_name_and_ignores_them_on_request(tmp_path):
    tiny = classifier(tmp_path, ["unacceptable", "acceptable"])
    with pytest.raises(BadInput, match="hf-classifier: does not give the probability .* after its context"):
        score_sentences(scorer(tiny.address("hf-classifier")), FRAME)
    ignored = score_sentences(scorer(tiny.address("hf-classifier", context="ignore")), FRAME)
    alone = scorer(tiny.address("hf-classifier")).score(SENTENCES).logprob
    np.testing.assert_allclose(ignored.frame.iloc[:, 1], alone)


def test_tokenizer_without_characters_of_its_tokens_is_refused(causal, monkeypatch):
    model = scorer(causal("gpt2").address("hf-causal"))
    real = model.score
    monkeypatch.setattr(model, "score", lambda *args, **options: real(*args, **options)._replace(spans=None))
    with pytest.raises(BadInput, match="does not give the characters of its tokens"):
        score_sentences(model, FRAME)
