"""What stands beside files of scores is told under the table of a comparison."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from analysis.ngrams import train_model, write_arpa
from analysis.scoring.conventions import read_source, recorded_specs, scoring_conventions


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
    assert f"Scores of two: model arpa:{files / 'two.arpa'}; revision sha256:" in printed
    for phrase in (
        "method n-gram log probability",
        "measure lp: log p, slor: (log p - log p of single tokens) / tokens",
        "beginning <s>; end not scored; casing lower; tokens space; punctuation keep; region whole sentence",
        "precision float64; single tokens the model's 1-grams; unknown tokens none",
        "truncation none: nothing is cut; sentences as read no sentence is changed, has unknown tokens or",
        "sentences flagged none.",
    ):
        assert phrase in printed
    assert "Scores of foreign.csv: nothing is recorded about how they were made." in printed


def test_document_holds_the_whole_record(files):
    recorded, other = json.loads(compared(files, "--json"))["scoring"]
    record = json.loads((files / "two.spec.json").read_text())
    assert recorded["spec"] == record["spec"] and recorded["columns"] == ["two:lp", "two:slor"]
    assert recorded["conventions"]["casing"] == "lower" and recorded["conventions"]["end"] == "not scored"
    assert list(other["conventions"]) == list(recorded["conventions"])
    assert other["conventions"].pop("measure") == "as given, a column taken as log p"
    assert set(other["conventions"].values()) == {"not recorded"}
    assert {name for name in other if name != "conventions"} == {"file"}


def test_record_of_other_columns_is_no_record(files):
    columns = ["two:lp", "two:slor"]
    assert "spec" not in recorded_specs([files / "two.csv"], columns=["two:lp"])[0]
    assert "spec" in recorded_specs([files / "two.csv"], columns=columns)[0]
    for broken in ("no json", "[]", "{}"):
        (files / "two.spec.json").write_text(broken)
        assert "spec" not in recorded_specs([files / "two.csv"], columns=columns)[0]


def test_another_measure_of_stored_counts_records_their_conventions(files):
    call_command(
        "score", f"csv:{files / 'two.counts.parquet'}", "--sentences", str(files / "sentences.csv"),
        "--method", "meanlp", "--name", "again", "--to", str(files / "again.csv"), stdout=StringIO(),
    )  # fmt: skip
    record = recorded_specs([files / "again.csv"], columns=["again:meanlp"])[0]
    first = json.loads((files / "two.spec.json").read_text())
    assert record["source"]["spec"] == first["spec"] and record["spec"]["method"] == "csv"
    conventions = record["conventions"]
    assert (conventions["model"], conventions["measure"]) == (first["spec"]["uri"], "meanlp: log p / tokens")
    assert (conventions["end"], conventions["casing"]) == ("not scored", "lower")
    (files / "two.spec.json").write_text(json.dumps({**first, "sentences": 5}))
    assert read_source(files / "two.counts.parquet", column="logprob", n_sentences=4) is None


CAUSAL = {
    "uri": "hf-causal:x", "revision": "commit:" + "a" * 40, "method": "ll", "bos": True, "eos": False,
    "tokens": "model", "casing": "as-is", "punctuation": "keep", "dtype": "bfloat16",
    "options": {"start": "bos:0", "space": "yes", "tokenizer": "b" * 64, "boundary": "corrected",
                "vocabulary": "tokenizer", "unigram": "none"},
}  # fmt: skip


def conventions_of(columns=("x:lp",), **fields) -> dict[str, str]:
    return scoring_conventions({"columns": list(columns), "tokens": 8, "unknown_tokens": 0, **fields})


def test_conventions_of_a_causal_model_are_named_one_by_one():
    flags = {"too long for the model, not scored": 2, "empty": 1}
    conventions = conventions_of(["x:two_prefix"], spec=CAUSAL, unknown_tokens=2, flags=flags)
    assert conventions == {
        "model": "hf-causal:x",
        "revision": "commit:" + "a" * 12,
        "method": "log probability, left to right",
        "measure": "two_prefix: log p of the critical word after its prefix",
        "beginning": "bos:0",
        "end": "not scored",
        "leading space": "yes",
        "casing": "as-is",
        "tokens": "the model's own, tokenizer " + "b" * 12,
        "words masked": "–",
        "punctuation": "–",
        "context": "–",
        "region": "tokens that reach into the critical word, boundaries corrected",
        "precision": "bfloat16",
        "vocabulary": "the tokenizer's tokens",
        "single tokens": "none",
        "unknown tokens": "2 of 8 (25.0%)",
        "truncation": "none: 2 sentences too long, not scored",
        "sentences as read": "not recorded",
        "sentences flagged": "empty 1",
    }


def test_beginning_and_end_of_each_kind_are_what_its_scorer_does():
    bare = {**CAUSAL, "bos": False, "options": {**CAUSAL["options"], "start": "none"}}
    assert conventions_of(spec=bare)["beginning"] == "no mark, first token not scored"
    lowered = conventions_of(spec=CAUSAL, flags={"normalised by the tokenizer": 3})
    assert lowered["casing"] == "as-is, then as the tokenizer normalises (3 sentences)"
    masked = conventions_of(spec={**CAUSAL, "method": "pll-l2r"})
    assert masked["beginning"] == masked["end"] == "the tokenizer's own mark, not scored"
    assert masked["words masked"] == "the tokenizer's own"
    assert conventions_of(spec={**CAUSAL, "method": "ll one_prefix"})["method"].startswith("log probability")
    recurrent = {**CAUSAL, "tokens": "chars", "eos": True, "options": {}}
    assert (conventions_of(spec=recurrent)["beginning"], conventions_of(spec=recurrent)["end"]) == (
        "<eos>",
        "scored",
    )
    served = {**CAUSAL, "options": {"start": "<s>", "tokenizer": "the server's", "mark": ""}}
    assert conventions_of(spec=served)["beginning"] == "<s>"
    assert conventions_of(spec=served)["unknown tokens"] == "not known: the server cuts"
    assert conventions_of(spec={**served, "method": "csv"})["beginning"] == "not recorded"
