"""Tokenization of sentences for models with a vocabulary of words or characters."""

import importlib
import logging
import re
import unicodedata
from collections.abc import Container, Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ...errors import BadInput, UnknownName
from ...text import phrases
from ..base import (
    FLAG_EMPTY,
    FLAG_MARKED,
    FLAG_NORMALISED,
    FLAG_SAME,
    FLAG_UNKNOWN,
    flag_where,
)
from .sentence_check import Readings

UNITS = ("space", "chars", "jieba")
CASINGS = ("as-is", "lower")
PUNCTUATION = ("keep", "split", "drop")

_WORD_OR_MARK = re.compile(r"\w+(?:[^\w\s]+\w+)*|[^\w\s]")
_HAS_LETTER = re.compile(r"\w")

PHRASES = "phrases-"  # before the name of a model of BudouX
WORD_RULES = (
    "space",
    "punctuation",
    *(f"{PHRASES}{model}" for model in ("ja", "zh-hans", "zh-hant", "th")),
)
# Thai, Lao, Tibetan, Burmese, Khmer, Tai, Balinese, Javanese, Cham; Japanese and Chinese with halfwidth kana.
_SPACELESS = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f\u3005-\u3007\u3040-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua980-\uaadf\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af]"
)


@dataclass(frozen=True)
class Tokenization:
    """Rules for splitting text into tokens.

    ``unit``: ``space`` (split at white space), ``chars`` (every character except white space) or ``jieba``
    (Chinese words, by the optional package jieba). ``casing``: ``as-is`` or ``lower``. ``punctuation``:
    ``keep`` leaves "park." one token, ``split`` makes it "park" and ".", ``drop`` makes it "park"; marks
    inside a word ("don't", "well-known") are kept.
    """

    unit: str = "space"
    casing: str = "as-is"
    punctuation: str = "keep"

    def __post_init__(self) -> None:
        for option, value, values in (
            ("token unit", self.unit, UNITS),
            ("casing", self.casing, CASINGS),
            ("punctuation rule", self.punctuation, PUNCTUATION),
        ):
            if value not in values:
                raise UnknownName(option, value, values)
        if self.unit == "jieba":
            _jieba()

    def record(self) -> dict[str, str]:
        """Return everything that affects tokens, for the model's file.

        Examples
        --------
        >>> Tokenization(casing="lower").record()
        {'tokens': 'space', 'casing': 'lower', 'punctuation': 'keep'}
        """
        settings = {"tokens": self.unit, "casing": self.casing, "punctuation": self.punctuation}
        return settings | ({"jieba": str(_jieba().__version__)} if self.unit == "jieba" else {})

    def tokens(self, sentence: str) -> list[str]:
        """Tokenize one sentence.

        Examples
        --------
        >>> Tokenization(casing="lower", punctuation="split").tokens("She didn't see the park.")
        ['she', "didn't", 'see', 'the', 'park', '.']
        >>> Tokenization(unit="chars").tokens("他 走 了")
        ['他', '走', '了']
        """
        text = sentence.lower() if self.casing == "lower" else sentence
        if self.unit == "jieba":
            return self._words(text)
        pieces = text.split() if self.punctuation == "keep" else _WORD_OR_MARK.findall(text)
        if self.punctuation == "drop":
            pieces = [piece for piece in pieces if _HAS_LETTER.search(piece)]
        return pieces if self.unit == "space" else list("".join(pieces))

    def spans(self, sentence: str, pieces: Sequence[str]) -> list[tuple[int, int]]:
        """Return the start and end (exclusive) of each token in the sentence.

        Examples
        --------
        >>> cut = Tokenization(casing="lower", punctuation="drop")
        >>> cut.spans("The  park.", cut.tokens("The  park."))
        [(0, 3), (5, 9)]
        """
        text = sentence.lower() if self.casing == "lower" else sentence
        spans, end = [], 0
        for piece in pieces:
            start = text.index(piece, end)
            end = start + len(piece)
            spans.append((start, end))
        if len(text) == len(sentence):
            return spans
        origin = lower_case_origins(sentence)
        return [(origin[start], origin[end - 1] + 1) for start, end in spans]

    def all_spans(
        self, sentences: Sequence[str], pieces: Sequence[Sequence[str]], *, end: bool
    ) -> list[list[tuple[int, int]]]:
        """Return the spans of many sentences; a scored end of sentence has an empty span."""
        return [
            [*self.spans(sentence, row), *([(len(sentence), len(sentence))] if end else [])]
            for sentence, row in zip(sentences, pieces, strict=True)
        ]

    def read_sentences(self, sentences: Sequence[str], vocabulary: Container[str]) -> Readings:
        """Return what a model of these words or characters reads of sentences."""
        rows = [self.tokens(sentence) for sentence in sentences]
        joint = " " if self.unit == "space" else ""
        return Readings(
            [tuple(piece if piece in vocabulary else None for piece in row) for row in rows],
            [joint.join(row) for row in rows],
            [[piece for piece in row if piece not in vocabulary] for row in rows],
            [sentence.lower() if self.casing == "lower" else sentence for sentence in sentences],
        )

    def _words(self, text: str) -> list[str]:
        """Tokenize by jieba, which always splits off punctuation: ``keep`` equals ``split`` here."""
        pieces = [piece for piece in _jieba().cut(text) if not piece.isspace()]
        if self.punctuation == "drop":
            return [piece for piece in pieces if _HAS_LETTER.search(piece)]
        return pieces


def lower_case_origins(text: str) -> list[int]:
    """Return the place in a text of each character of its lower case, in which some letters are two ("İ")."""
    return [offset for offset, character in enumerate(text) for _ in character.lower()]


def word_numbers(text: str, rule: str) -> list[int]:
    """Return the number of the word of each character, and of the end of a text.

    Notes
    -----
    Words are between white space, which counts with the word after it; in scripts without spaces each
    character is a word. The rule ``punctuation`` separates punctuation marks too, as BERT's tokenizer does;
    ``phrases-ja``, ``phrases-zh-hans``, ``phrases-zh-hant`` and ``phrases-th`` take the phrases of BudouX in
    these scripts instead of characters.

    Examples
    --------
    >>> word_numbers("It is.", "space"), word_numbers("It is.", "punctuation")
    ([0, 0, 1, 1, 1, 1, 2], [0, 0, 1, 1, 1, 2, 3])
    >>> word_numbers("他走了。", "space")
    [0, 1, 2, 3, 4]
    >>> word_numbers("我喜欢这只猫。", "phrases-zh-hans")
    [0, 1, 1, 2, 3, 3, 3, 4]
    """
    starts = _phrase_starts(text, rule)
    numbers, number, previous = [], -1, " "
    for offset, character in enumerate(text):
        number += _begins_word(previous, character, rule, is_start=starts is None or offset in starts)
        numbers.append(number + character.isspace())
        previous = character
    return [*numbers, number + 1]


def _phrase_starts(text: str, rule: str) -> set[int] | None:
    """Return where phrases begin; None under a rule without phrases."""
    if not rule.startswith(PHRASES):
        return None
    model = rule.removeprefix(PHRASES)
    return set(accumulate(map(len, phrases(text, model)), initial=0))


def phrase_software(rule: str) -> dict[str, str]:
    """Return the version of BudouX that finds the phrases of a word rule; empty for other rules."""
    if not rule.startswith(PHRASES):
        return {}
    try:
        return {"budoux": str(importlib.import_module("budoux").__version__)}
    except ImportError as error:
        remedy = "Run: pip install budoux"
        raise BadInput(f"words={rule} needs budoux.", column="words", remedy=remedy) from error


def _begins_word(previous: str, character: str, rule: str, *, is_start: bool) -> bool:
    if character.isspace():
        return False
    if previous.isspace():
        return True
    if unicodedata.category(character)[0] == "M":  # a vowel sign or an accent belongs to its letter
        return False
    if _SPACELESS.match(previous) or _SPACELESS.match(character):
        return is_start
    return rule == "punctuation" and (_is_mark(previous) or _is_mark(character))


def _is_mark(character: str) -> bool:
    is_symbol = character.isascii() and not character.isalnum() and character.isprintable()
    return is_symbol or unicodedata.category(character)[0] == "P"


def indistinguishable(sentences: Sequence[str], tokens: Sequence[Hashable]) -> npt.NDArray[np.bool_]:
    """Return which sentences have the same tokens as a different sentence: a tie by construction.

    Examples
    --------
    >>> indistinguishable(["Dogs", "dogs", "cats"], ["dogs", "dogs", "cats"]).tolist()
    [True, True, False]
    """
    first: dict[Hashable, str] = {}
    shared = {
        key
        for sentence, key in zip(sentences, tokens, strict=True)
        if first.setdefault(key, sentence) != sentence
    }
    return np.fromiter((key in shared for key in tokens), dtype=np.bool_, count=len(tokens))


@runtime_checkable
class ComparesTokens(Protocol):
    """A scorer that knows without scoring which sentences have the same tokens."""

    def same_tokens(self, sentences: Sequence[str]) -> npt.NDArray[np.bool_] | None:
        """Return which sentences have the tokens of a different one; None where a server tokenizes."""
        ...


def token_flags(
    sentences: Sequence[str],
    tokens: Sequence[Hashable],
    *,
    n_tokens: npt.ArrayLike,
    n_unk: npt.NDArray[np.int32],
    has_mark: npt.ArrayLike,
    casing: str,
) -> npt.NDArray[np.uint8]:
    """Flag sentences that are empty, have unknown tokens or a mark of the model, are tied or lower-cased."""
    flags = flag_where(FLAG_EMPTY, np.asarray(n_tokens) == 0) | flag_where(FLAG_UNKNOWN, n_unk > 0)
    flags |= flag_where(FLAG_MARKED, has_mark) | flag_where(FLAG_SAME, indistinguishable(sentences, tokens))
    if casing == "lower":
        flags |= flag_where(FLAG_NORMALISED, [sentence != sentence.lower() for sentence in sentences])
    return flags


@cache
def _jieba() -> Any:
    """Import jieba without its messages about loading a dictionary."""
    try:
        jieba = importlib.import_module("jieba")
    except ImportError as error:
        remedy = "Run: pip install jieba"
        raise BadInput("splitting Chinese into words needs jieba.", column="tokens", remedy=remedy) from error
    jieba.setLogLevel(logging.WARNING)
    return jieba
