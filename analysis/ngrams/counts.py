"""Adjusted counts of n-grams, as Kneser-Ney smoothing wants them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput, NotEnoughData

UNKNOWN, BEGIN, END = "<unk>", "<s>", "</s>"
UNKNOWN_ID, BEGIN_ID, END_ID = 0, 1, 2
MAX_ORDER = 6

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class OrderCounts:
    """The distinct n-grams of one order, sorted by key.

    An n-gram's key is the place of its first n-1 words in the order below, times the number of words,
    plus its last word; ``suffix`` is the place of its last n-1 words there.
    """

    keys: Ids
    parent: Ids
    word: Ids
    suffix: Ids
    count: Ids


@dataclass(frozen=True)
class Counts:
    """Vocabulary and adjusted counts of orders 1 to n."""

    words: list[str]
    orders: list[OrderCounts]


def count_ngrams(sentences: Iterable[Sequence[str]], *, order: int) -> Counts:
    """Count the n-grams of tokenized sentences.

    Parameters
    ----------
    sentences : iterable of sequences of str
        Tokens of each sentence, without boundary marks.
    order : int
        Longest n-gram, 1 to 6.

    Returns
    -------
    Counts
        For the highest order and for n-grams that begin a sentence, how often they occur; for all others
        in how many different words they are preceded by (continuation counts).

    Raises
    ------
    BadInput
        If the order is out of range or a token is a boundary mark.
    NotEnoughData
        Without any token.

    Notes
    -----
    One ``<s>`` opens each sentence and one ``</s>`` closes it; ``<unk>`` and ``<s>`` have count 0 as
    single words.
    """
    if not 1 <= order <= MAX_ORDER:
        raise BadInput(f"the order must lie between 1 and {MAX_ORDER}, got {order}.", column="order")
    tokens, starts, words = _encode(sentences)
    position_id: Ids = tokens
    raw = [_unigrams(tokens, len(words))]
    first_word = [np.arange(len(words))]
    reaches = np.ones(len(tokens), dtype=np.bool_)
    for _ in range(1, order):
        reaches = _shift(reaches, starts)
        level, position_id = _longer(tokens, position_id, reaches, n_words=len(words))
        raw.append(level)
        first_word.append(first_word[-1][level.parent])
    return Counts(words, _adjust(raw, first_word))


def _encode(sentences: Iterable[Sequence[str]]) -> tuple[Ids, npt.NDArray[np.bool_], list[str]]:
    """Number the words in order of appearance; mark where sentences start."""
    ids = {UNKNOWN: UNKNOWN_ID, BEGIN: BEGIN_ID, END: END_ID}
    flat: list[int] = []
    lengths: list[int] = []
    for sentence in sentences:
        flat.append(BEGIN_ID)
        flat.extend([ids.setdefault(token, len(ids)) for token in sentence])
        flat.append(END_ID)
        lengths.append(len(sentence) + 2)
    tokens = np.array(flat, dtype=np.int64)
    starts = np.zeros(len(tokens), dtype=np.bool_)
    starts[np.cumsum([0, *lengths[:-1]])[: len(lengths)]] = True
    if not len(ids) > 3:
        raise NotEnoughData("there is no word to count.")
    marks = np.bincount(tokens, minlength=3)[:3].tolist()
    if marks != [0, len(lengths), len(lengths)]:
        remedy = "Leave them out of the text."
        raise BadInput(f"{UNKNOWN}, {BEGIN} and {END} are the model's own marks.", remedy=remedy)
    return tokens, starts, list(ids)


def _shift(reaches: npt.NDArray[np.bool_], starts: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Say which places end an n-gram one word longer without leaving the sentence."""
    longer = np.zeros_like(reaches)
    longer[1:] = reaches[:-1]
    return longer & ~starts


def _unigrams(tokens: Ids, n_words: int) -> OrderCounts:
    every = np.arange(n_words, dtype=np.int64)
    count = np.bincount(tokens, minlength=n_words).astype(np.int64)
    nothing = np.zeros(n_words, dtype=np.int64)
    return OrderCounts(every, nothing, every, nothing, count)


def _longer(
    tokens: Ids, shorter_id: Ids, reaches: npt.NDArray[np.bool_], *, n_words: int
) -> tuple[OrderCounts, Ids]:
    """Find the distinct n-grams of the next order, and which one ends at each place."""
    places = np.flatnonzero(reaches)
    keys = shorter_id[places - 1] * n_words + tokens[places]
    distinct, first, inverse, count = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    longer_id = np.full(len(tokens), -1, dtype=np.int64)
    longer_id[places] = inverse
    level = OrderCounts(
        distinct,
        distinct // n_words,
        distinct % n_words,
        shorter_id[places[first]],
        count.astype(np.int64),
    )
    return level, longer_id


def _adjust(raw: list[OrderCounts], first_word: list[Ids]) -> list[OrderCounts]:
    adjusted = []
    for level, longer, first in zip(raw, [*raw[1:], None], first_word, strict=True):
        count = level.count
        if longer is not None:
            continuation = np.bincount(longer.suffix, minlength=len(level.keys)).astype(np.int64)
            count = np.where(first == BEGIN_ID, level.count, continuation)
        if level is raw[0]:
            count = count.copy()
            count[[UNKNOWN_ID, BEGIN_ID]] = 0
        adjusted.append(OrderCounts(level.keys, level.parent, level.word, level.suffix, count))
    return adjusted
