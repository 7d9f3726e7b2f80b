"""Sentences after a context: n-gram models, tables, templates, and the command on a file."""

import json

import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.errors import BadInput
from analysis.ngrams import train_model, write_arpa
from analysis.scoring import score_sentences, scorer
from analysis.scoring.base import FLAGS
from analysis.scoring.conventions import scoring_conventions

TEXT = [
    "it rained all day .",
    "we left early .",
    "it rained . we left .",
    "it rained . we slept .",
    "the cat slept . we left all day .",
]
CONTEXTS = ["it rained .", "the cat slept .", "", "zebras slept ."]
SENTENCES = ["we left early .", "we left early .", "we left early .", "we left quickly ."]


@pytest.fixture
def arpa(tmp_path):
    """A trigram model without a score for the end of a sentence, so that sums can be subtracted."""
    write_arpa(train_model([line.split() for line in TEXT], order=3), tmp_path / "tri.arpa")
    return f"arpa:{tmp_path / 'tri.arpa'}?eos=no"


@pytest.fixture
def frame():
    ids = [f"s{number}" for number in range(len(SENTENCES))]
    return pd.DataFrame({"sentence_id": ids, "sentence": SENTENCES, "context": CONTEXTS})


def test_score_after_a_context_is_the_difference_of_two_sums(arpa, frame):
    model = scorer(arpa)
    scored = score_sentences(model, frame, methods=["lp", "meanlp", "slor"])
    logprobs = model.score([f"{c} {s}".strip() for c, s in zip(CONTEXTS, SENTENCES, strict=True)]).logprob
    first = np.nan_to_num(model.score(CONTEXTS).logprob)
    np.testing.assert_allclose(scored.frame["tri:lp"], logprobs - first, atol=1e-9)
    assert len(set(scored.frame["tri:lp"].round(6))) == 4


def test_lengths_unknown_words_and_unigrams_are_those_of_the_sentence(arpa, frame):
    counts = score_sentences(scorer(arpa), frame).counts
    alone = score_sentences(scorer(arpa), frame.drop(columns="context")).counts
    for column in ("n_tokens", "n_words", "n_chars", "n_bytes", "n_unk"):
        assert counts[column].tolist() == alone[column].tolist(), column
    assert counts["n_unk"].tolist() == [0, 0, 0, 1]  # "zebras" is in a context
    np.testing.assert_allclose(counts["unigram_logprob"], alone["unigram_logprob"])


def test_equal_sentences_after_two_contexts_are_two_stimuli(arpa, frame):
    scores = score_sentences(scorer(arpa), frame).frame.iloc[:, 1]
    assert scores[0] != scores[1]


def test_record_names_the_template_and_no_context_means_the_former_key(arpa, frame):
    plain = scorer(arpa)
    summary = score_sentences(plain, frame).summary
    assert summary["spec"]["options"]["context"] == "{context} {sentence}"
    assert summary["spec_id"] != plain.spec.spec_id
    assert scoring_conventions(summary)["context"] == "{context} {sentence}"
    without = score_sentences(plain, frame.assign(context="")).summary
    assert without["spec_id"] == plain.spec.spec_id


def test_contexts_can_be_ignored(arpa, frame):
    ignored = score_sentences(scorer(f"{arpa}&context=ignore"), frame)
    alone = score_sentences(scorer(arpa), frame.drop(columns="context"))
    pd.testing.assert_frame_equal(ignored.frame, alone.frame)
    assert ignored.summary["spec_id"] == alone.summary["spec_id"]


def test_prompt_precedes_sentences_with_and_without_contexts(arpa, frame):
    model = scorer(f"{arpa}&prompt=the+cat+slept+.+%7Bsentence%7D")
    scores = score_sentences(model, frame.drop(columns="context")).frame.iloc[:, 1]
    expected = score_sentences(scorer(arpa), frame.assign(context="the cat slept .")).frame.iloc[:, 1]
    np.testing.assert_allclose(scores, expected)


@pytest.mark.parametrize("prompt", ["{context}", "{sentence} .", "{sentence} {sentence}", "{sentence}"])
def test_template_that_scores_something_else_is_refused(arpa, prompt):
    with pytest.raises(BadInput, match="template|nothing stands"):
        scorer(arpa.replace("?eos=no", f"?prompt={prompt}"))


def test_sentence_without_context_for_a_template_is_named(arpa, frame):
    with pytest.raises(BadInput, match="sentence 's2' has no context"):
        score_sentences(scorer(f"{arpa}&prompt=Before: {{context}} {{sentence}}"), frame)


def test_table_is_looked_up_by_id_and_refused_where_a_sentence_has_two_contexts(tmp_path, frame):
    frame.assign(gpt=[-1.0, -2.0, -3.0, -4.0])[["sentence_id", "gpt"]].to_csv(
        tmp_path / "ids.csv", index=False
    )
    scored = score_sentences(scorer(f"csv:{tmp_path / 'ids.csv'}"), frame)
    assert scored.frame.iloc[:, 1].tolist() == [-1.0, -2.0, -3.0, -4.0]
    (tmp_path / "texts.csv").write_text("sentence,gpt\nwe left early .,-1\nwe left quickly .,-2\n")
    with pytest.raises(BadInput, match="after two contexts"):
        score_sentences(scorer(f"csv:{tmp_path / 'texts.csv'}"), frame)


def test_command_reads_the_column_and_writes_the_template(tmp_path, arpa, frame):
    frame.to_csv(tmp_path / "sentences.csv", index=False)
    out = tmp_path / "out.csv"
    call_command("score", arpa, "--sentences", str(tmp_path / "sentences.csv"), "--to", str(out))
    expected = score_sentences(scorer(arpa), frame).frame.iloc[:, 1]
    np.testing.assert_allclose(pd.read_csv(out).iloc[:, 1], expected)
    call_command(
        "score", arpa, "--sentences", str(tmp_path / "sentences.csv"), "--to", str(out),
        "--prompt", r"it rained .\n{sentence}",
    )  # fmt: skip
    record = json.loads(out.with_suffix(".spec.json").read_text())
    assert record["spec"]["options"]["context"] == "it rained .\n{sentence}"
    with pytest.raises(CommandError, match="unknown option of csv 'prompt'"):
        call_command(
            "score", f"csv:{out}", "--sentences", str(tmp_path / "sentences.csv"), "--to", str(out),
            "--prompt", "it rained . {sentence}",
        )  # fmt: skip


def test_critical_words_follow_the_context_too(tmp_path, arpa):
    sentences = "sentence_id,sentence,context\ng,we left early .,it rained .\nb,we left all .,it rained .\n"
    (tmp_path / "sentences.csv").write_text(sentences)
    pair = {"pair_id": "p", "good_id": "g", "bad_id": "b", "one_prefix_prefix": "we left"}
    pair |= {"one_prefix_word_good": "early", "one_prefix_word_bad": "all"}
    pair |= {"sentence_good": "we left early .", "sentence_bad": "we left all ."}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair) + "\n")
    call_command(
        "score", arpa, "--sentences", str(tmp_path / "sentences.csv"), "--to", str(tmp_path / "out.csv"),
        "--method", "one_prefix", "--pairs", str(tmp_path / "pairs.jsonl"),
    )  # fmt: skip
    model = scorer(arpa)
    logprobs = model.score(["it rained . we left early", "it rained . we left all"]).logprob
    before = model.score(["it rained . we left"]).logprob
    np.testing.assert_allclose(pd.read_csv(tmp_path / "out.csv").iloc[:, 1], logprobs - before)


def test_end_of_a_sentence_counts_after_a_context_as_without(tmp_path, arpa, frame):
    scores = score_sentences(scorer(arpa.replace("eos=no", "eos=yes")), frame.iloc[:1]).frame.iloc[0, 1]
    model = scorer(arpa.replace("eos=no", "eos=yes"))
    total = model.score(["it rained . we left early ."]).logprob[0]
    assert scores == pytest.approx(total - scorer(arpa).score(["it rained ."]).logprob[0])


def test_sentence_that_begins_inside_a_token_of_its_context_is_flagged(tmp_path):
    write_arpa(train_model([["a", "bc", "d"]] * 3, order=2), tmp_path / "m.arpa")
    frame = pd.DataFrame({"sentence_id": ["s"], "sentence": ["c d"], "context": ["a b"]})
    model = scorer(f"arpa:{tmp_path / 'm.arpa'}?prompt=%7Bcontext%7D%7Bsentence%7D")
    assert "sentence begins inside a token of its context" in score_sentences(model, frame).summary["flags"]
    assert "sentence begins inside a token of its context" in FLAGS
