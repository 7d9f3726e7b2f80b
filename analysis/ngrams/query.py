"""Vectorized queries of back-off models: probabilities of words in context."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .counts import BEGIN, END, UNKNOWN, Ids

Floats = npt.NDArray[np.float64]
MISSING_UNKNOWN_LOG10 = -100.0


@dataclass(frozen=True)
class BackoffOrder:
    """The n-grams of one order: sorted keys, log10 probabilities and log10 back-off weights."""

    keys: Ids
    log10: Floats
    backoff: Floats


@dataclass(frozen=True)
class BackoffModel:
    """A back-off n-gram model with the contents of an ARPA file.

    ``words[i]`` is the i-th word. The key of a longer n-gram is the position of its first n-1 words in
    the order below, times ``len(words)``, plus the number of its last word. ``tokenization`` says how
    text became tokens, where it is known.
    """

    words: list[str]
    orders: list[BackoffOrder]
    tokenization: dict[str, str] = field(default_factory=dict)
    ids: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", {word: number for number, word in enumerate(self.words)})

    @property
    def order(self) -> int:
        """Length of the longest n-gram."""
        return len(self.orders)

    @property
    def unknown_id(self) -> int | None:
        """Number of the unknown word, if the model has one."""
        return self.ids.get(UNKNOWN, self.ids.get("<UNK>"))


@dataclass(frozen=True)
class TokenLogprobs:
    """Natural log probabilities of the scored tokens of concatenated sentences."""

    logprob: Floats
    unigram: Floats
    unknown: npt.NDArray[np.bool_]
    sentence: Ids
    is_end: npt.NDArray[np.bool_]


def token_logprobs(
    model: BackoffModel, sentences: Sequence[Sequence[str]], *, bos: bool = True, eos: bool = True
) -> TokenLogprobs:
    """Score every token of every sentence given the preceding tokens.

    Parameters
    ----------
    model : BackoffModel
        Model from :func:`obelus.ngrams.train_model` or an ARPA file.
    sentences : sequence of sequences of str
        Tokens of each sentence, without boundary marks.
    bos : bool
        Whether the first word is scored after ``<s>`` (default) or without context.
    eos : bool
        Whether ``</s>`` is scored after the last word (default).

    Returns
    -------
    TokenLogprobs
        Natural logarithms; ``unigram`` is the model's own single-word log probability of the same tokens.

    Notes
    -----
    P(w | h) is that of the longest n-gram found; each word of context that is dropped adds the back-off
    weight of the context. A word outside the vocabulary has the probability of ``<unk>``, or
    10^-100 if the model has none, as in kenlm.

    Examples
    --------
    >>> from obelus.ngrams import train_model
    >>> model = train_model([["a", "b"], ["a", "c"]], order=2)
    >>> found = token_logprobs(model, [["a", "b"], ["zebra"]])
    >>> found.sentence.tolist(), found.unknown.tolist()
    ([0, 0, 0, 1, 1], [False, False, False, True, False])
    """
    words, sentence, mark = _lay_out(model, sentences, bos=bos, eos=eos)
    starts = np.ones(len(words), dtype=np.bool_)
    starts[1:] = sentence[1:] != sentence[:-1]
    log10 = _log10_in_context(model, words, starts)
    scored = mark != "b"
    unigram = _single(model, words)
    to_natural = np.log(10.0)
    unknown = (words < 0) | (words == (-1 if model.unknown_id is None else model.unknown_id))
    return TokenLogprobs(
        log10[scored] * to_natural,
        unigram[scored] * to_natural,
        unknown[scored],
        sentence[scored],
        mark[scored] == "e",
    )


def _lay_out(
    model: BackoffModel, sentences: Sequence[Sequence[str]], *, bos: bool, eos: bool
) -> tuple[Ids, Ids, npt.NDArray[np.str_]]:
    """Concatenate sentences: word numbers (-1 unknown), sentence of each, b(egin), w(ord) or e(nd)."""
    unknown = -1 if model.unknown_id is None else model.unknown_id
    known_ids = model.ids
    begin, end = ([known_ids.get(BEGIN, -1)] if bos else []), ([known_ids.get(END, -1)] if eos else [])
    flat: list[int] = []
    lengths = np.array([len(tokens) for tokens in sentences], dtype=np.int64)
    for tokens in sentences:
        flat += begin
        flat += [known_ids.get(token, unknown) for token in tokens]
        flat += end
    sizes = lengths + len(begin) + len(end)
    sentence = np.repeat(np.arange(len(sizes)), sizes)
    mark = np.full(len(flat), "w")
    last = np.cumsum(sizes) - 1
    if eos:
        mark[last] = "e"
    if bos:
        mark[last - sizes + 1] = "b"
    return np.array(flat, dtype=np.int64), sentence, mark


def _single(model: BackoffModel, words: Ids) -> Floats:
    return np.where(words >= 0, model.orders[0].log10[np.maximum(words, 0)], MISSING_UNKNOWN_LOG10)


def _log10_in_context(model: BackoffModel, words: Ids, starts: npt.NDArray[np.bool_]) -> Floats:
    """Use the longest n-gram that ends at each position, plus back-off weights of shortened contexts."""
    log10 = _single(model, words)
    here = words
    for level, shorter in zip(model.orders[1:], model.orders[:-1], strict=True):
        context = np.full(len(words), -1, dtype=np.int64)
        context[1:] = here[:-1]
        context[starts] = -1
        positions = _look_up(level.keys, context, words, n_words=len(model.words))
        charged = log10 + _take(shorter.backoff, context)
        log10 = np.where(positions >= 0, _take(level.log10, positions), charged)
        here = positions
    return log10


def _take(values: Floats, places: Ids) -> Floats:
    """Return the values at some positions, 0 for position -1."""
    if not len(values):
        return np.zeros(len(places))
    return np.where(places >= 0, values[np.maximum(places, 0)], 0.0)


def _look_up(keys: Ids, context: Ids, words: Ids, *, n_words: int) -> Ids:
    if not len(keys):
        return np.full(len(words), -1, dtype=np.int64)
    rows = np.flatnonzero((context >= 0) & (words >= 0))
    wanted_keys = context[rows] * n_words + words[rows]
    order = np.argsort(wanted_keys)  # ascending keys keep the binary search within cached pages
    rows, wanted_keys = rows[order], wanted_keys[order]
    place = np.minimum(np.searchsorted(keys, wanted_keys), len(keys) - 1)
    positions = np.full(len(words), -1, dtype=np.int64)
    positions[rows] = np.where(keys[place] == wanted_keys, place, -1)
    return positions
