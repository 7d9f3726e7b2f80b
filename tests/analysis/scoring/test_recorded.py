"""What stands beside files of scores is told under the table of a comparison."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from analysis.ngrams import train_model, write_arpa
from analysis.scoring.recorded import recorded_specs, recorded_text


@pytest.fixture
def files(tmp_path):
    """Two pairs, scored by an n-gram model here and by somebody else."""
    sentences = {"g1": "the keys are", "b1": "the keys is", "g2": "a key is", "b2": "a key are"}
    (tmp_path / "sentences.csv").write_text(
        "sentence_id,sentence\n" + "".join(f"{name},{text}\n" for name, text in sentences.items())
    )
    (tmp_path / "pairs.csv").write_text("pair_id,good_id,bad_id\n1,g1,b1\n2,g2,b2\n")
    (tmp_path / "foreign.csv").write_text("sentence_id,foreign\ng1,-1\nb1,-2\ng2,-1\nb2,-3\n")
    write_arpa(train_model([["the", "keys", "are"], ["a", "key", "is"]], order=2), tmp_path / "two.arpa")
    call_command(
        "score", f"arpa:{tmp_path / 'two.arpa'}?casing=lower&eos=no", "--sentences",
        str(tmp_path / "sentences.csv"), "--method", "lp", "slor", "--to", str(tmp_path / "two.csv"),
        stdout=StringIO(),
    )  # fmt: skip
    return tmp_path


def compared(files, *words: str) -> str:
    printed = StringIO()
    call_command(
        "compare", "--pairs", str(files / "pairs.csv"), "--scores", str(files / "two.csv"),
        str(files / "foreign.csv"), *words, stdout=printed,
    )  # fmt: skip
    return printed.getvalue()


def test_table_names_every_convention_of_each_model(files):
    printed = " ".join(compared(files).split())
    assert f"Scores of two: arpa:{files / 'two.arpa'}, sha256:" in printed
    assert "method ngram, bos yes, eos no, tokens space, casing lower, punctuation keep" in printed
    assert "Scores of foreign.csv: nothing is recorded about how they were made." in printed


def test_document_holds_the_whole_record(files):
    ours, other = json.loads(compared(files, "--json"))["scoring"]
    record = json.loads((files / "two.spec.json").read_text())
    assert ours["spec"] == record["spec"] and ours["columns"] == ["two:lp", "two:slor"]
    assert other == {"file": "foreign.csv"}


def test_record_of_other_columns_is_no_record(files):
    columns = ["two:lp", "two:slor"]
    assert "spec" not in recorded_specs([files / "two.csv"], columns=["two:lp"])[0]
    assert "spec" in recorded_specs([files / "two.csv"], columns=columns)[0]
    for broken in ("no json", "[]", "{}"):
        (files / "two.spec.json").write_text(broken)
        assert recorded_specs([files / "two.csv"], columns=columns) == [{"file": "two.csv"}]


def test_unknown_words_and_flags_are_said():
    spec = {
        "uri": "hf-causal:x",
        "revision": "sha256:" + "a" * 64,
        "bos": True,
        "options": {"boundary": "none"},
    }
    record = {
        "file": "x.csv",
        "model": "x",
        "spec": spec,
        "tokens": 8,
        "unknown_tokens": 2,
        "flags": {"empty": 1},
    }
    assert recorded_text([record]) == (
        "Scores of x: hf-causal:x, sha256:aaaaaaaaaaaa; bos yes, boundary none, 25.0% of tokens unknown, "
        "1 sentences empty."
    )
