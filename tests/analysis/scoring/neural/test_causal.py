"""Causal scores equal a token-by-token loop, on eighteen architectures and by every way."""

import json
import re

import numpy as np
import pytest

from analysis.errors import BadInput, UnknownName
from analysis.scoring import scorer
from analysis.scoring.words.regions import score_words
from tests.analysis.scoring.neural.conftest import (
    CAUSAL,
    SENTENCES,
    SIZE,
    SMALL,
    by_hand,
    byte_tokenizer,
    flags,
    peaked,
    saved,
)

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
transformers = pytest.importorskip("transformers", reason="neural models are an extra: make install-models")


@pytest.mark.parametrize("name", CAUSAL)
def test_every_architecture_is_scored_as_by_hand(causal, name):
    tiny = causal(name)
    model = scorer(tiny.address("hf-causal"))
    logprobs = model.score(SENTENCES).logprob
    np.testing.assert_allclose(logprobs, [by_hand(tiny, sentence) for sentence in SENTENCES], atol=1e-4)
    assert model.why.split(":")[0] in ("tree", "plain", "own-head", "naive")


@pytest.mark.parametrize("name", ["gpt2", "llama", "opt", "qwen2", "gpt_neox"])
def test_usual_architectures_take_the_fastest_way(causal, name):
    model = scorer(causal(name).address("hf-causal"))
    model.score(SENTENCES)
    assert re.match(r"tree: sums of \d+ sentences within", model.why)


@pytest.mark.parametrize("name", ["gemma2", "mistral", "bloom", "mamba", "mpt", "gpt_neo"])
def test_a_slower_path_is_taken_with_the_reason_where_the_fast_path_is_wrong(causal, name):
    model = scorer(causal(name).address("hf-causal"))
    model.score(SENTENCES)
    assert not model.why.startswith("tree:") and "tree" in model.why


@pytest.mark.parametrize("way", ["tree", "plain", "own-head", "naive"])
def test_order_duplicates_and_company_do_not_change_a_score(causal, way):
    model = scorer(causal("gpt2").address("hf-causal", path=way))
    alone = [float(model.score([sentence]).logprob[0]) for sentence in SENTENCES]
    turned = model.score([*reversed(SENTENCES), *SENTENCES]).logprob
    np.testing.assert_allclose(turned, [*reversed(alone), *alone], atol=1e-5)


def test_token_probabilities_sum_to_the_score_and_spans_cut_the_sentence(causal):
    model = scorer(causal("gpt2").address("hf-causal"))
    scores = model.score(SENTENCES, tokens=True)
    for sentence, logprob, row, spans in zip(
        SENTENCES, scores.logprob, scores.token_logprobs, scores.spans, strict=True
    ):
        assert float(row.sum()) == pytest.approx(float(logprob))
        assert "".join(sentence[start:end] for start, end in spans) == sentence


def test_end_mark_space_and_lower_case_change_the_score_and_the_key(causal):
    tiny = causal("gpt2")
    plain = scorer(tiny.address("hf-causal"))
    for options, sentence, end in (
        ({"eos": "yes"}, "Dogs sleep.", (1,)),
        ({"space": "yes"}, " Dogs sleep.", ()),
        ({"casing": "lower"}, "dogs sleep.", ()),
    ):
        other = scorer(tiny.address("hf-causal", **options))
        assert float(other.score(["Dogs sleep."]).logprob[0]) == pytest.approx(
            by_hand(tiny, sentence, end=end), abs=1e-4
        )
        assert other.spec.spec_id != plain.spec.spec_id


def test_the_key_does_not_depend_on_the_way_and_names_the_weights(causal):
    tiny = causal("gpt2")
    keys = {scorer(tiny.address("hf-causal", path=way)).spec.spec_id for way in ("tree", "plain", "auto")}
    assert len(keys) == 1
    assert scorer(tiny.address("hf-causal")).spec.revision.startswith("sha256:")
    assert scorer(tiny.address("hf-causal", dtype="bfloat16")).spec.spec_id not in keys


def test_a_sentence_too_long_is_not_cut_but_left_without_a_score(causal):
    model = scorer(causal("gpt2").address("hf-causal"))
    scores = model.score(["Dogs sleep.", "dogs " * 2_000, ""])
    assert np.isfinite(scores.logprob).tolist() == [True, False, False]
    assert flags(scores, "too long for the model, not scored") == [False, True, False]
    assert flags(scores, "empty") == [False, False, True]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bos": "cls"}, "cls"),
        ({"path": "fast"}, "fast"),
        ({"dtype": "int4"}, "int4"),
        ({"bose": "no"}, "bose"),
    ],
)
def test_unknown_options_are_named(causal, options, message):
    with pytest.raises(UnknownName, match=message):
        scorer(causal("gpt2").address("hf-causal", **options))


def test_a_folder_without_a_model_is_refused_with_the_required_files(tmp_path):
    with pytest.raises(BadInput, match="cannot be opened") as problem:
        scorer(f"hf-causal:{tmp_path}")
    assert "config, weights and tokenizer" in str(problem.value)


def test_a_model_without_marks_is_asked_to_begin_without(causal, tmp_path):
    tiny = causal("gpt2")
    tokenizer = tiny.tokenizer.__class__(tokenizer_object=tiny.tokenizer.backend_tokenizer)
    bare = saved(tmp_path, tiny.model, tokenizer)
    with pytest.raises(BadInput, match="no bos token"):
        scorer(bare.address("hf-causal", bos="bos"))
    assert all(flags(scorer(bare.address("hf-causal")).score(SENTENCES), "first token not scored"))


def test_weights_that_are_not_numbers_leave_named_gaps(causal, tmp_path):
    tiny = causal("llama")
    broken = type(tiny.model)(tiny.model.config)
    broken.load_state_dict(tiny.model.state_dict())
    token = tiny.tokenizer("Who", add_special_tokens=False)["input_ids"][0]
    with torch.no_grad():
        broken.get_input_embeddings().weight[token] = float("nan")
    scores = scorer(saved(tmp_path, broken, tiny.tokenizer).address("hf-causal", path="plain")).score(
        SENTENCES
    )
    gaps = flags(scores, "score not finite")
    assert any(gaps) and not all(gaps)
    assert np.isnan(scores.logprob).tolist() == gaps


def test_the_probability_of_a_word_after_a_prefix_is_that_of_its_tokens(causal):
    tiny = causal("gpt2")
    model = scorer(tiny.address("hf-causal"))
    [logprob, without_prefix] = score_words(
        model, ["The cat near the dogs", ""], ["sleeps", "sleeps"]
    ).logprob
    prefix, total = by_hand(tiny, "The cat near the dogs"), by_hand(tiny, "The cat near the dogs sleeps")
    assert logprob == pytest.approx(total - prefix, abs=1e-4)
    assert np.isnan(without_prefix)
    without = scorer(tiny.address("hf-causal", bos="none"))
    assert score_words(without, ["The cat near the dogs"], ["sleeps"]).logprob[0] == pytest.approx(
        by_hand(tiny, "The cat near the dogs sleeps", start=())
        - by_hand(tiny, "The cat near the dogs", start=()),
        abs=1e-4,
    )


BIDIRECTIONAL = {
    "Bert": {**SMALL, "intermediate_size": 48, "max_position_embeddings": 64},
    "Roberta": {**SMALL, "intermediate_size": 48, "max_position_embeddings": 64, "pad_token_id": 0},
    "Electra": {**SMALL, "intermediate_size": 48, "max_position_embeddings": 64, "embedding_size": SIZE},
    "XLMRoberta": {**SMALL, "intermediate_size": 48, "max_position_embeddings": 64, "pad_token_id": 0},
    "XLM": {"vocab_size": 300, "emb_dim": SIZE, "n_layers": 2, "n_heads": 2, "causal": False},
    "XLNet": {"vocab_size": 300, "d_model": SIZE, "n_layer": 2, "n_head": 2, "d_inner": 48},
}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", BIDIRECTIONAL)
def test_a_model_that_sees_later_tokens_is_refused(tmp_path, name, dtype):
    config = getattr(transformers, f"{name}Config")(**BIDIRECTIONAL[name])
    torch.manual_seed(20)
    tiny = saved(tmp_path, peaked(transformers.AutoModelForCausalLM.from_config(config)), byte_tokenizer())
    with pytest.raises(BadInput, match="sees later tokens|cannot be run on tokens alone"):
        scorer(tiny.address("hf-causal", dtype=dtype))


@pytest.mark.parametrize("name", CAUSAL)
def test_no_causal_architecture_is_taken_for_a_masked_one_in_half_precision(causal, name):
    scorer(causal(name).address("hf-causal", dtype="bfloat16"))


def test_an_encoder_decoder_is_refused_by_name(tmp_path):
    sizes = {f"{side}_{name}": n for side in ("encoder", "decoder")
             for name, n in (("layers", 1), ("attention_heads", 2), ("ffn_dim", 48))}  # fmt: skip
    config = transformers.BartConfig(vocab_size=300, d_model=SIZE, max_position_embeddings=64, **sizes)
    tiny = saved(tmp_path, transformers.BartForConditionalGeneration(config), byte_tokenizer())
    with pytest.raises(BadInput, match=r"encoder-decoder \(BartConfig\)"):
        scorer(tiny.address("hf-causal"))


def test_weights_of_layers_beyond_the_configuration_are_refused(causal, tmp_path):
    tiny = causal("gpt2")
    saved(tmp_path, tiny.model, tiny.tokenizer)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"n_layer": 1}))
    with pytest.raises(BadInput, match=r"configuration leaves out: .*h\.1\..* other weights"):
        scorer(f"hf-causal:{tmp_path}")
