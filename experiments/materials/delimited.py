"""Text → rows of cells, each with the line where it begins; one that does not fit is refused by its line."""

import csv
import io
from collections.abc import Iterator
from itertools import islice

from analysis.errors import BadInput

#: What a delimiter is called in notes and on pages.
DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", "\x1f": "none (one column)"}
ONE_COLUMN = "\x1f"
Row = tuple[int, list[str]]

csv.field_size_limit(1_000_000)


def delimited_rows(text: str, *, delimiter: str, file: str = "", quoted: bool = True) -> Iterator[Row]:
    """Read the rows of a delimited text.

    Parameters
    ----------
    text : str
        Line ends may be LF, CRLF or a bare CR; inside quotes they are kept.
    delimiter : str
        One character.
    file : str
        Named in errors.
    quoted : bool
        False takes quotation marks as plain characters, as tab-separated files without quoting need.

    Yields
    ------
    tuple of (int, list of str)
        The line where the row begins, from 1, and its cells exactly as given. Empty lines are passed over.

    Raises
    ------
    BadInput
        For a quotation mark that is not closed or not followed by a delimiter.

    Examples
    --------
    >>> list(delimited_rows('a,b\\r"x, y",z', delimiter=","))
    [(1, ['a', 'b']), (2, ['x, y', 'z'])]
    """
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        strict=True,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
    )
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise BadInput(
            f"the quotation marks do not match ({error}).",
            file=file,
            row=line,
            remedy="Close every quoted cell, and double quotation marks inside one.",
        ) from None


def is_notice(cells: list[str]) -> bool:
    """Tell a notice above the table (a line that starts with ``#``, or an empty one) from its head."""
    first = cells[0].strip()
    return not any(cell.strip() for cell in cells) or (
        first.startswith("#") and (" " in first or not any(cell.strip() for cell in cells[1:]))
    )


def guess_delimiter(text: str) -> str:
    """Choose the delimiter whose first rows agree best with their head.

    Parameters
    ----------
    text : str
        The beginning of a file is enough.

    Returns
    -------
    str
        Comma, semicolon, tab, bar, or :data:`ONE_COLUMN` where none divides the head.

    Examples
    --------
    >>> guess_delimiter("item;sentence\\n1;Yes, it rains.\\n")
    ';'
    """
    candidates = [(_agreement(text, delimiter), delimiter) for delimiter in (",", "\t", ";", "|")]
    best, delimiter = max(candidates, key=lambda candidate: candidate[0])
    return delimiter if best > (0.0, 0) else ONE_COLUMN


def _agreement(text: str, delimiter: str) -> tuple[float, int]:
    """Share of the first rows as wide as the head, and its width; nothing where the head is one cell."""
    try:
        rows = [cells for _, cells in islice(_lenient_rows(text, delimiter), 60) if not is_notice(cells)]
    except csv.Error:
        return 0.0, 0
    if not rows or len(rows[0]) < 2:
        return 0.0, 0
    same = sum(len(cells) == len(rows[0]) for cells in rows) / len(rows)
    return round(same, 1), len(rows[0])


def _lenient_rows(text: str, delimiter: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return ((reader.line_num, cells) for cells in reader if cells)


def rows_under_head(rows: Iterator[Row], *, file: str = "") -> tuple[Row, list[Row], int, int]:
    """Divide rows into notices, a head and the rows below it, and check every width.

    Parameters
    ----------
    rows : iterator of (int, list of str)
    file : str
        Named in errors.

    Returns
    -------
    tuple
        The head with its line; the rows, short ones filled with empty cells; the number of notice lines; the
        line of the first short row, or 0.

    Raises
    ------
    BadInput
        Where there is no head, or a row has more cells than the head names.
    """
    n_notices = 0
    top = next(rows, None)
    while top is not None and is_notice(top[1]):
        n_notices, top = n_notices + 1, next(rows, None)
    if top is None:
        raise BadInput("the file holds no table.", file=file, remedy="Give a first line with column names.")
    head = [cell.strip() for cell in top[1]]
    below: list[Row] = []
    first_short = 0
    for at, found in rows:
        if len(found) > len(head):
            raise BadInput(
                f"{len(found)} cells where the head names {len(head)}.",
                file=file,
                row=at,
                remedy="Quote every cell that contains the delimiter.",
            )
        if len(found) < len(head):
            first_short = first_short or at
            found = found + [""] * (len(head) - len(found))
        if any(found):
            below.append((at, found))
    return (top[0], head), below, n_notices, first_short
