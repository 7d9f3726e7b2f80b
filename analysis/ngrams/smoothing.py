"""Interpolated modified Kneser-Ney smoothing, equivalent to lmplz."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..errors import BadInput
from .columns import Column, Workspace
from .counts import BEGIN_ID, CHUNK, Counts, Ids, OrderCounts, count_ngrams
from .query import BackoffModel, BackoffOrder

FALLBACK = (0.5, 1.0, 1.5)  # discounts of lmplz where the counts of counts do not determine them
BLOCK = 2**21  # n-grams processed at once
MIN_WEIGHT = 1e-99  # log10 is -99, which ARPA files use for zero


def train_model(
    sentences: Iterable[Sequence[str]],
    *,
    order: int = 3,
    prune: Sequence[int] = (),
    workspace: Workspace | None = None,
    chunk: int = CHUNK,
) -> BackoffModel:
    """Train an n-gram model on tokenized sentences.

    Parameters
    ----------
    sentences : iterable of sequences of str
        Tokens of each sentence, without boundary marks; consumed once.
    order : int
        Length of the longest n-grams, 1 to 6.
    prune : sequence of int
        Threshold for each order from 1 on: n-grams with this count or less are removed; the last number also
        applies to longer n-grams. ``(0, 0, 1)`` removes trigrams and longer that occur once. By default none.
    workspace : Workspace, optional
        Where counts and the model are stored; by default in memory.
    chunk : int
        Number of tokens that are sorted at once, which bounds the memory used.

    Returns
    -------
    BackoffModel
        For :func:`obelus.ngrams.query.token_logprobs`, or to be written as an ARPA file; ``<unk>`` has the
        probability that smoothing reserves for every unseen word.

    Raises
    ------
    BadInput
        If the order is out of range, a token is a boundary mark, or the thresholds of ``prune`` decrease.
    NotEnoughData
        If there are no tokens.

    Notes
    -----
    ``P(w|h) = (a(hw) - D(a(hw))) / Σ_v a(hv) + γ(h) P(w|h')`` with adjusted counts a, three discounts per
    order (for counts 1, 2, 3 and more) and γ(h) the mass taken by them. Single words are interpolated with
    1/N, where the N words hold ``<unk>`` and ``</s>`` but not ``<s>``. Where an order has too few n-grams to
    estimate its discounts, they are 0.5, 1 and 1.5 (lmplz ``--discount_fallback``). As in lmplz ``--prune``,
    discounts are estimated before pruning, and the whole count of what is left out goes to γ(h).

    References
    ----------
    Chen & Goodman (1998), Harvard TR-10-98; Heafield et al. (2013), ACL.

    Examples
    --------
    >>> model = train_model([["the", "cat", "sleeps"], ["the", "cats", "sleep"]], order=2)
    >>> model.order, len(model.words)
    (2, 8)
    """
    thresholds = pruning(prune, order=order)
    counts = count_ngrams(sentences, order=order, workspace=workspace, chunk=chunk)
    return smooth(counts, prune=thresholds, workspace=workspace)


def pruning(prune: Sequence[int], *, order: int) -> list[int]:
    """Expand the pruning thresholds to one per order.

    Examples
    --------
    >>> pruning([0, 0, 1], order=5)
    [0, 0, 1, 1, 1]
    """
    thresholds = list(prune) or [0]
    if thresholds[0] != 0:
        remedy = "Begin with 0: single words are never pruned."
        raise BadInput(f"single words cannot be pruned ({thresholds[0]}).", column="prune", remedy=remedy)
    if len(thresholds) > order:
        raise BadInput(f"{len(thresholds)} numbers for a model of order {order}.", column="prune")
    if sorted(thresholds) != thresholds:
        remedy = "A later number must not be smaller: a kept n-gram needs its beginning."
        raise BadInput(f"the numbers fall ({' '.join(map(str, thresholds))}).", column="prune", remedy=remedy)
    return thresholds + [thresholds[-1]] * (order - len(thresholds))


def smooth(counts: Counts, *, prune: Sequence[int] = (), workspace: Workspace | None = None) -> BackoffModel:
    """Turn adjusted counts into an interpolated model with back-off weights."""
    space, n_words = workspace or Workspace(), len(counts.words)
    thresholds = pruning(prune, order=len(counts.orders))
    below: Column = np.full(1, 1.0 / (n_words - 1))
    log10s: list[Column] = []
    weights: list[Column] = []
    for n, (level, threshold) in enumerate(zip(counts.orders, thresholds, strict=True), start=1):
        below, log10, weight = _smooth_order(
            level, below, space, threshold=threshold, n_words=n_words, is_first=n == 1
        )
        log10s.append(log10)
        weights.append(weight)
    weights.append(np.zeros(len(counts.orders[-1].keys)))
    orders = [
        BackoffOrder(level.keys, log10, weight)
        for level, log10, weight in zip(counts.orders, log10s, weights[1:], strict=True)
    ]
    if any(thresholds):
        is_kept = [
            level.occurrences > threshold if threshold else None
            for level, threshold in zip(counts.orders, thresholds, strict=True)
        ]
        orders = _without_pruned(orders, is_kept, n_words=n_words)
    return BackoffModel(counts.words, orders)


def discounts(adjusted: Ids) -> tuple[float, float, float]:
    """Estimate the discounts of n-grams seen once, twice, and more often.

    Notes
    -----
    ``D_k = k - (k+1) Y n_{k+1} / n_k`` with ``Y = n_1 / (n_1 + 2 n_2)``; 0.5, 1, 1.5 when one of
    n_1 to n_3 is zero or a discount leaves the range from 0 to k.

    Examples
    --------
    >>> discounts(np.array([1, 1, 1, 1, 2, 2, 3, 4]))
    (0.5, 1.25, 1.0)
    """
    n1, n2, n3, n4 = (int((adjusted == k).sum()) for k in (1, 2, 3, 4))
    if not (n1 and n2 and n3):
        return FALLBACK
    y = n1 / (n1 + 2 * n2)
    values = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
    in_range = all(0 <= value <= k for k, value in enumerate(values, start=1))
    return values if in_range else FALLBACK


def _smooth_order(
    level: OrderCounts, below: Column, space: Workspace, *, threshold: int, n_words: int, is_first: bool
) -> tuple[Column, Column, Column]:
    """Compute the probabilities of an order, their logarithms, and the log10 weight of each context."""
    amounts = np.array([0.0, *discounts(level.count)])
    probabilities, log10s, weights = (space.column(np.float64) for _ in range(3))
    for part, contexts in _whole_contexts(level.keys, n_words, n_contexts=len(below)):
        parent = level.keys[part] // n_words - contexts.start
        count, suffix = level.count[part], level.suffix[part]
        amount = amounts[np.minimum(count, 3)]
        pruned = (level.occurrences[part] <= threshold) & (threshold > 0)
        taken = np.where(pruned, count, amount) if threshold else amount
        n = contexts.stop - contexts.start
        total = np.bincount(parent, weights=count, minlength=n)
        gamma = np.bincount(parent, weights=taken, minlength=n)
        gamma = np.where(total > 0, gamma / np.where(total > 0, total, 1.0), 1.0)
        probability = (count - amount) / total[parent] + gamma[parent] * below[suffix]
        if is_first:
            probability[BEGIN_ID] = 1.0
        probabilities.append(probability)
        log10s.append(np.log10(probability))
        weights.append(np.log10(np.maximum(gamma, MIN_WEIGHT)))
    return probabilities.whole(), log10s.whole(), weights.whole()


def _whole_contexts(keys: Ids, n_words: int, *, n_contexts: int) -> Iterator[tuple[slice, slice]]:
    """Cut an order into blocks that hold all n-grams of their contexts."""
    if n_contexts == 1:
        yield slice(0, len(keys)), slice(0, 1)
        return
    start, context = 0, 0
    while start + BLOCK < len(keys):
        next_context = int(keys[start + BLOCK]) // n_words + 1
        stop = int(np.searchsorted(keys, next_context * n_words))
        yield slice(start, stop), slice(context, next_context)
        start, context = stop, next_context
    yield slice(start, len(keys)), slice(context, n_contexts)


def _without_pruned(
    orders: list[BackoffOrder], is_kept: list[Column | None], *, n_words: int
) -> list[BackoffOrder]:
    """Prune n-grams and renumber the others; prefixes of retained n-grams are retained."""
    pruned: list[BackoffOrder] = []
    place: Ids | None = None
    for level, keep in zip(orders, is_kept, strict=True):
        keys, log10, backoff = level.keys, level.log10, level.backoff
        if keep is not None:
            keys, log10, backoff = keys[keep], log10[keep], backoff[keep]
        if place is not None:
            keys = place[keys // n_words] * n_words + keys % n_words
        place = np.cumsum(keep) - 1 if keep is not None else None
        pruned.append(BackoffOrder(keys, log10, backoff))
    return pruned
