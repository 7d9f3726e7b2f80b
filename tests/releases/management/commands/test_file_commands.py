"""`obelus` on a file of judgments prints what `manage.py` prints for the study that they are from."""

import json
import re

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.core.management import call_command

from analysis.command_line.program import main
from analysis.ngrams import train_model, write_arpa
from experiments.operation import job_runner
from judgments.frames.build import judgment_frame
from judgments.frames.export import csv_blocks, select_columns
from releases.comparison.compare import request_comparison
from releases.material_frames import pair_frame
from releases.scoring.runs import request_scoring
from tests import cast
from tests.releases.study import judged_study, ready_release

pytestmark = pytest.mark.django_db


@pytest.fixture
def judgments(tmp_path):
    """Write the download of all columns of a study."""

    def write(study):
        frame = judgment_frame(study)
        path = tmp_path / f"{study.slug}.csv"
        path.write_text("".join(csv_blocks(frame, select_columns("all", frame))), encoding="utf-8")
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
        ("yes_no", ["items"]),
        ("forced_choice", ["effects"]),
        ("likert", ["effects", "--by", "paradigm", "--transform", "raw", "--sesoi", "0.5"]),
        ("yes_no", ["effects", "--ordinal"]),
        ("yes_no", ["multiverse", "--by", "paradigm", "--exclude", "catch_failed"]),
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


def test_items_of_a_file_with_its_pairs_are_those_of_the_study(judgments, tmp_path, capsys):
    study = judged_study("pilot")
    path, pairs = judgments(study), tmp_path / "pairs.csv"
    pair_frame(study.materials)[["pair_id", "good_id", "bad_id"]].to_csv(pairs, index=False)
    ours = printed(capsys, by=lambda: main(["items", path, "--pairs", str(pairs), "--json"]))
    theirs = printed(capsys, by=lambda: call_command("items", study.slug, "--json"))
    assert json.loads(ours)["bradley_terry"]["reason"] and ours == theirs


def test_exclusions_of_a_file_are_those_of_the_study_but_for_its_questionnaire(judgments, capsys):
    study = judged_study("pilot")
    path = judgments(study)
    options = ["--exclude", "catch_failed", "--json"]
    ours = json.loads(printed(capsys, by=lambda: main(["exclusions", path, *options])))
    theirs = json.loads(printed(capsys, by=lambda: call_command("exclusions", study.slug, *options)))
    assert {**ours, "groups": []} == {**theirs, "groups": []}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files of a study: pairs, scores of two models, people's scores, ratings of a pilot, a text, a model."""
    rng, sentences = np.random.default_rng(4), [f"p{n}.{side}" for n in range(8) for side in ("good", "bad")]
    pairs = [f"p{n},p{n}.good,p{n}.bad,agreement,verbs\n" for n in range(8)]
    (tmp_path / "pairs.csv").write_text("pair_id,good_id,bad_id,paradigm,phenomenon\n" + "".join(pairs))
    for name, head, columns in (("human", "score", 1), ("scores", "one:lp,two:slor", 2)):
        rows = [",".join([key, *map(str, rng.normal(size=columns).round(3))]) for key in sentences]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"sentence_id,{head}", *rows]) + "\n")
    ratings = [
        f"P{person},{key.partition('.')[0]},verbs,{status},{key},likert,{rng.integers(1, 8)}"
        for person in range(8)
        for key in sentences
        for status in (["acceptable"] if key.endswith("good") else ["unacceptable"])
    ]
    head = "participant,item,phenomenon,expected,sentence_id,task,value"
    (tmp_path / "pilot.csv").write_text("\n".join([head, *ratings]) + "\n")
    (tmp_path / "corpus.txt").write_text("the keys are here\nthe key is here\n" * 30)
    write_arpa(train_model([["the", "keys", "are", "here"]] * 3, order=2), tmp_path / "two.arpa")
    (tmp_path / "sentences.csv").write_text("sentence_id,sentence\na,the keys are here\nb,the key is here\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "compare --human human.csv --pairs pairs.csv --scores scores.csv --judgments pilot.csv --by-paradigm",
        "compare --pairs pairs.csv --scores scores.csv --in-depth --human human.csv",
        "train-ngram corpus.txt --out model.arpa --order 3",
        "score arpa:two.arpa --sentences sentences.csv --method lp slor --to out.csv --tokens tokens.csv",
        "power prospective --task likert --effect 0.5 --participants 10 20 --draws 50 --reward 1.50 --fee 25",
        "power resample --judgments pilot.csv --participants 5 10 --draws 50",
    ],
)
def test_commands_on_files_print_and_write_the_same(folder, capsys, command):
    name, *options = command.split()
    given = {path.name for path in folder.iterdir()}
    for form in ([], ["--json"]):
        outcomes = []
        for run in (main, lambda words: call_command(words[0].replace("-", "_"), *words[1:])):
            text = printed(capsys, by=lambda run=run, form=form: run([name, *options, *form]))
            files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in given}
            outcomes.append((text, files))
        assert outcomes[0] == outcomes[1]
        assert outcomes[0][0]


def test_figures_of_a_file_draw_the_numbers_of_the_study(judgments, tmp_path, capsys):
    study = judged_study("pilot")
    path, names = judgments(study), ["items", "agreement", "participants", "reliability", "response-times"]
    options = ["--format", "csv", "--only", *names, "--json"]
    ours = printed(capsys, by=lambda: main(["figures", path, "--out", str(tmp_path / "a"), *options]))
    call = ["figures", study.slug, "--out", str(tmp_path / "b"), *options]
    theirs = printed(capsys, by=lambda: call_command(*call))
    documents = [json.loads(text) for text in (ours, theirs)]
    assert len(documents[0]["files"]) >= 4
    assert {**documents[0], "folder": ""} == {**documents[1], "folder": ""}
    for name in documents[0]["files"]:
        assert (tmp_path / "a" / name).read_text() == (tmp_path / "b" / name).read_text(), name


def test_a_leaderboard_of_files_has_the_numbers_of_the_release(tmp_path, capsys):
    study = judged_study()
    release = ready_release(study)
    keys = study.materials.sentences.values_list("key", flat=True)
    table = "sentence_id,one,two\n" + "".join(f"{key},-{n},-{n * n % 7}\n" for n, key in enumerate(keys))
    runs = [
        request_scoring(study, ContentFile(table.encode(), "table.csv"), column=name, user=cast.ada())
        for name in ("one", "two")
    ]
    for run in runs:
        job_runner.run(run.job_id)
        run.refresh_from_db()
    comparison = request_comparison(release, runs, user=cast.ada())
    job_runner.run(comparison.job_id)
    comparison.refresh_from_db()
    (tmp_path / "comparison.json").write_text(json.dumps(comparison.report))
    options = ["--sort", "pearson_r", "--json"]
    ours = json.loads(
        printed(capsys, by=lambda: main(["leaderboard", str(tmp_path / "comparison.json"), *options]))
    )
    theirs = json.loads(printed(capsys, by=lambda: call_command("leaderboard", study.slug, *options)))
    assert list(ours) == list(theirs)
    assert [list(row) for row in ours["rows"]] == [list(row) for row in theirs["rows"]]
    facts = ("run", "comparison", "family", "corpus", "revision", "model", "method", "seed")
    numbers = [
        [{name: cell for name, cell in row.items() if name not in facts} for row in board["rows"]]
        for board in (ours, theirs)
    ]
    assert numbers[0] == numbers[1]
    same = ("sort", "ascending", "sort_keys", "conventions", "offered")
    assert [ours[name] for name in same] == [theirs[name] for name in same]


def test_models_of_several_comparisons_are_ranked_together(folder, capsys):
    scores = (folder / "scores.csv").read_text()
    (folder / "other.csv").write_text(scores.replace("one:lp,two:slor", "three,one:lp"))
    for name in ("scores", "other"):
        words = [
            "compare",
            "--human",
            "human.csv",
            "--pairs",
            "pairs.csv",
            "--scores",
            f"{name}.csv",
            "--json",
        ]
        (folder / f"{name}.json").write_text(printed(capsys, by=lambda words=words: main(words)))
    (folder / "models.csv").write_text("model,family,training_tokens\nthree,threes,1000\none:lp,ones,\n")
    words = ["leaderboard", "scores.json", "other.json", "--models", "models.csv"]
    board = json.loads(printed(capsys, by=lambda: main([*words, "--json"])))
    rows = {row["model"]: row for row in board["rows"] if row["kind"] == "model"}
    assert {name: (row["method"], row["comparison"]) for name, row in rows.items()} == {
        "one": ("lp", "other.json"), "two": ("slor", "scores.json"), "three": ("lp", "other.json"),
    }  # fmt: skip
    assert (rows["three"]["family"], rows["three"]["training_tokens"]) == ("threes", 1000)
    text = printed(capsys, by=lambda: main(words))
    assert re.search(r"Models, by blimp", text) and "people, another sample" in text


def test_comparisons_of_other_pairs_and_other_documents_are_refused(folder, capsys):
    pairs = (folder / "pairs.csv").read_text()
    (folder / "fewer.csv").write_text("".join(pairs.splitlines(keepends=True)[:-1]))
    for name in ("pairs", "fewer"):
        words = [
            "compare",
            "--human",
            "human.csv",
            "--pairs",
            f"{name}.csv",
            "--scores",
            "scores.csv",
            "--json",
        ]
        (folder / f"{name}.json").write_text(printed(capsys, by=lambda words=words: main(words)))
    (folder / "list.json").write_text("[]")
    for files, problem in (
        (["pairs.json", "fewer.json"], "fewer.json: this comparison is of other pairs"),
        (["list.json"], "list.json: this is not a comparison"),
        (["pairs.csv"], "pairs.csv: this is not a JSON document"),
        (["none.json"], "none.json: there is no such file"),
    ):
        assert main(["leaderboard", *files]) == 2
        assert problem in capsys.readouterr().err


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
