"""The files of BLiMP, CLiMP and LI-Adger, as they were published."""

import json

import pytest

from analysis.errors import BadInput
from experiments.materials.checks import check
from experiments.materials.readers.detect import read_materials

PAIR = {
    "sentence_good": "Had Bruce ever played?",
    "sentence_bad": "Bruce had ever played.",
    "two_prefix_prefix_good": "Had Bruce",
    "two_prefix_prefix_bad": "Bruce had",
    "two_prefix_word": "ever",
    "field": "semantics",
    "linguistics_term": "npi_licensing",
    "UID": "matrix_question",
    "simple_LM_method": True,
    "one_prefix_method": False,
    "two_prefix_method": True,
    "lexically_identical": True,
    "pairID": "0",
}


def test_every_field_of_a_blimp_line_is_kept(write_file):
    materials = read_materials([write_file("matrix.jsonl", json.dumps(PAIR))])
    pair = materials.pairs.iloc[0]
    assert (materials.format, pair["fields"]) == ("blimp", PAIR)
    assert (pair["pair_id"], pair["good_id"]) == ("matrix_question:0", "matrix_question:0:good")
    assert materials.sentences["phenomenon"].tolist() == ["npi_licensing"] * 2
    assert materials.sentences["expected"].tolist() == ["acceptable", "unacceptable"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"sentence_good": "A", "UID": "x"}',
            "a.jsonl, row 2, column 'sentence_bad': a pair needs both sentences",
        ),
        ('{"sentence_good": "A"', "a.jsonl, row 2: not JSON at character"),
        ("[1]", "a.jsonl, row 2: the line is not a JSON object"),
        (json.dumps({**PAIR, "score": float("nan")}), "row 2: NaN is not a number that can be stored"),
        (json.dumps({**PAIR, "score": float("inf")}), "row 2: Infinity is not"),
        ('{"sentence_good": "\\ud800", "sentence_bad": "b"}', "row 2: half of a surrogate pair"),
        (json.dumps({**PAIR, "sentence_bad": "a\0b"}), "row 2: the line contains a NUL character"),
        (json.dumps(PAIR), "row 2, column 'pair_id': 'matrix_question:0' is already used in a.jsonl, row 1"),
    ],
)
def test_a_wrong_blimp_line_is_named(write_file, line, message):
    with pytest.raises(BadInput) as caught:
        read_materials([write_file("a.jsonl", json.dumps(PAIR) + "\n" + line)], format="blimp")
    assert message in str(caught.value)


def test_fourteen_published_blimp_paradigms(shared_data):
    materials = read_materials([shared_data("blimp")])
    counts = materials.counts
    assert (counts["pairs"], counts["paradigms"], counts["phenomena"]) == (14_000, 14, 13)
    assert (
        "one_prefix_word_bad" in materials.pairs.set_index("pair_id").loc["principle_A_domain_1:0", "fields"]
    )


def test_climp_pairs_come_by_alternation(write_file):
    rows = ["好一,1", "坏一,0", "坏二,0", "好二,1"]
    text = ",0,1,2,3\n" + "".join(f"{n},aspect,aspect_le,{row}\n" for n, row in enumerate(rows))
    materials = read_materials([write_file("aspect_1000.csv", text)])
    assert materials.format == "climp"
    assert materials.pairs["good_id"].tolist() == ["aspect_le:0:good", "aspect_le:1:good"]
    assert materials.sentences.set_index("sentence_id").loc["aspect_le:1:good", "text"] == "好二"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("0,a,b,好,1\n", "row 2, column '2': the last pair has only one sentence"),
        ("0,a,b,好,1\n1,a,b,坏,1\n", "row 3, column '3': .* both have the same label"),
        ("0,a,b,好,1\n1,a,b,坏,7\n", "row 3, column '3': the label is neither 1 nor 0"),
        ("0,a,b,好,1\n1,a,c,坏,0\n", "row 3, column '1': .* their paradigms differ"),
        ("0,a,b,好,1\n1,a,b,,0\n", "row 3, column '2': the sentence is empty"),
    ],
)
def test_climp_rows_that_do_not_alternate_are_named(write_file, rows, message):
    with pytest.raises(BadInput, match=message):
        read_materials([write_file("x_1000.csv", ",0,1,2,3\n" + rows)])


def test_sixteen_published_climp_paradigms_and_the_unlabelled_one(shared_data):
    materials = read_materials([shared_data("climp")])
    assert (materials.counts["pairs"], materials.counts["paradigms"]) == (16_000, 16)
    first = materials.sentences[materials.sentences["paradigm"] == "ba_construction"].iloc[0]
    assert (first["expected"], first["text"]) == ("acceptable", "有个学生的最好的朋友把坡卖了")
    assert [finding.file for finding in materials.findings] == ["ba_construction_1000.csv"]
    assert {source.file: source.description for source in materials.sources}["ba_construction_1000.csv"] == (
        "UTF-8, line ends CRLF, delimiter comma"
    )


LI_ADGER = ["li-adger_min_pairs.csv", "human_ME_results_li-adger_sentences.csv", "li-adger_sentences.csv"]


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0]])
def test_li_adger_in_any_order(shared_data, order):
    materials = read_materials([shared_data(f"li-adger/{LI_ADGER[number]}") for number in order])
    counts = materials.counts
    assert materials.format == "li-adger"
    assert (counts["sentences"], counts["pairs"]) == (4_178, 2_393)
    assert (counts["pairs_discarded"], counts["pairs_left"]) == (28, 2_365)
    sentence = materials.sentences.set_index("sentence_id").loc["32.1.martin.20a.*.01"]
    assert (sentence["expected"], sentence["mark"]) == ("unacceptable", "*")
    assert sentence["attributes"]["judgement"] == pytest.approx(-0.99994)


def test_li_adger_report_names_the_two_left_pairs_with_identical_members(shared_data):
    materials = read_materials([shared_data("li-adger")])
    report = check(materials)
    same = [finding for finding in report.findings if finding.code == "identical_members"]
    assert [finding.ids[0] for finding in same] == [
        "34.4.boskovic.4c.g.01|34.4.boskovic.3c.*.01",
        "ch8.62.g.06|ch8.64.*.06",
    ]
    assert [(finding.file, finding.row) for finding in same] == [
        ("li-adger_min_pairs.csv", 650),
        ("li-adger_min_pairs.csv", 2277),
    ]
    left = materials.pairs[~materials.pairs["discard"]]
    assert {finding.ids[0] for finding in same} <= set(left["pair_id"])
    assert report.counts["unrated"] == 1 and not report.errors


def test_li_adger_needs_its_sentences(shared_data):
    with pytest.raises(BadInput, match="needs its table of sentences"):
        read_materials([shared_data("li-adger/li-adger_min_pairs.csv")])


def test_files_of_different_forms_are_refused(write_file):
    files = [write_file("a.jsonl", json.dumps(PAIR)), write_file("s.csv", "sentence\nJa.\n")]
    with pytest.raises(BadInput, match="a.jsonl is blimp, s.csv is table"):
        read_materials(files)
