"""Points that answer: the text of a mark under the pointer, and the address that it opens."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import altair as alt
import pandas as pd

SAYS, OPENS = "says", "opens"
# Workaround: vl-convert completes an address without a host by that of its own examples.
_EXAMPLES = "https://vega.github.io/vega-datasets/"
_LINKED = re.compile(r'(<a xlink:href="[^"]*"><(\w+) aria-label="([^"]*)" [^>]*)/>')


@dataclass(frozen=True)
class Addresses:
    """Links of points: the start of an address, which the name of an item, participant or comparison
    completes.

    Parameters
    ----------
    item : str
        Start of the address of an item, sentence or pair; empty for no link.
    participant : str
        Start of the address of a participant; empty for no link.
    comparison : str
        Start of the address of a comparison, which its number completes; empty for no link.
    """

    item: str = ""
    participant: str = ""
    comparison: str = ""


NOWHERE = Addresses()


def format_signed(number: float) -> str:
    """Format a number with two decimals and a true minus sign.

    Examples
    --------
    >>> format_signed(-0.5)
    '−0.50'
    """
    return f"{number:.2f}".replace("-", "−")


def answering(
    rows: pd.DataFrame, *, names: Iterable[object], says: Iterable[str], start: str = "", end: str = ""
) -> alt.Chart:
    """Return a chart of rows whose marks say a text and open an address; encode :func:`answers` on it."""
    opens = [f"{start}{quote(str(name), safe='')}{end}" if start else "" for name in names]
    return alt.Chart(rows.assign(**{SAYS: list(says), OPENS: opens}))


def answers(start: str = "") -> dict[str, Any]:
    """Return the channels of answering marks."""
    says = {"description": alt.Description(f"{SAYS}:N")}
    return {**says, "href": alt.Href(f"{OPENS}:N")} if start else says


def answering_svg(svg: str) -> str:
    """Return a drawing whose linked marks show their text on hover and lead to this site.

    Examples
    --------
    >>> svg = '<a xlink:href="https://vega.github.io/vega-datasets//x"><path aria-label="p1" d=""/></a>'
    >>> answering_svg(svg)
    '<a xlink:href="/x"><path aria-label="p1" d=""><title>p1</title></path></a>'
    """
    local = svg.replace(f'xlink:href="{_EXAMPLES}', 'xlink:href="')
    return _LINKED.sub(r"\1><title>\3</title></\2>", local)
