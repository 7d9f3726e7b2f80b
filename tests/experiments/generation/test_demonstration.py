"""Materials of the demo: pairs of common words with BLiMP's fields, catch pairs, a corpus."""

from collections import Counter

import pytest

from analysis.errors import BadInput
from experiments.generation import PARADIGMS, acceptable_sentences, catch_pairs, demonstration, minimal_pairs
from experiments.generation.demonstration import BLIMP_FIELDS
from experiments.generation.lexicon import Lexicon


@pytest.mark.parametrize("uid", PARADIGMS)
def test_paradigm_gives_100_different_pairs_with_blimps_fields(uid):
    pairs = minimal_pairs(uid, 100, seed=3)
    assert list(pairs.columns) == list(BLIMP_FIELDS) and len(pairs) == 100
    sentences = [*pairs["sentence_good"], *pairs["sentence_bad"]]
    assert len(set(sentences)) == 200
    assert all(text[0].isupper() and text[-1] in ".?" and "  " not in text for text in sentences)
    assert pairs.equals(minimal_pairs(uid, 100, seed=3))
    assert not pairs.equals(minimal_pairs(uid, 100, seed=4))


@pytest.mark.parametrize("uid", PARADIGMS)
def test_members_differ_in_exactly_one_word(uid):
    for good, bad in minimal_pairs(uid, 100)[["sentence_good", "sentence_bad"]].itertuples(index=False):
        assert sum(a != b for a, b in zip(good.split(), bad.split(), strict=True)) == 1


def test_the_six_have_pairs_for_both_prefix_methods():
    frames = [minimal_pairs(uid, 1) for uid in PARADIGMS]
    assert any(frame["one_prefix_method"].all() for frame in frames)
    assert any(frame["two_prefix_method"].all() for frame in frames)
    assert len({frame["linguistics_term"].iloc[0] for frame in frames}) == 5


def test_catch_pairs_have_the_same_words_in_an_impossible_order():
    pairs = catch_pairs(20, seed=2)
    for good, bad in pairs:
        words = [text.lower().strip(".").split() for text in (good, bad)]
        assert words[0] == words[1][::-1] and words[0][0] == "the"
    assert len(set(pairs)) == 20


def test_unknown_paradigm_suggests_a_near_name():
    with pytest.raises(BadInput, match="Did you mean wh_island"):
        minimal_pairs("wh_iland")


def test_more_pairs_than_the_words_make_are_refused(monkeypatch):
    lexicon = demonstration.common_lexicon()
    closed = ("noun", "name", "adj", "adv", "verb")
    kept = {"nun", "monk", "woman", "man", "harm"}
    rows = [row for row in lexicon.rows if row.category not in closed or row.lemma in kept]
    small = Lexicon("en", rows, tree=lexicon.classes)
    monkeypatch.setattr(demonstration, "common_lexicon", lambda: small)
    with pytest.raises(BadInput, match=r"only .* different pairs"):
        minimal_pairs("anaphor_number_agreement", 100)


def test_corpus_leaves_out_the_test_material_and_is_seeded():
    held_out = set(minimal_pairs(PARADIGMS[0], 100)["sentence_good"])
    corpus = acceptable_sentences(2_200, without=held_out)
    assert len(corpus) == 2_200 and not held_out & set(corpus) and len(set(corpus)) > 2_000
    assert corpus == acceptable_sentences(2_200, without=held_out)
    assert corpus != acceptable_sentences(2_200, seed=1, without=held_out)


def test_corpus_teaches_agreement():
    pairs = Counter(
        pair
        for text in acceptable_sentences(3_000)
        for pair in zip(text.lower().split(), text.lower().rstrip(".").split()[1:], strict=False)
    )
    assert sum(pairs[number, "has"] for number in ("actors", "writers", "doctors", "students")) == 0
    assert (
        sum(count for (first, second), count in pairs.items() if first == "these" and second[-1] == "s") > 50
    )
