"""Minimal pairs from templates: many, different, minimal, with BLiMP's fields."""

import pytest

from analysis.errors import BadInput, UnknownName
from experiments.generation import PARADIGMS, Lexicon, catch_pairs, load_lexicon, minimal_pairs

BLIMP = [
    "sentence_good",
    "sentence_bad",
    "field",
    "linguistics_term",
    "UID",
    "simple_LM_method",
    "one_prefix_method",
    "two_prefix_method",
    "lexically_identical",
    "pairID",
]


@pytest.mark.parametrize("uid", PARADIGMS)
def test_paradigm_gives_100_different_pairs_with_blimps_fields(uid):
    pairs = minimal_pairs(uid, 100, seed=3)
    assert list(pairs.columns) == BLIMP and len(pairs) == 100
    sentences = [*pairs["sentence_good"], *pairs["sentence_bad"]]
    assert len(set(sentences)) == 200
    assert all(text[0].isupper() and text[-1] in ".?" and "  " not in text for text in sentences)
    assert pairs.equals(minimal_pairs(uid, 100, seed=3))
    assert not pairs.equals(minimal_pairs(uid, 100, seed=4))


@pytest.mark.parametrize("uid", [u for u, paradigm in PARADIGMS.items() if paradigm.one_prefix_method])
def test_one_prefix_pairs_differ_in_exactly_one_word(uid):
    for good, bad in minimal_pairs(uid, 100)[["sentence_good", "sentence_bad"]].itertuples(index=False):
        pairs = list(zip(good.split(), bad.split(), strict=True))
        assert sum(a != b for a, b in pairs) == 1


def test_two_prefix_pairs_share_the_critical_word_after_different_prefixes():
    for good, bad in minimal_pairs("npi_licensing", 100)[["sentence_good", "sentence_bad"]].itertuples(
        index=False
    ):
        assert good.split()[1:] == bad.split()[1:] and "ever" in good.split()
        assert good.split()[0] in ("No", "Few") and bad.split()[0] not in ("No", "Few")


def test_articles_fit_the_next_word():
    texts = [t for uid in PARADIGMS for t in minimal_pairs(uid, 100)["sentence_good"]]
    for text in texts:
        words = text.lower().strip(".?").split()
        for article, following in zip(words, words[1:], strict=False):
            if article in ("a", "an"):
                assert (article == "an") == (following[0] in "aeiou" or following == "honest")


def test_both_numbers_and_genders_occur():
    gender = minimal_pairs("anaphor_gender_agreement", 100)["sentence_good"]
    assert 30 < sum("herself" in text for text in gender) < 70
    number = minimal_pairs("anaphor_number_agreement", 100)["sentence_good"]
    assert 30 < sum("themselves" in text for text in number) < 70


def test_catch_pairs_hold_the_same_words_in_an_impossible_order():
    for good, bad in catch_pairs(20, seed=2):
        assert sorted(good.lower().strip(".").split()) == sorted(bad.lower().strip(".").split())


def test_unknown_paradigm_suggests_a_near_name():
    with pytest.raises(UnknownName, match="npi_licensing"):
        minimal_pairs("npi_licencing")


def test_more_pairs_than_a_template_holds_is_refused():
    few = Lexicon(tuple(w for w in load_lexicon().words if w.word in {"woman", "man", "hurt", "kind"}))
    with pytest.raises(BadInput, match="only .* different pairs"):
        minimal_pairs("anaphor_number_agreement", 100, lexicon=few)
