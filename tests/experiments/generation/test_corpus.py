"""A corpus of acceptable sentences."""

from collections import Counter

from experiments.generation import acceptable_sentences, minimal_pairs


def test_corpus_holds_20000_sentences_without_the_test_material():
    held_out = set(minimal_pairs("subject_verb_agreement", 100)["sentence_good"])
    corpus = acceptable_sentences(20_000, without=held_out)
    assert len(corpus) == 20_000 and not held_out & set(corpus)
    assert len(set(corpus)) > 15_000


def test_corpus_is_seeded():
    assert acceptable_sentences(50, seed=1) == acceptable_sentences(50, seed=1)
    assert acceptable_sentences(50, seed=1) != acceptable_sentences(50, seed=2)


def test_corpus_teaches_agreement():
    pairs = Counter(
        pair
        for text in acceptable_sentences(5_000)
        for pair in zip(text.lower().split(), text.lower().split()[1:], strict=False)
    )
    singular = {"policewoman", "teacher", "student"}
    assert not any(pairs[noun, "are"] for noun in singular)
    assert any(pairs[f"{noun}s", "are"] for noun in ("teacher", "student", "doctor", "nurse"))
