"""Probabilities over all segmentations into tokens, beside a sum over every one."""

import numpy as np
import pandas as pd
import pytest

from analysis.errors import BadInput
from analysis.scoring import scorer
from analysis.scoring.frames import score_sentences
from tests.analysis.scoring.neural.conftest import saved, word_tokenizer

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")

TEXTS = ["Dogs sleep.", "The cat", "No dog sleeps."]


def segmentations(text, vocabulary):
    """Every sequence of tokens that spells a text within its words, which keep the space before them."""
    words = text.replace(" ", " Ġ").split(" ")

    def ways(word):
        if not word:
            yield ()
        for end in range(1, len(word) + 1):
            if word[:end] in vocabulary:
                for rest in ways(word[end:]):
                    yield (vocabulary[word[:end]], *rest)

    rows = [()]
    for word in words:
        body, stop = (word[:-1], ".") if word.endswith(".") else (word, "")
        for part in (body, stop) if stop else (body,):
            rows = [(*row, *way) for row in rows for way in ways(part)]
    return rows


def by_hand(tiny, rows):
    total = []
    with torch.no_grad():
        for row in rows:
            ids = torch.tensor([[0, *row]])
            logprobs = torch.log_softmax(tiny.model(input_ids=ids).logits[0].double(), -1)
            total.append(float(logprobs[:-1].gather(1, ids[0, 1:, None]).sum()))
    return float(np.logaddexp.reduce(total))


def test_the_sum_over_segmentations_is_that_of_every_one_and_samples_estimate_it(causal):
    tiny = causal("llama")
    vocabulary = tiny.tokenizer.get_vocab()
    rows = [segmentations(text, vocabulary) for text in TEXTS]
    assert min(map(len, rows)) > 8 and max(map(len, rows)) < 5_000
    expected = np.array([by_hand(tiny, each) for each in rows])
    exact = scorer(tiny.address("hf-causal", tokenizations="marginal", samples="5000"))
    scores = exact.score(TEXTS)
    np.testing.assert_allclose(scores.logprob, expected, atol=1e-4)
    assert scores.standard_error.tolist() == [0, 0, 0]
    own = scorer(tiny.address("hf-causal")).score(TEXTS).logprob
    assert (scores.logprob > own + 1e-3).all()
    errors = []
    for seed in range(20):
        sampled = scorer(tiny.address("hf-causal", tokenizations="marginal", samples="8", seed=str(seed)))
        estimate = sampled.score(TEXTS)
        is_sampled = estimate.standard_error > 0
        assert is_sampled.any() and (estimate.logprob >= own - 1e-4).all()
        errors += ((estimate.logprob - expected)[is_sampled] / estimate.standard_error[is_sampled]).tolist()
    assert np.mean(np.abs(errors) < 3) > 0.8
    assert sampled.score(TEXTS[::-1]).logprob[::-1].tolist() == pytest.approx(estimate.logprob.tolist())


def test_the_standard_error_is_kept_with_the_counts_and_named(causal):
    model = scorer(causal("llama").address("hf-causal", tokenizations="marginal", samples="8"))
    frame = pd.DataFrame({"sentence_id": list("ab"), "sentence": TEXTS[:2]})
    scored = score_sentences(model, frame)
    assert (scored.counts["logprob_se"] >= 0).all()
    assert any("standard error of log p" in warning for warning in scored.summary["warnings"])
    assert "samples" in scored.summary["spec"]["options"]


def test_segmentations_that_cannot_be_summed_are_refused_or_named(causal, tmp_path):
    with pytest.raises(BadInput, match="first token has no probability"):
        scorer(causal("llama").address("hf-causal", tokenizations="marginal", bos="none"))
    tokenizer = word_tokenizer()
    tokenizer.bos_token = "[CLS]"
    model = scorer(
        saved(tmp_path, causal("gpt2").model, tokenizer).address(
            "hf-causal", tokenizations="marginal", bos="bos"
        )
    )
    scores = model.score(["the dogs", "the dogs 我"])
    assert np.isfinite(scores.logprob).tolist() == [True, False]
    assert any("not scored: “the dogs 我”" in warning for warning in model.warnings)


def test_a_temperature_divides_the_logits_and_is_another_model(causal):
    tiny = causal("gpt2")
    model = scorer(tiny.address("hf-causal", temperature="1.5"))
    expected = []
    for text in TEXTS:
        ids = [0, *tiny.tokenizer(text, add_special_tokens=False)["input_ids"]]
        with torch.no_grad():
            logits = tiny.model(input_ids=torch.tensor([ids])).logits[0, :-1].double() / 1.5
        chosen = torch.log_softmax(logits, -1).gather(1, torch.tensor(ids[1:])[:, None])
        expected.append(float(chosen.sum()))
    np.testing.assert_allclose(model.score(TEXTS).logprob, expected, atol=1e-4)
    assert model.spec.options["temperature"] == "1.5"
    assert "temperature" not in scorer(tiny.address("hf-causal")).spec.options
    with pytest.raises(BadInput, match="does not apply a temperature"):
        scorer(tiny.address("hf-causal", temperature="1.5", path="tree"))
