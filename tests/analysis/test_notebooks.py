"""In a notebook: arguments named as pingouin names them, and results that show their tables."""

import inspect
import json
import pickle

import pandas as pd
import pytest

import analysis
from analysis.notebooks import Document

NAMES = {"subject": "who", "dv": "rating", "within": "cell", "item": "sentence"}
TAKE_JUDGMENTS = [
    name
    for name in analysis.HOMES
    if inspect.isfunction(getattr(analysis, name))
    and next(iter(inspect.signature(getattr(analysis, name)).parameters)) == "judgments"
]


@pytest.fixture(scope="module")
def answers():
    rows = [
        {
            "who": person,
            "sentence": item,
            "cell": cell,
            "rating": (person * person + item * 3 + 4 * (cell == "good")) % 7 + 1,
        }
        for person in range(6)
        for item in range(4)
        for cell in ("good", "bad")
    ]
    return pd.DataFrame(rows)


def test_pingouins_names_give_the_numbers_of_tidy(answers):
    table = analysis.tidy(answers, participant="who", value="rating", condition="cell", item="sentence")
    assert analysis.ratings_report(data=answers, **NAMES) == analysis.ratings_report(table)
    by_name = analysis.zscore_by_participant(answers, subject="who", dv="rating")
    pd.testing.assert_series_equal(by_name, analysis.zscore_by_participant(table))
    assert analysis.ratings_report(judgments=answers, **NAMES) == analysis.ratings_report(table)


def test_the_intraclass_names_give_the_number_of_the_plain_columns(answers):
    good = answers[answers["cell"] == "good"]
    names = {"targets": "sentence", "raters": "who", "ratings": "rating"}
    plain = good.rename(columns={"sentence": "sentence_id", "who": "participant", "rating": "value"})
    by_name = analysis.intraclass_correlation(data=good, **names)
    assert by_name["ICC(A,1)"] == analysis.intraclass_correlation(plain)["ICC(A,1)"] is not None


def test_coefficients_of_agreement_take_the_same_names(answers):
    good = answers[answers["cell"] == "good"]
    plain = good.rename(columns={"sentence": "unit", "rating": "value"})
    ours = analysis.krippendorff_alpha(
        data=good, targets="sentence", raters="who", ratings="rating", level="ordinal"
    )
    assert ours == analysis.krippendorff_alpha(plain, level="ordinal")


@pytest.mark.parametrize("name", TAKE_JUDGMENTS)
def test_every_statistic_of_judgments_names_the_column_that_is_not_there(name, answers):
    others = {"plan": analysis.Plan("none"), "values": answers["rating"]}
    function = getattr(analysis, name)
    needed = {key: value for key, value in others.items() if key in inspect.signature(function).parameters}
    with pytest.raises(ValueError, match="Did you mean 'rating'"):
        function(data=answers, subject="who", dv="ratings", **needed)


def test_one_table_is_taken(answers):
    with pytest.raises(TypeError, match="one table"):
        analysis.ratings_report(answers, data=answers)
    with pytest.raises(TypeError, match="no table"):
        analysis.ratings_report(dv="rating")


def test_a_report_is_a_dict_that_shows_its_tables(answers):
    report = analysis.ratings_report(data=answers.replace({"cell": {"good": "<b>good</b>"}}), **NAMES)
    assert isinstance(report, Document)
    shown = report._repr_html_()
    assert "&lt;b&gt;good" in shown and "<b>good" not in shown
    assert "8 rows: paradigm, item, condition" in repr(report)
    assert report.frame("participants")["participant"].tolist() == [str(number) for number in range(6)]
    with pytest.raises(ValueError, match="Did you mean 'items'"):
        report.frame("item")


def test_a_report_is_plain_elsewhere(answers):
    report = analysis.ratings_report(data=answers, **NAMES)
    assert json.loads(json.dumps(report)) == report
    assert type(pickle.loads(pickle.dumps(report))) is dict


def test_results_that_hold_frames_show_their_sizes(answers):
    table = analysis.tidy(answers, participant="who", value="rating", item="sentence")
    excluded = analysis.apply_plan(table, analysis.parse_plan(""))
    assert "48 rows: participant, item, value" in repr(excluded)
    assert "and 40 more rows" in excluded._repr_html_()


def test_a_public_name_is_one_object():
    assert analysis.ratings_report is analysis.ratings_report
