"""Pieces of English sentences: noun phrases that agree, verbs that fit their objects."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from experiments.generation.vocabulary import VOWELS, Lexicon, Word, choose

Number = Literal["sg", "pl"]
OTHER: dict[Number, Number] = {"sg": "pl", "pl": "sg"}
DESCRIBED = ("person", "animal", "food", "thing", "building", "place", "plant")


@dataclass(frozen=True)
class Phrase:
    """A noun phrase: its words, its head, and the number it agrees in.

    Parameters
    ----------
    text : str
    head : Word
    number : {"sg", "pl"}
    """

    text: str
    head: Word
    number: Number


def any_number(rng: np.random.Generator) -> Number:
    """Return singular or plural at random."""
    return "sg" if rng.random() < 0.5 else "pl"


def sentence(*parts: str, end: str = ".") -> str:
    """Join parts into a sentence with a capital and a final mark.

    Examples
    --------
    >>> sentence("a owl", "", "slept")
    'An owl slept.'
    """
    words = " ".join(part for part in parts if part).split(" ")
    for place, word in enumerate(words[:-1]):
        if word == "a" and (words[place + 1][0] in VOWELS or words[place + 1] == "honest"):
            words[place] = "an"
    text = " ".join(words)
    return f"{text[0].upper()}{text[1:]}{end}"


def adjective(lexicon: Lexicon, noun: Word, *, rng: np.random.Generator) -> str:
    """Return an adjective that fits the noun."""
    sense = next(name for name in DESCRIBED if name in noun.senses)
    return lexicon.one("adjective", rng, sense=sense).word


def noun_phrase(
    lexicon: Lexicon,
    noun: Word,
    *,
    rng: np.random.Generator,
    number: Number,
    determiner: str = "the",
    described: float = 0.25,
) -> Phrase:
    """Return a noun with its determiner and, with probability ``described``, an adjective."""
    quality = adjective(lexicon, noun, rng=rng) if rng.random() < described else ""
    text = " ".join(part for part in (determiner, quality, noun.number(number)) if part)
    return Phrase(text, noun, number)


def name(lexicon: Lexicon, *, rng: np.random.Generator, gender: str = "") -> Phrase:
    """Return a person's name."""
    word = lexicon.one("name", rng, gender=gender)
    return Phrase(word.word, word, "sg")


def transitive_verb(
    lexicon: Lexicon, *, rng: np.random.Generator, subject: str = "person", animate_object: bool = True
) -> tuple[Word, Word]:
    """Return a verb and a noun that can be its object."""
    excluded = {"none", "clause", "question", "self"} | (set() if animate_object else {"person", "animal"})
    verbs = tuple(verb for verb in lexicon.all("verb", sense=subject) if verb.takes - excluded)
    verb = choose(verbs, rng)
    senses = sorted(verb.takes - excluded)
    return verb, lexicon.one("noun", rng, sense=senses[int(rng.random() * len(senses))])


def present(verb: Word, number: Number) -> str:
    """Return the present tense of a verb in the third person.

    Examples
    --------
    >>> present(Word("carry", "verb"), "sg"), present(Word("carry", "verb"), "pl")
    ('carries', 'carry')
    """
    return verb.third if number == "sg" else verb.word


def location(
    lexicon: Lexicon, *, rng: np.random.Generator, number: Number = "sg", of: Word | None = None
) -> str:
    """Return a locative prepositional phrase."""
    outside = of is None or of.senses & {"vehicle", "furniture"}
    noun = lexicon.one("noun", rng, sense="building" if outside else "furniture")
    words = lexicon.all("preposition", sense="far" if outside else "near")
    return f"{choose(words, rng).word} the {noun.number(number)}"
