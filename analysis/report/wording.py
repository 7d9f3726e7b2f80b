"""Numbers and lists as a paper prints them."""

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
UNITS = {"forced_choice": "minimal pairs", "yes_no": "sentences"}


def count(number: Any) -> str:
    """Give a whole number with thousands apart.

    Parameters
    ----------
    number : number or None
        None is shown as a dash.

    Returns
    -------
    str

    Examples
    --------
    >>> count(6935), count(None)
    ('6,935', '–')
    """
    return NONE if number is None else f"{int(number):,}"


def share(number: Any) -> str:
    """Give a share in percent, one decimal.

    Parameters
    ----------
    number : number or None
        None is shown as a dash.

    Returns
    -------
    str

    Examples
    --------
    >>> share(323 / 335), share(None)
    ('96.4 %', '–')
    """
    return NONE if number is None else f"{100 * number:.1f} %"


def decimal(number: Any, digits: int = 3) -> str:
    """Give a number with so many decimals and a true minus sign.

    Parameters
    ----------
    number : number or None
        None is shown as a dash.
    digits : int

    Returns
    -------
    str

    Examples
    --------
    >>> decimal(-0.1234), decimal(None)
    ('−0.123', '–')
    """
    return NONE if number is None else f"{number:.{digits}f}".replace("-", "−")


def p_value(number: Any) -> str:
    """Give a p value as journals print it.

    Parameters
    ----------
    number : number or None
        None is shown as a dash.

    Returns
    -------
    str

    Examples
    --------
    >>> p_value(0.0312), p_value(1e-9)
    ('.031', '< .001')
    """
    if number is None:
        return NONE
    return "< .001" if number < 0.001 else f"{number:.3f}".removeprefix("0")


def bayes(number: Any) -> str:
    """Give a Bayes factor without false precision.

    Parameters
    ----------
    number : number or None
        None is shown as a dash.

    Returns
    -------
    str

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


def ends(low: Any, high: Any, *, percent: bool = False) -> str:
    """Give an interval.

    Parameters
    ----------
    low, high : number or None
    percent : bool
        Whether the ends are shares to be shown in percent.

    Returns
    -------
    str

    Examples
    --------
    >>> ends(0.861, 0.904, percent=True), ends(None, 1)
    ('[86.1, 90.4]', '–')
    """
    if low is None or high is None:
        return NONE
    factor, digits = (100, 1) if percent else (1, 2)
    return f"[{decimal(factor * low, digits)}, {decimal(factor * high, digits)}]"


def listed(words: Sequence[str]) -> str:
    """Join words with commas and a last *and*.

    Parameters
    ----------
    words : sequence of str

    Returns
    -------
    str

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def readable(name: str) -> str:
    """Give a name of the vocabulary as words.

    Parameters
    ----------
    name : str

    Returns
    -------
    str
    """
    return name.replace("signal:", "signal ").replace("_", " ")
