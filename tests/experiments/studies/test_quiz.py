"""The comprehension quiz and the way back: lines and addresses that can be used, and those that cannot."""

import pytest

from analysis.errors import BadInput
from experiments.studies.completion_url import checked_address, filled_address
from experiments.studies.lifecycle import document_sha256, snapshot
from experiments.studies.questionnaire import lines_from_questions, questions_from_lines
from experiments.studies.quiz import lines_from_quiz, quiz_from_lines
from tests import cast

LINES = (
    "What do you judge? | how it sounds | whether it is true; how long it is | Not the facts.\n"
    "Stop? | any time | never"
)


def test_lines_of_a_quiz_come_back_as_they_were_written():
    rows = quiz_from_lines(LINES)
    assert rows[0]["wrong"] == ["whether it is true", "how long it is"]
    assert lines_from_quiz(rows) == LINES


@pytest.mark.parametrize("line", ["Only a question?", "Q? | a", "Q? | a | a", "Q? | a | b; b", "| a | b"])
def test_a_line_that_is_no_quiz_question_is_named(line):
    with pytest.raises(BadInput, match=r"(line 1|quiz question 1)"):
        quiz_from_lines(line)


def test_screening_answers_are_written_as_a_remark_and_must_be_choosable():
    lines = "Do you speak Dutch? | yes-no | required, screen_out: no"
    rows = questions_from_lines(lines)
    assert rows[0]["screen_out"] == ["no"]
    assert lines_from_questions(rows) == lines
    with pytest.raises(BadInput, match="screens out by 'maybe'"):
        questions_from_lines("Dutch? | choice: yes; no | screen_out: maybe")
    with pytest.raises(BadInput, match="screens out"):
        questions_from_lines("Which dialect? | text | screen_out: none")


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/?cc={code}",
        "javascript:alert(1)",
        "https://{code}.example.org/",
        "https://example.org/?t={token}",
        "https://example.org/?t={code",
        "https://user@example.org/",
        'https://example.org/"onclick',
        "https:///path",
    ],
)
def test_a_way_back_that_is_no_plain_https_address_is_refused(address):
    with pytest.raises(BadInput):
        checked_address(address)


def test_a_way_back_is_filled_with_quoted_values():
    template = checked_address("https://example.org/done?cc={code}&id={participant}&s={session}")
    assert filled_address(template, code="A&B", participant="ü 1", session="7") == (
        "https://example.org/done?cc=A%26B&id=%C3%BC%201&s=7"
    )


@pytest.mark.django_db
def test_settings_that_stay_as_they_are_leave_the_checksum_of_older_versions_alone():
    study = cast.draft("agreement")
    cast.presentation_list(study)
    before = document_sha256(snapshot(study))
    assert "quiz" not in snapshot(study)
    study.quiz = quiz_from_lines(LINES)
    assert document_sha256(snapshot(study)) != before
