"""A device that runs out of memory gets half as much at a time, and the scores stay the same."""

from itertools import permutations

import numpy as np
import pytest

from analysis.errors import BadInput
from analysis.scoring import scorer
from analysis.scoring.base import flag_counts
from tests.analysis.scoring.neural.conftest import SENTENCES
from tests.analysis.scoring.neural.test_classifier import classifier

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")


def holds(body, most):
    """Let a model's body take so many tokens at once; counts how often it was asked for more."""
    refused = []

    def look(module, args, kwargs):
        n = (args[0] if args else kwargs["input_ids"]).numel()
        if n > most:
            refused.append(n)
            raise torch.OutOfMemoryError("tried to allocate more than there is")

    body.register_forward_pre_hook(look, with_kwargs=True)
    return refused


@pytest.mark.parametrize("way", ["tree", "plain", "own-head"])
def test_a_causal_batch_that_does_not_fit_is_halved_until_it_does(causal, way):
    address = causal("gpt2").address("hf-causal", path=way)
    right, model, progress = scorer(address).score(SENTENCES).logprob, scorer(address), []
    refused = holds(model.model.base_model, 80)
    logprobs = model.score(SENTENCES, progress=progress.append).logprob
    np.testing.assert_allclose(logprobs, right, atol=1e-5)
    assert refused and sum(progress) == len(SENTENCES)
    refused.clear()
    model.score(SENTENCES)
    assert not refused  # what was learnt holds for the next shard


def test_a_masked_batch_that_does_not_fit_is_halved_until_it_does(masked):
    address = masked("bert").address("hf-masked")
    model, right = scorer(address), scorer(address).score(SENTENCES).logprob
    refused = holds(model.model.base_model, 60)
    np.testing.assert_allclose(model.score(SENTENCES).logprob, right, atol=1e-5)
    assert refused


FAILED = "the model failed on it, not scored"
LONGEST = f"{max(SENTENCES, key=len)} The dog near the cat."


@pytest.mark.parametrize(("kind", "architecture"), [("causal", "gpt2"), ("masked", "bert")])
def test_one_sentence_that_does_not_fit_alone_is_flagged_and_the_others_are_scored(
    request, kind, architecture
):
    address = request.getfixturevalue(kind)(architecture).address(f"hf-{kind}")
    expected, model = scorer(address).score(SENTENCES).logprob, scorer(address)
    refused = holds(model.model.base_model, max(map(len, model.token_ids(SENTENCES))) + 2)
    scores = model.score([*SENTENCES, LONGEST])
    assert flag_counts(scores.flags)[FAILED] == 1 and np.isnan(scores.logprob[-1])
    np.testing.assert_allclose(scores.logprob[:-1], expected, atol=1e-5)
    [warning] = [text for text in model.warnings if "failed on" in text]
    assert refused and LONGEST[:60] in warning and "OutOfMemoryError" in warning


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_sentences_of_which_none_fits_end_the_work_with_the_reason(request, kind):
    tiny = request.getfixturevalue(kind)("gpt2" if kind == "causal" else "bert")
    model = scorer(tiny.address(f"hf-{kind}", **({"path": "tree"} if kind == "causal" else {})))
    holds(model.model.base_model, 2)
    with pytest.raises(BadInput, match="fails on every sentence that was tried.*OutOfMemoryError.*memory"):
        model.score([f"{sentence} {word}" for sentence in SENTENCES for word in ("Who?", "No.", "A dog.")])


def test_a_classifiers_batch_that_does_not_fit_is_halved_until_it_does(tmp_path):
    address = classifier(tmp_path, ["unacceptable", "acceptable"]).address("hf-classifier", output="margin")
    alike = [
        f"The {first} near the {other} sleeps." for first, other in permutations(("cat", "dog", "the"), 2)
    ]
    right, model, progress = scorer(address).score([*alike, *SENTENCES]).logprob, scorer(address), []
    refused = holds(model.model.base_model, 50)
    logprobs = model.score([*alike, *SENTENCES], progress=progress.append).logprob
    np.testing.assert_allclose(logprobs, right, atol=1e-5)
    assert refused and sum(progress) == len({*alike, *SENTENCES})
    refused.clear()
    model.score(alike)
    assert not refused  # what was learnt holds for the next shard
    holds(model.model.base_model, 4)
    scores = model.score(alike)
    assert flag_counts(scores.flags)[FAILED] == len(alike)
