"""`tidy` takes columns of any name once; what it refuses is named with near names, row and column."""

import json

import numpy as np
import pandas as pd
import pytest

import analysis
from analysis.columns import JUDGMENT_COLUMNS
from analysis.command_line.program import main
from analysis.errors import BadInput, UnknownName


@pytest.fixture
def answers():
    return pd.DataFrame({
        "subj": [1.0, 1.0, 2.0, 2.0],
        "sent": pd.Categorical(["a", "b", "a", "b"]),
        "rating": ["7", " ", "6", "1"],
        "structure": ["island", "island", "none", None],
        "distance": ["long", "short", "long", "short"],
        "L1": [True, True, None, False],
    })  # fmt: skip


def test_columns_of_any_name_become_the_documented_ones_with_their_types(answers):
    before = answers.copy(deep=True)
    table = analysis.tidy(
        answers, participant="subj", item="sent", value="rating", native="L1", task="likert", scale=(1, 7)
    )
    assert table["participant"].tolist() == ["1", "1", "2", "2"]
    assert table["item"].tolist() == ["a", "b", "a", "b"]
    assert table["value"].tolist()[::2] == [7, 6] and np.isnan(table["value"][1])
    assert table["native"].tolist() == [True, True, None, False]
    assert (set(table["task"]), set(table["scale_high"])) == ({"likert"}, {7.0})
    documented = [name for name in table.columns if name in JUDGMENT_COLUMNS]
    assert documented == sorted(documented, key=list(JUDGMENT_COLUMNS).index)
    assert list(table.columns)[len(documented) :] == ["structure", "distance"]
    pd.testing.assert_frame_equal(answers, before)


def test_factors_make_a_condition_and_remain_columns(answers):
    table = analysis.tidy(answers, subject="subj", dv="rating", within=["structure", "distance"])
    assert table["condition"].tolist() == ["island.long", "island.short", "none.long", ".short"]
    assert "structure" in table.columns


def test_a_named_column_replaces_the_one_of_that_name(answers):
    table = analysis.tidy(answers.assign(value=0.0), participant="subj", value="rating")
    assert table["value"].tolist()[0] == 7


def test_the_index_stays_unless_it_has_repeated_labels(answers):
    names = {"participant": "subj", "value": "rating"}
    assert analysis.tidy(answers.set_axis([9, 7, 5, 3]), **names).index.tolist() == [9, 7, 5, 3]
    assert analysis.tidy(answers.set_axis([1, 1, 2, 2]), **names).index.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ({}, r'missing columns participant, value.*tidy\(frame, participant="subj", value="rating"\)'),
        ({"participant": "sbj"}, "unknown column 'sbj'. Did you mean 'subj'"),
        ({"particpant": "subj"}, "'particpant'. Did you mean 'participant'"),
        ({"participant": "subj", "subject": "subj"}, "subject and participant are the same column"),
        ({"participant": "subj", "value": "distance"}, "row 1, column 'value': 'long' is not a finite"),
        ({"participant": "structure", "value": "rating"}, "row 4, column 'participant': the cell is empty"),
        ({"participant": "subj", "value": "rating", "native": "sent"}, "row 1, column 'native': 'a' is"),
    ],
)
def test_what_cannot_be_used_is_named(answers, names, problem):
    with pytest.raises(BadInput, match=problem):
        analysis.tidy(answers, **names)


@pytest.mark.parametrize("value", [np.inf, "much"])
def test_cells_that_are_no_numbers_are_refused_with_their_row(answers, value):
    with pytest.raises(BadInput, match=r"row 3, column 'rt_ms'"):
        analysis.tidy(answers.assign(ms=[1, 2, value, 4]), subject="subj", dv="rating", rt_ms="ms")


def test_a_task_is_one_for_all_rows_or_a_column(answers):
    names = {"participant": "subj", "value": "rating"}
    assert set(analysis.tidy(answers.assign(kind_of=["likert"] * 4), task="kind_of", **names)["task"]) == {
        "likert"
    }
    with pytest.raises(UnknownName, match="lickert"):
        analysis.tidy(answers, task="lickert", **names)


def test_rows_that_a_release_excludes_are_left_out_with_a_count(tmp_path, capsys):
    kept = [(f"p{p}", f"i{i}", 1.0, "") for p in range(4) for i in range(4)]
    rows = pd.DataFrame(kept + [("out", f"i{i}", 0.0, "catch_failed") for i in range(4)])
    rows.columns = ["participant", "item", "value", "excluded_by"]
    path = tmp_path / "judgments.csv"
    rows.to_csv(path, index=False)
    sentence = r"4 rows are left out that their release excludes \(catch_failed 4\); 4 participants are left"
    with pytest.warns(UserWarning, match=sentence):
        judgments = analysis.read_judgment_file(path)
    assert analysis.agreement_report(judgments)["participants"] == 4
    every = analysis.read_judgment_file(path, keep_excluded=True)
    assert len(every) == 20
    with pytest.warns(UserWarning, match=sentence):
        assert analysis.agreement_report(every)["participants"] == 4
    assert main(["agreement", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["participants"] == 4 and "catch_failed 4" in document["released_exclusions"]
    assert main(["agreement", str(path)]) == 0
    assert "catch_failed 4" in capsys.readouterr().out


def test_a_file_of_another_tool_is_refused_with_what_to_do(tmp_path):
    file = tmp_path / "batch.csv"
    file.write_text("HITId,WorkerId,Input.sentence,Answer.choice\nh,w,It rains.,1\n")
    with pytest.raises(BadInput, match=r"Answer.choice.*import_judgments FILE.*obelus\.tidy"):
        analysis.read_judgment_file(file)
