"""The lexicon: many words, right forms."""

import pytest

from experiments.generation.vocabulary import Word, load_lexicon

LEXICON = load_lexicon()


def test_has_at_least_300_entries_each_once():
    assert len(LEXICON) >= 300
    assert len({(word.word, word.category) for word in LEXICON.words}) == len(LEXICON)


@pytest.mark.parametrize(
    ("word", "plural"),
    [
        ("story", "stories"),
        ("child", "children"),
        ("church", "churches"),
        ("key", "keys"),
        ("wolf", "wolves"),
    ],
)
def test_plurals_are_english(word, plural):
    entries = [entry for entry in LEXICON.all("noun") if entry.word == word]
    assert (entries[0] if entries else Word(word, "noun")).plural == plural


@pytest.mark.parametrize(
    ("verb", "third", "past", "participle", "ing"),
    [
        ("carry", "carries", "carried", "carried", "carrying"),
        ("write", "writes", "wrote", "written", "writing"),
        ("run", "runs", "ran", "run", "running"),
        ("hug", "hugs", "hugged", "hugged", "hugging"),
        ("watch", "watches", "watched", "watched", "watching"),
        ("admire", "admires", "admired", "admired", "admiring"),
    ],
)
def test_verb_forms_are_english(verb, third, past, participle, ing):
    word = next(entry for entry in LEXICON.all("verb") if entry.word == verb)
    assert (word.third, word.past, word.participle, word.ing) == (third, past, participle, ing)


def test_every_object_a_verb_takes_exists():
    for verb in LEXICON.all("verb"):
        for sense in verb.takes - {"none", "clause", "question", "self"}:
            assert LEXICON.all("noun", sense=sense)


def test_features_distinguish_entries():
    teacher, car = (next(w for w in LEXICON.all("noun") if w.word == name) for name in ("teacher", "car"))
    assert teacher.animate and not car.animate
    smile, repair = (next(w for w in LEXICON.all("verb") if w.word == name) for name in ("smile", "repair"))
    assert repair.transitive and not smile.transitive
