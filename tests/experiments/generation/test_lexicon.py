"""The lexicon: rows, selection, class expressions, and what a bad file says."""

import json
import time
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from analysis.errors import BadInput, UnknownName
from experiments.generation.lexicon import ClassTree, Lexicon, read_lexicon
from experiments.generation.lexicon.building import BUILD, build, inflect_lemma, source_hash
from experiments.generation.lexicon.checking import (
    ambiguity_faults,
    form_faults,
    lexicon_faults,
    list_faults,
    row_faults,
    selection_faults,
)
from experiments.generation.lexicon.columns import VERB_FORMS
from experiments.generation.lexicon.reading import (
    decode_csv,
    lexicon_folder,
    read_forms,
    read_rows,
    table_rows,
    with_forms,
)

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
        decode_csv(content, file="n.csv")


def test_two_forms_of_one_cell_are_refused():
    with pytest.raises(BadInput, match=r"row 3.*'lie' has two forms 'past': lay and lied"):
        read_forms("lemma,category,key,form\nlie,verb,past,lay\nlie,verb,past,lied\n", file="f.csv")


def test_a_header_of_many_columns_takes_no_time():
    """Names were counted in the whole header, one after the other: 20,000 took seconds."""
    started = time.process_time()
    header = ",".join(f"c{number}" for number in range(20_000))
    assert not list(table_rows(f"{header}\n", file="wide.csv"))
    assert time.process_time() - started < 1
    with pytest.raises(BadInput, match="column 'a': stands twice"):
        list(table_rows("a,b,a\n", file="wide.csv"))


def test_forms_are_frozen_from_the_present_rows():
    folder = lexicon_folder("en")
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
    assert inflect_lemma("sewing machine", "noun", "pl", lambda word, tag: f"{word}s") == "sewing machines"


def test_the_lexicon_has_the_size_of_the_specification():
    assert len(LEXICON) >= 3_000
    assert len({row.lemma for row in LEXICON.rows}) >= 1_800
    least = {
        "tr": 300,
        "tr_drop": 70,
        "pp": 70,
        "unerg": 120,
        "unacc": 60,
        "alt": 90,
        "orais": 12,
        "octl": 35,
    }
    assert {frame: n for frame, n in least.items() if len(LEXICON.select("verb", {"frame": frame})) < n} == {}
    for gender, n in (("f", 140), ("m", 140), ("none", 20)):
        assert len(LEXICON.select("name", {"gender": gender})) >= n


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_shipped_lexicon_has_no_faults(language):
    assert [str(error) for error in lexicon_faults(language, lexicon_folder(language))] == []


def test_mandarin_lists_what_a_word_allows():
    lexicon = read_lexicon("zh")
    assert len(lexicon) >= 600
    (horse,) = lexicon.select("noun", {"lemma": "马"})
    assert horse.forms == {"base": "马"} and "匹" in horse.features["cl"]
    outside = lexicon.select("cl", {"unit": "nominal", "!cl": horse.features["cl"]})
    assert "张" in {row.lemma for row in outside} and "匹" not in {row.lemma for row in outside}
    (wipe,) = lexicon.select("verb", {"lemma": "擦"})
    assert "干净" in wipe.features["res"] and not wipe.features["dir"] and wipe.first("ba") == "yes"
    for category, column in (("dur", "freq"), ("freq", "dur")):
        lengths = {len(row.lemma) for row in lexicon.select(column)}
        assert {len(row.lemma) for row in lexicon.select(category)} <= lengths | {5}


def test_a_complement_that_no_row_holds_is_named():
    rows = read_rows("lemma,category,frame,res\n擦,verb,tr,干净 干争\n", file="v.csv")
    options = read_rows("lemma,category,complement\n干净,res,adjectival\n", file="r.csv")
    faults = messages(list_faults(Lexicon("zh", [*rows, *options])))
    assert faults == ["v.csv, row 2, column 'res': unknown res '干争'. Did you mean '干净'?"]


def test_a_language_without_inflection_needs_no_tool(tmp_path):
    (tmp_path / "words.csv").write_text("lemma,category,class\n马,noun,animal\n", encoding="utf-8")
    (tmp_path / "overrides.csv").write_text("lemma,category,key,form\n")
    (tmp_path / "language.toml").write_text("inflected = false\n")
    assert build(tmp_path) == 1
    assert "马,noun,base,马,lemma" in (tmp_path / "frozen.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("category", "lemma", "forms"),
    [
        ("verb", "lie", {"past": "lay", "participle": "lain", "ing": "lying"}),
        ("verb", "ski", {"participle": "skied"}),
        ("verb", "appal", {"past": "appalled", "ing": "appalling"}),
        ("verb", "find out", {"past": "found out", "s": "finds out"}),
        ("noun", "ox", {"pl": "oxen"}),
        ("noun", "mother-in-law", {"pl": "mothers-in-law"}),
        ("noun", "ex-wife", {"pl": "ex-wives"}),
        ("noun", "couch", {"pl": "couches"}),
        ("noun", "passer-by", {"pl": "passers-by"}),
        ("noun", "congresswoman", {"pl": "congresswomen"}),
    ],
)
def test_forms_that_tools_get_wrong_are_right(category, lemma, forms):
    (row, *_) = LEXICON.select(category, {"lemma": lemma})
    assert {key: row.forms[key] for key in forms} == forms


def test_a_selection_may_name_single_nouns():
    (solve,) = LEXICON.select("verb", {"lemma": "solve", "frame": "tr"})
    objects = {noun.lemma for noun in LEXICON.select("noun") if LEXICON.fits(noun, solve, "object")}
    assert {"riddle", "crime"} <= objects and "ladder" not in objects
    assert LEXICON.matches(solve, "object", ("problem",)) and not LEXICON.matches(
        solve, "object", ("person",)
    )


def rows_of(*lines):
    header = "lemma,category,frame,object,class,irregular,homonym"
    forms = {
        ("guard", "noun"): {"sg": "guard", "pl": "guards"},
        ("goose", "noun"): {"sg": "goose", "pl": "geese"},
        ("wood", "noun"): {"sg": "wood", "pl": "wood"},
        ("guard", "verb"): dict.fromkeys(VERB_FORMS, "guard") | {"s": "guards"},
        ("tear", "verb"): dict.fromkeys(VERB_FORMS, "tear") | {"past": "tore", "participle": "torn"},
    }
    rows = read_rows("\n".join((header, *lines, "")), file="w.csv")
    return [with_forms(row, forms[row.lemma, row.category]) for row in rows]


def messages(faults):
    return [str(error) for error in faults]


def test_a_form_of_two_categories_must_be_flagged():
    rows = rows_of("guard,noun,,,person,,verb", "guard,verb,tr,person,,,")
    assert messages(ambiguity_faults(rows)) == [
        "w.csv, row 3, column 'homonym': 'guard' is also a form of a noun. Add noun to the cell."
    ]


def test_flags_of_irregular_forms_must_agree_with_the_forms():
    rows = rows_of("goose,noun,,,animal,,", "guard,noun,,,person,plural,", "tear,verb,alt,thing,,,")
    assert [error.row for error in form_faults(rows)] == [2, 3, 4]
    assert messages(form_faults(rows))[0].endswith("the plural of 'goose' is 'geese'. Write plural.")
    assert "Write same_form" in messages(form_faults(rows_of("wood,noun,,,thing,,")))[0]


def test_a_selection_without_nouns_is_named_with_near_names():
    rows = rows_of("goose,noun,,,animal,plural,", "tear,verb,alt,=gose,,past_participle,")
    faults = messages(selection_faults(Lexicon("en", rows)))
    place = "w.csv, row 3, column 'object'"
    assert f"{place}: unknown noun 'gose'. Did you mean 'goose'?" in faults
    assert f"{place}: 'tear' admits 0 nouns of 8. Add nouns or classes to the cell." in faults


def test_a_row_that_stands_twice_names_both_places():
    (error,) = row_faults(rows_of("goose,noun,,,animal,plural,", "goose,noun,,,animal,plural,"))
    assert str(error).startswith("w.csv, row 3, column 'lemma': goose.noun stands in w.csv, row 2 already.")


def test_a_missing_form_names_the_remedy(tmp_path):
    (tmp_path / "words.csv").write_text("lemma,category,class\nladder,noun,tool\n")
    (tmp_path / "overrides.csv").write_text("lemma,category,key,form\n")
    (tmp_path / "frozen.csv").write_text("lemma,category,key,form\nladder,noun,sg,ladder\n")
    faults = messages(lexicon_faults("en", tmp_path))
    assert any("words.csv, row 2, column 'lemma': 'ladder' lacks the form 'pl'" in line for line in faults)
    assert any("frozen.csv: was frozen from other rows" in line for line in faults)


def test_the_command_lists_counts(capsys):
    call_command("check_lexicon", "en", "--json")
    document = json.loads(capsys.readouterr().out)
    assert document["faults"] == [] and document["counts"]["verb tr"] >= 300


def test_the_command_names_the_languages_there_are():
    with pytest.raises(CommandError, match="unknown language of the lexicon 'eng'"):
        call_command("check_lexicon", "eng")


def test_the_reference_names_every_column_and_class():
    page = (Path(__file__).parents[3] / "docs/reference/lexicon.md").read_text()
    assert [name for name in LEXICON.columns if f"| `{name}` |" not in page] == []
    assert [name for name in LEXICON.classes.parents if name not in page] == []
