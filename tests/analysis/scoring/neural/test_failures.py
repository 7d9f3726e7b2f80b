"""A sentence that a model cannot take is flagged, named and left out; it never ends a run."""

import numpy as np
import pytest

from analysis.errors import BadInput
from analysis.scoring import scorer
from tests.analysis.scoring.neural.conftest import SENTENCES, byte_tokenizer, flags, saved, word_tokenizer

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
pytest.importorskip("transformers", reason="neural models are an extra: make install-models")

from analysis.scoring.neural.structure import LONGEST, longest  # noqa: E402
from benchmarks.scoring.architectures import limit_texts, tiny_model  # noqa: E402

FAILED, TOO_LONG = "the model failed on it, not scored", "too long for the model, not scored"
BAD = SENTENCES[3]
POSITIONS = {
    ("causal", "gpt2"): 64,
    ("causal", "opt"): 64,
    ("causal", "mpt"): 64,
    ("causal", "bloom"): LONGEST,
    ("causal", "llama with long positions"): LONGEST,
    ("masked", "bert"): 64,
    ("masked", "roberta"): 63,
    ("masked", "mpnet"): 62,
    ("masked", "luke"): 63,
    ("masked", "longformer"): 63,
    ("masked", "ibert"): 63,
}


@pytest.mark.parametrize(("kind", "name"), POSITIONS)
def test_limits_are_read_from_tables_of_positions_and_configuration(kind, name):
    assert longest(tiny_model(kind, name)) == POSITIONS[kind, name]


@pytest.mark.parametrize(("kind", "name"), [("causal", "mpt"), ("masked", "mpnet"), ("masked", "luke")])
def test_the_longest_sentence_is_scored_and_one_token_more_is_flagged(kind, name, tmp_path):
    tiny = saved(tmp_path, tiny_model(kind, name), byte_tokenizer() if kind == "causal" else word_tokenizer())
    model = scorer(tiny.address(f"hf-{kind}"))
    scores = model.score([*SENTENCES, *limit_texts(tiny.tokenizer, model.max_tokens)])
    assert flags(scores, TOO_LONG) == [False] * (len(SENTENCES) + 1) + [True]
    assert np.isfinite(scores.logprob[:-1]).all() and not any(flags(scores, FAILED))


def fail_on(model, ids):
    """Raise where these tokens are among the inputs, as a model's own code may."""
    needle = torch.tensor(ids)

    def refuse(_, inputs, keywords):
        rows = keywords.get("input_ids")
        if rows is not None and rows.shape[1] >= len(ids):
            windows = rows.unfold(1, len(ids), 1)
            if bool((windows == needle).all(-1).any()):
                raise IndexError("index out of range in self")

    for module in {model, model.base_model}:
        module.register_forward_pre_hook(refuse, with_kwargs=True)


@pytest.mark.parametrize("path", ["plain", "naive"])
def test_one_sentence_that_a_causal_model_fails_on_leaves_the_others_their_scores(path, causal):
    expected = scorer(causal("gpt2").address("hf-causal")).score(SENTENCES).logprob
    failing = scorer(causal("gpt2").address("hf-causal", path=path))
    fail_on(failing.model, failing.token_ids([BAD])[0][:-1])
    scores = failing.score([*SENTENCES, BAD])
    is_bad = [sentence == BAD for sentence in [*SENTENCES, BAD]]
    assert flags(scores, FAILED) == is_bad and np.isnan(scores.logprob).tolist() == is_bad
    unaffected = [place for place, sentence in enumerate(SENTENCES) if sentence != BAD]
    np.testing.assert_allclose(scores.logprob[unaffected], expected[unaffected], atol=1e-4)
    [warning] = [text for text in failing.warnings if "failed on" in text]
    assert warning.startswith(f"the model failed on “{BAD}”, not scored: IndexError")


def test_one_sentence_that_a_masked_model_fails_on_leaves_the_others_their_scores(masked):
    model = scorer(masked("bert").address("hf-masked"))
    expected = model.score(SENTENCES).logprob
    fail_on(model.model, model.token_ids([BAD])[0][-3:])
    only = [sentence for sentence in SENTENCES if sentence == BAD or not sentence.endswith("sleeps.")]
    scores = model.score(only)
    assert flags(scores, FAILED) == [sentence == BAD for sentence in only]
    unaffected = [place for place, sentence in enumerate(only) if sentence != BAD]
    np.testing.assert_allclose(
        scores.logprob[unaffected],
        [expected[SENTENCES.index(only[place])] for place in unaffected],
        atol=1e-4,
    )


def test_a_model_that_fails_on_everything_ends_with_its_reason(causal):
    model = scorer(causal("gpt2").address("hf-causal", path="plain"))
    fail_on(model.model, [0])  # the beginning mark
    with pytest.raises(BadInput, match=r"fails on every sentence that was tried \(16\): IndexError"):
        model.score([f"{sentence} {word}" for sentence in SENTENCES for word in ("Who?", "No.", "A dog.")])


def test_models_that_cannot_be_run_are_refused_when_they_are_opened(tmp_path):
    fourier = saved(tmp_path / "a", tiny_model("masked", "fnet"), word_tokenizer())
    with pytest.raises(BadInput, match="FNetForMaskedLM. cannot be run on tokens alone in bfloat16"):
        scorer(fourier.address("hf-masked", dtype="bfloat16"))
    bytes_ = saved(tmp_path / "b", tiny_model("masked", "perceiver"), word_tokenizer())
    with pytest.raises(BadInput, match="PerceiverForMaskedLM has no table of token embeddings"):
        scorer(bytes_.address("hf-masked"))
