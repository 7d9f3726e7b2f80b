"""``score --tokens``: surprisal of tokens, words and regions with their characters."""

import json
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.ngrams import train_model, write_arpa
from analysis.scoring import score_sentences, scorer
from analysis.scoring.words.regions import score_words
from analysis.scoring.words.surprisals import surprisal_table

TEXT = ["the keys are here .", "the key is here .", "it rained . the keys were wet ."]
SENTENCES = """sentence_id,sentence,critical_region,context
a,The keys are  here.,are,
b,the zebra is here .,is,it rained .
"""


@pytest.fixture
def arpa(tmp_path):
    write_arpa(train_model([line.split() for line in TEXT], order=3), tmp_path / "tri.arpa")
    return f"arpa:{tmp_path / 'tri.arpa'}?casing=lower&punctuation=split"


def tabulated(arpa, tmp_path, *more, sentences=SENTENCES):
    (tmp_path / "sentences.csv").write_text(sentences, encoding="utf-8")
    printed = StringIO()
    call_command(
        "score", arpa, "--sentences", str(tmp_path / "sentences.csv"), "--to", str(tmp_path / "out.csv"),
        "--tokens", str(tmp_path / "tokens.csv"), *more, stdout=printed, stderr=StringIO(),
    )  # fmt: skip
    return pd.read_csv(tmp_path / "tokens.csv", keep_default_na=False, na_values=[""]), printed.getvalue()


def rows(table, sentence, unit):
    return table[(table["sentence_id"] == sentence) & (table["unit"] == unit)]


def test_tokens_add_up_to_the_sentence_and_name_their_characters(arpa, tmp_path):
    table, printed = tabulated(arpa, tmp_path)
    scores = pd.read_csv(tmp_path / "out.csv").iloc[:, 1]
    for name, score in zip("ab", scores, strict=True):
        tokens = rows(table, name, "token")
        assert tokens["surprisal_nats"].sum() == pytest.approx(-score)
        assert tokens["position"].tolist() == list(range(1, len(tokens) + 1))
    first = rows(table, "a", "token")
    assert first["text"].fillna("").tolist() == ["The", "keys", "are", "here", ".", ""]
    spans = [(0, 3), (4, 8), (9, 12), (14, 18), (18, 19), (19, 19)]
    assert list(zip(first["start"], first["end"], strict=True)) == spans
    assert first["note"].tolist()[-1] == "end of the sentence"
    np.testing.assert_allclose(table["surprisal_bits"], table["surprisal_nats"] / np.log(2))
    assert "12 tokens, 9 words, 2 regions" in printed


def test_words_and_regions_sum_their_tokens(arpa, tmp_path):
    (tmp_path / "regions.csv").write_text("sentence_id,region,text\na,subject,The keys\na,rest,are  here.\n")
    table, _ = tabulated(arpa, tmp_path, "--regions", str(tmp_path / "regions.csv"))
    tokens, words = rows(table, "a", "token"), rows(table, "a", "word")
    assert words["text"].tolist() == ["The", "keys", "are", "here."]
    nats = tokens["surprisal_nats"].tolist()
    assert words["surprisal_nats"].tolist() == pytest.approx([*nats[:3], nats[3] + nats[4]])
    regions = rows(table, "a", "region").set_index("region")
    assert regions["surprisal_nats"].to_dict() == pytest.approx(
        {"critical": nats[2], "subject": sum(nats[:2]), "rest": sum(nats[2:5])}
    )
    assert regions.loc["rest", ["start", "end", "n_tokens"]].tolist() == [9, 19, 3]


def test_surprisals_are_those_after_the_context_with_characters_of_the_sentence(arpa, tmp_path):
    table, _ = tabulated(arpa, tmp_path)
    tokens = rows(table, "b", "token")
    assert tokens["text"].tolist()[:2] == ["the", "zebra"] and tokens["start"].tolist()[:2] == [0, 4]
    model = scorer(arpa + "&eos=no")
    joint, before = model.score(["it rained . the", "it rained ."]).logprob
    assert tokens["surprisal_nats"].iloc[0] == pytest.approx(before - joint)


def test_record_counts_the_file_and_a_table_has_no_tokens(arpa, tmp_path):
    tabulated(arpa, tmp_path)
    record = json.loads((tmp_path / "out.spec.json").read_text())["tokens_file"]
    assert record == {"file": "tokens.csv", "tokens": 12, "words": 9, "regions": 2, "without a value": 0}
    with pytest.raises(CommandError, match="csv: has no tokens"):
        tabulated(f"csv:{tmp_path / 'out.csv'}", tmp_path)


@pytest.mark.parametrize(
    "regions, parts",
    [
        ("sentence_id,region,text\na,subject,The key is\n", ["has no such region", "text", "regions.csv"]),
        ("sentence_id,region,start,end\na,subject,3,90\n", ["has no such region", "start", "regions.csv"]),
        ("sentence_id,region\na,subject\n", ["text (or start and end)"]),
        ("sentence_id,region,text\nz,subject,The\n", ["no region is one of these sentences"]),
    ],
)
def test_wrong_regions_are_refused_with_their_place(arpa, tmp_path, regions, parts):
    (tmp_path / "regions.csv").write_text(regions)
    with pytest.raises(CommandError) as problem:
        tabulated(arpa, tmp_path, "--regions", str(tmp_path / "regions.csv"))
    assert all(part in str(problem.value) for part in parts), str(problem.value)


def test_critical_region_that_is_not_there_once_is_noted(arpa, tmp_path):
    sentences = (
        "sentence_id,sentence,critical_region\na,the keys the keys .,keys\nb,the key is here .,zebra\n"
    )
    table, _ = tabulated(arpa, tmp_path, sentences=sentences)
    notes = table[table["unit"] == "region"]
    assert notes["surprisal_nats"].isna().all()
    assert notes["note"].tolist() == ["'keys' is in the sentence 2 times", "'zebra' is not in the sentence"]


def test_word_that_begins_inside_a_token_is_empty_and_flagged_on_both_neighbours(arpa):
    model = scorer(arpa)
    frame = pd.DataFrame({"sentence_id": ["a"], "sentence": ["the keys are"]})
    scores = model.score(["the keys are"], tokens=True)
    joined = scores._replace(
        token_logprobs=[np.array([-1.0, -2.0])], spans=[[(0, 3), (4, 12)]], flags=scores.flags * 0
    )
    words = surprisal_table(model, frame, joined).query("unit == 'word'")
    assert words["surprisal_nats"].tolist()[:2] == [1.0, 2.0] and np.isnan(words["surprisal_nats"].iloc[2])
    assert "shares a token" in words["note"].iloc[1] and "inside a token" in words["note"].iloc[2]


def test_word_surprisals_equal_words_after_their_prefixes(arpa):
    model = scorer(arpa + "&eos=no")
    frame = pd.DataFrame({"sentence_id": ["a"], "sentence": ["The keys are here"]})
    scored = score_sentences(model, frame, tokens=True)
    words = surprisal_table(model, frame, scored.scores).query("unit == 'word'")["surprisal_nats"]
    expected = score_words(model, ["The", "The keys", "The keys are"], ["keys", "are", "here"]).logprob
    np.testing.assert_allclose(words.iloc[1:], -expected)
