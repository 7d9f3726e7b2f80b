"""Adjusted n-gram counts for Kneser-Ney smoothing."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import BadInput, NotEnoughData
from .columns import Column, Workspace, blocks
from .runs import Merged, Run, merge_runs, sorted_run

UNKNOWN, BEGIN, END = "<unk>", "<s>", "</s>"
UNKNOWN_ID, BEGIN_ID, END_ID = 0, 1, 2
MAX_ORDER = 6
CHUNK = 2**22
"""Tokens sorted at once."""
TALLY = 2**25  # values counted at once by bincount

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class OrderCounts:
    """The distinct n-grams of one order, sorted by key.

    An n-gram's key is the position of its first n-1 words in the order below, times the number of words,
    plus its last word; ``suffix`` is the position of its last n-1 words there. ``occurrences`` is its
    frequency in the text, ``count`` its adjusted count.
    """

    keys: Column
    suffix: Column
    occurrences: Column
    count: Column


@dataclass(frozen=True)
class Counts:
    """Vocabulary, adjusted counts of orders 1 to n, and the size of the text."""

    words: list[str]
    orders: list[OrderCounts]
    n_sentences: int
    n_tokens: int


def count_ngrams(
    sentences: Iterable[Sequence[str]],
    *,
    order: int,
    workspace: Workspace | None = None,
    chunk: int = CHUNK,
) -> Counts:
    """Count the n-grams of tokenized sentences.

    Notes
    -----
    For the highest order and for n-grams that begin a sentence, how often they occur; for all others
    in how many different words they are preceded by (continuation counts).

    One ``<s>`` opens each sentence and one ``</s>`` closes it; ``<unk>`` and ``<s>`` have count 0 as
    single words. Chunks of the text are sorted one by one and the sorted runs merged in parts, so that
    working memory depends on the chunk and, once per order, on the number of distinct n-grams.
    """
    if not 1 <= order <= MAX_ORDER:
        raise BadInput(f"the order must lie between 1 and {MAX_ORDER}, got {order}.", column="order")
    space = workspace or Workspace()
    tokens, words, n_sentences = _encode(sentences, space, chunk=chunk)
    place: Column = tokens
    raw = [_unigrams(tokens, len(words))]
    for n in range(2, order + 1):
        level, place = _longer(tokens, place, space, n_words=len(words), chunk=chunk, last=n == order)
        raw.append(level)
    return Counts(words, _adjust(raw, n_words=len(words)), n_sentences, len(tokens) - 2 * n_sentences)


def _encode(
    sentences: Iterable[Sequence[str]], space: Workspace, *, chunk: int
) -> tuple[Column, list[str], int]:
    """Number the words in order of appearance, with boundary marks around each sentence."""
    ids: defaultdict[str, int] = defaultdict()
    ids.update({UNKNOWN: UNKNOWN_ID, BEGIN: BEGIN_ID, END: END_ID})
    ids.default_factory = ids.__len__
    column, flat, n_sentences, number = space.column(np.int32), [], 0, ids.__getitem__
    marks = np.zeros(3, dtype=np.int64)

    def put_away(flat: list[int]) -> None:
        values = np.array(flat, dtype=np.int32)
        marks[:] += np.bincount(values, minlength=3)[:3]
        column.append(values)

    for sentence in sentences:
        flat.append(BEGIN_ID)
        flat.extend(map(number, sentence))
        flat.append(END_ID)
        n_sentences += 1
        if len(flat) >= chunk:
            put_away(flat)
            flat = []
    put_away(flat)
    if not len(ids) > 3:
        raise NotEnoughData("there is no word to count.")
    if marks.tolist() != [0, n_sentences, n_sentences]:
        remedy = "Leave them out of the text."
        raise BadInput(f"{UNKNOWN}, {BEGIN} and {END} are the model's own marks.", remedy=remedy)
    return column.whole(), list(ids), n_sentences


def _unigrams(tokens: Column, n_words: int) -> Merged:
    count = sum(np.bincount(tokens[part], minlength=n_words) for part in blocks(len(tokens), TALLY))
    nothing = np.zeros(n_words, dtype=np.int32)
    return Merged(np.arange(n_words, dtype=np.int64), np.asarray(count, dtype=np.int64), nothing)


def _longer(
    tokens: Column, shorter: Column, space: Workspace, *, n_words: int, chunk: int, last: bool
) -> tuple[Merged, Column]:
    """Return the distinct n-grams of the next order, and the one that ends at each position (-1: none)."""
    runs: list[Run] = []
    local = space.column(np.int32)
    for part in blocks(len(tokens), chunk):
        word, ending = tokens[part], shorter[part]
        before = np.empty_like(ending)
        before[0] = shorter[part.start - 1] if part.start else -1
        before[1:] = ending[:-1]
        places = np.flatnonzero((before >= 0) & (word != BEGIN_ID))
        keys = before[places].astype(np.int64) * n_words + word[places]
        run, which = sorted_run(keys, ending[places])
        runs.append(_put_down(run, space))
        if not last:
            here = np.full(len(word), -1, dtype=np.int32)
            here[places] = which
            local.append(here)
    merged = merge_runs(runs, space)
    if last:
        return merged, np.empty(0, dtype=np.int32)
    return merged, _in_text(local.whole(), merged, space, chunk=chunk)


def _put_down(run: Run, space: Workspace) -> Run:
    def stored_column(values: Column) -> Column:
        column = space.column(values.dtype.type)
        column.append(values)
        return column.whole()

    return Run(*(stored_column(values) for values in run))


def _in_text(local: Column, merged: Merged, space: Workspace, *, chunk: int) -> Column:
    """Map the numbers within each chunk to positions among all n-grams."""
    column = space.column(np.int32)
    for part, place_of in zip(blocks(len(local), chunk), merged.place_of, strict=True):
        here = local[part]
        column.append(np.where(here >= 0, place_of[here] if len(place_of) else -1, -1))
    return column.whole()


def _adjust(raw: list[Merged], *, n_words: int) -> list[OrderCounts]:
    """Count the words that precede each n-gram; sentence-initial ones, first by key, keep their frequency."""
    adjusted, opening = [], END_ID
    for level, longer in zip(raw, [*raw[1:], None], strict=True):
        count = level.count
        if level is not raw[0]:
            opening = int(np.searchsorted(level.keys, opening * n_words))
        if longer is not None:
            count = _count_predecessors(longer.suffix, len(level.keys))
            count[:opening] = level.count[:opening]
        if level is raw[0]:
            count = count.copy()
            count[[UNKNOWN_ID, BEGIN_ID]] = 0
        adjusted.append(OrderCounts(level.keys, level.suffix, level.count, count))
    return adjusted


def _count_predecessors(suffix: Column, size: int) -> Column:
    count = np.zeros(size, dtype=np.int32)
    for part in blocks(len(suffix), TALLY):
        count += np.bincount(suffix[part], minlength=size).astype(np.int32)
    return count
