"""Format numbers, intervals and lists for running text and tables."""

from collections.abc import Sequence
from typing import Any

NONE = "–"
TASKS = {
    "forced_choice": "two-alternative forced choice",
    "yes_no": "yes–no judgments",
    "likert": "ratings on a labelled scale (Likert)",
    "magnitude_estimation": "magnitude estimation",
    "slider": "ratings on a slider",
    "best_worst": "best–worst scaling",
}
#: Sentences that pages, commands and reports share.
SENTENCES = {
    "no_contrast": (
        "There is no contrast: no judged sentence or pair has an expected status, and no four conditions are "
        "two levels of two factors, such as island.embedded."
    ),
    "alphabetical": (
        "No condition is expected to be unacceptable, so alphabetically later levels count as marked."
    ),
    "floor_or_ceiling": "Floor and ceiling effects of the scale can create or hide an interaction.",
    "first_step": "Each row is counted under the first step that removes it.",
}
RATING_UNITS = {
    "z": "z",
    "z-log": "z of logarithms",
    "robust-z": "robust z",
    "rank-normal": "normal quantiles of ranks",
    "raw": "scale points",
}
UNITS = {"forced_choice": "minimal pairs", "yes_no": "sentences"}


def count(number: Any) -> str:
    """Format an integer with thousands separators.

    Examples
    --------
    >>> count(6935), count(None)
    ('6,935', '–')
    """
    return NONE if number is None else f"{int(number):,}"


def share(number: Any) -> str:
    """Format a proportion in percent with one decimal.

    Examples
    --------
    >>> share(323 / 335), share(None)
    ('96.4 %', '–')
    """
    return NONE if number is None else f"{100 * number:.1f} %"


def decimal(number: Any, digits: int = 3) -> str:
    """Format a number with fixed decimals and a typographic minus sign.

    Examples
    --------
    >>> decimal(-0.1234), decimal(None)
    ('−0.123', '–')
    """
    return NONE if number is None else f"{number:.{digits}f}".replace("-", "−")


def p_value(number: Any) -> str:
    """Format a p value in journal style, without a leading zero.

    Examples
    --------
    >>> p_value(0.0312), p_value(1e-9)
    ('.031', '< .001')
    """
    if number is None:
        return NONE
    return "< .001" if number < 0.001 else f"{number:.3f}".removeprefix("0")


def bayes(number: Any) -> str:
    """Format a Bayes factor with three significant digits.

    Examples
    --------
    >>> bayes(12345.0), bayes(3.14159), bayes(0.0002)
    ('> 1,000', '3.14', '< 0.001')
    """
    if number is None:
        return NONE
    if number > 1000:
        return "> 1,000"
    return "< 0.001" if number < 0.001 else f"{number:.3g}"


def format_interval(low: Any, high: Any, *, percent: bool = False) -> str:
    """Format the limits of an interval.

    Examples
    --------
    >>> format_interval(0.861, 0.904, percent=True), format_interval(None, 1)
    ('[86.1, 90.4]', '–')
    """
    if low is None or high is None:
        return NONE
    factor, digits = (100, 1) if percent else (1, 2)
    return f"[{decimal(factor * low, digits)}, {decimal(factor * high, digits)}]"


def join_list(words: Sequence[str]) -> str:
    """Join texts with commas and a final *and*.

    Examples
    --------
    >>> join_list(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def readable(name: str) -> str:
    """Convert an identifier to readable text."""
    return name.replace("signal:", "signal ").replace("_", " ")
