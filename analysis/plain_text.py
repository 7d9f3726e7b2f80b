"""Tables and sentences as plain text for a terminal, all in one style."""

import io
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table


def plain_table(title: str | None = None) -> Table:
    """Give an empty table.

    Parameters
    ----------
    title : str, optional
        Stands above it, on the left.

    Returns
    -------
    rich.table.Table
        Columns and rows are to be added.

    See Also
    --------
    plain_text : Writes it.
    """
    return Table(title=title, title_justify="left", box=SIMPLE_HEAD)


def plain_text(*parts: Table | str, width: int) -> str:
    """Write tables and lines one under the other.

    Parameters
    ----------
    *parts : Table or str
    width : int
        Columns of the terminal; longer lines are wrapped.

    Returns
    -------
    str
        Without colours, and without blank lines at the end.

    Examples
    --------
    >>> print(plain_text("Signs: strict.", "Seed 0.", width=40))
    Signs: strict.
    Seed 0.
    """
    paper = io.StringIO()
    console = Console(file=paper, width=width, color_system=None)
    for part in parts:
        console.print(part, markup=False, highlight=False)
    return paper.getvalue().rstrip()


def cell(value: Any) -> str:
    """Write one value: three decimals, a dash for none.

    Parameters
    ----------
    value : object

    Returns
    -------
    str

    Examples
    --------
    >>> [cell(value) for value in (0.5, 12, None)]
    ['0.500', '12', '–']
    """
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
