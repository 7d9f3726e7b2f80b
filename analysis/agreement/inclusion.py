"""Rules that decide whether a paradigm is included.

Counts are compared as integers and shares as exact fractions, without rounding errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from ..errors import BadInput, UnknownName

RULE_NAMES = ("blimp", "climp", "M/N", "a share such as 0.85")


@dataclass(frozen=True)
class Tally:
    """Input of a rule: usable items, items right by strict majority, and their counts."""

    right: int
    items: int
    counts: Sequence[tuple[int, int]] = ()
    """(k, n) of each item with judgments."""

    def mean_share(self) -> Fraction | None:
        """Compute the exact mean of item shares, or None without judgments."""
        totals: dict[int, int] = {}
        for k, n in self.counts:
            totals[n] = totals.get(n, 0) + k
        judged = sum(1 for _, n in self.counts if n > 0)
        if judged == 0:
            return None
        return sum((Fraction(k, n) for n, k in totals.items() if n > 0), Fraction(0)) / judged


class Rule(Protocol):
    """Interface of an inclusion rule."""

    @property
    def name(self) -> str:
        """Text from which :func:`parse_rule` makes the rule."""

    def decide(self, tally: Tally) -> str:
        """Return the status of a paradigm: included, rejected or insufficient_items."""


@dataclass(frozen=True)
class CountRule:
    """Strict majority right on at least ``needed`` of every ``of`` items.

    Notes
    -----
    With fewer than ``needed`` usable items the paradigm has ``insufficient_items``; up to ``of``
    items the count itself is compared; with more than ``of`` items their share: right · of ≥
    needed · items. A tie is not right.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8, §3.4: 4 of 5.
    """

    needed: int
    of: int
    name: str

    def decide(self, tally: Tally) -> str:
        """Return the status of a paradigm: included, rejected or insufficient_items."""
        if tally.items < self.needed:
            return "insufficient_items"
        if tally.right * self.of >= self.needed * max(tally.items, self.of):
            return "included"
        return "rejected"


@dataclass(frozen=True)
class ShareRule:
    """Mean of item shares at least ``share``.

    References
    ----------
    Xiang et al. (2021), "CLiMP", EACL, §3.4: below 85 % is dropped.
    """

    share: Fraction
    name: str

    def decide(self, tally: Tally) -> str:
        """Return the status of a paradigm: included, rejected or insufficient_items."""
        mean = tally.mean_share()
        if mean is None:
            return "insufficient_items"
        return self.decide_share(mean)

    def decide_share(self, mean: Fraction) -> str:
        """Compare an exact mean accuracy with the threshold."""
        return "included" if mean >= self.share else "rejected"


def pair_validity(k: int, n: int) -> str:
    """Return whether more than half of a pair's annotators agree, as in CLiMP's second round.

    Examples
    --------
    >>> pair_validity(8, 16), pair_validity(9, 16)
    ('invalid', 'valid')
    """
    if n == 0:
        return "no_data"
    return "valid" if 2 * k > n else "invalid"


def parse_rule(text: str) -> Rule:
    """Parse an inclusion rule.

    Parameters
    ----------
    text : str
        ``blimp`` (4/5 by majority), ``climp`` (mean accuracy at least .85), ``M/N`` (majority as expected
        on at least M of every N items) or a share between 0 and 1 such as ``0.85``.

    Returns
    -------
    Rule
        Its ``decide`` method returns the status of one paradigm.

    Raises
    ------
    UnknownName
        If it is none of these.
    BadInput
        If M exceeds N or the share is not between 0 and 1.

    Examples
    --------
    >>> parse_rule("4/5").decide(Tally(right=4, items=5))
    'included'
    """
    word = text.strip().lower()
    if word == "blimp":
        return CountRule(needed=4, of=5, name="blimp")
    if word == "climp":
        return ShareRule(Fraction(85, 100), name="climp")
    needed, slash, of = (part.strip() for part in word.partition("/"))
    if slash and needed.isdecimal() and of.isdecimal():
        if not 1 <= int(needed) <= int(of):
            raise BadInput(f"rule {text!r} asks for {needed} of {of}.", remedy="Give M/N with 1 ≤ M ≤ N.")
        return CountRule(needed=int(needed), of=int(of), name=f"{int(needed)}/{int(of)}")
    try:
        share = Fraction(word)
    except (ValueError, ZeroDivisionError):
        raise UnknownName("rule", text, RULE_NAMES) from None
    if not 0 < share <= 1:
        raise BadInput(f"rule {text!r} is no share.", remedy="Give a number above 0 and at most 1.")
    return ShareRule(share, name=word)
