"""The lexicon: rows, selection, class expressions, and what a bad file says."""

import pytest

from analysis.errors import BadInput, UnknownName
from experiments.generation.lexicon import ClassTree, read_lexicon
from experiments.generation.lexicon.building import BUILD, build, inflected, source_hash
from experiments.generation.lexicon.reading import folder_of, read_forms, read_rows, text_of

LEXICON = read_lexicon("en")


def lemmas(category, where=None):
    return {row.lemma for row in LEXICON.select(category, where)}


def test_conditions_select_and_exclude():
    assert lemmas("refl", {"gender": "f", "number": "sg"}) == {"herself"}
    assert "the" not in lemmas("det", {"strength": "weak"})
    assert "this" in lemmas("det", {"deixis": "near"}) and "a" in lemmas("det", {"deixis": "none"})
    assert lemmas("det", [{"lemma": "every"}, {"lemma": ["each", "both"]}]) == {"every", "each", "both"}
    assert lemmas("pron", {"gender": "m", "!number": "pl"}) == {"he"}


def test_auxiliaries_have_agreement_and_negation():
    (be,) = LEXICON.select("aux", {"lemma": "be"})
    assert (be.forms["present.sg"], be.forms["past.pl.not"]) == ("is", "weren't")


def test_an_unknown_column_or_value_names_its_neighbours():
    with pytest.raises(UnknownName, match="Did you mean 'strength'"):
        LEXICON.select("det", {"strenght": "weak"})
    with pytest.raises(UnknownName, match="Did you mean 'weak'"):
        LEXICON.select("det", {"strength": "week"})
    with pytest.raises(UnknownName, match="category"):
        LEXICON.select("nouns")


def test_class_expressions_exclude():
    tree = ClassTree({"entity": "", "thing": "entity", "tool": "thing", "person": "entity"})
    assert tree.meets(["tool"], ["entity", "!person"]) and not tree.meets(["person"], ["entity", "!person"])
    assert tree.allows(["entity", "!person"], "thing") and not tree.allows(["entity", "!person"], "person")
    with pytest.raises(BadInput, match="its own ancestor"):
        ClassTree({"a": "b", "b": "a"})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ladder,noun,tool,cuont", r"n\.csv, row 2, column 'count'.*Did you mean 'count'"),
        ("ladder,noun,tol,count", r"row 2, column 'class'.*Did you mean 'tool'"),
        ("ladder,nuon,tool,count", r"row 2, column 'category'.*Did you mean 'noun'"),
        ("ladder,verb,tool,", r"row 2, column 'class'.*a verb has no class"),
        (",noun,tool,count", r"row 2, column 'lemma'.*empty"),
        ("12-Mar,noun,tool,count", r"row 2, column 'lemma'.*is a date"),
        ("ladder,noun,tool", r"row 2: has 3 cells, the header 4"),
        ('"ladder, step",noun,tool,count', r"row 2, column 'lemma'.*a row of its own"),
        ("ladder,noun,tool,count mass", r"row 2, column 'count'.*2 values"),
    ],
)
def test_a_bad_row_is_named(line, message):
    with pytest.raises(BadInput, match=message):
        list(read_rows(f"lemma,category,class,count\n{line}\n", file="n.csv"))


def test_an_unknown_column_is_named():
    with pytest.raises(BadInput, match=r"row 1, column 'gendre'.*Did you mean 'gender'"):
        list(read_rows("lemma,category,gendre\nladder,noun,f\n", file="n.csv"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xef\xbb\xbflemma", "byte order mark"),
        ("lemma\ncafé".encode("latin-1"), r"row 2: is not UTF-8"),
        (b"lemma\nla\x00dder", r"row 2: has a control character"),
        ("lemma\ncafe\u0301".encode(), r"row 2: has decomposed accents"),
        ("lemma\nlad\u202eder".encode(), r"row 2: has a control character"),
    ],
)
def test_a_wrong_encoding_is_named(content, message):
    with pytest.raises(BadInput, match=message):
        text_of(content, file="n.csv")


def test_two_forms_of_one_cell_are_refused():
    with pytest.raises(BadInput, match=r"row 3.*'lie' has two forms 'past': lay and lied"):
        read_forms("lemma,category,key,form\nlie,verb,past,lay\nlie,verb,past,lied\n", file="f.csv")


def test_forms_are_frozen_from_the_present_rows():
    folder = folder_of("en")
    assert f'sources = "{source_hash(folder)}"' in (folder / BUILD).read_text()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "words.csv").write_text("lemma,category,frame\nrely on,verb,pp\nlie,verb,unerg\n")
    (tmp_path / "overrides.csv").write_text("lemma,category,key,form\nlie,verb,past,lay\n")
    return tmp_path


def test_build_takes_overrides_before_the_tool(folder):
    assert build(folder, lambda word, tag: f"{word}-{tag}", tool="test") == 10
    forms = read_forms((folder / "frozen.csv").read_text(), file="frozen.csv")
    assert forms["lie", "verb"]["past"] == "lay" and forms["lie", "verb"]["s"] == "lie-VBZ"
    assert forms["rely on", "verb"]["ing"] == "rely-VBG on"


def test_build_without_a_form_writes_nothing(folder):
    with pytest.raises(BadInput, match=r"words\.csv, row 2.*'s' of 'rely on'.*Add it to overrides\.csv"):
        build(folder, lambda word, tag: "", tool="test")
    assert not (folder / "frozen.csv").exists()


def test_the_head_of_a_compound_noun_is_its_last_word():
    assert inflected("sewing machine", "noun", "pl", lambda word, tag: f"{word}s") == "sewing machines"
