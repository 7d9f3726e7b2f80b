"""A column named as surprisal, perplexity or loss is never compared before its sign is known."""

import json
import warnings
from io import StringIO

import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.command_line.program import main
from analysis.comparison.files import read_scores
from analysis.comparison.in_depth.report import depth_report
from analysis.comparison.report import compare_report
from analysis.errors import BadInput
from analysis.scoring import score_sentences, scorer
from analysis.scoring.orientation import asks_for_sign

PAIRS = "pair_id,good_id,bad_id\np1,g1,b1\np2,g2,b2\n"
#: Good sentences have the lower surprisal and the higher log probability.
SCORES = "sentence_id,gpt2_surprisal,bert\ng1,3,-3\nb1,9,-9\ng2,4,-4\nb2,8,-8\n"


@pytest.fixture
def files(tmp_path):
    for name, text in {"pairs": PAIRS, "scores": SCORES}.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def compared(files, *options):
    out = StringIO()
    arguments = ["--pairs", str(files / "pairs.csv"), "--scores", str(files / "scores.csv"), "--json"]
    call_command("compare", *arguments, *options, stdout=out)
    document = json.loads(out.getvalue())
    return {row["model"]: row["blimp"] for row in document["models"]}, document["negated"]


@pytest.mark.parametrize(
    "name",
    [
        *("surprisal", "Surprisal", "gpt2_surprisal", "gpt2surprisal", "mean surprisal", "surp"),
        *("ppl", "PPL", "gpt2-ppl", "pseudo-perplexity", "perplexity_bert", "pppl", "gpt2ppl"),
        *("loss", "valLoss", "loss_17", "nll", "cross-entropy", "bpc"),
    ],
)
def test_names_of_losses_ask(name):
    assert asks_for_sign(name)


@pytest.mark.parametrize(
    "name", ["lp", "gpt2", "gloss", "apple", "lossless", "score", "slor", "surprise-net", "loss-model:lp"]
)
def test_other_names_do_not(name):
    assert not asks_for_sign(name)


def test_compare_refuses_to_guess_and_names_the_option(files):
    with pytest.raises(CommandError) as error:
        compared(files)
    text = str(error.value)
    assert error.value.returncode == 2 and "--sign lower" in text and "--sign higher" in text
    assert "scores.csv" in text and "'gpt2_surprisal'" in text


def test_compare_negates_a_loss_when_requested(files):
    assert compared(files, "--sign", "lower") == ({"gpt2_surprisal": 1.0, "bert": 1.0}, ["gpt2_surprisal"])
    by_column = compared(files, "--sign", "gpt2_surprisal=lower", "bert=lower")
    assert by_column == ({"gpt2_surprisal": 1.0, "bert": 0.0}, ["gpt2_surprisal", "bert"])
    assert compared(files, "--sign", "higher") == ({"gpt2_surprisal": 0.0, "bert": 1.0}, [])


def test_positive_values_and_inverted_columns_are_named(tmp_path):
    pairs = "\n".join(["pair_id,good_id,bad_id", *(f"p{n},g{n},b{n}" for n in range(20))])
    (tmp_path / "pairs.csv").write_text(pairs)

    def compare(good, bad, *options):
        rows = [f"{member}{n},{value}" for n in range(20) for member, value in (("g", good), ("b", bad))]
        (tmp_path / "scores.csv").write_text("\n".join(["sentence_id,gpt2", *rows]))
        out = StringIO()
        files = ["--pairs", str(tmp_path / "pairs.csv"), "--scores", str(tmp_path / "scores.csv")]
        call_command("compare", *files, *options, stdout=out)
        return " ".join(out.getvalue().split())

    with pytest.raises(CommandError, match="no log probability is above 0"):
        compare(25.1, 36.2)
    assert "gpt2 is lower for nearly all good members" not in compare(25.1, 36.2, "--sign", "lower")
    with pytest.raises(CommandError, match="0 of 20 pairs right.*--sign gpt2=lower"):
        compare(-36.2, -25.1)
    assert "gpt2 is lower for nearly all good members" in compare(-36.2, -25.1, "--sign", "gpt2=higher")


def test_a_sign_of_a_column_that_no_file_has_is_refused(files):
    with pytest.raises(CommandError, match="unknown column of scores 'gpt2_ppl'"):
        compared(files, "--sign", "gpt2_ppl=lower", "gpt2_surprisal=lower")


def test_readers_take_the_sign_in_python(files):
    with pytest.raises(BadInput):
        read_scores([files / "scores.csv"])
    frame = read_scores([files / "scores.csv"], signs={"": "lower"})
    assert frame["gpt2_surprisal"].tolist() == [-3, -9, -4, -8] and frame["bert"].tolist() == [-3, -9, -4, -8]


def test_a_table_as_a_model_takes_the_sign_in_its_uri(files):
    address = f"csv:{files / 'scores.csv'}?column=gpt2_surprisal"
    with pytest.raises(BadInput, match="sign=lower"):
        scorer(address)
    sentences = pd.DataFrame({"sentence_id": ["g1", "b1"], "sentence": ["a b", "b a"]})
    scored = score_sentences(scorer(f"{address}&sign=lower"), sentences)
    assert (
        scored.frame.iloc[:, 1].tolist() == [-3, -9] and scored.summary["spec"]["options"]["sign"] == "lower"
    )
    assert "sign" not in scorer(f"csv:{files / 'scores.csv'}?column=bert").spec.options


@pytest.mark.django_db
def test_score_takes_the_sign_as_an_option(files):
    (files / "sentences.csv").write_text("sentence_id,sentence\ng1,a b\nb1,b a\n")
    arguments = [f"csv:{files / 'scores.csv'}?column=gpt2_surprisal", "--sentences"]
    arguments += [str(files / "sentences.csv"), "--name", "gpt2", "--to", str(files / "out.csv")]
    with pytest.raises(CommandError, match="--sign lower"):
        call_command("score", *arguments, stdout=StringIO())
    call_command("score", *arguments, "--sign", "lower", stdout=StringIO())
    assert pd.read_csv(files / "out.csv")["gpt2:lp"].tolist() == [-3, -9]


def test_the_library_warns_of_positive_and_of_inverted_scores_until_their_sign_is_stated():
    pairs = pd.DataFrame({"pair_id": range(20), "good_id": range(20), "bad_id": range(20, 40)}).astype(str)

    def compared(good, bad, signs=None, name="gpt2", report=compare_report):
        scores = pd.DataFrame({"sentence_id": map(str, range(40)), name: [good] * 20 + [bad] * 20})
        scores.attrs["signs"] = signs or {}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            report(None, pairs, scores)
        return [str(warning.message) for warning in caught if "the scores" in str(warning.message)]

    [both] = compared(25.1, 36.2)
    assert "'gpt2' are lower for nearly all good members, and all positive, as surprisals" in both
    assert "are all positive" in compared(36.2, 25.1)[0] == compared(36.2, 25.1, report=depth_report)[0]
    assert "are named as a loss" in compared(-1, -2, name="ppl")[0]
    assert "scores.attrs['signs'] = {'gpt2': 'higher'}" in compared(-36.2, -25.1)[0]
    for good, bad in ((36.2, 25.1), (25.1, 36.2), (-36.2, -25.1)):
        assert compared(good, bad, {"gpt2": "higher"}) == []
    assert compared(-25.1, -36.2) == [] == compared(36.2, 25.1, name="gpt2:slor")


def test_figures_ask_for_the_sign_of_inverted_scores_too(tmp_path, capsys):
    (tmp_path / "pairs.csv").write_text(
        "\n".join(["pair_id,good_id,bad_id", *(f"p{n},g{n},b{n}" for n in range(20))])
    )
    rows = [f"{member}{n},{value - n}" for n in range(20) for member, value in (("g", -36), ("b", -5))]
    (tmp_path / "scores.csv").write_text("\n".join(["sentence_id,gpt2,ppl", *(f"{row},2" for row in rows)]))
    files = ["--pairs", str(tmp_path / "pairs.csv"), "--scores", str(tmp_path / "scores.csv")]
    assert main(["figures", *files, "--sign", "lower", "--out", str(tmp_path / "out")]) == 2
    assert "column 'gpt2': lower for nearly all good members" in capsys.readouterr().err
