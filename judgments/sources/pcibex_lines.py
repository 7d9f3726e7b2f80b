"""Lines of a PCIbex results file, each under the names that the comments before it give its columns.

A line is read by the newest list of columns that has as many names as the line has cells, because a short
trial does not repeat the list that an earlier one gave.
"""

import html
import re
from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.errors import BadInput, MissingColumns
from experiments.materials.delimited import delimited_rows
from experiments.materials.encoding import Decoded
from judgments.sources.base import refuse_empty

_COLUMN = re.compile(r"#\s*(\d+)\.\s*(.*?)\.?\s*$")
_AGENT = re.compile(r"#\s*USER AGENT:\s*(.*)", re.IGNORECASE)
_NAMES = {
    "results reception time": "received",
    "md5 hash of participant's ip address": "hash",
    "order number of item": "order",
    "label": "label",
    "pennelementtype": "type",
    "pennelementname": "name",
    "parameter": "parameter",
    "value": "value",
    "eventtime": "time",
}
STANDARD = frozenset(
    {*_NAMES.values(), "controller name", "inner element number", "latin square group", "comments"}
)
"""Columns that every file has, under our names."""
Line = dict[str, str]


def lines_of(decoded: Decoded) -> pd.DataFrame:
    """Give the file's lines as one table.

    Parameters
    ----------
    decoded : Decoded
        The file's text.

    Returns
    -------
    DataFrame of str
        ``received``, ``order``, ``label``, ``type``, ``name``, ``parameter``, ``value``, ``time``, the
        script's own columns, and ``agent`` and ``row``; empty where a line has no such column.

    Raises
    ------
    BadInput
        If there are no lines, a column is absent, or a line has a length that no list of columns announced.
    """
    lines = pd.DataFrame(_lines(decoded), dtype=object).fillna("")
    refuse_empty(
        lines, file=decoded.file, remedy="Give the raw results as PCIbex shows them, with its comments."
    )
    _require(lines, decoded.file)
    return lines


def readable(value: str) -> str:
    """Give a value as its reader saw it: PCIbex's percent codes, tags and entities are undone.

    Parameters
    ----------
    value : str

    Returns
    -------
    str

    Examples
    --------
    >>> readable("<p style=font-size:20>S&atilde;o Paulo%2C Brasil</p>")
    'São Paulo, Brasil'
    """
    decoded = re.sub(r"%(0A|0D|22|25|2C)", lambda code: chr(int(code[1], 16)), value)
    return html.unescape(re.sub(r"<[A-Za-z/][^>]*>", "", decoded))


def _require(lines: pd.DataFrame, file: str) -> None:
    needed = ("received", "order", "label", "type", "name", "parameter", "value", "time")
    absent = [name for name in needed if name not in lines.columns]
    if absent:
        theirs = {ours: name for name, ours in _NAMES.items()}
        known = [theirs.get(str(name), str(name)) for name in lines.columns]
        raise MissingColumns([theirs[name] for name in absent], found=known, file=file)


def _lines(decoded: Decoded) -> Iterator[Line]:
    """Give every line under the names that hold for it."""
    lists: dict[int, list[str]] = {}
    current: list[str] = []
    agent = ""
    text = re.sub(r"\r\n?", "\n", decoded.text)
    for row, line in enumerate(text.split("\n"), start=1):
        if line.startswith("#"):
            if found := _COLUMN.match(line):
                current = [*current[: int(found[1]) - 1], _column(found[2])]
            elif found := _AGENT.match(line):
                agent = found[1].strip()
        elif line.strip():
            lists[len(current)] = current
            yield _cells(line, lists, row, decoded.file) | {"agent": agent, "row": str(row)}


def _column(name: str) -> str:
    return _NAMES.get(name.lower(), name if name.lower() not in STANDARD else name.lower())


def _cells(line: str, lists: Mapping[int, list[str]], row: int, file: str) -> Line:
    quoted = line.startswith('"') or ',"' in line
    cells = next(delimited_rows(line, delimiter=",", file=file))[1] if quoted else line.split(",")
    names = lists.get(len(cells))
    if names is None:
        known = ", ".join(str(length) for length in sorted(lists))
        raise BadInput(
            f"{len(cells)} cells, while the comments above name lists of {known} columns.",
            file=file,
            row=row,
            remedy="Give the raw results, unchanged by a spreadsheet.",
        )
    return dict(zip(names, cells, strict=True))
