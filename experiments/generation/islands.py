"""A 2 × 2 design that measures the whether-island effect beyond dependency length and structure."""

import numpy as np
import pandas as pd

from experiments.generation.templates import any_number, name, noun_phrase, present, sentence, transitive_verb
from experiments.generation.vocabulary import Lexicon, load_lexicon

CONDITIONS = ("short_that", "long_that", "short_whether", "long_whether")


def _item(lexicon: Lexicon, rng: np.random.Generator) -> dict[str, str]:
    """Return the four sentences of one lexicalization."""
    verb, noun = transitive_verb(lexicon, rng=rng, animate_object=False)
    object_ = noun_phrase(lexicon, noun, rng=rng, number="sg", described=0).text
    questioner = name(lexicon, rng=rng).text
    person = lexicon.one("noun", rng, sense="person")
    subject = noun_phrase(lexicon, person, rng=rng, number=any_number(rng), described=0).text
    says, asks = lexicon.one("verb", rng, takes="clause"), lexicon.one("verb", rng, takes="question")
    return {
        "short_that": sentence("who", present(says, "sg"), "that", subject, verb.past, object_, end="?"),
        "long_that": sentence("what does", questioner, says.word, "that", subject, verb.past, end="?"),
        "short_whether": sentence(
            "who", present(asks, "sg"), "whether", subject, verb.past, object_, end="?"
        ),
        "long_whether": sentence("what does", questioner, asks.word, "whether", subject, verb.past, end="?"),
    }


def whether_island_design(n: int = 16, *, seed: int = 0, lexicon: Lexicon | None = None) -> pd.DataFrame:
    """Generate items that cross dependency length with structure.

    Notes
    -----
    The island effect is the difference of differences, (long_that − long_whether) − (short_that −
    short_whether): the cost of the long island sentence beyond the costs of length and structure.

    References
    ----------
    Sprouse, Wagers & Phillips (2012), "A test of the relation between working-memory capacity and syntactic
    island effects", Language 88: 82-123.

    Examples
    --------
    >>> whether_island_design(2)["condition"].tolist()[:4]
    ['short_that', 'long_that', 'short_whether', 'long_whether']
    """
    words, rng = lexicon or load_lexicon(), np.random.default_rng([seed, 22])
    rows: list[dict[str, str]] = []
    earlier_sentences: set[str] = set()
    while len(rows) < n * len(CONDITIONS):
        sentences = _item(words, rng)
        if earlier_sentences & set(sentences.values()):
            continue
        earlier_sentences |= set(sentences.values())
        item = f"whether_{len(rows) // len(CONDITIONS) + 1}"
        for condition in CONDITIONS:
            rows.append(
                {
                    "sentence_id": f"{item}.{condition}",
                    "sentence": sentences[condition],
                    "item": item,
                    "condition": condition,
                    "paradigm": "whether_island",
                    "phenomenon": "island_effects",
                    "expected": "unacceptable" if condition == "long_whether" else "acceptable",
                }
            )
    return pd.DataFrame(rows)
