"""``generate`` and ``lint_paradigm``: files of pairs, one line for what is wrong, nothing half-written."""

import csv
import json

import pytest
from django.core.management import CommandError, call_command

from experiments.generation.paradigms import find_paradigm, read_source, shipped_paradigms
from experiments.materials.readers.detect import read_materials

BLIMP = """
sentence_good sentence_bad field linguistics_term UID simple_LM_method one_prefix_method
two_prefix_method lexically_identical pairID
""".split()  # noqa: SIM905


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_pairs_are_written_in_blimps_form_and_read_as_materials(tmp_path):
    path = tmp_path / "pairs.jsonl"
    call_command("generate", "anaphor_gender_agreement", "adjunct_island", n=30, seed=4, to=path)
    pairs = rows(path)
    assert len(pairs) == 60 and set(BLIMP) <= set(pairs[0])
    assert pairs[0]["one_prefix_prefix"] == pairs[0]["sentence_good"].rsplit(" ", 1)[0]
    materials = read_materials([path], format="blimp")
    assert len(materials.pairs) == 60
    assert set(materials.pairs["paradigm"]) == {"anaphor_gender_agreement", "adjunct_island"}


def test_the_same_seed_writes_the_same_bytes_and_a_folder_has_a_file_for_each(tmp_path):
    for name in ("one", "two"):
        call_command(
            "generate", "anaphor_gender_agreement", "adjunct_island", n=20, seed=9, to=tmp_path / name
        )
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == ["adjunct_island.jsonl", "anaphor_gender_agreement.jsonl"]
    assert all((tmp_path / "one" / f).read_bytes() == (tmp_path / "two" / f).read_bytes() for f in files)


def test_a_table_has_the_same_pairs(tmp_path):
    call_command("generate", "adjunct_island", n=10, to=tmp_path / "pairs.csv", format="csv")
    call_command("generate", "adjunct_island", n=10, to=tmp_path / "pairs.jsonl")
    with (tmp_path / "pairs.csv").open(encoding="utf-8", newline="") as lines:
        table = list(csv.DictReader(lines))
    assert [row["sentence_bad"] for row in table] == [
        row["sentence_bad"] for row in rows(tmp_path / "pairs.jsonl")
    ]


@pytest.mark.parametrize(
    ("uid", "n", "message"),
    [
        ("adjunct_iland", 10, "unknown paradigm 'adjunct_iland'. Did you mean adjunct_island"),
        ("adjunct_island", 0, "0 pairs were asked for"),
        ("../../secret", 10, "unknown paradigm"),
        ("no/such/file.toml", 10, "there is no such file"),
    ],
)
def test_bad_input_is_one_line_and_leaves_the_file_as_it_was(tmp_path, uid, n, message):
    path = tmp_path / "pairs.jsonl"
    path.write_text("earlier\n")
    with pytest.raises(CommandError, match="(?s)" + message) as caught:
        call_command("generate", "anaphor_gender_agreement", uid, n=n, to=path)
    assert caught.value.returncode == 2 and "\n" not in str(caught.value)
    assert path.read_text() == "earlier\n" and len(list(tmp_path.iterdir())) == 1


def test_lint_prints_findings_and_its_status_says_whether_there_are_errors(tmp_path, capsys):
    call_command("lint_paradigm", "anaphor_gender_agreement", examples=2)
    assert "anaphor_gender_agreement.toml: clean, 3 frames" in capsys.readouterr().out
    broken = tmp_path / "broken.toml"
    broken.write_text("format = 1\n")
    with pytest.raises(CommandError, match="1 of 1 paradigms have errors: broken.toml"):
        call_command("lint_paradigm", str(broken))
    assert "error: L02 broken.toml: uid is missing. Add uid" in capsys.readouterr().out


def test_lint_names_sentences_of_a_set_that_it_is_compared_with(tmp_path, capsys):
    call_command("generate", "adjunct_island", n=5, to=tmp_path / "pairs.jsonl")
    capsys.readouterr()
    text = tmp_path / "others.txt"
    text.write_text("\n".join(row["sentence_good"] for row in rows(tmp_path / "pairs.jsonl")))
    with pytest.raises(CommandError):
        call_command("lint_paradigm", "adjunct_island", n=20, against=text, json=True)
    findings = json.loads(capsys.readouterr().out)["paradigms"][0]["findings"]
    assert [finding["code"] for finding in findings if finding["level"] == "error"] == ["L19"]


def test_lint_prints_surface_cues_and_models_of_a_text(tmp_path, capsys):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("The monk excused himself.\nThe abbess excused herself.\n" * 20)
    call_command("lint_paradigm", "only_npi_licensor_present", n=100, corpus=corpus)
    printed = capsys.readouterr().out
    assert "naive Bayes on words 1.00" in printed and "single words decide" in printed
    assert "5-gram 0." in printed or "5-gram 1." in printed
    call_command("lint_paradigm", "left_branch_island_simple_question", n=100, json=True)
    cues = json.loads(capsys.readouterr().out)["paradigms"][0]["cues"]
    assert cues["words"] == cues["shorter_in_words"] == 0.5 and cues["solved_by_words"] is False


def test_there_are_blimps_67_paradigms():
    assert len(shipped_paradigms()) == 67


def test_lint_writes_the_figures_that_the_list_of_paradigms_shows(tmp_path):
    path = tmp_path / "figures.json"
    call_command("lint_paradigm", "adjunct_island", n=20, figures=path)
    (name, figures), *others = json.loads(path.read_text()).items()
    assert name == "en:adjunct_island" and not others
    assert figures["sha256"] == find_paradigm("adjunct_island").sha256 and figures["capacity"] > 20_000


def test_lint_names_the_line(tmp_path, capsys):
    broken = tmp_path / "broken.toml"
    broken.write_text(
        read_source("wh_island").decode().replace("wh_island", "broken").replace("[draw]", "[drow]")
    )
    with pytest.raises(CommandError):
        call_command("lint_paradigm", str(broken))
    assert "L01 broken.toml, line 11: unknown key 'drow'. Did you mean draw" in capsys.readouterr().out
