"""An English lexicon with features: number, gender, animacy, what a verb takes, and irregular forms."""

import csv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from analysis.errors import UnknownName

FILE = Path(__file__).with_name("vocabulary.csv")
VOWELS = "aeiou"
SIBILANTS = ("s", "x", "z", "ch", "sh")


def _with_s(word: str) -> str:
    if word.endswith(SIBILANTS):
        return f"{word}es"
    if word.endswith("y") and word[-2] not in VOWELS:
        return f"{word[:-1]}ies"
    return f"{word}s"


def _with_ed(word: str) -> str:
    if word.endswith("e"):
        return f"{word}d"
    if word.endswith("y") and word[-2] not in VOWELS:
        return f"{word[:-1]}ied"
    return f"{word}ed"


def _with_ing(word: str) -> str:
    return f"{word[:-1]}ing" if word.endswith("e") and not word.endswith("ee") else f"{word}ing"


@dataclass(frozen=True)
class Word:
    """One entry of the lexicon.

    Parameters
    ----------
    word : str
        Citation form: singular of a noun, infinitive of a verb.
    category : str
        noun, name, verb, adjective, adverb, determiner or preposition.
    forms : str
        Irregular forms. Noun: the plural. Verb: ``past/participle/ing``. Determiner: ``sg`` or ``pl`` where
        it goes with one number only. Empty where regular.
    gender : str
        f, m or empty.
    senses : frozenset of str
        Noun: what it denotes. Verb: what its subject denotes. Adjective: what it describes. Adverb: its kind.
    takes : frozenset of str
        Verb: senses of its object; ``none`` (intransitive), ``clause``, ``question``, ``self`` (reflexive).
    """

    word: str
    category: str
    forms: str = ""
    gender: str = ""
    senses: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()

    @property
    def animate(self) -> bool:
        """Whether a noun or name denotes a person or an animal."""
        return bool(self.senses & {"person", "animal"})

    @property
    def transitive(self) -> bool:
        """Whether a verb takes a noun phrase."""
        return bool(self.takes - {"none", "clause", "question", "self"})

    @property
    def plural(self) -> str:
        """Plural of a noun.

        Examples
        --------
        >>> Word("story", "noun").plural, Word("wolf", "noun", "wolves").plural
        ('stories', 'wolves')
        """
        return self.forms or _with_s(self.word)

    @property
    def third(self) -> str:
        """Third person singular present of a verb."""
        return _with_s(self.word)

    @property
    def past(self) -> str:
        """Past tense of a verb.

        Examples
        --------
        >>> Word("carry", "verb").past, Word("sing", "verb", "sang/sung/").participle
        ('carried', 'sung')
        """
        return self._form(0) or _with_ed(self.word)

    @property
    def participle(self) -> str:
        """Past participle of a verb."""
        return self._form(1) or _with_ed(self.word)

    @property
    def ing(self) -> str:
        """Present participle of a verb."""
        return self._form(2) or _with_ing(self.word)

    def _form(self, place: int) -> str:
        parts = self.forms.split("/")
        return parts[place] if len(parts) == 3 else ""

    def number(self, name: str) -> str:
        """Form of a noun in the named number."""
        return self.plural if name == "pl" else self.word


class Lexicon:
    """Words, queried by category and features.

    Parameters
    ----------
    words : tuple of Word
    """

    def __init__(self, words: tuple[Word, ...]) -> None:
        self.words = words
        self._cache: dict[tuple[str, str, str, str], tuple[Word, ...]] = {}

    def __len__(self) -> int:
        return len(self.words)

    def all(self, category: str, *, sense: str = "", takes: str = "", gender: str = "") -> tuple[Word, ...]:
        """Return all words with these features.

        Examples
        --------
        >>> [word.word for word in load_lexicon().all("verb", takes="baked")]
        ['bake']
        """
        key = (category, sense, takes, gender)
        if key not in self._cache:
            self._cache[key] = tuple(
                word
                for word in self.words
                if word.category == category
                and (not sense or sense in word.senses)
                and (not takes or takes in word.takes)
                and (not gender or gender == word.gender)
            )
        if not self._cache[key]:
            raise UnknownName("kind of word", " ".join(part for part in key if part), [])
        return self._cache[key]

    def one(
        self, category: str, rng: np.random.Generator, *, sense: str = "", takes: str = "", gender: str = ""
    ) -> Word:
        """Return a random word with these features."""
        return choose(self.all(category, sense=sense, takes=takes, gender=gender), rng)


def choose(words: tuple[Word, ...], rng: np.random.Generator) -> Word:
    """Return a random word."""
    return words[int(rng.random() * len(words))]


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    """Load the project's lexicon.

    Examples
    --------
    >>> len(load_lexicon()) > 500
    True
    """
    with FILE.open(encoding="utf-8", newline="") as lines:
        return Lexicon(
            tuple(
                Word(
                    row["word"],
                    row["category"],
                    row["forms"],
                    gender=row["gender"],
                    senses=frozenset(row["sense"].split()),
                    takes=frozenset(row["takes"].split()),
                )
                for row in csv.DictReader(lines)
            )
        )
