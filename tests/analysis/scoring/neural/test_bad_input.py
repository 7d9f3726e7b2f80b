"""What is no sentence or no model is refused with its name, or left without a score and counted."""

import logging
import shutil

import numpy as np
import pandas as pd
import pytest

from analysis.comparison.report import compare_report
from analysis.errors import BadInput
from analysis.ngrams import train_model, write_arpa
from analysis.scoring import score_sentences, scorer
from analysis.scoring.neural import loading
from analysis.scoring.words.critical_words import WordScorer, word_question
from tests.analysis.scoring.neural.conftest import SENTENCES, SMALL, flags, peaked, saved, word_tokenizer
from tests.analysis.scoring.neural.test_classifier import classifier
from tests.analysis.scoring.neural.test_lstm import folder_of

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
transformers = pytest.importorskip("transformers")

TOO_LONG = "too long for the model, not scored"
LONG = "dogs " * 100_000


@pytest.fixture
def addresses(causal, masked, tmp_path):
    """One model of each kind."""
    path = tmp_path / "small.arpa"
    write_arpa(train_model([["dogs", "sleep"], ["cats", "sleep"]], order=2), path)
    folder_of(tmp_path / "lstm", ["<unk>", "<eos>", "dogs", "cats", "sleep"])
    return {
        "hf-causal": causal("gpt2").address("hf-causal"),
        "no limit of its own": causal("bloom").address("hf-causal"),
        "hf-masked": masked("bert").address("hf-masked"),
        "hf-classifier": classifier(tmp_path / "cls", ["unacceptable", "acceptable"]).address(
            "hf-classifier"
        ),
        "arpa": f"arpa:{path}",
        "lstm": f"lstm:{tmp_path / 'lstm'}",
    }


@pytest.mark.parametrize("kind", ["hf-causal", "no limit of its own", "hf-masked", "hf-classifier"])
def test_a_sentence_of_100_000_tokens_is_left_out_and_the_others_are_scored(addresses, kind):
    scores = scorer(addresses[kind]).score(["dogs sleep", LONG, "cats"])
    assert flags(scores, TOO_LONG) == [False, True, False]
    assert np.isnan(scores.logprob).tolist() == [False, True, False]
    assert scores.n_tokens[1] >= 100_000


def test_a_sentence_too_long_brings_no_warning_of_what_is_not_done(causal, tmp_path):
    tiny = causal("gpt2")
    tokenizer = tiny.tokenizer.__class__.from_pretrained(tiny.folder, model_max_length=4)
    short = saved(tmp_path, tiny.model, tokenizer)
    messages, listening = [], logging.Handler()
    listening.emit = lambda record: messages.append(record.getMessage())
    logging.getLogger("transformers").addHandler(listening)
    try:
        scorer(short.address("hf-causal")).score(["dogs " * 80])
    finally:
        logging.getLogger("transformers").removeHandler(listening)
    assert messages == []


@pytest.mark.parametrize("kind", ["arpa", "lstm"])
def test_a_sentence_of_100_000_words_is_scored_by_models_without_a_limit(addresses, kind):
    scores = scorer(addresses[kind]).score(["dogs sleep", LONG])
    assert np.isfinite(scores.logprob).all() and scores.n_tokens.tolist() == [2, 100_000]


def test_100_000_unknown_words_are_counted(addresses):
    scores = scorer(addresses["arpa"]).score(["zebra " * 100_000])
    assert scores.n_unk.tolist() == [100_000]


@pytest.mark.parametrize("kind", ["hf-causal", "hf-masked", "hf-classifier", "lstm"])
def test_an_empty_sentence_has_no_score_and_is_counted(addresses, kind):
    frame = pd.DataFrame({"sentence_id": ["a", "b"], "sentence": ["", "dogs sleep"]})
    scored = score_sentences(scorer(addresses[kind]), frame, name="m")
    assert scored.frame["m:lp"].isna().tolist() == [True, False]
    assert scored.summary["empty_sentences"] == 1
    assert scored.summary["missing_sentence_ids"] == ["a"]


@pytest.mark.parametrize("kind", ["hf-masked", "arpa", "lstm"])
def test_a_sentence_of_unknown_tokens_alone_is_scored_and_counted(addresses, kind):
    scores = scorer(addresses[kind]).score(["漢 字", "dogs"])
    assert np.isfinite(scores.logprob).all()
    assert scores.n_unk[0] == scores.n_tokens[0] == 2
    assert flags(scores, "unknown tokens")[0]


def test_a_score_that_is_no_number_is_named_and_its_pair_left_out_and_counted(causal, tmp_path):
    tiny = causal("llama")
    broken = type(tiny.model)(tiny.model.config)
    broken.load_state_dict(tiny.model.state_dict())
    token = tiny.tokenizer("Who", add_special_tokens=False)["input_ids"][0]
    with torch.no_grad():
        broken.get_input_embeddings().weight[token] = float("nan")
    address = saved(tmp_path, broken, tiny.tokenizer).address("hf-causal", path="plain")
    frame = pd.DataFrame({"sentence_id": list("abcd"), "sentence": ["Who sleeps", "Who sleep", "a", "b"]})
    scored = score_sentences(scorer(address), frame, name="m")
    assert scored.summary["flags"]["score not finite"] == 2
    assert scored.summary["missing_sentence_ids"] == ["a", "b"]
    pairs = pd.DataFrame({"pair_id": ["1", "2"], "good_id": ["a", "c"], "bad_id": ["b", "d"]})
    [model] = compare_report(None, pairs, scored.frame, deltas=[1])["models"]
    assert (model["pairs"], model["left_out"]) == (1, 1)


def test_a_classifier_without_a_finite_score_is_flagged(tmp_path):
    tiny = classifier(tmp_path / "a", ["unacceptable", "acceptable"])
    with torch.no_grad():
        tiny.model.classifier.bias.fill_(float("nan"))
    scores = scorer(saved(tmp_path / "b", tiny.model, tiny.tokenizer).address("hf-classifier")).score(
        SENTENCES
    )
    assert np.isnan(scores.logprob).all() and all(flags(scores, "score not finite"))


def test_other_sentences_do_not_change_the_score_of_a_classifier(tmp_path):
    model = scorer(classifier(tmp_path, ["unacceptable", "acceptable"]).address("hf-classifier"))
    alone = [float(model.score([sentence]).logprob[0]) for sentence in SENTENCES]
    np.testing.assert_allclose(model.score(SENTENCES[::-1]).logprob, alone[::-1], atol=1e-6)


@pytest.mark.parametrize("kind", ["hf-causal", "hf-masked", "hf-classifier", "lstm", "openai"])
def test_a_missing_extra_is_named_with_the_line_that_installs_it(monkeypatch, kind, tmp_path):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(loading, "import_module", absent)
    target = {"openai": f"http://localhost/v1#m?tokenizer={tmp_path}"}.get(kind, str(tmp_path))
    with pytest.raises(BadInput, match="make install-models"):
        scorer(f"{kind}:{target}")


def test_a_masked_model_whose_tokenizer_has_no_mask_is_refused(tmp_path):
    tokenizer = word_tokenizer()
    bare = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer.backend_tokenizer, unk_token="[UNK]"
    )
    bert = transformers.BertForMaskedLM(transformers.BertConfig(**SMALL, intermediate_size=48))
    with pytest.raises(BadInput, match="no mask token") as problem:
        scorer(saved(tmp_path, peaked(bert), bare).address("hf-masked"))
    assert "hf-causal" in str(problem.value)


@pytest.mark.parametrize("n_bytes", [0, 7, 5_000])
def test_an_interrupted_download_reports_that_it_can_be_continued(causal, tmp_path, n_bytes):
    shutil.copytree(causal("gpt2").folder, tmp_path / "model")
    weights = tmp_path / "model" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:n_bytes])
    with pytest.raises(BadInput, match="cannot be opened") as problem:
        scorer(f"hf-causal:{tmp_path / 'model'}")
    assert "interrupted download continues" in str(problem.value)


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json"])
def test_a_broken_file_of_a_model_is_refused(causal, tmp_path, file):
    shutil.copytree(causal("gpt2").folder, tmp_path / "model")
    (tmp_path / "model" / file).write_text('{"model_type": "gp')
    with pytest.raises(BadInput, match="cannot be opened"):
        scorer(f"hf-causal:{tmp_path / 'model'}")


def test_a_tokenizer_of_another_model_is_refused(causal, tmp_path):
    tiny = causal("gpt2")
    small = transformers.GPT2Config(vocab_size=60, n_embd=24, n_layer=1, n_head=2, n_positions=64)
    foreign = saved(tmp_path, transformers.GPT2LMHeadModel(small), tiny.tokenizer)
    model = scorer(foreign.address("hf-causal"))
    assert any("another model" in warning for warning in model.warnings)
    with pytest.raises(BadInput, match="the model knows 60"):
        model.score(SENTENCES)


def test_nothing_is_written_when_a_model_fails(causal, tmp_path):
    from django.core.management import CommandError, call_command

    (tmp_path / "s.csv").write_text("sentence_id,sentence\na,Dogs sleep.\n")
    shutil.copytree(causal("gpt2").folder, tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").write_bytes(b"")
    with pytest.raises(CommandError) as problem:
        call_command(
            "score", f"hf-causal:{tmp_path / 'model'}", "--sentences", str(tmp_path / "s.csv"),
            "--to", str(tmp_path / "scores.csv"),
        )  # fmt: skip
    assert problem.value.returncode == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "s.csv"]


@pytest.fixture
def byte_models(tmp_path):
    """Tiny models with a tokenizer that gives neither words nor characters of its tokens."""
    tokenizer = transformers.ByT5Tokenizer(mask_token="<extra_id_0>")
    torch.manual_seed(20)
    sizes = {"vocab_size": 400, "n_embd": 24, "n_layer": 1, "n_head": 2, "n_positions": 64}
    causal_model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes))
    sizes = {"vocab_size": 400, "hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2}
    masked_model = transformers.BertForMaskedLM(transformers.BertConfig(**sizes, intermediate_size=48))
    return {
        "hf-causal": saved(tmp_path / "causal", causal_model, tokenizer),
        "hf-masked": saved(tmp_path / "masked", masked_model, tokenizer),
    }


def test_methods_over_words_are_refused_without_the_words_of_tokens(byte_models):
    masked_model = byte_models["hf-masked"]
    with pytest.raises(BadInput, match="method=pll"):
        scorer(masked_model.address("hf-masked"))
    assert scorer(masked_model.address("hf-masked", method="pll")).score(["A cat."]).logprob[0] < 0
    words = WordScorer(scorer(byte_models["hf-causal"].address("hf-causal")))
    with pytest.raises(BadInput, match="characters of its tokens"):
        words.score([word_question("The cat", "eats")])


def test_a_folder_without_a_tokenizer_is_refused(causal, tmp_path):
    tiny = causal("gpt2")
    tiny.model.save_pretrained(tmp_path)
    with pytest.raises(BadInput, match="has no tokenizer"):
        scorer(f"hf-causal:{tmp_path}")
