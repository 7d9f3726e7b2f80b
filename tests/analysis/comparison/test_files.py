"""The five kinds of file: what they need, and what is said of a file that lacks it."""

import numpy as np
import pandas as pd
import pytest

from analysis.comparison.files import read_human, read_judgments, read_pairs, read_scores, read_sentences
from analysis.errors import BadInput
from analysis.table_forms import read_number_columns


@pytest.fixture
def file(tmp_path):
    def write(text, name="t.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def refusal(read, *paths):
    with pytest.raises(BadInput) as error:
        read(*paths)
    return str(error.value)


def test_a_broken_csv_is_named_with_its_line(shared_data):
    path = shared_data("paired-gpt2-li/Sprouse2013_surprisalsSents.csv")
    for read in (read_human, read_pairs, read_sentences, lambda path: read_scores([path])):
        message = refusal(read, path)
        assert "Sprouse2013_surprisalsSents.csv, row 181" in message
        assert "cells where the head names 7 columns" in message


def test_a_missing_column_is_named_with_the_columns_found_and_a_near_name(file):
    message = refusal(read_human, file("sentence_id,scores\na,1\n"))
    assert (
        "score" in message
        and "columns found are: sentence_id, scores" in message
        and "Did you mean" in message
    )


def test_a_pair_with_one_member_is_refused(file):
    message = refusal(read_pairs, file("pair_id,good_id,bad_id\np1,a,b\np2,c,\n"))
    assert "row 3" in message and "'bad_id'" in message and "one member" in message


def test_a_pair_of_one_sentence_is_refused(file):
    message = refusal(read_pairs, file("pair_id,good_id,bad_id\np1,a,a\n"))
    assert "row 2" in message and "both members" in message


@pytest.mark.parametrize("cell", ["nan", "NaN", "inf", "-Infinity", "high", "1_000", "1,5"])
def test_what_is_no_finite_number_is_refused(file, cell):
    message = refusal(read_human, file(f'sentence_id,score\na,1\nb,"{cell}"\n'))
    assert "row 3" in message and "'score'" in message and cell in message


def test_infinite_scores_are_refused_in_parquet_too(tmp_path):
    path = tmp_path / "scores.parquet"
    pd.DataFrame({"sentence_id": ["a", "b"], "m": [1.0, np.inf]}).to_parquet(path)
    message = refusal(lambda path: read_scores([path]), path)
    assert "row 2" in message and "'m'" in message


def test_a_score_that_is_nan_is_missing_in_every_form(file, tmp_path):
    path = tmp_path / "scores.parquet"
    pd.DataFrame({"sentence_id": ["a", "b"], "m": [1.0, np.nan]}).to_parquet(path)
    for source in (path, file("sentence_id,m\na,1\nb,NaN\n")):
        assert read_scores([source])["m"].isna().tolist() == [False, True]
        assert read_number_columns(source, keys=("sentence_id",))[0]["m"].isna().tolist() == [False, True]


def test_a_sentence_of_100_000_words_is_read(file):
    sentences = read_sentences(file(f"sentence_id,sentence\na,{'dog ' * 100_000}\nb,B.\n"))
    assert len(sentences["sentence"].iloc[0].split()) == 100_000
    message = refusal(read_sentences, file(f'sentence_id,sentence\na,A.\nb,"{"dog " * 300_000}"\n'))
    assert "row 3" in message and "quotation mark" in message


def test_a_sentence_without_words_is_refused_with_what_to_do(file):
    for cell in ("", " "):
        message = refusal(read_sentences, file(f'sentence_id,sentence\na,A.\nb,"{cell}"\n'))
        assert "row 3" in message and "'sentence'" in message and "remove the row" in message


def test_an_empty_score_is_missing_not_zero(file):
    assert read_human(file("sentence_id,score\na,\nb,1\n"))["score"].isna().tolist() == [True, False]


def test_a_sentence_scored_twice_is_refused_with_both_rows(file):
    message = refusal(lambda path: read_scores([path]), file("sentence_id,m\na,1\nb,2\na,3\n"))
    assert "row 4" in message and "row 2" in message


def test_files_of_scores_are_joined_and_describing_columns_left_aside(file):
    first = file("sentence_id,sentence,trigram\na,A.,1\nb,B.,2\n", "one.csv")
    two = file('{"sentence_id": "b", "gpt": -3.5}\n{"sentence_id": "c", "gpt": null}\n', "two.jsonl")
    scores = read_scores([first, two]).set_index("sentence_id")
    assert scores.columns.tolist() == ["trigram", "gpt"]
    assert scores.loc["b"].tolist() == [2.0, -3.5]
    assert np.isnan(scores.loc["c", "gpt"]) and np.isnan(scores.loc["a", "gpt"])


def test_one_model_in_two_files_is_refused(file):
    paths = [file("sentence_id,m\na,1\n", "one.csv"), file("sentence_id,m\na,2\n", "two.csv")]
    assert "one.csv." in refusal(read_scores, paths)


def test_numeric_ids_are_text_whatever_the_kind_of_file(tmp_path, file):
    frame = pd.DataFrame({"sentence_id": [2, 3], "m": [0.5, 1.5]})
    frame.to_parquet(tmp_path / "t.parquet")
    csv = file("sentence_id,n\n2,1\n3,1\n")
    assert read_scores([tmp_path / "t.parquet", csv])["sentence_id"].tolist() == ["2", "3"]


def test_judgments_keep_their_other_columns(file):
    frame = read_judgments(file("participant,sentence_id,value,list\nP1,a,7,L1\nP2,a,,L2\n"))
    assert frame["list"].tolist() == ["L1", "L2"] and frame["value"].isna().tolist() == [False, True]


def test_li_adgers_ids_with_stars_and_question_marks_come_back(file):
    text = 'sentence_id,sentence\n34.4.boskovic.3c.*.01,They left.\n35.1.x.2.?*.03,"Left, they."\n'
    assert read_sentences(file(text))["sentence_id"].tolist() == ["34.4.boskovic.3c.*.01", "35.1.x.2.?*.03"]
