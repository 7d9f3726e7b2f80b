"""Tables of many shapes become the same two frames."""

import pandas as pd
import pytest

from analysis.errors import BadInput, MissingColumns, UnknownName
from experiments.materials.checks import check
from experiments.materials.delimited import read_table
from experiments.materials.readers.detect import read_materials
from experiments.materials.schema import parse_mapping


def codes(materials) -> dict[str, int]:
    """Findings by code."""
    return dict(check(materials).counts)


ISLANDS = """item,condition,sentence,expected,lab
1,non.mat,Who thinks that John bought a car?,acceptable,x
1,non.emb,What do you think that John bought?,acceptable,
1,isl.mat,Who wonders whether John bought a car?,acceptable,
1,isl.emb,What do you wonder whether John bought?,unacceptable,
2,non.mat,Who thinks that Ann sold a house?,1,
2,isl.emb,What do you wonder whether Ann sold?,??,
"""


def test_a_factorial_item_gives_every_acceptable_by_unacceptable_pair(write_file):
    materials = read_materials([write_file("islands.csv", ISLANDS)])
    assert materials.pairs["pair_id"].tolist() == [
        "1:non.mat/isl.emb",
        "1:non.emb/isl.emb",
        "1:isl.mat/isl.emb",
        "2",
    ]
    assert materials.sentences["sentence_id"].tolist()[:2] == ["1:non.mat", "1:non.emb"]
    assert materials.sentences["mark"].tolist()[-1] == "??"
    assert materials.sentences["attributes"].iloc[0] == {"lab": "x"}


def test_a_hole_in_items_by_conditions_is_reported(write_file):
    report = check(read_materials([write_file("islands.csv", ISLANDS)]))
    hole = next(finding for finding in report.findings if finding.code == "hole")
    assert "item 2" in hole.message and "non.emb, isl.mat" in hole.message
    assert (hole.severity, hole.row, hole.ids) == ("warning", 6, ("2",))


def test_items_numbered_afresh_in_each_condition_are_one_note(write_file):
    rows = [f"{cell}{n},{cell},Text {cell} {n}." for cell in ("isl", "non") for n in range(1, 4)]
    report = check(read_materials([write_file("swp.csv", "\n".join(["item,condition,sentence", *rows, ""]))]))
    findings = [(finding.code, finding.severity) for finding in report.findings]
    assert ("nested_items", "note") in findings and "hole" not in {code for code, _ in findings}


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_the_same_table_from_any_kind_of_file_is_the_same_set(tmp_path, suffix):
    frame = pd.DataFrame(
        {
            "sentence_id": ["a", "b"],
            "sentence": ["Don’t, he 'said' \"no\".", "אמר\tלא"],
            "item": [1, 1],
            "condition": ["x", "y"],
            "expected": ["acceptable", "unacceptable"],
        }
    )
    frame.to_csv(tmp_path / "m.csv", index=False)
    frame.to_csv(tmp_path / "m.tsv", index=False, sep="\t")
    frame.to_json(tmp_path / "m.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "m.parquet")
    expected = read_materials([tmp_path / "m.csv"])
    materials = read_materials([tmp_path / f"m.{suffix}"])
    assert materials.sentences["text"].tolist() == frame["sentence"].tolist()
    assert materials.checksum == expected.checksum


def test_pairs_by_id_beside_their_sentences(write_file):
    sentences = write_file("s.csv", "sentence_id,sentence\na,Yes.\nb,No.\nc,So.\n")
    pairs = write_file("p.csv", "pair_id,good_id,bad_id,paradigm\np1,a,b,yes\np2,a,c,yes\n")
    materials = read_materials([pairs, sentences])
    assert materials.pairs[["pair_id", "good_id", "bad_id"]].to_numpy().tolist() == [
        ["p1", "a", "b"],
        ["p2", "a", "c"],
    ]


def test_a_wide_table_of_pairs(write_file):
    materials = read_materials([write_file("w.tsv", "pair_id\tgood\tbad\tsource\np1\tYes.\tNo.\tme\n")])
    assert materials.pairs.iloc[0]["fields"]["source"] == "me"
    assert materials.sentences["text"].tolist() == ["Yes.", "No."]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("w.csv", "good,bad\nYes.,\n", "w.csv, row 2, column 'bad': the pair has only one sentence"),
        (
            "s.csv",
            "item,sentence,expected\n1,Yes.,perhaps\n",
            "row 2, column 'expected': 'perhaps' is not a status",
        ),
        ("s.csv", "item,sentence\n1,\n", "row 2, column 'sentence': the sentence is empty"),
        ("s.csv", "sentence_id,sentence\na,Yes.\na,No.\n", "'a' is already used in s.csv, row 2"),
        ("s.csv", "sentence\n", "s.csv: the file has no rows"),
        ("p.csv", "good_id,bad_id\na,b\n", "a table of pairs needs its table of sentences"),
    ],
)
def test_a_wrong_table_is_named(write_file, name, text, message):
    with pytest.raises(BadInput, match=message):
        read_materials([write_file(name, text)])


def test_a_pair_of_an_unknown_sentence_is_named(write_file):
    files = [
        write_file("s.csv", "sentence_id,sentence\na,Yes.\n"),
        write_file("p.csv", "good_id,bad_id\na,b\n"),
    ]
    with pytest.raises(BadInput, match="p.csv, row 2, column 'bad_id': there is no sentence 'b'"):
        read_materials(files)


def test_a_missing_column_is_named_with_the_columns_found(write_file):
    with pytest.raises(MissingColumns, match="The columns found are: Wort, Nr"):
        read_materials([write_file("s.csv", "Wort,Nr\nJa.,1\n")])
    with pytest.raises(BadInput, match="Satz may be the sentence: --map sentence=Satz"):
        read_materials([write_file("s.csv", "Satz,Nr\nJa.,1\n")])


def test_columns_are_mapped(write_file):
    mapping = parse_mapping(["sentence=Satz", "item=Nr"])
    materials = read_materials([write_file("s.csv", "Satz,Nr\nJa.,1\n")], mapping=mapping)
    assert materials.sentences[["text", "item"]].to_numpy().tolist() == [["Ja.", "1"]]
    with pytest.raises(MissingColumns, match="Wort"):
        read_materials([write_file("s.csv", "Satz,Nr\nJa.,1\n")], mapping={"sentence": "Wort"})


def test_a_wrong_mapping_or_format_suggests_the_right_one(write_file):
    with pytest.raises(UnknownName, match="Did you mean 'sentence'"):
        parse_mapping(["sentense=Satz"])
    with pytest.raises(BadInput, match="Write our_column=their_column"):
        parse_mapping(["sentence"])
    with pytest.raises(UnknownName, match="Did you mean 'blimp'"):
        read_materials([write_file("s.csv", "sentence\nJa.\n")], format="blmp")


def test_items_numbered_afresh_in_each_paradigm_stay_apart(write_file):
    head = "paradigm,item,condition,sentence,expected\n"
    text = head + "p,1,a,Yes.,1\np,1,b,No.,0\nq,1,a,So.,1\nq,1,b,Not.,0\n"
    materials = read_materials([write_file("s.csv", text)])
    assert materials.pairs["pair_id"].tolist() == ["p:1", "q:1"]


def test_what_the_reader_cannot_see_is_reported(write_file):
    rows = ["a\u0301 b.", "a\u200bb.", "a\u00a0b.", "a\u202eb.", "‘a' b.", "ab. ", "a\x07b.", "a\ufffdb."]
    text = "sentence\n" + "\n".join(f'"{row}"' for row in rows) + "\n"
    counts = codes(read_materials([write_file("s.csv", text)]))
    names = [
        "not_nfc",
        "zero_width",
        "no_break_space",
        "bidi",
        "mixed_quotes",
        "edge_space",
        "control",
        "replacement",
    ]
    assert {name: counts.get(name) for name in names} == dict.fromkeys(names, 1)


def test_marks_of_acceptability_before_sentences_are_warned_of(write_file):
    marked = ["*The boy leave.", "?? She leave.", "#Colours sleep.", "*She *leave."]
    others = ["**Who** left?", "The *boy* left.", "¿Quién?", "3 % left."]
    text = "sentence\n" + "\n".join([*marked, *others]) + "\n"
    report = check(read_materials([write_file("s.csv", text)]))
    (finding,) = [finding for finding in report.findings if finding.code == "judgment_mark"]
    assert finding.severity == "warning" and finding.row == 2 and len(finding.ids) == len(marked)
    assert "(# * ??)" in finding.message


def test_texts_are_compared_in_nfc_but_kept_as_given(write_file):
    materials = read_materials([write_file("w.csv", "good,bad\né,e\u0301\n")])
    assert materials.sentences["text"].tolist() == ["é", "e\u0301"]
    assert codes(materials)["identical_members"] == 1


def test_duplicates_are_reported(write_file):
    text = "item,condition,sentence,expected\n1,a,Yes.,1\n1,a,Yes.,1\n1,b,No.,0\n2,a,No.,1\n"
    counts = codes(read_materials([write_file("s.csv", text)]))
    assert (counts["same_string"], counts["conflicting_status"], counts["duplicate_cell"]) == (1, 1, 1)
    assert (counts["duplicate_pair"], counts["unpaired"]) == (1, 1)


def test_a_value_too_long_to_store_is_an_error(write_file):
    report = check(read_materials([write_file("s.csv", f"condition,sentence\n{'c' * 201},Yes.\n")]))
    assert [(finding.code, finding.row) for finding in report.errors] == [("too_long", 2)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.csv", "item,condition,sentence,phenomenon,expected\n1,a,Yes.,islands,1\n1,b,No.,islands,0\n"),
        ("w.csv", "good,bad,linguistics_term\nYes.,No.,islands\n"),
    ],
)
def test_a_phenomenon_without_paradigms_is_one_paradigm_of_its_name(write_file, name, text):
    materials = read_materials([write_file(name, text)])
    for frame in (materials.sentences, materials.pairs):
        assert set(frame["paradigm"]) == set(frame["phenomenon"]) == {"islands"}
    assert materials.counts["phenomena"] == materials.counts["paradigms"] == 1


def test_pairs_by_id_take_the_paradigm_of_their_sentence_before_their_phenomenon(write_file):
    sentences = write_file("s.csv", "sentence_id,sentence,paradigm\na,Yes.,wh\nb,No.,wh\nc,So.,\nd,Not.,\n")
    pairs = write_file("p.csv", "pair_id,good_id,bad_id,phenomenon\np1,a,b,islands\np2,c,d,islands\n")
    assert read_materials([pairs, sentences]).pairs["paradigm"].tolist() == ["wh", "islands"]


def test_paradigms_numbered_anew_in_each_phenomenon_are_one_question_and_can_be_split(write_file):
    rows = [
        f"{phenomenon},{number},It rains {phenomenon} {number}."
        for phenomenon in ("islands", "binding")
        for number in range(1, 61)
    ]
    path = write_file("items.csv", "\n".join(["phenomenon,paradigm,sentence", *rows]))
    report = check(read_materials([path]))
    (finding,) = report.errors
    assert finding.message.startswith("60 paradigms stand under more than one phenomenon, such as '1' under")
    assert "numbered anew in each phenomenon?" in finding.message and len(finding.ids) == 60
    split = read_materials([path], split_paradigms=True)
    assert not check(split).errors
    assert split.counts["paradigms"] == 120 and "binding:10" in set(split.sentences["paradigm"])


def test_long_texts_and_words_are_flagged(write_file):
    rows = ("word " * 61, "Supercali" * 7, "短い文です。" * 12, "It rains.")
    path = write_file("items.csv", "\n".join(["sentence", *rows]))
    report = check(read_materials([path]))
    assert (report.counts["long_text"], report.counts["long_word"]) == (1, 1)


def test_a_file_without_a_header_is_recognized(write_file):
    bare = read_materials(
        [write_file("bare.txt", "The keys are here.\nThe keys is here.\nShe left early.\n")]
    )
    assert bare.sentences["text"].tolist() == ["The keys are here.", "The keys is here.", "She left early."]
    assert bare.sentences["row"].tolist() == [1, 2, 3]
    assert "no header" in bare.sources[0].notes[0]
    numbered = "1,The keys are here.,a\n2,The cups are here.,a\n3,The pens are here.,b\n"
    table = read_materials([write_file("numbered.csv", numbered)])
    assert table.sources[0].columns == ("column_1", "sentence", "column_3")
    assert len(table.sentences) == 3


@pytest.mark.parametrize(
    "head",
    [
        "sentence",
        "Satz",
        "List of test sentences",
        "item,Satz,expected",
        "Nr,How natural is this sentence?",
        "Satz,1,2",
    ],
)
def test_a_header_stays_a_header(write_file, head):
    cells = ("It rains all day.", "4", "5") if "," in head else ("It rains all day.",)
    if head.startswith(("item", "Nr")):
        cells = ("1", "It rains all day.", "1")
    width = head.count(",") + 1
    text = "\n".join([head, *([",".join(cells[:width])] * 3)])
    table = read_table(write_file("items.csv", text))
    assert table.frame.columns.tolist() == head.split(",") and len(table.frame) == 3
