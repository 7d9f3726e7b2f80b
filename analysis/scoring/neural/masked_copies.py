"""Masked copies of sentences: what a masked language model has to see to give a pseudo-log-likelihood."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

METHODS = ("pll", "pll-l2r")


@dataclass
class MaskedCopies:
    """Distinct copies, and which of them make up each sentence.

    ``copies`` holds the token ids with their masks, the position that is asked for, and the token that
    belongs there; ``of`` lists, for each sentence, its copies in the order of its tokens.
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
    """Make one masked copy per token of each sentence, and keep equal copies once.

    Parameters
    ----------
    ids : sequence of sequences of int
        Token ids with the marks around a sentence.
    words : sequence of sequences of int or None
        The word each token belongs to; None for marks, which are never asked for.
    mask : int
        The id of the mask.
    method : {"pll", "pll-l2r"}
        ``pll`` masks one token; ``pll-l2r`` masks the later tokens of its word as well.

    Returns
    -------
    MaskedCopies

    Notes
    -----
    ``pll`` favours words of several tokens, whose later pieces give the earlier ones away.

    References
    ----------
    Salazar et al. (2020), "Masked language model scoring", ACL. Kauf & Ivanova (2023), "A better way to do
    masked language model scoring", ACL.

    Examples
    --------
    >>> made = masked_copies([[1, 7, 8, 2]], [[None, 0, 0, None]], mask=9, method="pll-l2r")
    >>> list(made.copies), made.of
    ([((1, 9, 9, 2), 1, 7), ((1, 7, 9, 2), 2, 8)], [[0, 1]])
    """
    made = MaskedCopies()
    for tokens, word in zip(ids, words, strict=True):
        own = []
        for place, token in enumerate(tokens):
            if word[place] is None:
                continue
            copy = list(tokens)
            for hidden in _hidden(word, place, method):
                copy[hidden] = mask
            key = (tuple(copy), place, token)
            own.append(made.copies.setdefault(key, len(made.copies)))
        made.of.append(own)
    return made


def _hidden(word: Sequence[int | None], place: int, method: str) -> Iterable[int]:
    """The positions that a copy masks."""
    yield place
    if method == "pll-l2r":
        later = place + 1
        while later < len(word) and word[later] is not None and word[later] == word[place]:
            yield later
            later += 1
