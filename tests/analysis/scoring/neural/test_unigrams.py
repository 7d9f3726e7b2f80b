"""SLOR of neural models: single tokens counted in the model's own token space, derived without scoring."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.errors import BadInput
from analysis.scoring import score_sentences, scorer
from analysis.scoring.frames import measure_counts
from tests.analysis.scoring.neural.conftest import SENTENCES

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")

FRAME = pd.DataFrame({"sentence_id": [f"s{n}" for n in range(len(SENTENCES))], "sentence": SENTENCES})


def command(name, *args):
    out = StringIO()
    call_command(name, *map(str, args), stdout=out, stderr=StringIO())
    return out.getvalue()


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join([*SENTENCES, "", *SENTENCES[:3]]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["hf-causal", "hf-masked"])
def test_slor_equals_its_equation(causal, masked, corpus, tmp_path, kind):
    tiny = causal("gpt2") if kind == "hf-causal" else masked("bert")
    to = tmp_path / "single.txt"
    assert "wrote" in command("train_unigram", tiny.address(kind), corpus, "--out", to)
    rows = [tiny.tokenizer(sentence, add_special_tokens=False)["input_ids"] for sentence in SENTENCES]
    n_types = 1 + max(tiny.tokenizer.get_vocab().values())
    counts = np.ones(n_types)
    for row in [*rows, *rows[:3]]:
        np.add.at(counts, row, 1)
    single = np.log(counts / counts.sum())
    model = scorer(tiny.address(kind, unigram=str(to)))
    scored = score_sentences(model, FRAME, methods=["lp", "slor", "normlp"], name="m")
    expected = np.array([single[row].sum() for row in rows])
    np.testing.assert_allclose(scored.counts["unigram_logprob"], expected, atol=1e-9)
    lp = scored.frame["m:lp"].to_numpy()
    np.testing.assert_allclose(scored.frame["m:slor"], (lp - expected) / [len(row) for row in rows])
    np.testing.assert_allclose(scored.frame["m:normlp"], -lp / expected)
    assert model.spec.options["unigram"].startswith("sha256:")
    assert model.spec.spec_id != scorer(tiny.address(kind)).spec.spec_id


def test_only_scored_tokens_count_below_the_line(causal, corpus, tmp_path):
    tiny, to = causal("gpt2"), tmp_path / "single.txt"
    command("train_unigram", tiny.address("hf-causal", eos="yes"), corpus, "--out", to)
    default, without, ended = (
        scorer(tiny.address("hf-causal", unigram=str(to), **options)).score(SENTENCES).unigram_logprob
        for options in ({}, {"bos": "none"}, {"eos": "yes"})
    )
    assert (without > default).all() and (ended < default).all()
    assert np.ptp(ended - default) == pytest.approx(0)


def test_unigrams_of_the_folder_are_found_by_themselves(causal, corpus, tmp_path):
    import shutil

    tiny, folder = causal("gpt2"), tmp_path / "model"
    shutil.copytree(tiny.folder, folder)
    assert "unigram" not in scorer(f"hf-causal:{folder}").capabilities
    command("train_unigram", f"hf-causal:{folder}", corpus, "--out", folder / "unigrams.txt")
    model = scorer(f"hf-causal:{folder}")
    assert "unigram" in model.capabilities and np.isfinite(model.score(SENTENCES).unigram_logprob).all()


def test_unigrams_of_another_tokenizer_are_refused(causal, masked, corpus, tmp_path):
    to = tmp_path / "single.txt"
    command("train_unigram", masked("bert").address("hf-masked"), corpus, "--out", to)
    with pytest.raises(BadInput, match="another tokenizer"):
        scorer(causal("gpt2").address("hf-causal", unigram=str(to)))
    to.write_text("-1.0\n-2.0\n")
    with pytest.raises(BadInput, match="2 lines"):
        scorer(causal("gpt2").address("hf-causal", unigram=str(to)))
    to.write_text("much\n")
    with pytest.raises(BadInput, match="cannot be read"):
        scorer(causal("gpt2").address("hf-causal", unigram=str(to)))
    with pytest.raises(BadInput, match="train_unigram"):
        scorer(causal("gpt2").address("hf-causal", unigram="nowhere.txt"))


def test_a_measure_without_unigrams_is_refused_by_name(causal):
    with pytest.raises(BadInput, match="slor needs the words' own"):
        score_sentences(scorer(causal("gpt2").address("hf-causal")), FRAME, methods=["slor"])


def test_another_measure_needs_no_scoring(causal, tmp_path):
    sentences, to = tmp_path / "s.csv", tmp_path / "scores.csv"
    FRAME.to_csv(sentences, index=False)
    address = causal("gpt2").address("hf-causal")
    command("score", address, "--sentences", sentences, "--method", "lp", "--name", "m", "--to", to)
    counts = tmp_path / "scores.counts.parquet"
    again_path = tmp_path / "again.csv"
    methods = ("meanlp", "penlp", "sllnlp", "charlp", "bytelp")
    command(
        "score",
        f"csv:{counts}",
        "--sentences",
        sentences,
        "--method",
        *methods,
        "--name",
        "m",
        "--to",
        again_path,
    )
    table, expected = (
        pd.read_csv(again_path),
        score_sentences(scorer(address), FRAME, methods=methods, name="m"),
    )
    for method in methods:
        np.testing.assert_allclose(table[f"m:{method}"], expected.frame[f"m:{method}"], rtol=1e-6)
        np.testing.assert_allclose(
            measure_counts(method, pd.read_parquet(counts)), table[f"m:{method}"], rtol=1e-6
        )


def test_what_cannot_be_counted_is_refused(causal, tmp_path):
    for args, message in (
        (("csv:x.csv", tmp_path / "c.txt"), "no such file"),
        ((causal("gpt2").address("hf-causal"), tmp_path / "c.txt"), "no such file"),
    ):
        with pytest.raises(CommandError, match=message):
            command("train_unigram", *args, "--out", tmp_path / "single.txt")
    (tmp_path / "scores.csv").write_text("sentence_id,score\na,1\n")
    with pytest.raises(CommandError, match="no tokens to count"):
        command("train_unigram", f"csv:{tmp_path / 'scores.csv'}", "x", "--out", tmp_path / "single.txt")
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(CommandError, match="empty"):
        command(
            "train_unigram", causal("gpt2").address("hf-causal"), tmp_path / "empty.txt",
            "--out", tmp_path / "single.txt",
        )  # fmt: skip
    assert not (tmp_path / "single.txt").exists()
