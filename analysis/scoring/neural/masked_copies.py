"""Masked copies of sentences, the inputs of a pseudo-log-likelihood."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

METHODS = ("pll", "pll-l2r")


@dataclass
class MaskedCopies:
    """Distinct copies, and the copies of each sentence.

    ``copies`` maps token ids with masks, the masked position and its token to the number of the copy; ``of``
    lists the copies of each sentence in the order of its tokens.
    """

    copies: dict[tuple[tuple[int, ...], int, int], int] = field(default_factory=dict)
    of: list[list[int]] = field(default_factory=list)


def masked_copies(
    ids: Sequence[Sequence[int]],
    words: Sequence[Sequence[int | None]],
    *,
    mask: int,
    method: str = "pll",
) -> MaskedCopies:
    """Make one masked copy per token of each sentence; equal copies are made once.

    Notes
    -----
    ``pll`` overrates words of several tokens, whose later pieces reveal the earlier ones.

    References
    ----------
    Salazar et al. (2020), "Masked language model scoring", ACL. Kauf & Ivanova (2023), "A better way to do
    masked language model scoring", ACL.

    Examples
    --------
    >>> masked = masked_copies([[1, 7, 8, 2]], [[None, 0, 0, None]], mask=9, method="pll-l2r")
    >>> list(masked.copies), masked.of
    ([((1, 9, 9, 2), 1, 7), ((1, 7, 9, 2), 2, 8)], [[0, 1]])
    """
    masked = MaskedCopies()
    for tokens, word in zip(ids, words, strict=True):
        numbers = []
        for position, token in enumerate(tokens):
            if word[position] is None:
                continue
            copy = list(tokens)
            for hidden in _hidden(word, position, method):
                copy[hidden] = mask
            key = (tuple(copy), position, token)
            numbers.append(masked.copies.setdefault(key, len(masked.copies)))
        masked.of.append(numbers)
    return masked


def _hidden(word: Sequence[int | None], position: int, method: str) -> Iterable[int]:
    """Positions that a copy masks."""
    yield position
    if method == "pll-l2r":
        later = position + 1
        while later < len(word) and word[later] is not None and word[later] == word[position]:
            yield later
            later += 1
