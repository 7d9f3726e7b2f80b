"""``manage.py score --materials``: the sentences of a stored set."""

import json
from io import StringIO

import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.ngrams import train_model, write_arpa
from analysis.scoring.scorers.arpa import ArpaScorer
from experiments.models import Item, MaterialSet, Sentence
from tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def materials():
    stored = MaterialSet.objects.create(
        name="Two sentences", slug="two-sentences", language="en", checksum="0" * 64
    )
    item = Item.objects.create(material_set=stored, key="i1")
    for key, text in (("i1.good", "The cat sleeps."), ("i1.bad", "The cat sleep.")):
        Sentence.objects.create(material_set=stored, item=item, key=key, text=text)
    return stored


def test_sentences_of_a_stored_set_are_scored_in_its_order(materials, tmp_path):
    (tmp_path / "table.csv").write_text("sentence_id,gpt\ni1.bad,-9\ni1.good,-7\n")
    printed = StringIO()
    call_command(
        "score", f"csv:{tmp_path / 'table.csv'}", "--materials", "two-sentences",
        "--to", str(tmp_path / "out.csv"), "--json", stdout=printed,
    )  # fmt: skip
    assert json.loads(printed.getvalue())["sentences"] == 2
    assert (tmp_path / "out.csv").read_text() == "sentence_id,table:lp\ni1.good,-7.0\ni1.bad,-9.0\n"


def test_an_unknown_set_is_answered_with_near_names(materials, tmp_path):
    (tmp_path / "table.csv").write_text("sentence_id,gpt\na,1\n")
    with pytest.raises(CommandError, match="two-sentences") as refusal:
        call_command(
            "score",
            f"csv:{tmp_path / 'table.csv'}",
            "--materials",
            "two-sentence",
            "--to",
            str(tmp_path / "o.csv"),
        )
    assert refusal.value.returncode == 2


def test_prefix_methods_need_pairs_and_score_the_critical_word(tmp_path):
    text = [["the", "keys", "are", "here"], ["the", "key", "is", "here"]] * 3
    write_arpa(train_model(text, order=2), tmp_path / "two.arpa")
    (tmp_path / "sentences.csv").write_text(
        "sentence_id,sentence\ng,The keys are here.\nb,The key are here.\n"
    )
    pair = {
        "pair_id": "p", "good_id": "g", "bad_id": "b", "two_prefix_prefix_good": "The keys",
        "two_prefix_prefix_bad": "The key", "two_prefix_word": "are",
    }  # fmt: skip
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair) + "\n")
    words = (
        "score", f"arpa:{tmp_path / 'two.arpa'}?casing=lower&punctuation=split",
        "--sentences", str(tmp_path / "sentences.csv"), "--method", "lp", "two_prefix",
        "--to", str(tmp_path / "out.csv"),
    )  # fmt: skip
    with pytest.raises(CommandError, match=r"pairs\.jsonl"):
        call_command(*words)
    assert not (tmp_path / "out.csv").exists()
    call_command(*words, "--pairs", str(tmp_path / "pairs.jsonl"), stdout=StringIO())
    table = pd.read_csv(tmp_path / "out.csv", index_col="sentence_id")
    assert list(table.columns) == ["two:lp", "two:two_prefix"]
    assert table.loc["g", "two:two_prefix"] > table.loc["b", "two:two_prefix"]
    assert table.loc["g", "two:lp"] < table.loc["g", "two:two_prefix"]
    (tmp_path / "pairs.jsonl").write_text(json.dumps({**pair, "two_prefix_word": None}) + "\n")
    with pytest.raises(CommandError, match="no pair is made for the two_prefix method"):
        call_command(*words, "--pairs", str(tmp_path / "pairs.jsonl"))


@pytest.mark.parametrize(
    ("cut", "hint"),
    [("", "; casing=lower and punctuation=split may"), ("?casing=lower", "; punctuation=split may"),
     ("?casing=lower&punctuation=split", "")],
)  # fmt: skip
def test_unknown_words_bring_only_hints_that_are_not_followed_yet(tmp_path, cut, hint):
    write_arpa(train_model([["a", "b"]] * 3, order=1), tmp_path / "one.arpa")
    (tmp_path / "sentences.csv").write_text("sentence_id,sentence\ng,Nothing known here.\n")
    errors = StringIO()
    call_command(
        "score", f"arpa:{tmp_path / 'one.arpa'}{cut}", "--sentences", str(tmp_path / "sentences.csv"),
        "--to", str(tmp_path / "out.csv"), stdout=StringIO(), stderr=errors,
    )  # fmt: skip
    last = errors.getvalue().strip().splitlines()[-1]
    assert last.endswith("unknown to the model" + (f"{hint} fit its text better" if hint else ""))


def test_command_asks_the_model_only_for_new_sentences(models_dir, tmp_path, monkeypatch, capsys):
    cast.study("agreement")
    calls = []
    scored = ArpaScorer.score
    monkeypatch.setattr(
        ArpaScorer,
        "score",
        lambda self, texts, **options: calls.append(len(texts)) or scored(self, texts, **options),
    )
    words = [
        "score",
        f"arpa:{models_dir / 'bigram.arpa'}",
        "--materials",
        "agreement",
        "--method",
        "lp",
        "slor",
    ]
    documents = []
    for name in ("first", "second"):
        call_command(*words, "--to", str(tmp_path / f"{name}.csv"), "--json")
        documents.append(json.loads(capsys.readouterr().out))
    assert calls == [8] and (tmp_path / "first.csv").read_bytes() == (tmp_path / "second.csv").read_bytes()
    assert documents[1]["path"] == "8 sentences from the cache" and documents[0]["tokens"] > 0
    apart = ("path", "to")
    assert {k: v for k, v in documents[0].items() if k not in apart} == {
        k: v for k, v in documents[1].items() if k not in apart
    }
