"""What a model reads of the sentences is checked before scoring, and shown wherever its scores are."""

import json
from io import StringIO

import pandas as pd
import pytest
from django.core.management import call_command

from analysis.ngrams import train_model, write_arpa
from analysis.scoring import score_sentences, scorer
from analysis.scoring.base import Spec
from analysis.scoring.words.sentence_check import Readings, check_findings, check_sentences, check_text

PAIR = "WARNING: 1 of 2 pairs have two sentences of the same tokens: a tie that is no judgment of the model: "


@pytest.fixture
def files(tmp_path):
    """Two pairs for a model of lower-case words, one of which differs in a capital."""
    sentences = {"g1": "the Keys are", "b1": "the keys are", "g2": "a key is", "b2": "a zebra is"}
    (tmp_path / "sentences.csv").write_text(
        "sentence_id,sentence\n" + "".join(f"{name},{text}\n" for name, text in sentences.items())
    )
    (tmp_path / "pairs.csv").write_text("pair_id,good_id,bad_id\n1,g1,b1\n2,g2,b2\n")
    write_arpa(train_model([["the", "keys", "are"], ["a", "key", "is"]], order=2), tmp_path / "two.arpa")
    return tmp_path


def score(files, *words, model="two.arpa?casing=lower"):
    out, err = StringIO(), StringIO()
    call_command(
        "score", f"arpa:{files / model}", "--sentences", str(files / "sentences.csv"), *words,
        "--to", str(files / "scores.csv"), stdout=out, stderr=err,
    )  # fmt: skip
    return out.getvalue(), err.getvalue()


def test_the_command_names_pairs_of_the_same_tokens_unknown_words_and_changed_characters(files):
    _, printed = score(files, "--pairs", str(files / "pairs.csv"))
    assert f"{PAIR}“the Keys are” = “the keys are”\n" in printed
    assert "2 of 4 sentences have the tokens of another one: “the Keys are” = “the keys are”\n" in printed
    assert "1 of 4 sentences have unknown tokens: “zebra”\n" in printed
    assert "1 of 4 sentences have characters that the tokenizer changes: K lost in 1\n" in printed
    assert "not restored" not in printed  # beyond the change of the character
    assert "sentences: unknown tokens" not in printed and "indistinguishable" not in printed


def test_the_check_is_stored_with_the_scores_and_part_of_their_conventions(files):
    out, _ = score(files, "--pairs", str(files / "pairs.csv"), "--json")
    check = json.loads(out)["check"]
    assert json.loads((files / "scores.spec.json").read_text())["check"] == check
    assert [(row["name"], row["n"]) for row in check["findings"]][:3] == [
        ("same_pairs", 1), ("same_sentences", 2), ("unknown", 1),
    ]  # fmt: skip
    printed = StringIO()
    call_command(
        "compare", "--pairs", str(files / "pairs.csv"), "--scores", str(files / "scores.csv"), stdout=printed
    )
    assert "sentences as read 1 of 2 pairs have two sentences of the same tokens" in " ".join(
        printed.getvalue().split()
    )


def test_sentences_that_are_read_as_written_are_said_to_be(files):
    (files / "sentences.csv").write_text("sentence_id,sentence\n1,the keys are\n2,a key is\n")
    _, printed = score(files, model="two.arpa")
    assert "no sentence is changed, has unknown tokens or those of another one\n" in printed


def test_a_context_tells_equal_sentences_apart(files):
    frame = pd.DataFrame({
        "sentence_id": ["a", "b", "c", "d"],
        "sentence": ["the keys are", "the keys are", "The keys are", "a key is"],
        "context": ["a key is", "the keys are", "a key is", ""],
    })  # fmt: skip
    model = scorer(f"arpa:{files / 'two.arpa'}?casing=lower")
    pairs = [("a", "b"), ("a", "c"), ("a", "nobody")]
    [same, *_] = check_findings(score_sentences(model, frame, pairs=pairs).summary["check"])
    assert (same.name, same.n, same.of) == ("same_pairs", 1, 2)
    alone = check_findings(
        score_sentences(model, frame.drop(columns="context"), pairs=pairs).summary["check"]
    )
    assert (alone[0].n, alone[0].of, alone[0].is_grave) == (2, 2, True)


class Reader:
    """A scorer whose tokenizer drops a hyphen, adds spaces, and is not that of the library."""

    spec = Spec("x:y", "", "ll")

    def read_sentences(self, sentences):
        plain = [text.replace("-", "") for text in sentences]
        return Readings(
            plain,
            [f" {text.replace('.', ' .')}" for text in plain],
            [[]] * len(plain),
            [text.replace("B", "b") for text in sentences],
            [text.startswith("A") for text in plain],
        )


def test_each_finding_has_its_number_and_examples():
    texts = ["A co-op.", "B is.", "It is"]
    check = check_sentences(Reader(), ["1", "2", "3"], texts)
    assert [(finding.name, finding.n, finding.examples) for finding in check_findings(check)] == [
        ("changed", 1, ["B lost in 1"]),
        ("other_text", 1, ["“A co-op.” → “A coop .”"]),
        ("other_spaces", 1, []),
        ("library", 1, ["“A co-op.”"]),
    ]
    assert check_text(check).startswith("1 of 3 sentences have characters that the tokenizer changes; 1 of 3")
    assert check_sentences(object(), ["1"], ["x"]) is None and check_text(None) == ""
