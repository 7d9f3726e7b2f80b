"""Best–worst sets, counts of answers and pairs by place: tables whose rows are not one answer each."""

import json
from collections import Counter
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from analysis.aggregation.best_worst import best_worst_scores
from experiments.models import Experiment
from judgments.frames.build import judgment_frame
from judgments.models import Judgment

pytestmark = pytest.mark.django_db
SETS = (
    "participant,item1,item2,item3,item4,best,worst\n"
    "p1,She left.,He sat.,They ran.,It rain.,{},{}\n"
    "p1,She left.,He sat.,We goes.,It rain.,{},{}\n"
    "p2,It rain.,He sat.,They ran.,She left.,,\n"
)
TEXTS = ("She left.", "It rain.", "He sat.", "We goes.")


@pytest.fixture
def load(tmp_path):
    def call(content, *options):
        path = tmp_path / "data.csv"
        path.write_text(content)
        out = StringIO()
        call_command(
            "import_judgments", path, "--experiment", "s", "--format", "table", *options, "--json", stdout=out
        )
        return json.loads(out.getvalue())

    return call


def scores():
    study = Experiment.objects.get()
    text_of = dict(study.materials.sentences.values_list("key", "text"))
    table = best_worst_scores(judgment_frame(study))
    return {text_of[row.sentence_id]: (row.best, row.worst, row.n) for row in table.itertuples()}


@pytest.mark.parametrize(
    "marks", [TEXTS, ("item1", "Item4", "item2", "item3"), ("1", "4", "2", "3"), ("a", "D", "b", "c")]
)
def test_a_set_is_one_judgment_whose_marks_are_texts_columns_places_or_letters(load, marks):
    report = load(SETS.format(*marks))
    assert (report["task"], report["judgments"], report["missing"]) == ("best_worst", 3, 1)
    assert [(j.value, j.response) for j in Judgment.objects.order_by("pk")] == [
        (1, "1 4"),
        (2, "2 3"),
        (None, ""),
    ]
    frame = judgment_frame(Experiment.objects.get())
    assert frame.loc[frame["status"] == "missing", "value"].isna().all()
    assert scores() == {
        "She left.": (1, 0, 2),
        "He sat.": (1, 0, 2),
        "They ran.": (0, 0, 1),
        "It rain.": (0, 1, 2),
        "We goes.": (0, 1, 1),
    }


def test_a_long_table_of_sets_gives_the_same_scores(load):
    rows = [("p1", 1, text, mark) for text, mark in zip("abcd", ("most", "", "least", ""), strict=True)]
    rows += [("p1", 2, text, mark) for text, mark in zip("abce", ("", "most", "", "least"), strict=True)]
    lines = "\n".join(f"{who},{number},{text}.,{mark}" for who, number, text, mark in rows)
    labels = ("--labels", "most=best", "least=worst")
    load(f"participant,set,sentence,value\n{lines}", "--task", "best_worst", *labels)
    assert scores()["a."] == (1, 0, 2) and scores()["e."] == (0, 1, 1)


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        (("She left.", "She left.", "He sat.", "It rain."), "row 2, column 'worst': one sentence is both"),
        (
            ("Who knows?", "He sat.", "He sat.", "It rain."),
            "row 2, column 'best': 'Who knows.' is no sentence of the set",
        ),
        (("1", "2", "2", "3"), "may count from 0 or from 1"),
        (("0", "4", "2", "3"), "row 2, column 'worst': '4' is no sentence of the set"),
    ],
)
def test_marks_that_are_not_clear_are_refused(load, marks, message):
    with pytest.raises(CommandError, match=message):
        load(SETS.format(*marks))
    assert not Judgment.objects.exists()


@pytest.mark.parametrize(
    ("columns", "cells"), [("n_yes,n_answers", ("3,4", "0,2")), ("n_yes,n_no", ("3,1", "0,2"))]
)
def test_counts_become_answers_of_a_participant_each(load, columns, cells):
    report = load(f"item,condition,sentence,{columns}\n1,a,S1.,{cells[0]}\n1,b,S2.,{cells[1]}\n")
    assert (report["task"], report["participants"], report["judgments"]) == ("yes_no", 6, 6)
    means = judgment_frame(Experiment.objects.get()).groupby("condition", observed=True)["value"].mean()
    assert means.to_dict() == {"a": 0.75, "b": 0.0}
    assert any("does not say who gave them" in warning for warning in report["warnings"])


def test_counts_of_choices_in_one_cell_and_counts_without_a_total(load):
    pairs = "pair_id,good,bad,chosen\n1,She left.,She leave.,3 of 4\n2,He sat.,He sit.,1 of 2\n"
    assert load(pairs, "--map", "n_yes=chosen")["task"] == "forced_choice"
    assert sorted(Judgment.objects.values_list("value", flat=True)) == [0, 0, 1, 1, 1, 1]
    with pytest.raises(CommandError, match="column 'n_yes': the counts have no total"):
        load("item,n_yes\n1,3\n")
    with pytest.raises(CommandError, match="row 3, column 'n_yes': 3 of 2 answers"):
        load("item,n_yes,n_answers\n1,1,2\n2,3,2\n")


def test_members_by_their_places_become_the_expected_and_the_other_one(load):
    head = "participant,left_sentence,right_sentence,expected_first,value\n"
    load(f"{head}p1,She left.,She leave.,true,left\np1,He sit.,He sat.,false,left\n")
    assert list(Judgment.objects.order_by("pk").values_list("value", "chosen__text")) == [
        (1, "She left."),
        (0, "He sit."),
    ]
    with pytest.raises(CommandError, match="the pairs have no expected member.*expected_first"):
        load("participant,first,second,value\np1,She left.,She leave.,left\n")


def test_counts_of_other_names_are_proposed(load):
    for head, options in (
        ("yes,n", "n_yes=yes n_answers=n"),
        ("accepted,rejected", "n_yes=accepted n_no=rejected"),
        ("percent_yes,total", "n_yes=percent_yes n_answers=total"),
    ):
        with pytest.raises(CommandError, match=f"missing columns.*counts of answers: --map {options}"):
            load(f"sentence,{head}\nShe left.,12,20\n")


@pytest.mark.parametrize("shares", [("60%", "5 %"), ("0.6", "0.05")])
def test_shares_of_a_number_of_answers_are_counts(load, shares):
    content = "sentence,share,n\nShe left.,{},20\nHe left.,{},20\n"
    load(content.format(*shares), "--map", "n_yes=share", "n_answers=n")
    counts = Counter(Judgment.objects.values_list("trial__sentence__text", "value"))
    assert counts == {
        ("She left.", 1): 12, ("She left.", 0): 8, ("He left.", 1): 1, ("He left.", 0): 19,
    }  # fmt: skip
    with pytest.raises(CommandError, match="row 2, column 'share': 33 % of 20 answers is no whole number"):
        load(content.format("33%", "5%"), "--map", "n_yes=share", "n_answers=n")
