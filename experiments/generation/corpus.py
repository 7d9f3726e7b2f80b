"""A corpus of acceptable sentences from the same lexicon, on which n-gram models are trained."""

from collections.abc import Callable, Collection, Iterator

import numpy as np

from experiments.generation.demo_pairs import BE, PARADIGMS
from experiments.generation.templates import (
    Phrase,
    any_number,
    location,
    name,
    noun_phrase,
    present,
    sentence,
    transitive_verb,
)
from experiments.generation.vocabulary import Lexicon, Word, load_lexicon

DEMONSTRATIVES = {"sg": ("this", "that"), "pl": ("these", "those")}


def _past(lexicon: Lexicon, rng: np.random.Generator) -> str:
    verb, noun = transitive_verb(lexicon, rng=rng)
    subject = name(lexicon, rng=rng) if rng.random() < 0.5 else _person(lexicon, rng)
    object_ = _thing(lexicon, noun, rng)
    when = lexicon.one("adverb", rng, sense="time").word if rng.random() < 0.5 else ""
    return sentence(subject.text, verb.past, object_, when)


def _present(lexicon: Lexicon, rng: np.random.Generator) -> str:
    subject = _person(lexicon, rng)
    verb, noun = transitive_verb(lexicon, rng=rng)
    object_ = noun_phrase(lexicon, noun, rng=rng, number="pl", determiner="").text
    often = lexicon.one("adverb", rng, sense="frequency").word if rng.random() < 0.3 else ""
    return sentence(subject.text, often, present(verb, subject.number), object_)


def _progressive(lexicon: Lexicon, rng: np.random.Generator) -> str:
    subject = _person(lexicon, rng)
    verb = lexicon.one("verb", rng, sense="person", takes="none")
    where = location(lexicon, rng=rng, number=any_number(rng))
    before, after = (where, "") if rng.random() < 0.5 else ("", where)
    return sentence(subject.text, before, BE[subject.number], verb.ing, after)


def _embedded(lexicon: Lexicon, rng: np.random.Generator) -> str:
    takes, complementizer = (("clause", "that"), ("question", "whether"))[int(rng.integers(2))]
    verb, noun = transitive_verb(lexicon, rng=rng)
    matrix = lexicon.one("verb", rng, takes=takes)
    object_ = _thing(lexicon, noun, rng)
    subject = _person(lexicon, rng).text
    return sentence(name(lexicon, rng=rng).text, matrix.past, complementizer, subject, verb.past, object_)


def _question(lexicon: Lexicon, rng: np.random.Generator) -> str:
    verb, noun = transitive_verb(lexicon, rng=rng)
    subject = name(lexicon, rng=rng).text
    if rng.random() < 0.5:
        pronoun = "who" if "person" in noun.senses else "what"
        return sentence(pronoun, "did", subject, verb.word, end="?")
    object_ = _thing(lexicon, noun, rng)
    return sentence("did", subject, verb.word, object_, end="?")


def _quantified(lexicon: Lexicon, rng: np.random.Generator) -> str:
    verb, noun = transitive_verb(lexicon, rng=rng, animate_object=False)
    number = any_number(rng)
    words = ("every", "some", "no") if number == "sg" else ("many", "most", "few", "some")
    quantifier = words[int(rng.integers(len(words)))]
    person = lexicon.one("noun", rng, sense="person").number(number)
    object_ = noun_phrase(lexicon, noun, rng=rng, number="sg", determiner="a").text
    return sentence(
        quantifier, person, "has" if number == "sg" else "have", "already", verb.participle, object_
    )


def _thing(lexicon: Lexicon, noun: Word, rng: np.random.Generator) -> str:
    """Return an object with an article or, half the time, an agreeing demonstrative."""
    number = any_number(rng)
    determiner = DEMONSTRATIVES[number][int(rng.integers(2))] if rng.random() < 0.5 else "the"
    return noun_phrase(lexicon, noun, rng=rng, number=number, determiner=determiner).text


def _person(lexicon: Lexicon, rng: np.random.Generator) -> Phrase:
    noun = lexicon.one("noun", rng, sense="person")
    return noun_phrase(lexicon, noun, rng=rng, number=any_number(rng))


FRAMES: tuple[Callable[[Lexicon, np.random.Generator], str], ...] = (
    _past,
    _present,
    _progressive,
    _embedded,
    _question,
    _quantified,
)


def _sentences(lexicon: Lexicon, rng: np.random.Generator) -> Iterator[str]:
    """Yield plain sentences and acceptable members of the paradigms in equal shares, without end."""
    makers = [paradigm.make for paradigm in PARADIGMS.values()]
    while True:
        yield FRAMES[int(rng.integers(len(FRAMES)))](lexicon, rng)
        yield makers[int(rng.integers(len(makers)))](lexicon, rng)[0]


def acceptable_sentences(
    n: int = 20_000, *, seed: int = 0, without: Collection[str] = (), lexicon: Lexicon | None = None
) -> list[str]:
    """Generate a corpus of acceptable sentences.

    Examples
    --------
    >>> len(acceptable_sentences(10))
    10
    """
    excluded = frozenset(without)
    sentences: list[str] = []
    candidates = _sentences(lexicon or load_lexicon(), np.random.default_rng([seed, 33]))
    while len(sentences) < n:
        text = next(candidates)
        if text not in excluded:
            sentences.append(text)
    return sentences
