"""Interpolated modified Kneser-Ney smoothing, as lmplz does it."""

from collections.abc import Iterable, Sequence

import numpy as np

from analysis.ngrams.counts import BEGIN_ID, Counts, Ids, OrderCounts, count_ngrams
from analysis.ngrams.query import BackoffModel, BackoffOrder, Floats

FALLBACK = (0.5, 1.0, 1.5)


def train_model(sentences: Iterable[Sequence[str]], *, order: int = 3) -> BackoffModel:
    """Train an n-gram model on tokenized sentences.

    Parameters
    ----------
    sentences : iterable of sequences of str
        Tokens of each sentence, without boundary marks.
    order : int
        Longest n-gram, 1 to 6.

    Returns
    -------
    BackoffModel
        Ready to be asked or written as an ARPA file; ``<unk>`` has the share every word gets for nothing.

    Raises
    ------
    BadInput
        If the order is out of range or a token is a boundary mark.
    NotEnoughData
        Without any token.

    Notes
    -----
    ``P(w|h) = (a(hw) - D(a(hw))) / Σ_v a(hv) + γ(h) P(w|h')`` with adjusted counts a, three discounts per
    order (for counts 1, 2, 3 and more) and γ(h) the mass taken by them. Single words are interpolated with
    1/N, where the N words hold ``<unk>`` and ``</s>`` but not ``<s>``. Where an order has too few n-grams to
    estimate its discounts, they are 0.5, 1 and 1.5 (lmplz ``--discount_fallback``). Nothing is pruned.

    References
    ----------
    Chen & Goodman (1998), Harvard TR-10-98; Heafield et al. (2013), ACL.

    Examples
    --------
    >>> model = train_model([["the", "cat", "sleeps"], ["the", "cats", "sleep"]], order=2)
    >>> model.order, len(model.words)
    (2, 8)
    """
    return smooth(count_ngrams(sentences, order=order))


def smooth(counts: Counts) -> BackoffModel:
    """Turn adjusted counts into an interpolated model with back-off weights.

    Parameters
    ----------
    counts : Counts
        Adjusted counts of orders 1 to n.

    Returns
    -------
    BackoffModel
        Probabilities of every n-gram counted.
    """
    n_words = len(counts.words)
    below = np.full(1, 1.0 / (n_words - 1))
    probabilities: list[Floats] = []
    weights: list[Floats] = []
    for level in counts.orders:
        n_contexts = len(probabilities[-1]) if probabilities else 1
        discounted, gamma = _discount(level, n_contexts)
        probability = discounted + gamma[level.parent] * below[level.suffix]
        if not probabilities:
            probability[BEGIN_ID] = 1.0
        weights.append(gamma)
        probabilities.append(probability)
        below = probability
    return BackoffModel(counts.words, _orders(counts, probabilities, weights))


def discounts(adjusted: Ids) -> tuple[float, float, float]:
    """Estimate the discounts of n-grams seen once, twice, and more often.

    Parameters
    ----------
    adjusted : ndarray of int
        Adjusted counts of one order; zeros are left out.

    Returns
    -------
    tuple of float
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
    found = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
    in_range = all(0 <= value <= k for k, value in enumerate(found, start=1))
    return found if in_range else FALLBACK


def _discount(level: OrderCounts, n_contexts: int) -> tuple[Floats, Floats]:
    """Give each n-gram its discounted share, and each context the mass left for shorter contexts."""
    amount = np.array([0.0, *discounts(level.count)])[np.minimum(level.count, 3)]
    total = np.bincount(level.parent, weights=level.count, minlength=n_contexts)
    taken = np.bincount(level.parent, weights=amount, minlength=n_contexts)
    seen = total > 0
    gamma = np.where(seen, taken / np.where(seen, total, 1.0), 1.0)
    return (level.count - amount) / np.where(seen, total, 1.0)[level.parent], gamma


def _orders(counts: Counts, probabilities: list[Floats], weights: list[Floats]) -> list[BackoffOrder]:
    """Bring to log10; the weight of a context stands with the n-gram that is the context."""
    orders = []
    for place, level in enumerate(counts.orders):
        last = place == len(counts.orders) - 1
        backoff = np.zeros(len(level.keys)) if last else np.log10(weights[place + 1])
        orders.append(BackoffOrder(level.keys, np.log10(probabilities[place]), backoff))
    return orders
