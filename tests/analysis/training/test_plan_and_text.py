"""What can be asked for, and which text can be read."""

import pytest

from analysis.errors import BadInput, NotEnoughData, UnknownName
from analysis.training import make_plan, read_corpus


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("lstn", {}, "lstm"),
        ("lstm", {"size": "base"}, "size of lstm"),
        ("lstm", {"tokens": "bpe"}, "words or characters"),
        ("lstm", {"heads": 2}, "neither heads"),
        ("lstm", {"tokens": "char"}, "chars"),
        ("lstm", {"casing": "upper"}, "casing"),
        ("lstm", {"epochs": 0}, "epochs is 0"),
        ("lstm", {"lr": 0}, "lr is 0"),
        ("lstm", {"dropout": 1}, "dropout is 1"),
        ("lstm", {"seed": -1}, "seed is -1"),
        ("lstm", {"dtype": "float8"}, "dtype"),
        ("transformer", {"tokens": "jieba"}, "chars or bpe"),
        ("transformer", {"heads": 7}, "no multiple of 7"),
        ("transformer", {"context": 2}, "3 tokens or more"),
        ("transformer", {"tokens": "bpe", "vocabulary": 100}, "256 bytes"),
        ("transformer", {"tokens": "bpe", "punctuation": "split"}, "by itself"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(kind, value, message):
    with pytest.raises(BadInput, match=message):
        make_plan(kind, **value)


def test_near_names_of_sizes_are_suggested():
    with pytest.raises(UnknownName, match="small"):
        make_plan("transformer", "smal")


def test_what_is_held_out_is_never_learned_from(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("\n".join(f"sentence {number % 50}" for number in range(200)))
    corpus = read_corpus(path)
    assert not set(corpus.train) & set(corpus.held_out)
    assert len(set(corpus.train)) + len(corpus.held_out) == 50 and len(corpus.train) == 4 * 48
    assert read_corpus(path) == corpus


def test_a_text_of_its_own_may_be_held_out(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\ntwo\nthree\n")
    (tmp_path / "b.txt").write_text("two\n\n")
    corpus = read_corpus(tmp_path / "a.txt", held_out=tmp_path / "b.txt")
    assert corpus.train == ["one", "three"] and corpus.held_out == ["two"]


def test_texts_that_cannot_serve_are_named(tmp_path):
    path = tmp_path / "a.txt"
    with pytest.raises(BadInput, match=r"a\.txt: there is no such file"):
        read_corpus(path)
    path.write_text("\n \n")
    with pytest.raises(BadInput, match="the corpus is empty"):
        read_corpus(path)
    path.write_bytes(b"fine\nnot \xff\n")
    with pytest.raises(BadInput, match="row 2.*UTF-8"):
        read_corpus(path)
    path.write_text("a\nb\n")
    with pytest.raises(NotEnoughData, match="2 distinct sentences"):
        read_corpus(path)
    path.write_text("a\n")
    with pytest.raises(NotEnoughData, match="every sentence is held out"):
        read_corpus(path, held_out=path)
