"""CLiMP's sixteen paradigms of Mandarin: clean, segmented, of equal length, with pairs of our own."""

import csv
import re
from pathlib import Path

import pytest

from experiments.generation.paradigms import find_paradigm, lint, sample_pairs, shipped_paradigms
from experiments.generation.paradigms.sampling import comparable, edited_row

ROOT = Path(__file__).parents[3]
CLIMP = ROOT.parent / "shared" / "data" / "climp"
UIDS = shipped_paradigms("zh")
SYMMETRIC = ("anaphor_agreement_gender", "binding_gender", "filler_gap_dependency")


def test_all_sixteen_paradigms_come_with_the_platform():
    assert len(UIDS) == 16
    assert all(find_paradigm(uid, language="zh").counterpart == uid for uid in UIDS)


@pytest.mark.parametrize("uid", UIDS)
def test_a_mandarin_paradigm_is_clean(uid):
    report = lint(uid, language="zh", n=250)
    assert [str(finding) for finding in report.findings if finding.level == "error"] == []
    assert report.n_frames >= 2 and report.capacity >= 20_000
    for row in report.rows:
        for side in ("good", "bad"):
            sentence, segments = row[f"sentence_{side}"], row[f"segmentation_{side}"]
            assert " " not in sentence and segments.replace(" ", "") == sentence
            assert segments.endswith(" 。") and re.fullmatch(r"[\u4e00-\u9fff，。 ]+", segments)
        assert len(row["sentence_good"]) == len(row["sentence_bad"])
        assert len(row["segmentation_good"].split()) == len(row["segmentation_bad"].split())


def test_critical_region_and_prefixes_are_places_in_the_sentence_without_spaces():
    row = sample_pairs(find_paradigm("verb_complement_duration", language="zh"), 1)[0]
    start, end = row["critical_good"]
    good = row["sentence_good"]
    assert good[start:end] in row["segmentation_good"].split()
    assert good.startswith(row["two_prefix_prefix_good"] + row["two_prefix_word"])
    row = sample_pairs(find_paradigm("anaphor_agreement_gender", language="zh"), 1)[0]
    assert row["one_prefix_word_good"] in ("她自己", "他自己")
    assert row["sentence_good"] == f"{row['one_prefix_prefix']}{row['one_prefix_word_good']}。"


def test_an_edited_pair_is_compared_by_characters_and_loses_its_segmentation():
    paradigm = find_paradigm("anaphor_agreement_gender", language="zh")
    drawn = sample_pairs(paradigm, 1)[0]
    row = edited_row(drawn, "马莉称赞了她自己。", "马莉称赞了他自己。", paradigm.language)
    assert row["critical_good"] == [5, 6] and row["one_prefix_word_bad"] == "他"
    assert "segmentation_good" not in row and row["lexemes"]


@pytest.mark.parametrize("uid", SYMMETRIC)
def test_no_word_tells_which_member_is_good(uid):
    report = lint(uid, language="zh", n=500)
    assert report.cues.words < 0.56


def test_a_thousand_pairs_have_two_thousand_sentences():
    rows = sample_pairs(find_paradigm("head_final_clause", language="zh"), 1000)
    texts = {comparable(row[side]) for row in rows for side in ("sentence_good", "sentence_bad")}
    assert len(texts) == 2000


@pytest.mark.skipif(not CLIMP.is_dir(), reason="CLiMP's data are not beside the project")
def test_no_sentence_is_taken_from_climp():
    published = set()
    for path in CLIMP.glob("*_1000.csv"):
        with path.open(encoding="utf-8", newline="") as lines:
            published |= {comparable(cell.replace(" ", "")) for row in csv.reader(lines) for cell in row}
    assert len(published) > 25_000
    for uid in UIDS:
        for row in sample_pairs(find_paradigm(uid, language="zh"), 1000):
            assert comparable(row["sentence_good"]) not in published, uid
            assert comparable(row["sentence_bad"]) not in published, uid
