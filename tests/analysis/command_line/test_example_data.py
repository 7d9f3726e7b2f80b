"""The simulated studies of the tutorials: complete designs, the same rows everywhere."""

import json

import pandas as pd
import pytest

import analysis
from analysis.command_line.program import main
from analysis.comparison.files import read_human, read_pairs, read_sentences


def test_the_island_study_is_a_latin_square_of_distinct_sentences():
    rows = analysis.example_study("islands")
    assert rows["sentence"].nunique() == 64
    assert (rows.groupby(["subj", "structure", "distance"]).size() == 4).all()
    assert (rows.groupby("sentence").size() == 6).all() and rows["rating"].between(1, 7).all()


def test_the_validation_study_has_every_pair_of_everybody_and_catch_trials():
    rows = analysis.example_study("validation")
    targets = rows[rows["kind"] == "target"]
    assert (targets.groupby(["participant", "pair_id"]).size() == 1).all() and len(targets) == 24 * 32
    shares = targets[~targets["participant"].isin(["P07", "P19"])].groupby("paradigm")["value"].mean()
    assert shares.idxmin() == "polarity" and shares["subject_verb_near"] > 0.9


def test_the_rows_are_the_same_at_every_call():
    for name in ("islands", "validation"):
        pd.testing.assert_frame_equal(analysis.example_study(name), analysis.example_study(name))
    with pytest.raises(ValueError, match="Did you mean 'islands'"):
        analysis.example_study("island")


def test_the_files_are_read_by_the_readers_of_the_commands(tmp_path, capsys):
    assert main(["examples", "--out", str(tmp_path / "new"), "--json"]) == 0
    names = json.loads(capsys.readouterr().out)["files"]
    assert {path.name for path in (tmp_path / "new").iterdir()} == set(names)
    pairs, sentences = (
        read_pairs(tmp_path / "new" / "pairs.csv"),
        read_sentences(tmp_path / "new" / "sentences.csv"),
    )
    assert set(pairs["good_id"]) | set(pairs["bad_id"]) == set(sentences["sentence_id"])
    assert set(read_human(tmp_path / "new" / "human.csv")["sentence_id"]) == set(sentences["sentence_id"])
    written = analysis.read_judgment_file(tmp_path / "new" / "validation.csv")
    assert written["value"].tolist() == analysis.example_study("validation")["value"].tolist()


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["examples", "--out", str(tmp_path / "file" / "below")]) == 2
    assert "cannot be made" in capsys.readouterr().err
