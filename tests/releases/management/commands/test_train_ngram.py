"""``manage.py train_ngram``: a corpus becomes an ARPA file that says how its text became tokens."""

import gzip
import json
import random
import resource
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.errors import BadInput
from analysis.ngrams import read_arpa
from analysis.scoring import scorer
from analysis.scoring.words import tokens

ANIMALS, VERBS = ["cat", "dog", "bird", "child"], ["sees", "likes", "hears"]


@pytest.fixture
def corpus(tmp_path):
    rng = random.Random(1)
    lines = [f"The {rng.choice(ANIMALS)} {rng.choice(VERBS)} the {rng.choice(ANIMALS)}." for _ in range(200)]
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(lines[:100]) + "\n\n \n" + "\n".join(lines[100:]) + "\n", encoding="utf-8")
    return path


def train(*args):
    out, err = StringIO(), StringIO()
    call_command("train_ngram", *map(str, args), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def refused(*args):
    with pytest.raises(CommandError) as refusal:
        train(*args)
    assert refusal.value.returncode == 2
    return str(refusal.value)


def test_a_model_is_written_and_described_in_one_document(corpus, tmp_path):
    to = tmp_path / "model.arpa.gz"
    printed, _ = train(
        corpus, "--order", 3, "--out", to, "--casing", "lower", "--punctuation", "split",
        "--prune", 0, 0, 20, "--json",
    )  # fmt: skip
    document = json.loads(printed)
    assert (document["sentences"], document["tokens"], document["types"], document["blank_lines"]) == (
        200,
        1200,
        9,
        2,
    )
    assert document["tokenization"] == {"tokens": "space", "casing": "lower", "punctuation": "split"}
    model = read_arpa(to)
    assert model.tokenization == document["tokenization"]
    assert [len(level.keys) for level in model.orders] == [order["ngrams"] for order in document["orders"]]
    assert document["orders"][2]["ngrams"] < document["orders"][2]["counted"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.txt", "model.arpa.gz"]


def test_scoring_follows_the_tokens_that_the_file_records(corpus, tmp_path):
    to = tmp_path / "model.arpa"
    train(corpus, "--order", 2, "--out", to, "--casing", "lower", "--punctuation", "split")
    followed, spelled_out = scorer(f"arpa:{to}"), scorer(f"arpa:{to}?casing=lower&punctuation=split")
    assert (followed.spec.casing, followed.spec.punctuation, followed.warnings) == ("lower", "split", [])
    assert followed.spec.spec_id == spelled_out.spec.spec_id
    assert followed.score(["The cat sees the dog."]).n_unk.tolist() == [0]


def test_scoring_with_other_tokens_is_warned_of(corpus, tmp_path):
    to = tmp_path / "model.arpa"
    train(corpus, "--order", 2, "--out", to, "--casing", "lower")
    (tmp_path / "sentences.csv").write_text("sentence_id,sentence\na,The cat sees the dog.\n")
    err = StringIO()
    call_command(
        "score", f"arpa:{to}?casing=as-is", "--sentences", str(tmp_path / "sentences.csv"),
        "--to", str(tmp_path / "scores.csv"), stdout=StringIO(), stderr=err,
    )  # fmt: skip
    assert "trained with casing=lower, and is used with casing=as-is" in err.getvalue()
    spec = json.loads((tmp_path / "scores.spec.json").read_text())
    assert len(spec["warnings"]) == 1


def test_a_compressed_corpus_in_characters_gives_the_same_model(corpus, tmp_path):
    packed = tmp_path / "corpus.txt.gz"
    packed.write_bytes(gzip.compress(corpus.read_bytes()))
    train(corpus, "--order", 6, "--tokens", "chars", "--out", tmp_path / "one.arpa")
    train(packed, "--order", 6, "--tokens", "chars", "--out", tmp_path / "two.arpa")
    assert (tmp_path / "one.arpa").read_bytes() == (tmp_path / "two.arpa").read_bytes()
    assert scorer(f"arpa:{tmp_path / 'one.arpa'}").score(["The cat."]).n_tokens.tolist() == [7]


def test_one_line_gives_a_model_and_a_warning(tmp_path):
    (tmp_path / "one.txt").write_text("a b")
    printed, warned = train(tmp_path / "one.txt", "--out", tmp_path / "one.arpa")
    assert "order 5, 1 sentences, 2 tokens" in printed
    assert "0.5, 1.0, 1.5" in warned and "few" in warned
    logprobs = scorer(f"arpa:{tmp_path / 'one.arpa'}?engine=own").score(["a b", "b a"]).logprob
    assert np.isfinite(logprobs).all() and logprobs[0] > logprobs[1]


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (b"", [], ["corpus.txt", "empty"]),
        (b"\n \n", [], ["corpus.txt", "empty"]),
        (b"a b\n\xff\xfe c\n", [], ["corpus.txt", "row 2", "UTF-8"]),
        (b"a b\nc <s> d\n", [], ["corpus.txt", "row 2", "own marks"]),
        (b"a b\n", ["--order", "7"], ["between 1 and 6", "7"]),
        (b"a b\n", ["--prune", "1"], ["single words"]),
        (b"a b\n", ["--prune", "0", "2", "1"], ["fall"]),
        (b"a b\n", ["--tokens", "char"], ["chars"]),
        (b"a b\n", ["--workspace", "nowhere"], ["nowhere"]),
    ],
)
def test_bad_input_is_named_and_leaves_no_file(tmp_path, content, options, words):
    path = tmp_path / "corpus.txt"
    path.write_bytes(content)
    message = refused(path, "--out", tmp_path / "model.arpa", *options)
    assert all(word in message for word in words), message
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"]


def test_files_and_folders_are_checked_before_counting(corpus, tmp_path):
    assert "no such file" in refused(tmp_path / "nothing.txt", "--out", tmp_path / "m.arpa")
    assert ".arpa.gz" in refused(corpus, "--out", tmp_path / "model.txt")
    assert "no such folder" in refused(corpus, "--out", tmp_path / "nowhere" / "m.arpa")


def test_a_broken_compressed_corpus_is_named(tmp_path):
    (tmp_path / "corpus.gz").write_bytes(gzip.compress(b"a b\n" * 1000)[:-12])
    assert "broken" in refused(tmp_path / "corpus.gz", "--out", tmp_path / "m.arpa")


def test_a_full_disk_is_reported_by_the_command(corpus, tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, before[1]))
    try:
        assert "more room" in refused(corpus, "--out", tmp_path / "m.arpa")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"]


def test_chinese_words_without_jieba_are_refused_with_its_installation(tmp_path, monkeypatch):
    def absent(name):
        raise ImportError(name)

    tokens._jieba.cache_clear()
    monkeypatch.setattr(tokens.importlib, "import_module", absent)
    (tmp_path / "zh.txt").write_text("他走了\n", encoding="utf-8")
    message = refused(tmp_path / "zh.txt", "--tokens", "jieba", "--out", tmp_path / "m.arpa")
    assert "pip install jieba" in message


def test_chinese_words_are_cut_by_jieba_when_it_is_there(tmp_path):
    jieba = pytest.importorskip("jieba", reason="jieba is not installed: pip install jieba")
    (tmp_path / "zh.txt").write_text("我来到北京清华大学。\n", encoding="utf-8")
    train(tmp_path / "zh.txt", "--tokens", "jieba", "--punctuation", "drop", "--out", tmp_path / "m.arpa")
    model = scorer(f"arpa:{tmp_path / 'm.arpa'}?engine=own")
    assert model.score(["我来到北京清华大学"]).n_tokens.tolist() == [4]
    assert model.spec.options == {"jieba": jieba.__version__}


def test_unknown_units_name_those_that_exist():
    with pytest.raises(BadInput, match="jieba"):
        scorer("arpa:nowhere.arpa?tokens=words")
