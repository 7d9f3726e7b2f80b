"""Cut a sentence into the tokens a model was trained on."""

import importlib
import logging
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput, UnknownName

UNITS = ("space", "chars", "jieba")
CASINGS = ("as-is", "lower")
PUNCTUATION = ("keep", "split", "drop")

_WORD_OR_MARK = re.compile(r"\w+(?:[^\w\s]+\w+)*|[^\w\s]")
_HAS_LETTER = re.compile(r"\w")


@dataclass(frozen=True)
class Tokenization:
    """How text becomes tokens.

    ``unit``: ``space`` (what stands between white space), ``chars`` (every character but white space) or
    ``jieba`` (Chinese words as the package jieba cuts them; to be installed).
    ``casing``: ``as-is`` or ``lower``. ``punctuation``: ``keep`` leaves "park." one token, ``split`` makes
    it "park" and ".", ``drop`` makes it "park"; marks inside a word ("don't", "well-known") stay.
    """

    unit: str = "space"
    casing: str = "as-is"
    punctuation: str = "keep"

    def __post_init__(self) -> None:
        for what, name, known in (
            ("token unit", self.unit, UNITS),
            ("casing", self.casing, CASINGS),
            ("way with punctuation", self.punctuation, PUNCTUATION),
        ):
            if name not in known:
                raise UnknownName(what, name, known)
        if self.unit == "jieba":
            _jieba()

    def recorded(self) -> dict[str, str]:
        """Name everything that changes tokens, for a model's file.

        Examples
        --------
        >>> Tokenization(casing="lower").recorded()
        {'tokens': 'space', 'casing': 'lower', 'punctuation': 'keep'}
        """
        found = {"tokens": self.unit, "casing": self.casing, "punctuation": self.punctuation}
        return found | ({"jieba": str(_jieba().__version__)} if self.unit == "jieba" else {})

    def tokens(self, sentence: str) -> list[str]:
        """Cut one sentence.

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
        """Say which characters of a sentence each of its tokens stands for: first, and one after the last.

        Examples
        --------
        >>> cut = Tokenization(casing="lower", punctuation="drop")
        >>> cut.spans("The  park.", cut.tokens("The  park."))
        [(0, 3), (5, 9)]
        """
        text = sentence.lower() if self.casing == "lower" else sentence
        found, place = [], 0
        for piece in pieces:
            start = text.index(piece, place)
            place = start + len(piece)
            found.append((start, place))
        if len(text) == len(sentence):
            return found
        origin = [number for number, sign in enumerate(sentence) for _ in sign.lower()]
        return [(origin[start], origin[end - 1] + 1) for start, end in found]

    def all_spans(
        self, sentences: Sequence[str], pieces: Sequence[Sequence[str]], *, end: bool
    ) -> list[list[tuple[int, int]]]:
        """Give the spans of many sentences; the end of a sentence, where it is scored, stands for nothing."""
        return [
            [*self.spans(sentence, row), *([(len(sentence), len(sentence))] if end else [])]
            for sentence, row in zip(sentences, pieces, strict=True)
        ]

    def _words(self, text: str) -> list[str]:
        """Cut by jieba, which makes every mark a token of its own; to keep marks is to split them here."""
        pieces = [piece for piece in _jieba().cut(text) if not piece.isspace()]
        if self.punctuation == "drop":
            return [piece for piece in pieces if _HAS_LETTER.search(piece)]
        return pieces


def indistinguishable(sentences: Sequence[str], tokens: Sequence[Hashable]) -> npt.NDArray[np.bool_]:
    """Say which sentences another, different one is to the model: the same tokens, so a tie by construction.

    Parameters
    ----------
    sentences : sequence of str
        As given.
    tokens : sequence of hashable
        What the model sees of each.

    Returns
    -------
    ndarray of bool

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


@cache
def _jieba() -> Any:
    """Load jieba once; it would tell of its dictionary on stderr."""
    try:
        found = importlib.import_module("jieba")
    except ImportError as error:
        remedy = "Run: pip install jieba"
        raise BadInput("cutting Chinese into words needs jieba.", column="tokens", remedy=remedy) from error
    found.setLogLevel(logging.WARNING)
    return found
