"""`obelus` on a file of judgments prints what `manage.py` prints for the study that they are from."""

import json

import pytest
from django.core.management import call_command

from analysis.command_line.program import main
from judgments.frames.build import judgment_frame
from judgments.frames.export import columns_of, csv_blocks
from tests.releases.study import judged_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def judgments(tmp_path):
    """Write the download of all columns of a study."""

    def write(study):
        frame = judgment_frame(study)
        path = tmp_path / f"{study.slug}.csv"
        path.write_text("".join(csv_blocks(frame, columns_of("all", frame))), encoding="utf-8")
        return str(path)

    return write


def printed(capsys, *, by):
    by()
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("task", "command"),
    [
        ("forced_choice", ["agreement", "--rule", "blimp", "--seed", "3"]),
        ("forced_choice", ["reliability", "--rule", "blimp"]),
        ("forced_choice", ["agreement", "--exclude", "catch_failed"]),
        ("likert", ["ratings", "--transform", "z"]),
        ("likert", ["times"]),
    ],
)
def test_a_file_gives_the_documents_and_texts_of_the_study(judgments, capsys, task, command):
    study = judged_study("pilot", task=task)
    path, (name, *options) = judgments(study), command
    for form in ([], ["--json"]):
        ours = printed(capsys, by=lambda form=form: main([name, path, *options, *form]))
        theirs = printed(capsys, by=lambda form=form: call_command(name, study.slug, *options, *form))
        assert ours == theirs
        assert ours


def test_exclusions_of_a_file_are_those_of_the_study_but_for_its_questionnaire(judgments, capsys):
    study = judged_study("pilot")
    path = judgments(study)
    options = ["--exclude", "catch_failed", "--json"]
    ours = json.loads(printed(capsys, by=lambda: main(["exclusions", path, *options])))
    theirs = json.loads(printed(capsys, by=lambda: call_command("exclusions", study.slug, *options)))
    assert {**ours, "groups": []} == {**theirs, "groups": []}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("participant,valeu\np1,1\n", "value"),
        ("participant,value\np1,much\n", "row 2, column 'value'"),
        ("participant,value,native\np1,1,perhaps\n", "row 2, column 'native'"),
    ],
)
def test_bad_files_are_one_line_and_status_2(tmp_path, capsys, text, problem):
    path = tmp_path / "judgments.csv"
    path.write_text(text)
    assert main(["agreement", str(path)]) == 2
    printed_error = capsys.readouterr().err
    assert problem in printed_error
    assert str(path) in printed_error
    assert printed_error.count("\n") == 1
