"""Encoder-decoders and bidirectional decoders: the same numbers as a loop over tokens, and refusals."""

import numpy as np
import pandas as pd
import pytest

from analysis.errors import BadInput
from analysis.scoring import score_sentences, scorer
from analysis.scoring.base import FLAGS, flag_counts
from tests.analysis.scoring.neural.conftest import SENTENCES, SIZE, SMALL, peaked, saved, word_tokenizer

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
transformers = pytest.importorskip("transformers")

CLS, SEP, MASK = 2, 3, 4
MODELS = {
    "t5": (
        "T5",
        {"vocab_size": 300, "d_model": SIZE, "d_ff": 48, "num_layers": 2, "num_heads": 2, "d_kv": 12},
    ),
    "bart": (
        "Bart",
        {
            "vocab_size": 300,
            "d_model": SIZE,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 2,
            "decoder_attention_heads": 2,
            "encoder_ffn_dim": 48,
            "decoder_ffn_dim": 48,
            "max_position_embeddings": 64,
        },
    ),
}


@pytest.fixture(scope="module", params=list(MODELS))
def tiny(request, tmp_path_factory):
    prefix, settings = MODELS[request.param]
    config = getattr(transformers, f"{prefix}Config")(
        **settings, decoder_start_token_id=SEP, pad_token_id=0, bos_token_id=CLS, eos_token_id=SEP
    )
    torch.manual_seed(20)
    model = peaked(getattr(transformers, f"{prefix}ForConditionalGeneration")(config))
    return saved(tmp_path_factory.mktemp(request.param), model, word_tokenizer())


def by_hand(tiny, sentence, *, source="", end=False):
    """Σ log p(token | source, all before it), one token after the other."""
    ids = tiny.tokenizer(sentence, add_special_tokens=False)["input_ids"] + ([SEP] if end else [])
    source_ids = torch.tensor([tiny.tokenizer(source)["input_ids"]])
    total = 0.0
    with torch.no_grad():
        for place, token in enumerate(ids):
            decoder = torch.tensor([[SEP, CLS, *ids[:place]]])
            logits = tiny.model(input_ids=source_ids, decoder_input_ids=decoder).logits[0, -1].double()
            total += float(torch.log_softmax(logits, -1)[token])
    return total


def test_sums_equal_a_loop_over_tokens_after_an_empty_source(tiny):
    for options, end in (({}, False), ({"eos": "yes"}, True)):
        model = scorer(tiny.address("hf-seq2seq", **options))
        expected = [by_hand(tiny, sentence, end=end) for sentence in SENTENCES]
        scores = model.score([*SENTENCES, SENTENCES[0], ""], tokens=True)
        np.testing.assert_allclose(scores.logprob[: len(expected)], expected, atol=1e-4)
        assert scores.logprob[-2] == scores.logprob[0] and np.isnan(scores.logprob[-1])
        assert all(
            len(row) == len(spans) for row, spans in zip(scores.token_logprobs, scores.spans, strict=True)
        )


def test_context_is_the_source(tiny):
    contexts = ["Dogs sleep.", ""]
    frame = pd.DataFrame({"sentence_id": ["a", "b"], "sentence": SENTENCES[:2], "context": contexts})
    scored = score_sentences(scorer(tiny.address("hf-seq2seq")), frame, tokens=True)
    expected = [by_hand(tiny, text, source=source) for text, source in zip(SENTENCES, contexts, strict=False)]
    np.testing.assert_allclose(scored.frame.iloc[:, 1], expected, atol=1e-4)
    assert scored.scores.spans[0][0] == (0, 3) and scored.counts["n_tokens"].tolist() == [
        len(row) for row in scored.scores.token_logprobs
    ]
    prompted = scorer(tiny.address("hf-seq2seq", prompt="Who slept: %7Bsentence%7D"))
    value = score_sentences(prompted, frame.drop(columns="context")).frame.iloc[0, 1]
    assert value == pytest.approx(by_hand(tiny, SENTENCES[0], source="Who slept:"), abs=1e-4)


def test_sentence_or_source_that_is_too_long_is_flagged(tiny):
    model = scorer(tiny.address("hf-seq2seq"))
    long = "The cat " * (3000 if model.max_tokens > 100 else 60)
    scores = model.score([long, "Dogs sleep."])
    assert np.isnan(scores.logprob).tolist() == [True, False]
    assert scores.flags[0] & FLAGS["too long for the model, not scored"]
    frame = pd.DataFrame({"sentence_id": ["a"], "sentence": ["Dogs sleep."], "context": [long]})
    assert score_sentences(model, frame).summary["flags"]["too long for the model, not scored"] == 1


def test_one_sentence_that_the_model_fails_on_leaves_the_others_their_scores(tiny):
    model = scorer(tiny.address("hf-seq2seq"))
    expected = model.score(SENTENCES).logprob
    longest = f"{max(SENTENCES, key=len)} The dog near the cat."
    limit = max(map(len, model.token_ids(SENTENCES))) + 1

    def refuse(module, inputs, keywords):
        if keywords["decoder_input_ids"].shape[1] > limit:
            raise torch.OutOfMemoryError("tried to allocate more than there is")

    model.model.register_forward_pre_hook(refuse, with_kwargs=True)
    scores = model.score([*SENTENCES, longest])
    np.testing.assert_allclose(scores.logprob[:-1], expected, atol=1e-4)
    assert flag_counts(scores.flags)["the model failed on it, not scored"] == 1
    assert any(longest[:60] in text and "OutOfMemoryError" in text for text in model.warnings)


def test_sentences_of_the_same_tokens_are_known_to_every_shard_of_a_run(tiny):
    model = scorer(tiny.address("hf-seq2seq", casing="lower"))
    assert model.same_tokens(["Dogs sleep.", "dogs sleep.", "The cat."]).tolist() == [True, True, False]


def test_kinds_of_models_are_distinguished(tiny, causal):
    with pytest.raises(BadInput, match="hf-seq2seq: for encoder-decoders|cannot be opened"):
        scorer(tiny.address("hf-causal"))
    with pytest.raises(BadInput, match="cannot be opened"):
        scorer(causal("gpt2").address("hf-seq2seq"))


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    """A Llama whose tokenizer has a beginning mark and a mask."""
    config = transformers.LlamaConfig(
        **SMALL, intermediate_size=48, max_position_embeddings=64, bos_token_id=CLS
    )
    torch.manual_seed(20)
    tokenizer = word_tokenizer()
    tokenizer.bos_token = "[CLS]"
    return saved(tmp_path_factory.mktemp("mntp"), peaked(transformers.LlamaForCausalLM(config)), tokenizer)


@pytest.mark.parametrize("method", ["pll", "pll-l2r"])
def test_masked_next_token_prediction_equals_a_loop_in_full_view(decoder, method):
    model = scorer(decoder.address("hf-mntp", method=method, words="punctuation"))
    scores = model.score(SENTENCES[:4], tokens=True)
    for sentence, value in zip(SENTENCES, scores.logprob, strict=False):
        encoded = decoder.tokenizer(sentence, add_special_tokens=False)
        ids, words, total = encoded["input_ids"], encoded.word_ids(0), 0.0
        for place in range(len(ids)):
            copy = [CLS, *ids]
            later = [k for k in range(place, len(ids)) if words[k] == words[place]]
            for hidden in later if method == "pll-l2r" else [place]:
                copy[hidden + 1] = MASK
            n = len(copy)
            with torch.no_grad():
                logits = (
                    decoder.model(input_ids=torch.tensor([copy]), attention_mask=torch.zeros((1, 1, n, n)))
                    .logits[0, place]
                    .double()
                )
            total += float(torch.log_softmax(logits, -1)[ids[place]])
        assert value == pytest.approx(total, abs=1e-4)
    assert model.spec.method == f"mntp-{method}" and "every token in view" in model.why


def test_full_view_changes_predictions_and_models_without_it_are_refused(decoder, causal):
    model = scorer(decoder.address("hf-mntp", method="pll"))
    ends = model.score(["Dogs sleep.", "Dogs slept."], tokens=True).token_logprobs
    assert ends[0][0] != pytest.approx(ends[1][0], abs=1e-3)  # the first token sees the last
    with pytest.raises(BadInput, match="does not see later tokens|cannot be run with every token in view"):
        scorer(causal("mamba").address("hf-mntp", mask="a"))
    with pytest.raises(BadInput, match="has no token '_'|has no token 'zzz'"):
        scorer(causal("llama").address("hf-mntp", mask="zzz"))


def test_masked_next_tokens_follow_a_context_and_are_tabulated(decoder):
    frame = pd.DataFrame({"sentence_id": ["a"], "sentence": ["Dogs sleep."], "context": ["The cat sleeps."]})
    model = scorer(decoder.address("hf-mntp"))
    scored = score_sentences(model, frame, tokens=True)
    alone = score_sentences(model, frame.drop(columns="context"))
    assert scored.frame.iloc[0, 1] != alone.frame.iloc[0, 1]
    assert scored.counts["n_tokens"].tolist() == alone.counts["n_tokens"].tolist()


@pytest.mark.parametrize("options", [{}, {"mask": "_"}])
def test_a_decoder_without_a_mask_token_is_masked_by_another(causal, options):
    llama = causal("llama")
    assert llama.tokenizer.mask_token_id is None
    blank = llama.tokenizer.get_vocab()["_"]
    value = scorer(llama.address("hf-mntp", method="pll", **options)).score(["Dogs sleep."]).logprob[0]
    ids, total = llama.tokenizer("Dogs sleep.", add_special_tokens=False)["input_ids"], 0.0
    for place, token in enumerate(ids):
        copy = [0, *ids]
        copy[place + 1] = blank
        n = len(copy)
        with torch.no_grad():
            logits = llama.model(
                input_ids=torch.tensor([copy]), attention_mask=torch.zeros((1, 1, n, n))
            ).logits[0, place]
        total += float(torch.log_softmax(logits.double(), -1)[token])
    assert value == pytest.approx(total, abs=1e-4)


def test_a_decoder_that_depends_on_later_tokens_is_refused(tmp_path):
    config = transformers.ProphetNetConfig(
        vocab_size=300,
        hidden_size=SIZE,
        num_encoder_layers=2,
        num_decoder_layers=2,
        num_encoder_attention_heads=2,
        num_decoder_attention_heads=2,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_position_embeddings=64,
        decoder_start_token_id=SEP,
    )
    torch.manual_seed(20)
    model = peaked(transformers.ProphetNetForConditionalGeneration(config))
    tiny = saved(tmp_path, model, word_tokenizer())
    with pytest.raises(BadInput, match="other predictions when more tokens follow"):
        scorer(tiny.address("hf-seq2seq"))


def test_flex_attention_is_refused_on_a_processor(causal):
    with pytest.raises(BadInput, match="flex attention.*eager or sdpa"):
        scorer(causal("llama").address("hf-causal", attn_implementation="flex_attention", device="cpu"))
