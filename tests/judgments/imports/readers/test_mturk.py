"""MTurk's wide batch file: choices by option number, attention items, times, states."""

import csv

import pytest

from analysis.errors import BadInput, MissingColumns
from judgments.imports.readers import SourceOptions, read_judgments

ROW = {
    "AssignmentId": "A1",
    "WorkerId": "A2XYZ123456789",
    "AssignmentStatus": "Approved",
    "AcceptTime": "Tue Dec 10 00:33:08 PST 2019",
    "WorkTimeInSeconds": "75",
    "Input.item_1_condition": "passive_2ans1",
    "Input.field_1_1": "Ann's cats sleep.",
    "Input.field_1_2": "Ann's cats sleeps.",
    "Input.item_3_condition": "attnchkans2",
    "Input.field_3_1": "Not this one.",
    "Input.field_3_2": "Choose this one.",
    "Input.item_2_condition": "islandans2",
    "Input.field_2_1": "Who did Ann?",
    "Input.field_2_2": "Ann did.",
    "Answer.Choice1": "1. Ann",
    "Answer.Choice2": "1. Who did Ann?",
    "Answer.Choice3": "2. Choose this one.",
    "Answer.navtive": "1",
    "Reward": "$0.25 ",
}
HEAD = list(ROW)


@pytest.fixture
def batch(tmp_path):
    def write(*changes):
        path = tmp_path / "batch.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, HEAD, quoting=csv.QUOTE_ALL)
            writer.writeheader()
            writer.writerows({**ROW, **change} for change in changes)
        return path

    return write


def read(path):
    return read_judgments(path, "mturk-batch")


def test_a_choice_is_read_by_its_number_although_the_text_is_cut_at_the_apostrophe(batch):
    trials = read(batch({})).judgments
    assert trials["value"].tolist() == [1.0, 1.0, 0.0]
    assert trials["good_text"].tolist() == ["Ann's cats sleep.", "Choose this one.", "Ann did."]


def test_positions_follow_the_order_of_the_columns_and_attention_items_are_catch_trials(batch):
    trials = read(batch({})).judgments
    assert trials[["position", "kind"]].values.tolist() == [[1, "target"], [2, "catch"], [3, "target"]]
    assert trials["is_correct"].tolist() == [None, True, None]
    assert trials["expected_first"].tolist() == [True, False, False]


def test_braces_and_na_are_missing_answers(batch):
    trials = read(batch({"Answer.Choice1": "{}", "Answer.Choice2": "NA"})).judgments
    assert trials["status"].tolist() == ["missing", "answered", "missing"]
    assert trials["value"].isna().tolist() == [True, False, True]


def test_a_rejected_assignment_is_kept_with_its_status_and_times_become_utc(batch):
    session = read(batch({"AssignmentStatus": "Rejected"})).sessions.iloc[0]
    assert session["submission_status"] == "rejected"
    assert session["started_at"].isoformat() == "2019-12-10T08:33:08+00:00"
    assert session["work_time_s"] == 75


def test_the_misspelt_native_question_is_understood_and_contradictions_stay_empty(batch):
    agreeing = read(batch({})).participants.iloc[0]
    assert agreeing["is_native"] is True
    contradicting = read(batch({}, {"AssignmentId": "A2", "Answer.navtive": "0"}))
    assert contradicting.participants["is_native"].tolist() == [None]
    assert "both ways" in contradicting.warnings[0]


def test_an_answer_without_number_or_text_of_an_option_is_refused_by_row_and_column(batch):
    with pytest.raises(BadInput, match=r"batch\.csv, row 3, column 'Answer\.Choice1'"):
        read(batch({}, {"AssignmentId": "A2", "Answer.Choice1": "maybe"}))


def test_a_missing_column_is_named_with_those_found(tmp_path):
    path = tmp_path / "short.csv"
    path.write_text("AssignmentId,AssignmentStatus,WorkerId\nA,Approved,W\n")
    with pytest.raises(MissingColumns, match=r"Input\.field_1_1.*found are: AssignmentId"):
        read(path)


def test_an_assignment_twice_is_refused(batch):
    with pytest.raises(BadInput, match="occurs in two rows"):
        read(batch({}, {}))


def test_blimps_batch_has_its_published_shape(shared_data):
    judgments = read_judgments(
        shared_data("blimp/human_responses.csv"), "mturk-batch", options=SourceOptions()
    )
    assert judgments.counts == {
        "participants": 345,
        "sessions": 1744,
        "judgments": 8720,
        "answered": 8718,
        "missing": 2,
        "by_kind": {"catch": 1744, "target": 6976},
    }
    assert (judgments.sessions["submission_status"] == "rejected").sum() == 10
    assert judgments.judgments["paradigm"].replace("", None).nunique() == 70
