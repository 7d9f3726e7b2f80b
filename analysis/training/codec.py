"""Sentences become numbers: words or characters by a vocabulary of the most frequent."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput
from analysis.scoring.lstm import END, UNKNOWN
from analysis.scoring.tokens import Tokenization


class Codec(Protocol):
    """How a model reads text; ``end`` is also the mark of the beginning."""

    end: int

    @property
    def n_types(self) -> int:
        """Rows of the vocabulary."""
        ...

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Numbers of each sentence's tokens, without marks."""
        ...


class WordCodec:
    """Words or characters between white space, those outside the vocabulary as ``<unk>``."""

    def __init__(self, tokenization: Tokenization, words: Sequence[str]) -> None:
        self.tokenization, self.words = tokenization, list(words)
        self.index = {word: number for number, word in enumerate(self.words)}
        self.unknown, self.end = self.index[UNKNOWN], self.index[END]

    @property
    def n_types(self) -> int:
        """Rows of the vocabulary."""
        return len(self.words)

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Numbers of each sentence's tokens, without marks."""
        cut = self.tokenization.tokens
        return [[self.index.get(piece, self.unknown) for piece in cut(one)] for one in sentences]


def frequent_words(pieces: Iterable[Sequence[str]], *, most: int) -> list[str]:
    """Choose a vocabulary: ``<unk>``, ``<eos>``, then the most frequent tokens, ties in alphabetical order.

    Parameters
    ----------
    pieces : iterable of sequences of str
        Tokens of each sentence.
    most : int
        Most types besides the two marks.

    Returns
    -------
    list of str

    Raises
    ------
    BadInput
        Without any token.

    Examples
    --------
    >>> frequent_words([["a", "dog"], ["a", "cat"]], most=2)
    ['<unk>', '<eos>', 'a', 'cat']
    """
    counts = Counter(piece for one in pieces for piece in one)
    for mark in (UNKNOWN, END):
        counts.pop(mark, None)
    if not counts:
        raise BadInput("the corpus has no token.")
    order = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return [UNKNOWN, END, *(word for word, _ in order[:most])]


def unigram_logprobs(rows: Iterable[Sequence[int]], *, n_types: int, end: int) -> npt.NDArray[np.float64]:
    """Natural log probabilities of single tokens, each counted once more than it occurs.

    Parameters
    ----------
    rows : iterable of sequences of int
        Sentences without marks; each has one end.
    n_types, end : int
        Size of the vocabulary, number of the end.

    Returns
    -------
    ndarray of float

    Examples
    --------
    >>> np.exp(unigram_logprobs([[0, 0]], n_types=2, end=1)).round(2).tolist()
    [0.6, 0.4]
    """
    counts = np.ones(n_types)
    for row in rows:
        np.add.at(counts, np.asarray([*row, end], dtype=np.int64), 1)
    return np.asarray(np.log(counts / counts.sum()), dtype=np.float64)
