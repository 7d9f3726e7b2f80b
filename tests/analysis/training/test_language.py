"""Models trained here: better than word frequency, the same from the same seed, the same after a break."""

import json

import numpy as np
import pytest

from analysis.errors import BadInput, NotEnoughData
from analysis.scoring import scorer
from analysis.training import make_plan, read_corpus
from analysis.training.language import train_language_model

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
pytest.importorskip("transformers", reason="neural models are an extra: make install-models")

from analysis.scoring.neural.lstm_model import recurs_in_half  # noqa: E402

SHORT = {"epochs": 3, "vocabulary": 400, "width": 32}


class BrokenOff(Exception):
    """The machine goes down."""


def break_at(epoch, step):
    def progress(now, n_done, _):
        if (now, n_done) == (epoch, step):
            raise BrokenOff

    return progress


@pytest.mark.parametrize(
    ("kind", "tokens", "more"),
    [
        ("lstm", "space", {}),
        ("lstm", "chars", {"casing": "lower"}),
        ("transformer", "space", {"casing": "lower", "punctuation": "split"}),
        ("transformer", "chars", {}),
        ("transformer", "bpe", {}),
    ],
)
def test_a_model_learns_more_than_frequency_and_scores_as_reported(tmp_path, corpus_file, kind, tokens, more):
    corpus = read_corpus(corpus_file)
    plan = make_plan(kind, "tiny", tokens=tokens, **{**SHORT, "batch": 8, "lr": 1e-2}, **more)
    report = train_language_model(corpus, plan, tmp_path / "model")
    assert report["perplexity"] < 0.9 * report["unigram_perplexity"]
    assert report["perplexity"] == min(epoch["perplexity"] for epoch in report["history"])
    address = "lstm" if kind == "lstm" else "hf-causal"
    assert report["model"] == f"{address}:{tmp_path / 'model'}"
    scores = scorer(f"{report['model']}?eos=yes").score(corpus.held_out)
    n_tokens = int(scores.n_tokens.sum()) + len(corpus.held_out)
    assert n_tokens == report["held_out_tokens"]
    assert np.exp(-scores.logprob.sum() / n_tokens) == pytest.approx(report["perplexity"], rel=1e-4)
    single = np.exp(-scores.unigram_logprob.sum() / n_tokens)
    assert single == pytest.approx(report["unigram_perplexity"], rel=1e-4)


@pytest.mark.parametrize(
    ("kind", "at"),
    [
        ("lstm", (0, 7)),
        ("lstm", (1, 11)),
        ("lstm", (2, 2)),
        ("transformer", (0, 7)),
        ("transformer", (1, 11)),
        ("transformer", (2, 2)),
    ],
)
def test_a_run_broken_off_and_resumed_gives_the_numbers_of_an_unbroken_one(tmp_path, corpus_file, kind, at):
    corpus, plan = read_corpus(corpus_file), make_plan(kind, "tiny", **SHORT)
    unbroken = train_language_model(corpus, plan, tmp_path / "whole", every=5)
    with pytest.raises(BrokenOff):
        train_language_model(corpus, plan, tmp_path / "broken", every=5, progress=break_at(*at))
    assert not (tmp_path / "broken" / "training.json").exists()
    resumed = train_language_model(corpus, plan, tmp_path / "broken", every=5, resume=True)
    assert {**resumed, "model": ""} == {**unbroken, "model": ""}
    sums = [scorer(report["model"]).score(corpus.held_out).logprob for report in (unbroken, resumed)]
    assert sums[0].tolist() == sums[1].tolist()


def test_a_finished_run_continues_when_more_epochs_are_allowed(tmp_path, corpus_file):
    corpus = read_corpus(corpus_file)
    train_language_model(corpus, make_plan("lstm", **{**SHORT, "epochs": 1}), tmp_path / "a")
    longer = train_language_model(corpus, make_plan("lstm", **SHORT), tmp_path / "a", resume=True)
    at_once = train_language_model(corpus, make_plan("lstm", **SHORT), tmp_path / "b")
    assert longer["history"] == at_once["history"]


def test_a_seed_decides_everything_and_another_seed_something_else(tmp_path, corpus_file):
    corpus = read_corpus(corpus_file)
    logprobs = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        plan = make_plan("lstm", seed=seed, **{**SHORT, "epochs": 1})
        torch.rand(3)  # what else draws numbers must not matter
        report = train_language_model(corpus, plan, tmp_path / name)
        logprobs.append(scorer(report["model"]).score(corpus.held_out).logprob.tolist())
    assert logprobs[0] == logprobs[1] != logprobs[2]


def test_training_stops_when_what_is_held_out_no_longer_gains(tmp_path):
    words = np.array(list("abcdefghijklmnopqrst"))
    rng = np.random.default_rng(1)
    noise = [" ".join(row) for row in rng.choice(words, size=(60, 6))]
    (tmp_path / "noise.txt").write_text("\n".join(noise))
    plan = make_plan("lstm", width=64, epochs=60, patience=2, lr=0.02, dropout=0.0)
    report = train_language_model(read_corpus(tmp_path / "noise.txt"), plan, tmp_path / "model")
    perplexities = [epoch["perplexity"] for epoch in report["history"]]
    assert report["stopped"] == "patience" and report["epochs"] < 60
    assert perplexities.index(report["perplexity"]) == len(perplexities) - 3


@pytest.mark.parametrize("kind", ["lstm", "transformer"])
def test_bfloat16_learns_too_and_is_saved_in_float32(tmp_path, corpus_file, kind):
    plan = make_plan(kind, "tiny", **{**SHORT, "epochs": 2, "dtype": "bfloat16", "batch": 8, "lr": 1e-2})
    corpus = read_corpus(corpus_file)
    report = train_language_model(corpus, plan, tmp_path / "model")
    assert report["perplexity"] < report["unigram_perplexity"]
    model = scorer(f"{report['model']}?eos=yes")
    assert model.spec.dtype == "float32"
    mean = model.score(corpus.held_out).logprob.sum() / report["held_out_tokens"]
    assert np.exp(-mean) == pytest.approx(report["perplexity"], rel=1e-4)


def test_an_lstm_learns_where_the_processor_has_no_recurrence_in_bfloat16(tmp_path, corpus_file, monkeypatch):
    """As oneDNN without AVX-512, which refuses; torch asks it all the same."""
    as_it_is = torch.nn.LSTM.forward

    def refuses(self, inputs, *more):
        if torch.is_autocast_enabled("cpu"):
            raise RuntimeError("could not create a primitive descriptor")
        return as_it_is(self, inputs, *more)

    monkeypatch.setattr(torch.nn.LSTM, "forward", refuses)
    recurs_in_half.cache_clear()
    plan = make_plan("lstm", "tiny", **{**SHORT, "epochs": 2, "dtype": "bfloat16", "batch": 8, "lr": 1e-2})
    report = train_language_model(read_corpus(corpus_file), plan, tmp_path / "model")
    recurs_in_half.cache_clear()
    assert report["perplexity"] < report["unigram_perplexity"]


def test_sentences_longer_than_the_context_are_counted_and_left_out(tmp_path, corpus_file):
    plan = make_plan("transformer", "tiny", context=8, **{**SHORT, "epochs": 1})
    corpus = read_corpus(corpus_file)
    report = train_language_model(corpus, plan, tmp_path / "model")
    longer = [sentence for sentence in [*corpus.train, *corpus.held_out] if len(sentence.split()) > 7]
    assert report["too_long"] == len(longer) > 0


def test_the_folder_of_another_run_is_never_written_over(tmp_path, corpus_file):
    corpus = read_corpus(corpus_file)
    plan = make_plan("lstm", **{**SHORT, "epochs": 1})
    train_language_model(corpus, plan, tmp_path / "model")
    before = (tmp_path / "model" / "training.json").read_text()
    with pytest.raises(BadInput, match="not empty"):
        train_language_model(corpus, plan, tmp_path / "model")
    with pytest.raises(BadInput, match="other settings"):
        train_language_model(corpus, make_plan("lstm", seed=9, **SHORT), tmp_path / "model", resume=True)
    (tmp_path / "other.txt").write_text("\n".join(corpus.train[:300]))
    with pytest.raises(BadInput, match="other text"):
        train_language_model(read_corpus(tmp_path / "other.txt"), plan, tmp_path / "model", resume=True)
    assert (tmp_path / "model" / "training.json").read_text() == before
    assert json.loads(before)["plan"]["seed"] == 1


def test_bad_input_leaves_no_folder_behind(tmp_path, corpus_file):
    plan = make_plan("transformer", "tiny", context=3, **SHORT)
    with pytest.raises(NotEnoughData, match="context"):
        train_language_model(read_corpus(corpus_file), plan, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_loss_that_is_not_finite_is_named(tmp_path, corpus_file):
    plan = make_plan("lstm", **SHORT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.nn.functional, "cross_entropy", lambda *_, **__: torch.tensor(float("nan")))
        with pytest.raises(BadInput, match=r"not finite in epoch 1, step 1.*--lr"):
            train_language_model(read_corpus(corpus_file), plan, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_too_little_memory_in_the_way_back_names_the_batch(tmp_path, corpus_file, monkeypatch):
    def out_of_memory(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(torch.Tensor, "backward", out_of_memory)
    with pytest.raises(BadInput, match="memory is too small.*--batch"):
        train_language_model(read_corpus(corpus_file), make_plan("lstm", **SHORT), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_chinese_words_are_learned_and_scored_as_jieba_cuts_them(tmp_path):
    jieba = pytest.importorskip("jieba", reason="jieba is not installed: pip install jieba")
    (tmp_path / "zh.txt").write_text(
        "\n".join(f"我来到北京清华大学{n}年了" for n in range(40)), encoding="utf-8"
    )
    plan = make_plan("lstm", tokens="jieba", **{**SHORT, "epochs": 1})
    report = train_language_model(read_corpus(tmp_path / "zh.txt"), plan, tmp_path / "model")
    assert json.loads((tmp_path / "model" / "config.json").read_text())["jieba"] == jieba.__version__
    assert scorer(report["model"]).score(["我来到北京清华大学"]).n_tokens.tolist() == [4]
