"""The fifteen filters of Patil, Jumelet et al. (2024): what they remove, keep, and find in real text."""

import csv
import re
from pathlib import Path

import pytest

from analysis.corpora import filter_names, find_filter, parse_conllu, read_conllu, survey
from analysis.errors import UnknownName
from tests.analysis.corpora.examples import examples, rows

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
TREEBANK = SHARED / "ud-english-ewt"
RARE = {
    "binding-c-command",
    "binding-reconstruction",
}  # 0.01 % of Wikipedia: none expected in 4,000 sentences


def test_there_are_the_fifteen_of_the_paper_with_examples_of_both_kinds():
    assert len(filter_names()) == 15
    assert {(name, goes) for name, goes, _ in examples()} == {
        (name, goes) for name in filter_names() for goes in (True, False)
    }


def test_filters_remove_their_constructions_and_keep_near_misses(subtests):
    for name, goes, written in examples():
        with subtests.test(name, sentence=written):
            sentence = next(parse_conllu(rows(written)))
            assert (find_filter(name).removes(sentence) is not None) is goes


def test_filters_have_a_definition_and_a_source(subtests):
    for each in map(find_filter, filter_names()):
        with subtests.test(each.title):
            assert each.title and each.definition and each.note and each.paradigms
            assert "Patil, Jumelet et al. (2024)" in each.source


def test_an_unknown_filter_is_named_with_near_ones():
    with pytest.raises(UnknownName, match="Did you mean 'agr-pp-mod'"):
        find_filter("agr-ppmod")


def test_every_targeted_paradigm_is_one_of_blimp():
    answers = SHARED / "blimp" / "human_responses.csv"
    if not answers.is_file():
        pytest.skip("BLiMP's human responses are not beside the project (shared/data/blimp)")
    with answers.open(encoding="utf-8-sig", newline="") as text:
        conditions = [row[f"Input.item_{n}_condition"] for row in csv.DictReader(text) for n in range(1, 6)]
    paradigms = {re.sub(r"ans[12]$", "", name) for name in conditions}
    targeted = {paradigm for name in filter_names() for paradigm in find_filter(name).paradigms}
    assert targeted - paradigms == set()


def test_real_text_loses_plausible_shares():
    files = sorted(TREEBANK.glob("*.conllu"))
    if not files:
        pytest.skip("the English Web Treebank is not beside the project (shared/data/ud-english-ewt)")
    filters = [find_filter(name) for name in filter_names()]
    surveyed = survey((sentence for file in files for sentence in read_conllu(file)), filters)
    share = {name: 100 * float((reasons >= 0).mean()) for name, reasons in surveyed.reasons.items()}
    assert len(surveyed.lengths) == 2001 + 2077
    assert {name for name in filter_names() if share[name] == 0} <= RARE
    assert (
        max(share.values()) < 12
    )  # the paper: at most 18.5 % of Wikipedia, whose sentences are twice as long
    assert share["npi-only"] < share["npi-sent-neg"] < share["agr-pp-mod"]
    assert share["det-noun"] < share["agr-re-irr-sv"]
