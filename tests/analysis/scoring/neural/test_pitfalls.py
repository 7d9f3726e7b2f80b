"""Every trap in which other scorers were caught has a test by its name.

The traps are those of the survey of minicons, lm-evaluation-harness, mlm-scoring, surprisal, SyntaxGym and
the pipelines of BabyLM: wrong beginnings, padding, truncation, normalisation, number formats, heads, ties.
"""

import copy
import json

import numpy as np
import pandas as pd
import pytest

from analysis.comparison.report import compare_report
from analysis.errors import BadInput
from analysis.ngrams import train_model, write_arpa
from analysis.scoring import score_sentences, scorer
from tests.analysis.scoring.neural.conftest import (
    GATED,
    SENTENCES,
    SMALL,
    by_hand,
    byte_tokenizer,
    flags,
    peaked,
    saved,
    word_tokenizer,
)

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

SAME, NO_FIRST = "indistinguishable from another sentence", "first token not scored"
MARKED = "white space at an end, or a mark of the model inside"


def changed_config(tmp_path, tiny, **settings):
    """The same model in a folder whose configuration says something else."""
    reloaded = saved(tmp_path, tiny.model, tiny.tokenizer)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    return reloaded


def scores(address, sentences=SENTENCES):
    return scorer(address).score(sentences).logprob


def test_pitfall_bos_absent(causal):
    tiny = causal("gpt2")
    scores = scorer(tiny.address("hf-causal", bos="none")).score(SENTENCES)
    np.testing.assert_allclose(
        scores.logprob, [by_hand(tiny, sentence, start=()) for sentence in SENTENCES], atol=1e-4
    )
    assert all(flags(scores, NO_FIRST))
    assert not any(flags(scorer(tiny.address("hf-causal")).score(SENTENCES), NO_FIRST))


def test_pitfall_bos_doubled(causal, tmp_path):
    tiny = causal("llama")
    tokenizer = tiny.tokenizer.__class__.from_pretrained(tiny.folder)
    tokenizer.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 0)]
    )
    doubling = saved(tmp_path, tiny.model, tokenizer)
    assert doubling.tokenizer("Dogs")["input_ids"][0] == 0
    logprobs = [scores(saved_model.address("hf-causal")) for saved_model in (tiny, doubling)]
    np.testing.assert_allclose(*logprobs, atol=1e-6)
    np.testing.assert_allclose(logprobs[1], [by_hand(tiny, sentence) for sentence in SENTENCES], atol=1e-4)
    marked = scorer(tiny.address("hf-causal")).score(["<s>Dogs sleep.", "Dogs sleep.", "Dogs</s>"])
    assert flags(marked, MARKED) == [True, False, True]


def test_pitfall_bos_of_a_wrong_id(causal, tmp_path):
    tiny = causal("gpt2")
    other = changed_config(tmp_path / "a", tiny, bos_token_id=7)
    model = scorer(other.address("hf-causal"))
    assert "bos: the tokenizer has 0, the model's settings [7]" in model.warnings
    assert model.spec.options["start"] == "bos:0"
    tokenizer = byte_tokenizer()
    tokenizer.add_special_tokens({"bos_token": "<beginning>"})
    tokenizer.add_tokens([f"<more {n}>" for n in range(300)])
    tokenizer.bos_token = "<more 299>"
    beyond = saved(tmp_path / "b", tiny.model, tokenizer)
    with pytest.raises(BadInput, match="beginning mark is token .* the model knows 300"):
        scorer(beyond.address("hf-causal"))


def test_pitfall_leading_space(causal):
    tiny = causal("gpt2")
    bare, spaced = scorer(tiny.address("hf-causal")), scorer(tiny.address("hf-causal", space="yes"))
    [with_space] = bare.score([" Dogs sleep."]).logprob
    [without] = bare.score(["Dogs sleep."]).logprob
    scores = spaced.score(["Dogs sleep."], tokens=True)
    assert not any(flags(scores, MARKED))
    assert flags(bare.score([" Dogs sleep.", "Dogs sleep. ", "Dogs sleep."]), MARKED) == [True, True, False]
    assert scores.logprob[0] == pytest.approx(with_space) and abs(with_space - without) > 0.1
    assert bare.spec.spec_id != spaced.spec.spec_id
    assert "".join("Dogs sleep."[a:b] for a, b in scores.spans[0]) == "Dogs sleep."


def test_pitfall_mean_is_not_sum(causal):
    tiny = causal("gpt2")
    sentences = pd.DataFrame({"sentence_id": range(len(SENTENCES)), "sentence": SENTENCES})
    frame = score_sentences(
        scorer(tiny.address("hf-causal")), sentences, methods=["lp", "meanlp"], name="m"
    ).frame
    n = [len(tiny.tokenizer(sentence, add_special_tokens=False)["input_ids"]) for sentence in SENTENCES]
    by_sum = [by_hand(tiny, sentence) for sentence in SENTENCES]
    np.testing.assert_allclose(frame["m:lp"], by_sum, atol=1e-4)
    np.testing.assert_allclose(frame["m:meanlp"], np.array(by_sum) / n, atol=1e-4)
    assert frame["m:lp"].rank().tolist() != frame["m:meanlp"].rank().tolist()


@pytest.mark.parametrize("way", ["tree", "plain", "own-head"])
def test_pitfall_padding_is_the_end_mark(causal, way):
    tiny = causal("gpt2")
    assert tiny.model.config.pad_token_id == tiny.tokenizer.eos_token_id
    sentences = ["Dogs</s> sleep.", "Dogs sleep</s></s>", SENTENCES[9]]
    logprobs = scores(tiny.address("hf-causal", path=way), sentences)
    np.testing.assert_allclose(logprobs, [by_hand(tiny, sentence) for sentence in sentences], atol=1e-4)


@pytest.mark.parametrize("name", ["gpt2", "opt"])
def test_pitfall_left_padding_with_absolute_positions(causal, tmp_path, name):
    tiny = causal(name)
    tokenizer = tiny.tokenizer.__class__.from_pretrained(tiny.folder, padding_side="left")
    tokenizer.pad_token = "</s>"
    left_padding = saved(tmp_path, tiny.model, tokenizer)
    for way in ("plain", "own-head"):
        logprobs = scores(left_padding.address("hf-causal", path=way))
        np.testing.assert_allclose(logprobs, [by_hand(tiny, sentence) for sentence in SENTENCES], atol=1e-4)


def test_pitfall_truncation(causal, tmp_path):
    tiny = causal("gpt2")
    tokenizer = tiny.tokenizer.__class__.from_pretrained(tiny.folder, model_max_length=4)
    tokenizer.backend_tokenizer.enable_truncation(3)
    cutting = saved(tmp_path, tiny.model, tokenizer)
    np.testing.assert_allclose(
        scores(cutting.address("hf-causal")), scores(tiny.address("hf-causal")), atol=1e-6
    )
    result = scorer(tiny.address("hf-causal")).score([SENTENCES[0], "dogs " * 80])
    assert flags(result, "too long for the model, not scored") == [False, True]
    assert np.isnan(result.logprob).tolist() == [False, True]


def test_pitfall_lower_casing_makes_a_cased_pair_identical(masked, causal, tmp_path):
    path = tmp_path / "small.arpa"
    write_arpa(train_model([["dogs", "sleep."], ["cats", "sleep."]], order=2), path)
    pair = ["Dogs sleep.", "dogs sleep.", "cats"]
    for address in (
        masked("bert").address("hf-masked"),
        causal("gpt2").address("hf-causal", casing="lower"),
        f"arpa:{path}?casing=lower",
    ):
        scores = scorer(address).score(pair)
        assert scores.logprob[0] == scores.logprob[1]
        assert flags(scores, SAME) == [True, True, False]
    assert not any(flags(scorer(causal("gpt2").address("hf-causal")).score(pair), SAME))


def test_pitfall_unknown_words_on_both_sides(masked, tmp_path):
    path = tmp_path / "small.arpa"
    write_arpa(train_model([["the", "dog", "sleeps"]], order=2), path)
    for address, pair in (
        (f"arpa:{path}", ["the zebra sleeps", "the gnu sleeps", "the dog sleeps"]),
        (masked("bert").address("hf-masked"), ["the 漢 sleeps", "the 字 sleeps", "the dog sleeps"]),
    ):
        scores = scorer(address).score(pair)
        assert scores.n_unk.tolist() == [1, 1, 0] and scores.logprob[0] == scores.logprob[1]
        assert flags(scores, "unknown tokens") == flags(scores, SAME) == [True, True, False]


def test_pitfall_one_character_is_several_tokens(causal):
    tiny = causal("gpt2")
    sentences = pd.DataFrame({"sentence_id": ["zh", "fr"], "sentence": ["漢字", "été"]})
    model = scorer(tiny.address("hf-causal"))
    scored = score_sentences(model, sentences, methods=["lp", "charlp", "bytelp"], name="m")
    assert scored.counts["n_tokens"][0] == 6
    assert scored.counts["n_chars"].tolist() == [2, 3] and scored.counts["n_bytes"].tolist() == [6, 5]
    per_sentence, per_char, per_byte = (
        scored.frame[f"m:{measure}"].to_numpy() for measure in ("lp", "charlp", "bytelp")
    )
    np.testing.assert_allclose(per_char * [2, 3], per_sentence)
    np.testing.assert_allclose(per_byte * [6, 5], per_sentence)
    [spans] = model.score(["漢字"], tokens=True).spans
    assert set(spans) == {(0, 1), (1, 2)}


def test_pitfall_normalisation_of_signs_and_white_space(causal, tmp_path):
    backend_tokenizer = byte_tokenizer().backend_tokenizer
    backend_tokenizer.normalizer = tokenizers.normalizers.NFKC()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend_tokenizer, bos_token="<s>", eos_token="</s>"
    )
    tiny = saved(tmp_path, causal("gpt2").model, tokenizer)
    scores = scorer(tiny.address("hf-causal")).score(["ﬁsh", "fish", "dogs  sleep", "dogs sleep"])
    assert flags(scores, "normalised by the tokenizer") == [True, False, False, False]
    assert flags(scores, SAME) == [True, True, False, False]
    words = tmp_path / "words"
    bert = transformers.BertForMaskedLM(transformers.BertConfig(**SMALL, intermediate_size=48))
    spaces = scorer(saved(words, peaked(bert), word_tokenizer()).address("hf-masked")).score(
        ["dogs  sleep", "dogs sleep"]
    )
    assert spaces.logprob[0] == spaces.logprob[1] and all(flags(spaces, SAME))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_pitfall_half_precision_depends_on_the_batch(causal, dtype):
    tiny = causal("gpt2")
    model = scorer(tiny.address("hf-causal", dtype=dtype))
    together = model.score(SENTENCES).logprob
    alone = np.array([model.score([sentence]).logprob[0] for sentence in SENTENCES])
    single_precision = scorer(tiny.address("hf-causal"))
    assert np.abs(together - alone).max() < 0.5
    assert 0 < np.abs(together - single_precision.score(SENTENCES).logprob).max() < 3.0
    assert any(dtype in warning for warning in model.warnings)
    assert model.spec.dtype == dtype and model.spec.spec_id != single_precision.spec.spec_id


def test_pitfall_dropout_left_on(causal, tmp_path):
    tiny = causal("gpt2")
    tiny.model.train()
    try:
        reloaded = saved(tmp_path, tiny.model, tiny.tokenizer)
    finally:
        tiny.model.eval()
    model = scorer(reloaded.address("hf-causal"))
    assert not model.model.training
    assert model.score(SENTENCES).logprob.tolist() == model.score(SENTENCES).logprob.tolist()


@pytest.mark.parametrize("kind", ["hf-causal", "hf-masked"])
def test_pitfall_rows_of_a_padded_vocabulary(causal, masked, tmp_path, kind):
    tiny = causal("gpt2") if kind == "hf-causal" else masked("bert")
    n_tokens = 1 + max(tiny.tokenizer.get_vocab().values())
    model = copy.deepcopy(tiny.model)
    model.resize_token_embeddings(n_tokens)
    fitting = saved(tmp_path / "fitting", model.eval(), tiny.tokenizer)
    model.resize_token_embeddings(n_tokens + 20)
    padded = saved(tmp_path / "padded", model.eval(), tiny.tokenizer)
    expected = scores(fitting.address(kind))
    model = scorer(padded.address(kind))
    assert any(f"{n_tokens + 20} rows" in warning for warning in model.warnings)
    assert (model.score(SENTENCES).logprob < expected).all()
    trimmed = scorer(padded.address(kind, vocabulary="tokenizer"))
    np.testing.assert_allclose(trimmed.score(SENTENCES).logprob, expected, atol=1e-4)
    assert not trimmed.warnings and trimmed.spec.spec_id != model.spec.spec_id


HEADS = {
    "capped logits": ("Gemma2", {**GATED, "head_dim": 12, "final_logit_softcapping": 2.0}),
    "scaled logits": ("Cohere", {**GATED, "logit_scale": 0.3}),
    "divided logits": ("Granite", {**GATED, "logits_scaling": 3.0}),
    "bias": ("Phi", {**SMALL, "intermediate_size": 48, "max_position_embeddings": 64}),
}


@pytest.mark.parametrize("name", HEADS)
def test_pitfall_heads_that_are_more_than_one_product(tmp_path, name):
    prefix, settings = HEADS[name]
    config = getattr(transformers, f"{prefix}Config")(
        **settings, bos_token_id=0, eos_token_id=1, pad_token_id=1
    )
    torch.manual_seed(20)
    model = peaked(transformers.AutoModelForCausalLM.from_config(config))
    bias = getattr(model.get_output_embeddings(), "bias", None)
    if name == "bias":
        torch.nn.init.normal_(bias)
    tiny = saved(tmp_path, model, byte_tokenizer())
    logprobs = scores(tiny.address("hf-causal"))
    np.testing.assert_allclose(logprobs, [by_hand(tiny, sentence) for sentence in SENTENCES], atol=1e-4)


def test_pitfall_one_sentence_in_several_pairs(causal):
    model = scorer(causal("gpt2").address("hf-causal"))
    progress = []
    scores = model.score([*SENTENCES, *SENTENCES[:4]], progress=progress.append)
    assert scores.logprob[:4].tolist() == scores.logprob[-4:].tolist()
    assert sum(progress) == len(SENTENCES)
    assert not any(flags(scores, SAME))


def test_pitfall_ties_are_reported_and_count_as_no_success():
    pairs = pd.DataFrame({"pair_id": [1, 2], "good_id": ["a", "c"], "bad_id": ["b", "d"]})
    tied = pd.DataFrame({"sentence_id": list("abcd"), "m": [-1.0, -1.0, -2.0, -3.0]})
    document = compare_report(None, pairs, tied, deltas=[0.5])
    [model] = document["models"]
    assert (model["blimp"], model["equal_scores"]) == (0.5, 1)
    assert "equal" in json.dumps(document["conventions"]).lower()


def test_pitfall_limit_of_a_picture_encoder(tmp_path):
    pictures = {"image_size": 28, "patch_size": 14, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.Gemma3Config(
        text_config={**GATED, "head_dim": 12, "bos_token_id": 0},
        vision_config={"hidden_size": 24, "intermediate_size": 24, **pictures},
        mm_tokens_per_image=1,
    )
    torch.manual_seed(20)
    model = peaked(transformers.Gemma3ForConditionalGeneration(config))
    tiny = saved(tmp_path, model, byte_tokenizer())
    scored = scorer(tiny.address("hf-causal")).score([*SENTENCES, "dogs " * 64])
    np.testing.assert_allclose(
        scored.logprob[:-1], [by_hand(tiny, sentence) for sentence in SENTENCES], atol=1e-4
    )
    too_long = flags(scored, "too long for the model, not scored")
    assert too_long == [False] * len(SENTENCES) + [True]
