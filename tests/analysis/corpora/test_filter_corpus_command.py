"""``manage.py filter_corpus``: folders whole or not at all, the report, text through Stanza."""

import json
import sys
from io import StringIO
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from analysis.corpora import find_filter, parse_conllu, read_conllu
from tests.analysis.corpora.examples import examples, rows


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.conllu"
    blocks = [
        "\n".join([f"# sent_id = s{number}", *rows(written)])
        for number, (_, _, written) in enumerate(examples())
    ]
    path.write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
    return path


def filter_corpus(*arguments):
    out = StringIO()
    call_command("filter_corpus", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_each_filter_gives_a_corpus_of_its_own_with_kept_sentences_unchanged(corpus, tmp_path):
    folder = tmp_path / "out" / "filtered"
    document = json.loads(filter_corpus(corpus, "--filter", "passive", "det-noun", "--out", folder, "--json"))
    blocks = corpus.read_text(encoding="utf-8").strip().split("\n\n")
    assert sorted(path.name for path in folder.iterdir()) == [
        "det-noun.conllu", "det-noun.removed.tsv", "det-noun.txt", "full.conllu", "full.txt",
        "passive.conllu", "passive.removed.tsv", "passive.txt", "report.json",
    ]  # fmt: skip
    assert (folder / "full.conllu").read_bytes() == corpus.read_bytes()
    passive = find_filter("passive")
    remaining = [block for block in blocks if not passive.removes(next(parse_conllu(block.split("\n"))))]
    assert (folder / "passive.conllu").read_text(encoding="utf-8").strip().split("\n\n") == remaining
    texts = [sentence.text for sentence in read_conllu(folder / "passive.conllu")]
    assert (folder / "passive.txt").read_text(encoding="utf-8").splitlines() == texts
    removed = (folder / "passive.removed.tsv").read_text(encoding="utf-8").splitlines()[1:]
    assert len(removed) + len(remaining) == len(blocks)
    stored = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert {**stored, "folder": str(folder)} == document
    assert [row["sentences_removed"] for row in document["filters"]][0] == len(removed)


@pytest.mark.parametrize("unit", ["sentences", "tokens"])
def test_downsampled_corpora_are_of_one_size_and_the_same_bytes_again(corpus, tmp_path, unit):
    arguments = (corpus, "--filter", "all", "--downsample", unit, "--seed", "3", "--json", "--out")
    first = json.loads(filter_corpus(*arguments, tmp_path / "a"))
    filter_corpus(*arguments, tmp_path / "b")
    assert len(first["corpora"]) == 16
    assert len({row[unit] for row in first["corpora"]}) == 1
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name
    for row in first["corpora"]:
        written = list(read_conllu(tmp_path / "a" / f"{row['corpus']}.conllu"))
        assert len(written) == row["sentences"]
        assert sum(len(sentence.words) for sentence in written) == row["tokens"]


def test_text_may_be_written_as_tokens(tmp_path):
    path = tmp_path / "a.conllu"
    row = "\t{}\t{}\tX\t_\t_\t{}\tdep\t_\t{}"
    lines = [
        "# text = Hi!",
        "1" + row.format("Hi", "hi", 0, "SpaceAfter=No"),
        "2" + row.format("!", "!", 1, "_"),
    ]
    path.write_text("\n".join(lines))
    filter_corpus(path, "--filter", "passive", "--out", tmp_path / "original")
    filter_corpus(path, "--filter", "passive", "--text", "tokens", "--out", tmp_path / "tokens")
    assert (tmp_path / "original" / "full.txt").read_text() == "Hi!\n"
    assert (tmp_path / "tokens" / "full.txt").read_text() == "Hi !\n"


BAD = {
    ("--filter", "pasive"): "unknown filter 'pasive'. Did you mean 'passive'?",
    ("--filter", "passive", "--size", "3"): "a size without a unit",
    ("--filter", "passive", "--downsample", "sentences", "--size", "9999"): "9999 are required",
    ("--filter", "passive", "--seed", "-1"): "the seed is -1",
    ("--filter", "mine.toml"): "mine.toml: there is no such file",
}


@pytest.mark.parametrize("arguments", BAD, ids=list(BAD.values()))
def test_bad_input_ends_with_status_2_and_leaves_no_folder(corpus, tmp_path, arguments):
    with pytest.raises(CommandError) as caught:
        filter_corpus(corpus, *arguments, "--out", tmp_path / "out")
    assert caught.value.returncode == 2
    assert BAD[arguments] in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.conllu"]


def test_a_broken_line_late_in_the_corpus_leaves_no_folder(corpus, tmp_path):
    with corpus.open("a") as text:
        text.write("1\tbroken\n")
    with pytest.raises(CommandError, match=r"corpus.conllu, row \d+: 2 columns, not ten"):
        filter_corpus(corpus, "--filter", "passive", "--out", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.conllu"]


def test_a_folder_that_is_there_is_left_alone(corpus, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    with pytest.raises(CommandError, match="the folder already exists"):
        filter_corpus(corpus, "--filter", "passive", "--out", folder)
    assert [path.read_text() for path in folder.iterdir()] == ["mine"]


def test_text_without_stanza_is_refused_with_the_lines_that_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "stanza", None)
    path = tmp_path / "corpus.txt"
    path.write_text("Birds sing.\n")
    with pytest.raises(CommandError) as caught:
        filter_corpus(path, "--filter", "passive", "--out", tmp_path / "out")
    assert "pip install stanza" in str(caught.value)
    assert "stanza.download('en')" in str(caught.value)
    assert not (tmp_path / "out").exists()


class Parsed:
    """A document as Stanza gives it: formatted with ``C-o`` it is CoNLL-U with comments, without offsets."""

    def __init__(self, sentences, text):
        self.text = text

    def __format__(self, spec):
        assert spec == "C-o"
        word = self.text.split()[0]
        return f"# text = {self.text}\n1\t{word}\t{word}\tX\t_\t_\t0\troot\t_\t_"


def stanza(pipeline):
    return SimpleNamespace(Document=Parsed, Pipeline=pipeline)


def test_text_is_parsed_a_sentence_a_line_and_the_parse_is_kept(tmp_path, monkeypatch):
    parser_options = {}

    def pipeline(language, **options):
        parser_options.update(options, language=language)
        return list

    monkeypatch.setitem(sys.modules, "stanza", stanza(pipeline))
    path = tmp_path / "corpus.txt"
    path.write_text("Birds sing.\n\n  Dogs   bark.  \n" * 150)
    filter_corpus(path, "--filter", "passive", "--language", "nl", "--out", tmp_path / "out")
    assert (tmp_path / "out" / "full.txt").read_text().splitlines() == ["Birds sing.", "Dogs bark."] * 150
    assert len(list(read_conllu(tmp_path / "out" / "parsed.conllu"))) == 300
    assert (
        parser_options["language"],
        parser_options["download_method"],
        parser_options["tokenize_no_ssplit"],
    ) == ("nl", None, True)


def test_missing_models_are_named_with_the_line_that_fetches_them(tmp_path, monkeypatch):
    def pipeline(language, **options):
        raise FileNotFoundError("no resources")

    monkeypatch.setitem(sys.modules, "stanza", stanza(pipeline))
    path = tmp_path / "corpus.txt"
    path.write_text("Birds sing.\n")
    with pytest.raises(CommandError, match=r"no resources.*stanza.download\('en'\)"):
        filter_corpus(path, "--filter", "passive", "--out", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"]
