"""Minimal pairs from templates: agreement, anaphors, a wh-island, negative polarity."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.errors import BadInput, UnknownName
from experiments.generation.templates import (
    OTHER,
    adjective,
    any_number,
    location,
    name,
    noun_phrase,
    present,
    sentence,
    transitive_verb,
)
from experiments.generation.vocabulary import Lexicon, load_lexicon

Pair = tuple[str, str]
Maker = Callable[[Lexicon, np.random.Generator], Pair]
BE = {"sg": "is", "pl": "are"}
ITSELF = {"f": "herself", "m": "himself"}


def _agreement(lexicon: Lexicon, rng: np.random.Generator) -> Pair:
    """The verb agrees with its subject, at times across a phrase of the other number."""
    number = any_number(rng)
    subject = noun_phrase(lexicon, lexicon.one("noun", rng, sense="person"), rng=rng, number=number)
    frame = int(rng.integers(3))
    if frame == 0:
        verb, noun = transitive_verb(lexicon, rng=rng)
        complement = noun_phrase(lexicon, noun, rng=rng, number="pl", determiner="").text
        good, bad = present(verb, number), present(verb, OTHER[number])
        return sentence(subject.text, good, complement), sentence(subject.text, bad, complement)
    if frame == 1:
        where = location(lexicon, rng=rng, number=OTHER[number])
        complement = lexicon.one("verb", rng, sense="person", takes="none").ing
        return tuple(  # type: ignore[return-value]
            sentence(subject.text, where, BE[verb_number], complement)
            for verb_number in (number, OTHER[number])
        )
    noun = lexicon.one("noun", rng, sense="thing")
    subject = noun_phrase(lexicon, noun, rng=rng, number=number, described=0)
    where = location(lexicon, rng=rng, number=OTHER[number], of=noun) if rng.random() < 0.5 else ""
    complement = adjective(lexicon, noun, rng=rng)
    return sentence(subject.text, where, BE[number], complement), sentence(
        subject.text, where, BE[OTHER[number]], complement
    )


def _determiner(lexicon: Lexicon, rng: np.random.Generator) -> Pair:
    """The noun agrees with its demonstrative."""
    number = any_number(rng)
    verb, noun = transitive_verb(lexicon, rng=rng)
    choices = [
        word.word for word in lexicon.all("determiner") if word.word in ("this", "that", "these", "those")
    ]
    these = [word for word in choices if (word in ("these", "those")) == (number == "pl")]
    quality = adjective(lexicon, noun, rng=rng) if rng.random() < 0.3 else ""
    start = (name(lexicon, rng=rng).text, verb.past, these[int(rng.integers(2))], quality)
    return sentence(*start, noun.number(number)), sentence(*start, noun.number(OTHER[number]))


def _gender(lexicon: Lexicon, rng: np.random.Generator) -> Pair:
    """The reflexive agrees with its antecedent in gender."""
    gender = "fm"[int(rng.integers(2))]
    if rng.random() < 0.6:
        subject = name(lexicon, rng=rng, gender=gender).text
    else:
        noun = lexicon.one("noun", rng, sense="person", gender=gender)
        subject = noun_phrase(lexicon, noun, rng=rng, number="sg").text
    verb = lexicon.one("verb", rng, takes="self").past
    other = ITSELF["m" if gender == "f" else "f"]
    return sentence(subject, verb, ITSELF[gender]), sentence(subject, verb, other)


def _number(lexicon: Lexicon, rng: np.random.Generator) -> Pair:
    """The reflexive agrees with its antecedent in number."""
    gender = "fm"[int(rng.integers(2))]
    verb = lexicon.one("verb", rng, takes="self").past
    number = any_number(rng)
    noun = lexicon.one("noun", rng, sense="person", gender=gender)
    subject = noun_phrase(lexicon, noun, rng=rng, number=number).text
    good, bad = ("themselves", ITSELF[gender])[:: 1 if number == "pl" else -1]
    return sentence(subject, verb, good), sentence(subject, verb, bad)


def _island(lexicon: Lexicon, rng: np.random.Generator) -> Pair:
    """A question out of a that-clause, and the same out of a whether-clause."""
    verb, _ = transitive_verb(lexicon, rng=rng, animate_object=False)
    matrix_subject = name(lexicon, rng=rng).text
    noun = lexicon.one("noun", rng, sense="person")
    subject = noun_phrase(lexicon, noun, rng=rng, number=any_number(rng), described=0).text
    says = lexicon.one("verb", rng, takes="clause").word
    asks = lexicon.one("verb", rng, takes="question").word
    start = ("what did", matrix_subject)
    return (
        sentence(*start, says, "that", subject, verb.past, end="?"),
        sentence(*start, asks, "whether", subject, verb.past, end="?"),
    )


def _polarity(lexicon: Lexicon, rng: np.random.Generator) -> Pair:
    """ "Ever" under a negative quantifier, and under one that does not license it."""
    verb, noun = transitive_verb(lexicon, rng=rng, animate_object=False)
    person = lexicon.one("noun", rng, sense="person")
    number = any_number(rng)
    good = "no" if number == "sg" else ("few", "no")[int(rng.integers(2))]
    bad = (
        ("every", "some")[int(rng.integers(2))]
        if number == "sg"
        else ("many", "most", "some")[int(rng.integers(3))]
    )
    has = "has" if number == "sg" else "have"
    object_ = noun_phrase(lexicon, noun, rng=rng, number="sg", determiner="a").text
    predicate = (person.number(number), has, "ever", verb.participle, object_)
    return sentence(good, *predicate), sentence(bad, *predicate)


@dataclass(frozen=True)
class Paradigm:
    """A contrast with the template that generates it and BLiMP's metadata.

    Parameters
    ----------
    uid : str
    make : callable
        Lexicon and generator → acceptable and unacceptable sentence.
    field, linguistics_term : str
        BLiMP's fields of these names.
    one_prefix_method, two_prefix_method : bool
        Whether the pair shares all words before the critical one, or has the critical word in common after
        different prefixes.
    """

    uid: str
    make: Maker
    field: str
    linguistics_term: str
    one_prefix_method: bool = False
    two_prefix_method: bool = False


PARADIGMS = {
    paradigm.uid: paradigm
    for paradigm in (
        Paradigm("subject_verb_agreement", _agreement, "morphology", "subject_verb_agreement", True),
        Paradigm("determiner_noun_agreement", _determiner, "morphology", "determiner_noun_agreement", True),
        Paradigm("anaphor_gender_agreement", _gender, "morphology", "anaphor_agreement", True),
        Paradigm("anaphor_number_agreement", _number, "morphology", "anaphor_agreement", True),
        Paradigm("wh_island", _island, "syntax", "island_effects"),
        Paradigm("npi_licensing", _polarity, "semantics", "npi_licensing", two_prefix_method=True),
    )
}


def minimal_pairs(uid: str, n: int = 100, *, seed: int = 0, lexicon: Lexicon | None = None) -> pd.DataFrame:
    """Generate distinct minimal pairs of one paradigm.

    References
    ----------
    Warstadt et al. (2020), "BLiMP: The Benchmark of Linguistic Minimal Pairs for English", TACL 8: 377-392.
    The fields are BLiMP's; templates, words and sentences are this project's.

    Examples
    --------
    >>> minimal_pairs("wh_island", 2, seed=1)["UID"].tolist()
    ['wh_island', 'wh_island']
    """
    if uid not in PARADIGMS:
        raise UnknownName("paradigm", uid, list(PARADIGMS))
    paradigm, words = PARADIGMS[uid], lexicon or load_lexicon()
    rng = np.random.default_rng([seed, *uid.encode()])
    pairs = _distinct_pairs(lambda: paradigm.make(words, rng), n, uid=uid)
    return pd.DataFrame(
        {
            "sentence_good": [good for good, _ in pairs],
            "sentence_bad": [bad for _, bad in pairs],
            "field": paradigm.field,
            "linguistics_term": paradigm.linguistics_term,
            "UID": uid,
            "simple_LM_method": True,
            "one_prefix_method": paradigm.one_prefix_method,
            "two_prefix_method": paradigm.two_prefix_method,
            "lexically_identical": False,
            "pairID": [str(place) for place in range(len(pairs))],
        }
    )


def _distinct_pairs(make: Callable[[], Pair], n: int, *, uid: str) -> list[Pair]:
    """Return n pairs without a repeated sentence."""
    pairs: list[Pair] = []
    sentences: set[str] = set()
    for _ in range(50 * n + 50):
        good, bad = make()
        if len(pairs) < n and good != bad and not sentences & {good, bad}:
            pairs.append((good, bad))
            sentences |= {good, bad}
        if len(pairs) == n:
            return pairs
    raise BadInput(f"only {len(pairs)} different pairs of {uid!r} can be made.", remedy="Ask for fewer.")


def catch_pairs(n: int, *, seed: int = 0, lexicon: Lexicon | None = None) -> list[Pair]:
    """Generate catch pairs: a plain sentence and the same words in reverse order.

    Examples
    --------
    >>> catch_pairs(1, seed=1)[0][0].split()[0] == catch_pairs(1, seed=1)[0][1].split()[0]
    False
    """
    words = lexicon or load_lexicon()
    rng = np.random.default_rng([seed, 77])

    def make() -> Pair:
        verb, noun = transitive_verb(words, rng=rng, animate_object=False)
        when = words.one("adverb", rng, sense="time").word
        object_ = noun_phrase(words, noun, rng=rng, number="sg", described=0).text
        subject = noun_phrase(
            words, words.one("noun", rng, sense="person"), rng=rng, number="sg", described=0
        )
        good = (*subject.text.split(), verb.past, *object_.split(), *when.split())
        return sentence(*good), sentence(*(word for word in good[::-1]))

    return _distinct_pairs(make, n, uid="catch")
