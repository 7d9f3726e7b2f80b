"""N-gram models: probabilities that sum to one, hand-made numbers, ARPA files there and back, speed."""

import csv
import gzip
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import BadInput, NotEnoughData
from analysis.ngrams import read_arpa, token_logprobs, train_model, write_arpa
from analysis.ngrams.counts import BEGIN, END, count_ngrams
from analysis.ngrams.smoothing import discounts
from analysis.scoring.words.tokens import Tokenization

HAND_MADE = """\\data\\
ngram 1=5
ngram 2=3
ngram 3=1

\\1-grams:
-1.5\t<unk>\t0
0\t<s>\t-0.4
-0.6\t</s>
-0.5\tthe\t-0.3
-0.9\tcat\t-0.2

\\2-grams:
-0.25\t<s> the\t-0.15
-0.35\tthe cat\t-0.1
-0.45\tcat </s>

\\3-grams:
-0.05\t<s> the cat

\\end\\
"""

corpora = st.lists(
    st.lists(st.sampled_from("abcde"), min_size=0, max_size=6), min_size=1, max_size=12
).filter(lambda sentences: any(sentences))


def next_word_probabilities(model, context):
    """Give P(w | begin of sentence, context) of every word the model can say."""
    words = [word for word in model.words if word not in (BEGIN, END)]
    logprobs = token_logprobs(model, [[*context, word] for word in words], eos=False)
    last = np.append(logprobs.sentence[1:] != logprobs.sentence[:-1], True)
    end = token_logprobs(model, [context]).logprob[-1]
    return np.exp([*logprobs.logprob[last], end])


@settings(max_examples=60, deadline=None)
@given(corpora, st.integers(1, 6), st.lists(st.sampled_from([*"abcde", "zebra"]), max_size=4))
def test_probabilities_of_the_next_word_sum_to_one(sentences, order, context):
    model = train_model(sentences, order=order)
    assert next_word_probabilities(model, context).sum() == pytest.approx(1, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(corpora, st.integers(1, 4))
def test_an_arpa_file_comes_back_with_the_same_numbers(tmp_path_factory, sentences, order):
    path = tmp_path_factory.mktemp("arpa") / "model.arpa"
    model = train_model(sentences, order=order)
    write_arpa(model, path)
    texts = [*sentences, ["a", "zebra", "b"]]
    back = token_logprobs(read_arpa(path), texts)
    assert back.logprob == pytest.approx(token_logprobs(model, texts).logprob, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(corpora, st.integers(1, 4))
def test_order_of_sentences_does_not_matter(sentences, order):
    expected = token_logprobs(train_model(sentences, order=order), sentences).logprob
    other = token_logprobs(train_model(sentences[::-1], order=order), sentences).logprob
    assert expected == pytest.approx(other, abs=1e-12)


def test_a_hand_made_file_gives_the_sums_done_by_hand(tmp_path):
    path = tmp_path / "hand.arpa"
    path.write_text(HAND_MADE)
    model = read_arpa(path)
    ln10 = np.log(10)
    logprobs = token_logprobs(model, [["the", "cat"]])
    by_hand = [
        -0.25,
        -0.05,
        -0.45,
    ]  # <s> the | <s> the cat | cat </s>: no trigram "the cat </s>", weight -0.1
    assert logprobs.logprob / ln10 == pytest.approx([by_hand[0], by_hand[1], by_hand[2] - 0.1])
    assert logprobs.unigram / ln10 == pytest.approx([-0.5, -0.9, -0.6])
    strange = token_logprobs(model, [["the", "dog"]], eos=False)
    assert strange.logprob[1] / ln10 == pytest.approx(-1.5 - 0.3 - 0.15)
    assert strange.unknown.tolist() == [False, True]
    bare = token_logprobs(model, [["the", "cat"]], bos=False, eos=False)
    assert bare.logprob / ln10 == pytest.approx([-0.5, -0.35])


def test_without_unk_an_unknown_word_costs_what_it_costs_in_kenlm(tmp_path):
    path = tmp_path / "hand.arpa"
    path.write_text(HAND_MADE.replace("ngram 1=5", "ngram 1=4").replace("-1.5\t<unk>\t0\n", ""))
    logprobs = token_logprobs(read_arpa(path), [["dog"]], bos=False, eos=False)
    assert logprobs.logprob[0] / np.log(10) == pytest.approx(-100)


def test_compressed_files_are_read_and_written(tmp_path):
    with gzip.open(tmp_path / "hand.arpa.gz", "wt") as text:
        text.write(HAND_MADE)
    model = read_arpa(tmp_path / "hand.arpa.gz")
    write_arpa(model, tmp_path / "again.arpa.gz")
    assert read_arpa(tmp_path / "again.arpa.gz").words == model.words
    assert read_arpa(tmp_path / "hand.arpa.gz", max_order=1).order == 1


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("\\data\\", "data", ["\\data\\"]),
        ("ngram 2=3", "ngram 2=4", ["4 2-grams are announced, 3 are listed"]),
        ("ngram 2=3", f"ngram 2={'9' * 5000}", ["row 3", "more n-grams are announced than memory holds"]),
        ("-0.35\tthe cat", "-0.35\tthe dog", ["row 15", "'dog'"]),
        ("-0.35\tthe cat", "much\tthe cat", ["row 15", "2-gram"]),
        ("-0.35\tthe cat", "0.35\tthe cat", ["row 15", "probability"]),
        ("-0.35\tthe cat", "nan\tthe cat", ["row 15", "probability"]),
        ("-0.05\t<s> the cat", "-0.05\tcat the cat", ["row 19", "beginning"]),
        ("\\2-grams:", "\\3-grams:", ["\\2-grams:"]),
    ],
)
def test_a_broken_arpa_file_is_refused_with_its_line(tmp_path, old, new, words):
    path = tmp_path / "broken.arpa"
    path.write_text(HAND_MADE.replace(old, new, 1))
    with pytest.raises(BadInput) as refusal:
        read_arpa(path)
    assert all(word in str(refusal.value) for word in ["broken.arpa", *words])


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "model.arpa"
    path.write_bytes(b"\xff\xfe\x00\x01binary")
    with pytest.raises(BadInput, match="UTF-8"):
        read_arpa(path)


def test_lower_orders_count_in_how_many_contexts_a_word_occurs():
    counts = count_ngrams([["san", "francisco"], ["san", "francisco"], ["san", "jose"]], order=2)
    singles = dict(zip(counts.words, counts.orders[0].count.tolist(), strict=True))
    assert singles == {"<unk>": 0, "<s>": 0, "</s>": 2, "san": 1, "francisco": 1, "jose": 1}
    assert sorted(counts.orders[1].count.tolist()) == [1, 1, 2, 2, 3]


def test_discounts_follow_chen_and_goodman_and_fall_back():
    assert discounts(np.array([1, 1, 1, 1, 2, 2, 3, 4])) == pytest.approx((0.5, 1.25, 1.0))
    assert discounts(np.array([1, 1, 2])) == (0.5, 1.0, 1.5)


def test_a_tiny_model_equals_the_sums_done_by_hand():
    """Two sentences "a", order 1: a twice, end twice; fallback discount 1 each; V = unk, end, a."""
    model = train_model([["a"], ["a"]], order=1)
    probabilities = dict(zip(model.words, np.power(10, model.orders[0].log10), strict=True))
    assert probabilities["a"] == pytest.approx((2 - 1) / 4 + (2 / 4) / 3)
    assert probabilities["<unk>"] == pytest.approx((2 / 4) / 3)


@pytest.mark.parametrize("sentences", [[], [[]]])
def test_nothing_to_count_is_refused(sentences):
    with pytest.raises(NotEnoughData):
        train_model(sentences)


@pytest.mark.parametrize(
    ("sentences", "order"), [([["a"]], 0), ([["a"]], 7), ([["<s>"], ["a"]], 2), ([["<unk>", "a"]], 2)]
)
def test_wrong_orders_and_the_models_own_marks_are_refused(sentences, order):
    with pytest.raises(BadInput):
        train_model(sentences, order=order)


def test_fifty_thousand_short_sentences_train_and_score():
    rng = random.Random(0)
    sentences = [[f"w{min(int(rng.paretovariate(0.7)), 4999)}" for _ in range(8)] for _ in range(50_000)]
    model = train_model(sentences, order=3)
    logprobs = token_logprobs(model, sentences)
    assert len(logprobs.logprob) == 50_000 * 9
    assert np.isfinite(logprobs.logprob).all() and (logprobs.logprob < 0).all()


@pytest.mark.parametrize("block", [1, 2, 3])
def test_lines_with_and_without_a_weight_may_be_mixed(tmp_path, monkeypatch, block):
    path = tmp_path / "hand.arpa"
    path.write_text(HAND_MADE.replace("-0.35\tthe cat\t-0.1", "-0.35\tthe cat"))
    monkeypatch.setattr("analysis.ngrams.arpa.BLOCK", block)
    model = read_arpa(path)
    listed = sorted(zip(model.orders[1].log10.tolist(), model.orders[1].backoff.tolist(), strict=True))
    assert listed == [(-0.45, 0.0), (-0.35, 0.0), (-0.25, -0.15)]
    path.write_text(HAND_MADE.replace("cat </s>\n", "cat </s>\n-0.55\tthe the\n"))
    with pytest.raises(BadInput, match="3 2-grams are announced, 4 are listed"):
        read_arpa(path)


def test_a_word_may_hold_a_white_space_that_is_none_in_arpa(tmp_path):
    path = tmp_path / "hand.arpa"
    path.write_text(HAND_MADE.replace("cat", "c\u00a0t"))
    assert token_logprobs(read_arpa(path), [["the", "c\u00a0t"]]).unknown.tolist() == [False] * 3


@settings(max_examples=40, deadline=None)
@given(corpora, st.integers(2, 4), st.integers(1, 5), st.integers(20, 200), st.randoms(use_true_random=False))
def test_blocks_line_ends_and_order_of_lines_change_nothing(
    tmp_path_factory, sentences, order, most, size, shuffled
):
    path = tmp_path_factory.mktemp("arpa") / "model.arpa"
    write_arpa(train_model(sentences, order=order), path)
    expected = read_arpa(path)
    sections = path.read_text().split("\n\n")
    for place, section in enumerate(sections):
        head, *lines = section.split("\n")
        if head.endswith("-grams:") and not head.startswith("\\1"):
            shuffled.shuffle(lines)
            sections[place] = "\n".join([head, *lines])
    path.write_bytes("\n\n".join(sections).replace("\n", "\r\n").encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analysis.ngrams.arpa.BLOCK", most)
        patch.setattr("analysis.ngrams.lines.BLOCK", size)
        reread = read_arpa(path)
    for expected_order, other in zip(expected.orders, reread.orders, strict=True):
        assert expected_order.keys.tolist() == other.keys.tolist()
        assert expected_order.log10.tolist() == other.log10.tolist()
        assert expected_order.backoff.tolist() == other.backoff.tolist()


def test_more_ngrams_than_memory_holds_are_refused(tmp_path):
    path = tmp_path / "hand.arpa"
    path.write_text(HAND_MADE.replace("ngram 2=3", f"ngram 2={10**17}"))
    with pytest.raises(BadInput, match="more than memory holds"):
        read_arpa(path)


@pytest.mark.parametrize("unit", ["chars", "jieba"])
def test_chinese_pairs_are_cut_into_characters_and_words(shared_data, unit):
    """CLiMP: nothing of a sentence is lost, and a model knows every token of the text it was trained on."""
    if unit == "jieba":
        pytest.importorskip("jieba", reason="jieba is not installed: pip install jieba")
    texts = []
    for path in sorted(shared_data("climp").glob("*_1000.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            texts += [row[-2] for row in csv.reader(file) if len(row) == 5 and row[-1] in ("0", "1")]
    assert len(texts) > 20_000
    cut, some = Tokenization(unit=unit), texts[::10]
    rows = [cut.tokens(text) for text in some]
    assert all("".join(row) == "".join(text.split()) for row, text in zip(rows, some, strict=True))
    assert all(cut.spans(text, row)[-1][1] <= len(text) for row, text in zip(rows, some, strict=True))
    logprobs = token_logprobs(train_model(rows, order=3), rows)
    assert np.isfinite(logprobs.logprob).all() and not logprobs.unknown.any()
