"""What scores reach when they are dealt out at random: one row for all models of a table."""

from collections.abc import Iterable

from analysis.releases.templatetags.numerals import number

DIGITS = 3  # of shares in these tables


def lowest_and_highest(values: Iterable[float | None]) -> tuple[float | None, float | None]:
    """The ends of the known values; the highest is left out where it reads as the lowest."""
    known = [value for value in values if value is not None]
    low, high = min(known, default=None), max(known, default=None)
    return low, None if number(low, DIGITS) == number(high, DIGITS) else high
