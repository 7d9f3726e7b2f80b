"""``manage.py compare`` and ``manage.py score`` as a person at a terminal meets them."""

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from django.core.management import CommandError, call_command, load_command_class

from analysis.ngrams import train_model, write_arpa

ROOT = Path(__file__).resolve().parents[3]
HUMAN = "sentence_id,score\ng1,1.0\nb1,-0.6\ng2,0.8\nb2,-1.0\ng3,0.5\nb3,\n"
PAIRS = "pair_id,good_id,bad_id,paradigm\np1,g1,b1,x\np2,g2,b2,x\np3,g3,b3,y\n"
SCORES = "sentence_id,near,far\ng1,5,1\nb1,-4,2\ng2,4,3\nb2,-5,1\ng3,3,0\nb3,-2,\n"


@pytest.fixture
def folder(tmp_path):
    for name, text in {"human": HUMAN, "pairs": PAIRS, "scores": SCORES}.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


class Done(NamedTuple):
    """What a command printed and how it ended."""

    stdout: str
    stderr: str
    returncode: int


@pytest.fixture
def manage(folder, monkeypatch):
    """Run a command in this process; touching the database would fail the test."""
    monkeypatch.chdir(folder)

    def run(*words, status=0):
        out, err = StringIO(), StringIO()
        try:
            call_command(*words, stdout=out, stderr=err)
            run = Done(out.getvalue(), err.getvalue(), 0)
        except CommandError as error:
            run = Done(out.getvalue(), str(error), error.returncode)
        assert run.returncode == status, run.stderr
        return run

    return run


@pytest.fixture
def terminal(folder):
    """Run a command as its own process, with a database that does not exist and cannot be made."""

    def run(*words, status=0):
        nowhere = {"DATABASE_URL": "sqlite:////nowhere/at/all.sqlite3", "SECRET_KEY": "k" * 60}
        process = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *words],
            cwd=folder, capture_output=True, text=True, check=False, timeout=120,
            env={"PATH": "/usr/bin:/bin", **nowhere},
        )  # fmt: skip
        assert process.returncode == status, process.stderr
        return process

    return run


def files(**paths):
    defaults = {"human": "human.csv", "pairs": "pairs.csv", "scores": "scores.csv"} | paths
    return ["compare", *(word for name, path in defaults.items() for word in (f"--{name}", path) if path)]


def test_compare_prints_one_document_without_a_database(terminal):
    document = json.loads(terminal(*files(), "--json").stdout)
    assert document["pairs"] == 3 and document["labeled_pairs"] == 2
    near = document["models"][0]
    assert near["model"] == "near" and near["blimp"] == 1.0 and near["adc"].keys() == {"0.5", "1", "5"}
    assert document["left_out"]["missing_score"]["far"]["sentence_ids"] == ["b3"]


def test_compare_shows_a_table_with_chance_and_the_constant(manage):
    text = manage(*files(), "--constant", "1.25").stdout
    for word in ("near", "chance", "constant Δ = 1.7", "constant Δ = 1.25", "no score of b3", "ddof 0"):
        assert word in text


def test_the_table_names_every_convention_and_counts_equal_scores(manage, folder):
    (folder / "judgments.csv").write_text(
        "participant,sentence_id,value,task\n"
        + "".join(
            f"P{n},{s},{4 + (s[0] == 'g') + n % 3},likert\n"
            for n in range(8)
            for s in ("g1", "b1", "g2", "b2")
        )
    )
    (folder / "scores.csv").write_text("sentence_id,m\ng1,5\nb1,5\ng2,4\nb2,-5\ng3,3\nb3,2\n")
    output = " ".join(manage(*files(), "--judgments", "judgments.csv").stdout.split())
    for words in (
        "z over all scored sentences, each once, ddof 0", "Signs: strict", "equal scores fail",
        "|Δh - Δlm| < δ", "Constant: median Δh", "r: Pearson, rho: Spearman", "1000 permutations",
        "none below 5 clusters", "Seed 0", "split halves within list", "(people - constant)",
        "Pairs with equal scores: m 1.",
    ):  # fmt: skip
        assert words in output, words


def test_accuracy_by_paradigm_is_a_table_of_its_own(manage):
    table = manage(*files(), "--by-paradigm").stdout
    rows = [line.split() for line in table.partition("BLiMP criterion by paradigm")[2].splitlines()]
    assert ["x", "2", "1.000", "0.500"] in rows and "criterion by paradigm" not in manage(*files()).stdout
    assert "No human scores: the BLiMP criterion alone." in manage(*files(human=None)).stdout


def test_deltas_signs_and_scales_are_options(manage):
    words = [*files(), "--json", "--delta", "2", "--signs", "published", "--already-standardized"]
    document = json.loads(manage(*words).stdout)
    assert document["models"][0]["adc"].keys() == {"2"}
    assert document["conventions"]["signs"] == "published"
    assert document["standardization"]["models"] == "as given"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("human", "sentence_id,score\ng1,nan\n", ["human.csv", "row 2", "'score'"]),
        ("human", "sentence_id,scor\ng1,1\n", ["human.csv", "score", "scor"]),
        ("pairs", "pair_id,good_id,bad_id\np1,g1,\n", ["pairs.csv", "row 2", "'bad_id'"]),
        ("scores", "sentence_id,m\ng1,1,2\n", ["scores.csv", "row 2"]),
        ("scores", "sentence_id,m\nz1,1\n", ["z1"]),
    ],
)
def test_bad_files_are_refused_in_one_line(manage, folder, name, text, words):
    (folder / f"{name}.csv").write_text(text)
    run = manage(*files(), "--json", status=2)
    assert run.stdout == ""
    assert len(run.stderr.strip().splitlines()) == 1
    assert all(word in run.stderr for word in words)


@pytest.mark.parametrize("words", [["--signs", "loose"], ["--delta", "0"], ["--human", "nowhere.csv"]])
def test_bad_options_are_refused(manage, words):
    assert manage(*files(), *words, status=2).stdout == ""


def test_a_terminal_sees_status_two_and_one_line(terminal, folder):
    (folder / "human.csv").write_text("sentence_id,score\ng1,inf\n")
    run = terminal(*files(), "--json", status=2)
    assert run.stdout == ""
    assert len(run.stderr.strip().splitlines()) == 1 and "human.csv, row 2" in run.stderr


@pytest.mark.parametrize("command", ["compare", "score"])
def test_help_has_an_example(command):
    text = load_command_class("releases", command).create_parser("manage.py", command).format_help()
    assert "Example:" in text and f"manage.py {command}" in text


def test_score_writes_one_column_per_method_that_compare_reads(manage, folder):
    (folder / "table.csv").write_text(SCORES)
    (folder / "sentences.csv").write_text(
        "sentence_id,sentence\n" + "".join(f"{s},A b.\n" for s in ("g1", "b1"))
    )
    words = ["score", "csv:table.csv?column=near", "--sentences", "sentences.csv", "--to", "out.csv"]
    summary = json.loads(manage(*words, "--method", "lp", "meanlp", "--name", "m", "--json").stdout)
    assert summary["columns"] == ["m:lp", "m:meanlp"]
    assert (folder / "out.csv").read_text() == "sentence_id,m:lp,m:meanlp\ng1,5.0,2.5\nb1,-4.0,-2.0\n"
    assert json.loads((folder / "out.spec.json").read_text())["spec_id"] == summary["spec_id"]
    assert json.loads(manage(*files(scores="out.csv"), "--json").stdout)["models"][0]["model"] == "m:lp"


@pytest.mark.parametrize(
    ("model", "words", "message"),
    [
        ("arpas:x", [], "Did you mean 'arpa'"),
        ("arpa:nowhere.arpa", [], "nowhere.arpa"),
        ("csv:scores.csv", [], "near, far"),
        ("csv:scores.csv?column=near", ["--method", "slorr"], "slor"),
        ("csv:scores.csv?column=near", ["--method", "slor"], "words' own"),
    ],
)
def test_score_that_fails_writes_nothing(manage, folder, model, words, message):
    (folder / "sentences.csv").write_text("sentence_id,sentence\ng1,A b.\n")
    run = manage("score", model, "--sentences", "sentences.csv", "--to", "out.csv", *words, status=2)
    assert message in run.stderr and len(run.stderr.strip().splitlines()) == 1
    assert not list(folder.glob("out*")) and not list(folder.glob(".out*"))


def test_a_releases_forced_choices_give_the_ceiling_as_they_are(manage, folder):
    lines = ["participant,sentence_id,value,task,list,kind,pair_id,status,excluded_by"]
    for person in range(8):
        lines.append(f"P{person},,1,forced_choice,L1,practice,,answered,")
        for pair in (1, 2, 3):
            value = int(person >= pair)
            lines.append(
                f"P{person},{'g' if value else 'b'}{pair},{value},forced_choice,L1,target,p{pair},answered,"
            )
    lines.append("X,g1,1,forced_choice,L1,target,p1,answered,catch_failed")
    (folder / "judgments.csv").write_text("\n".join(lines) + "\n")
    words = ("--human", "human.csv", "--pairs", "pairs.csv", "--scores", "scores.csv")
    run = manage("compare", *words, "--judgments", "judgments.csv", "--json")
    document = json.loads(run.stdout)
    ceiling = document["baselines"]["human_ceiling"]
    assert (ceiling["status"], ceiling["basis"], ceiling["participants"]) == ("ok", "forced_choice", 8)
    assert "5" in document["models"][0]["skill"]


def test_in_depth_reads_the_counts_that_score_wrote_beside_its_scores(manage, folder):
    sentences = "sentence_id,sentence\ng1,a b c\nb1,b b a\ng2,a c\nb2,c c b a\ng3,b c a a b\nb3,c b\n"
    (folder / "sentences.csv").write_text(sentences)
    text = [line.partition(",")[2].split() for line in sentences.splitlines()[1:]]
    write_arpa(train_model(text + text[::2], order=2), folder / "two.arpa")
    manage("score", "arpa:two.arpa", "--sentences", "sentences.csv", "--to", "two.csv")
    words = ("compare", "--human", "human.csv", "--pairs", "pairs.csv", "--scores", "two.csv", "--in-depth")
    rows = json.loads(manage(*words, "--json").stdout)["depth"]["linking"]
    assert {row["model"] for row in rows} == {"two"}
    assert next(row for row in rows if row["function"] == "slor")["r"] is not None
    (folder / "two.counts.parquet").unlink()
    rows = json.loads(manage(*words, "--json").stdout)["depth"]["linking"]
    assert next(row for row in rows if row["function"] == "slor")["status"] == "no_length"
