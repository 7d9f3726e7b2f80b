"""Encoding of sentences as numbers by a vocabulary of the most frequent words or characters."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from ..scoring.scorers.lstm import END, UNKNOWN
from ..scoring.words.tokens import Tokenization


class Codec(Protocol):
    """Encoder of a model; ``end`` is also the mark of the beginning."""

    end: int

    @property
    def n_types(self) -> int:
        """Number of rows of the vocabulary."""
        ...

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the token numbers of each sentence, without marks."""
        ...


class WordCodec:
    """Encodes words or characters; those outside the vocabulary become ``<unk>``."""

    def __init__(self, tokenization: Tokenization, words: Sequence[str]) -> None:
        self.tokenization, self.words = tokenization, list(words)
        self.index = {word: number for number, word in enumerate(self.words)}
        self.unknown, self.end = self.index[UNKNOWN], self.index[END]

    @property
    def n_types(self) -> int:
        """Number of rows of the vocabulary."""
        return len(self.words)

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the token numbers of each sentence, without marks."""
        tokens = self.tokenization.tokens
        return [[self.index.get(piece, self.unknown) for piece in tokens(sentence)] for sentence in sentences]


def frequent_words(pieces: Iterable[Sequence[str]], *, size: int) -> list[str]:
    """Return a vocabulary: ``<unk>``, ``<eos>``, then the most frequent tokens, ties in alphabetical order.

    Examples
    --------
    >>> frequent_words([["a", "dog"], ["a", "cat"]], size=2)
    ['<unk>', '<eos>', 'a', 'cat']
    """
    counts = Counter(piece for row in pieces for piece in row)
    for mark in (UNKNOWN, END):
        counts.pop(mark, None)
    if not counts:
        raise BadInput("the corpus has no token.")
    order = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return [UNKNOWN, END, *(word for word, _ in order[:size])]


def unigram_logprobs(rows: Iterable[Sequence[int]], *, n_types: int, end: int) -> npt.NDArray[np.float64]:
    """Return natural log probabilities of single tokens, each counted once more than it occurs.

    Examples
    --------
    >>> np.exp(unigram_logprobs([[0, 0]], n_types=2, end=1)).round(2).tolist()
    [0.6, 0.4]
    """
    counts = np.ones(n_types)
    for row in rows:
        np.add.at(counts, np.asarray([*row, end], dtype=np.int64), 1)
    return np.asarray(np.log(counts / counts.sum()), dtype=np.float64)
