"""``manage.py treebank_pairs``: swapped inflection in three languages, what is left out, bad input."""

import json
import re
import tracemalloc
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from experiments.models import MinimalPair
from tests.experiments.generation.treebanks import (
    bare,
    hebrew,
    hebrew_table,
    russian,
    russian_table,
    treebank,
    word,
)

ROOT = Path(__file__).resolve().parents[3]
FINITE = "Mood=Ind|Number={}|Person=3|Tense=Pres|VerbForm=Fin"
ENGLISH_TABLE = "".join(
    f"{lemma}\t{lemma}s\tVERB|{FINITE.format('Sing')}\n{lemma}\t{lemma}\tVERB|{FINITE.format('Plur')}\n"
    for lemma in ("sing", "bark", "jump", "put")
)
PAST = "VERB|Tense=Past|VerbForm=Fin"


class Bench:
    """A folder with treebanks and tables, and the command over them."""

    def __init__(self, folder):
        self.folder, self.out = folder, folder / "pairs.jsonl"

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run(self, trees, table, *options, language="en"):
        """Return the rows and the report."""
        paths = [self.write("a.conllu", trees), self.write("table.tsv", table)]
        out = StringIO()
        call_command(
            "treebank_pairs", str(paths[0]), "--inflections", str(paths[1]), "--to", str(self.out),
            "--language", language, "--json", *options, stdout=out,
        )  # fmt: skip
        rows = [json.loads(line) for line in self.out.read_text(encoding="utf-8").splitlines()]
        return rows, json.loads(out.getvalue())

    def refused(self, trees, table, *options):
        """Return the one line of an error, after which nothing is written."""
        with pytest.raises(CommandError) as error:
            self.run(trees, table, *options)
        assert error.value.returncode == 2 and "\n" not in str(error.value)
        assert not self.out.exists()
        assert not [path for path in self.folder.iterdir() if path.suffix not in (".conllu", ".tsv", ".toml")]
        return str(error.value)


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def clause(name, subject, verb, *, number, feats=None, extra=(), text=None, misc="_"):
    """Return a sentence of a subject and a verb."""
    lines = [
        word(1, subject, subject.lower().removesuffix("s"), "NOUN", f"Number={number}", 2, "nsubj"),
        word(
            2, verb, verb.lower().removesuffix("s"), "VERB", feats or FINITE.format(number), 0, "root", misc
        ),
        *extra,
    ]
    return name, text or f"{subject} {verb}", lines


def english(*extra):
    """Return a treebank of plain agreement, and more sentences."""
    plain = [
        clause(f"{noun}-{verb}-{number}", noun + "s" * (number == "Plur"), verb + "s" * (number == "Sing"),
               number=number)
        for noun in ("Dog", "Bird", "Cat")
        for verb in ("sing", "bark", "jump")
        for number in ("Sing", "Plur")
    ]  # fmt: skip
    return treebank([*plain, *extra])


def phenomenon(report, name="subject_verb_number"):
    return next(row for row in report["phenomena"] if row["phenomenon"] == name)


def test_a_swap_keeps_all_but_the_agreeing_word(bench):
    rows, report = bench.run(english(), ENGLISH_TABLE, "--licence", "CC BY-NC-SA 4.0", "--treebank", "Toy")
    assert len(rows) == report["pairs"] == 18
    first = rows[0]
    assert (first["sentence_good"], first["sentence_bad"]) == ("Dog sings", "Dog sing")
    assert first["one_prefix_method"] and first["one_prefix_prefix"] == "Dog"
    assert (first["one_prefix_word_good"], first["one_prefix_word_bad"]) == ("sings", "sing")
    assert first["sentence_bad"][slice(*first["critical_bad"])] == "sing"
    assert (first["sent_id"], first["treebank"], first["licence"]) == (
        "Dog-sing-Sing",
        "Toy",
        "CC BY-NC-SA 4.0",
    )
    assert (first["condition"], first["distance"], first["attractors"]) == ("Sing>Plur.SV.head", 1, "none")
    assert first["agreement"] == "~"  # nine of nine do not reject .9
    assert "forbids commercial use" in report["notes"][0]


def test_case_languages_take_gender_from_the_subject(bench):
    rows, report = bench.run(russian(), russian_table(), language="ru")
    swaps = {(row["sentence_good"], row["sentence_bad"]) for row in rows}
    assert ("Девочки читали письмо.", "Девочки читала письмо.") in swaps  # not читал, not читало
    assert ("Мальчик пишет письмо.", "Мальчик пишут письмо.") in swaps
    gender = [row for row in rows if row["UID"] == "ru_subject_verb_gender"]
    assert ("Девочка рисовала письмо.", "Девочка рисовал письмо.") in {
        (row["sentence_good"], row["sentence_bad"]) for row in gender
    }
    assert phenomenon(report)["pairs"] == 24 and len(gender) == 6
    assert {row["values"]["Gender"] for row in gender} == {"Fem", "Masc"}


def test_a_right_to_left_text_keeps_its_order_and_writes_no_points(bench):
    rows, report = bench.run(hebrew(), hebrew_table(), language="he")
    swaps = {(row["sentence_good"], row["sentence_bad"]) for row in rows}
    assert ("הילדה הלכה הביתה.", "הילדה הלכו הביתה.") in swaps
    assert ("הילדות כתבו הביתה.", "הילדות כתבה הביתה.") in swaps  # the feminine, by the subject
    for row in rows:
        assert row["sentence_bad"] == bare(row["sentence_bad"])
        start, end = row["critical_good"]
        assert row["sentence_good"][start:end] == row["one_prefix_word_good"]
        assert row["sentence_bad"][:start] == row["sentence_good"][:start]
    assert phenomenon(report)["pairs"] == 12
    assert phenomenon(report, "subject_verb_gender")["pairs"] == 6


def test_what_is_left_out_is_counted_by_reason(bench):
    conj = word(3, "cats", "cat", "NOUN", "Number=Plur", 1, "conj")
    expl = word(3, "there", "there", "PRON", "_", 2, "expl")
    outer = word(3, "it", "it", "PRON", "_", 2, "nsubj:outer")
    past = "Mood=Ind|Number=Sing|Person=3|Tense=Past|VerbForm=Fin"
    who = ("rel", "who sings", [
        word(1, "who", "who", "PRON", "Number=Sing|PronType=Rel", 2, "nsubj"),
        word(2, "sings", "sing", "VERB", FINITE.format("Sing"), 0, "root"),
    ])  # fmt: skip
    clitic = ("clitic", "Dog singsn't", [
        word(1, "Dog", "dog", "NOUN", "Number=Sing", 2, "nsubj"),
        word("2-3", "singsn't", "_", "_", "_", "_", "_"),
        word(2, "sings", "sing", "VERB", FINITE.format("Sing"), 0, "root"),
        word(3, "n't", "not", "PART", "_", 2, "advmod"),
    ])  # fmt: skip
    sheep = [
        clause(f"sheep{n}", "Sheep", "sings" if n == "Sing" else "sing", number=n) for n in ("Sing", "Plur")
    ]
    sentences = [
        clause("conj", "Dogs", "sing", number="Plur", extra=[conj], text="Dogs sing cats"),
        clause("expl", "Dog", "sings", number="Sing", extra=[expl], text="Dog sings there"),
        clause("outer", "Dog", "barks", number="Sing", extra=[outer], text="Dog barks it"),
        clause("group", "Group", "sings", number="Sing"),
        clause("infinitive", "Dog", "sing", number="Sing", feats="VerbForm=Inf"),
        clause("attached", "Dog", "sings", number="Sing", misc="SpaceAfter=No", text="Dog singst",
               extra=[word(3, "t", "t", "PART", "_", 2, "advmod")]),
        clause("none", "Dog", "jumped", number="Sing", feats="Tense=Past|VerbForm=Fin"),
        clause("conflict", "Dogs", "barks", number="Plur", feats=FINITE.format("Sing")),
        clause("past", "Cat", "put", number="Sing", feats=past),
        clause("present", "Cat", "puts", number="Sing"),
        clause("unlisted", "Cat", "purrs", number="Sing"),
        clause("odd", "Cat", "SINGETHs", number="Sing"),
        clause("again", "Dog", "sings", number="Sing"),
        who, clitic, *sheep,
    ]  # fmt: skip
    rows, report = bench.run(english(*sentences), ENGLISH_TABLE + f"put\tput\t{PAST}\n")
    assert len(rows) == 18
    dropped = phenomenon(report)["dropped"]
    assert dropped == {
        "coordinated subject": 1, "expletive": 1, "outer subject": 2, "collective or partitive subject": 1,
        "agreeing word is not finite": 1, "attached to a neighbour": 1, "part of a multiword token": 1,
        "agreeing word has no single Number": 1, "annotations conflict": 1, "same form": 1,
        "wrong form realizes the right value, too": 1, "lemma is not in the table": 2, "repeated pair": 1,
        "relative or interrogative subject": 1, "controller's form has the wrong value, too": 2,
    }  # fmt: skip


def test_values_that_do_not_agree_are_left_out(bench):
    singular = FINITE.format("Sing")
    odd = [
        clause(f"odd-{n}", noun, "sings", number="Plur", feats=singular)
        for n, noun in enumerate(["Dogs", "Cats", "Birds"] * 4)
    ]
    rows, report = bench.run(english(*odd), ENGLISH_TABLE)
    assert {row["values"]["Number"] for row in rows} == {"Sing"}
    (plural,) = [row for row in phenomenon(report)["agreement"] if row["value"] == "Plur"]
    assert (plural["agree"], plural["instances"], plural["status"]) == (9, 21, "no")
    assert phenomenon(report)["dropped"]["no agreement in this condition"] == 9


def test_capitals_attractors_and_order(bench):
    far = ("far", "THE dog near cats SINGS", [
        word(1, "THE", "the", "DET", "_", 2, "det"), word(2, "dog", "dog", "NOUN", "Number=Sing", 5, "nsubj"),
        word(3, "near", "near", "ADP", "_", 4, "case"),
        word(4, "cats", "cat", "NOUN", "Number=Plur", 2, "nmod"),
        word(5, "SINGS", "sing", "VERB", FINITE.format("Sing"), 0, "root"),
    ])  # fmt: skip
    inverted = [
        (f"vs-{noun}", f"Sings {noun}", [
            word(1, "Sings", "sing", "VERB", FINITE.format("Sing"), 0, "root"),
            word(2, noun, noun, "NOUN", "Number=Sing", 1, "nsubj"),
        ])
        for noun in ("dog", "cat", "bird")
    ]  # fmt: skip
    rows, _ = bench.run(english(far, *inverted), ENGLISH_TABLE)
    by_id = {row["sent_id"]: row for row in rows}
    assert by_id["far"]["sentence_bad"] == "THE dog near cats SING"
    assert (by_id["far"]["attractors"], by_id["far"]["distance"]) == ("incongruent", 3)
    assert by_id["vs-dog"]["sentence_bad"] == "Sing dog" and by_id["vs-dog"]["frame"] == "VS"
    assert not by_id["vs-dog"]["one_prefix_method"] and "one_prefix_prefix" not in by_id["vs-dog"]


def test_a_condition_has_at_most_so_many_and_more_contain_fewer(bench):
    chosen = {}
    for k in ("3", "6"):
        rows, report = bench.run(english(), ENGLISH_TABLE, "--per-condition", k, "--seed", "7")
        chosen[k] = {row["sent_id"] for row in rows}
        assert {row["pairs"] for row in phenomenon(report)["conditions"]} == {int(k)}
    assert chosen["3"] < chosen["6"]
    other, _ = bench.run(english(), ENGLISH_TABLE, "--per-condition", "3", "--seed", "8")
    assert {row["sent_id"] for row in other} != chosen["3"]


def test_conflicting_cells_are_named_and_not_used(bench):
    table = ENGLISH_TABLE + f"sing\tsingeth\tVERB|{FINITE.format('Sing')}\n"
    rows, report = bench.run(english(), table)
    assert re.search(r"table\.tsv, row 9: 'sing' has 'singeth', and 'sings' in row 1", report["conflicts"][0])
    assert {row["lexemes"]["verb"] for row in rows if row["values"]["Number"] == "Plur"} == {"bark", "jump"}
    assert phenomenon(report)["dropped"]["several forms"] == 3


def test_a_treebank_can_be_the_table(bench):
    other = bench.write("forms.conllu", english())
    rows, _ = bench.run(english(), "x\ty\tV;PRS\n", "--inflections", str(other))
    assert len(rows) == 18


def test_nouns_agree_with_determiners_by_name(bench):
    trees = treebank([
        (f"{noun}-{form}", f"{form} {noun}", [
            word(1, form, "this", "DET", f"Number={number}", 2, "det"),
            word(2, noun, "dog", "NOUN", f"Number={number}", 0, "root"),
        ])
        for number, form, nouns in (("Sing", "this", "abc"), ("Plur", "these", "def"))
        for noun in nouns
    ])  # fmt: skip
    table = "this\tthis\tDET|Number=Sing\nthis\tthese\tDET|Number=Plur\n"
    rows, _ = bench.run(trees, table, "--phenomena", "determiner_noun_number")
    assert ("this a", "these a") in {(row["sentence_good"], row["sentence_bad"]) for row in rows}
    assert rows[0]["frame"] == "DN" and not rows[0]["one_prefix_method"]


def test_relations_of_ones_own(bench):
    own = bench.write(
        "own.toml",
        '[[relations]]\nname = "sv"\nfeatures = ["Number"]\ncontroller = "s"\nswap = "v"\n'
        'path = "v >nsubj s"\nwords.v = { upos = "VERB" }\nwords.s = {}\n'
        '[[relations.without]]\nname = "no dogs"\nwhere.s = { lemma = "dog" }\n',
    )
    rows, report = bench.run(english(), ENGLISH_TABLE, "--relations", str(own))
    assert len(rows) == 12 and phenomenon(report, "sv_number")["dropped"] == {"no dogs": 6}


def test_the_relations_of_the_documentation_are_read(bench):
    page = (ROOT / "docs" / "how-to" / "treebank-pairs.md").read_text(encoding="utf-8")
    own = bench.write("own.toml", page.split("```toml\n")[1].split("```")[0])
    error = bench.refused(english(), ENGLISH_TABLE, "--relations", str(own))
    assert "no pair is left: no word has such a dependent" in error


def test_unimorph_without_a_person_in_the_plural_is_enough(bench):
    table = "sing\tsings\tV;PRS;3;SG\nsing\tsing\tV;NFIN\nsing\tsang\tV;PST\nsing\tsinging\tV;V.PTCP;PRS\n"
    error = bench.refused(english(), table, "--phenomena", "subject_verb_number")
    assert "attested form is not in the table 3" in error and "no cell with the wrong value 3" in error
    rows, _ = bench.run(english(), table + "sing\tsing\tV;PRS;PL\n")
    assert len(rows) == 6


@pytest.mark.parametrize(
    ("trees", "table", "message"),
    [
        (english().replace("\t2\tnsubj", "\t1\tnsubj", 1), ENGLISH_TABLE, r"a\.conllu, row 3.*circle"),
        (english().replace("\t2\tnsubj", "\t0\troot", 1), ENGLISH_TABLE, r"row 1, column 'HEAD'.*the root"),
        (re.sub(r"Number=\w+", "X=Y", english()).replace("Person=3", "Y=Z"), ENGLISH_TABLE,
         r"a\.conllu, column 'FEATS'.*no word has.*Number"),
        (re.sub(r"(NOUN|VERB)\t_\t[^\t]+", r"\1\t_\t_", english()), ENGLISH_TABLE, "morphological features"),
        (english().encode("utf-16"), ENGLISH_TABLE, r"a\.conllu, row 1.*not UTF-8.*Save it"),
        (english(), "singe\tsingé\tV;PRS\n".encode("latin-1"), r"table\.tsv, row 1: the text is not UTF-8"),
        (english(), ENGLISH_TABLE.encode("utf-16-le"), r"table\.tsv, row 1.*NUL.*Save it as UTF-8"),
        (english(), "sing\tsings\tV;PRS\nsing,sings,V\n", r"table\.tsv, row 2: 1 columns.*tabs"),
        (english(), "sing\t\tV;PRS\n", r"row 1, column 'form'.*empty"),
        (english(), "sing\tsings\tVERB|Number\n", r"row 1, column 'features'"),
        (english(), "sing\tsings\tNumber=Sing|Person\n", r"row 1, column 'features'.*Write Name=Value"),
        (english(), "lemma\tform\tx\n", r"row 1: the header has no column features"),
        (english(), "", r"table\.tsv: the table has no rows"),
        (english(), "whistle\twhistles\tV;PRS\n", r"no pair is left: lemma is not in the table 18"),
        ("", ENGLISH_TABLE, "there is no sentence"),
    ],
)  # fmt: skip
def test_bad_files_are_named_in_one_line_and_nothing_is_written(bench, trees, table, message):
    assert re.search(message, bench.refused(trees, table))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--phenomena", "subject_verb_numer"], "Did you mean 'subject_verb_number'"),
        (["--per-condition", "-1"], "numbers from 0"),
        (["--relations", "absent.toml"], "there is no such file"),
    ],
)
def test_bad_options_are_refused(bench, options, message):
    assert message in bench.refused(english(), ENGLISH_TABLE, *options)


def test_marks_line_ends_and_byte_order_marks_change_nothing(bench):
    plain, _ = bench.run(english(), ENGLISH_TABLE)
    windows = "\ufeff" + ENGLISH_TABLE.replace("\n", "\r\n")
    marked, _ = bench.run("\ufeff" + english().replace("\n", "\r\n"), windows)
    assert marked == plain


def test_only_needed_rows_of_a_large_table_are_kept(bench):
    large = ENGLISH_TABLE + "".join(f"verb{n // 40}\tform{n}\tV;PRS;3;SG\n" for n in range(100_000))
    tracemalloc.start()
    rows, report = bench.run(english(), large)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(rows), report["table_rows"]) == (18, 100_008)
    assert peak < 30e6  # the text of the table itself, as the test holds it, has 3 MB twice


@pytest.mark.django_db
def test_the_pairs_can_be_imported(bench):
    bench.run(hebrew(), hebrew_table(), language="he")
    call_command(
        "import_materials", str(bench.out), "--name", "Treebank", "--language", "he", stdout=StringIO()
    )
    pair = MinimalPair.objects.first()
    assert pair.good.text.startswith("ה") and pair.paradigm.name == "he_subject_verb_number"
    assert MinimalPair.objects.count() == 18


def third_singular(lemma):
    """Return the regular third person singular."""
    irregular = {"have": "has", "do": "does", "go": "goes"}
    if re.search("(s|x|z|ch|sh)$", lemma):
        return f"{lemma}es"
    return irregular.get(lemma) or (f"{lemma[:-1]}ies" if re.search("[^aeiou]y$", lemma) else f"{lemma}s")


def test_the_english_treebank_has_as_many_pairs_as_the_reference_counts(bench, shared_data):
    folder = shared_data("ud-english-ewt")
    trees = b"".join(path.read_bytes() for path in sorted(folder.glob("*.conllu")))
    lemmas = {
        cells[2].lower()
        for cells in (line.split("\t") for line in trees.decode().splitlines())
        if len(cells) == 10 and cells[3] in ("VERB", "AUX")
    }
    be = [("is", "Number=Sing|Person=3|Tense=Pres"), ("are", "Number=Plur|Tense=Pres"),
          ("was", "Number=Sing|Person=3|Tense=Past"), ("were", "Number=Plur|Tense=Past")]  # fmt: skip
    same = {
        "put",
        "hit",
        "let",
        "cost",
        "cut",
        "read",
        "set",
        "shut",
        "hurt",
        "cast",
        "beat",
        "quit",
        "spread",
    }
    table = [("be", form, f"VERB|{feats}|VerbForm=Fin") for form, feats in be]
    for lemma in sorted(lemmas - {"be"}):
        table.append((lemma, third_singular(lemma), f"VERB|{FINITE.format('Sing')}"))
        table.append((lemma, lemma, f"VERB|{FINITE.format('Plur')}"))
        if lemma in same:
            table.append((lemma, lemma, PAST))
    content = "".join("\t".join(row) + "\n" for row in table)
    rows, report = bench.run(
        trees, content, "--proper-names", "--per-condition", "0", "--phenomena", "subject_verb_number"
    )
    assert 1150 <= len(rows) <= 1270
    assert report["sentences"] == 4078
    # No wrong form is one that the table also gives the right value, or a past of both numbers.
    forms = {(lemma, form, "Sing" in feats, "Plur" in feats) for lemma, form, feats in table}
    for row in rows:
        wrong = row["sentence_bad"][slice(*row["critical_bad"])].lower()
        lemma, right = row["lexemes"]["verb"], row["values"]["Number"]
        readings = {(sing, plur) for name, form, sing, plur in forms if (name, form) == (lemma, wrong)}
        assert readings == ({(False, True)} if right == "Sing" else {(True, False)})
