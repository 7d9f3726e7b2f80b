"""Parse delimited text into a frame: delimiter, header, and the line where each row begins."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.errors import BadInput
from experiments.materials.encoding import Decoded, Encoding, read_text

#: Delimiter → its name in notes and on pages.
DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", "\x1f": "none (one column)"}
_SENTENCE_END = re.compile("[.?!。？！…][\"'”’»)]*\\s*$")
ONE_COLUMN = "\x1f"  # the unit separator, which no text file contains
NO_HEADER, UNNAMED = "the file has no header", "unnamed_"
MAX_COLUMNS = 2_000  # survey exports have hundreds
FREE_CELLS = 1_000_000  # of any table; a larger one has at most as many, empty ones included, as bytes
Row = tuple[int, list[str]]  # line number, cells
TOP_ROWS = 10  # among which the column names are, where a title is above them
_KIND_ROWS = 50  # rows by which the first row is compared with the others
_ROWS_AT_ONCE = 5_000  # kept as lists; many lists would leave holes in the memory

csv.field_size_limit(1_000_000)  # characters in a cell; Python's default of 131,072 refuses event logs


@dataclass(frozen=True)
class Table:
    """A delimited file as a frame of text.

    Attributes
    ----------
    frame : DataFrame of str
        One row per data row; the index ``line`` is the line of the file where the row begins. Empty
        cells are ``""``.
    source : Decoded
        Encoding and line ends of the file, without its text.
    delimiter : str
        The character between cells.
    notes : tuple of str
        What was skipped or filled.
    """

    frame: pd.DataFrame
    source: Decoded
    delimiter: str
    notes: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """Encoding, line ends and delimiter, for messages."""
        return f"{self.source.description}, delimiter {DELIMITER_NAMES.get(self.delimiter, self.delimiter)}"


def delimited_rows(text: str, *, delimiter: str, file: str = "", quoted: bool = True) -> Iterator[Row]:
    """Yield the rows of a delimited text.

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
    """Whether a row above the header is a comment (a line that starts with ``#``) or empty."""
    first = cells[0].strip()
    return not any(cell.strip() for cell in cells) or (
        first.startswith("#") and (" " in first or not any(cell.strip() for cell in cells[1:]))
    )


def guess_delimiter(text: str) -> str:
    """Return the delimiter with which the first rows agree best with the header.

    Examples
    --------
    >>> guess_delimiter("item;sentence\\n1;Yes, it rains.\\n")
    ';'
    """
    candidates = [(_agreement(text, delimiter), delimiter) for delimiter in (",", "\t", ";", "|")]
    best, delimiter = max(candidates, key=lambda candidate: candidate[0])
    return delimiter if best > (0.0, 0) else ONE_COLUMN


def _agreement(text: str, delimiter: str) -> tuple[float, int]:
    """Return the share of the first rows as wide as the header, and its width; zeros for one column."""
    try:
        rows = [cells for _, cells in islice(_lenient_rows(text, delimiter), 60) if not is_notice(cells)]
    except csv.Error:
        return 0.0, 0
    if not rows or len(rows[0]) < 2:
        return 0.0, 0
    share = sum(len(cells) == len(rows[0]) for cells in rows) / len(rows)
    return round(share, 1), len(rows[0])


def _lenient_rows(text: str, delimiter: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return ((reader.line_num, cells) for cells in reader if cells)


def max_cells(n_bytes: int) -> int:
    """Return how many cells, filled and empty, a table from so many unpacked bytes may have."""
    return max(FREE_CELLS, n_bytes)


def refuse_many_cells(
    n_rows: int, n_columns: int, *, n_bytes: int, file: str, place: str = "the table"
) -> None:
    """Refuse a table that would fill the memory with empty cells: few bytes, but many rows and columns."""
    if n_rows * n_columns > FREE_CELLS and n_rows * n_columns > max_cells(n_bytes):
        raise BadInput(
            f"{place} has {n_columns:,} columns in {n_rows:,} rows or more; for its size, at most "
            f"{max_cells(n_bytes):,} cells are read, empty ones included.",
            file=file,
            remedy="Delete the rows and columns that are not needed.",
        )


@dataclass(frozen=True)
class Body:
    """The header of a table and the rows below it, short ones filled with empty cells.

    Attributes
    ----------
    header : tuple of (int, list of str)
        With its line.
    lines : list of int
        Of the rows.
    cells : ndarray of str, one row for each line
    n_notices : int
        Lines above the header.
    first_short : int
        Line of the first row that was filled, or 0.
    """

    header: Row
    lines: list[int]
    cells: np.ndarray
    n_notices: int
    first_short: int


def rows_under_head(rows: Iterator[Row], *, n_bytes: int, file: str = "") -> Body:
    """Separate the header from the rows below it, and check the number of cells in every row."""
    n_notices = 0
    top = next(rows, None)
    while top is not None and is_notice(top[1]):
        n_notices, top = n_notices + 1, next(rows, None)
    if top is None:
        raise BadInput(
            "the file contains no table.", file=file, remedy="Give a first line with column names."
        )
    header = [cell.strip() for cell in top[1]]
    refuse_many_columns(len(header), file=file)
    lines: list[int] = []
    parts: list[np.ndarray] = []
    pending: list[list[str]] = []
    first_short = 0
    shared: dict[str, str] = {}  # participants, conditions and texts recur: each is kept once
    for line, row in rows:
        cells = [shared.setdefault(cell, cell) for cell in row]
        if len(cells) > len(header):
            if len(header) > 1 and set(header) <= {cell.strip() for cell in cells}:
                raise BadInput(
                    f"the row names {len(cells)} columns, those of the first row and others, as in files "
                    "joined run by run.",
                    file=file,
                    row=line,
                    remedy="Join the runs by the names of their columns, or import each of them.",
                )
            raise BadInput(
                f"{len(cells)} cells, but the header has {len(header)} columns.",
                file=file,
                row=line,
                remedy="Quote every cell that contains the delimiter.",
            )
        if len(cells) < len(header):
            first_short = first_short or line
            cells += [""] * (len(header) - len(cells))
        if any(cells):
            lines.append(line)
            pending.append(cells)
            refuse_many_cells(len(lines), len(header), n_bytes=n_bytes, file=file)
        if len(pending) == _ROWS_AT_ONCE:
            parts.append(np.array(pending, dtype=object))
            pending = []
    parts.append(np.array(pending, dtype=object).reshape(len(pending), len(header)))
    return Body((top[0], header), lines, np.concatenate(parts), n_notices, first_short)


def is_data(header: list[str], rows: list[list[str]]) -> bool:
    """Whether the first row is data: in every column it is of the kind of the cells below it.

    Examples
    --------
    >>> is_data(["1", "The keys are here."], [["2", "The cups are here."], ["3", "She left early."]])
    True
    >>> is_data(["item", "sentence"], [["2", "The cups are here."], ["3", "She left early."]])
    False
    """
    kinds = [_kind(cell) for cell in header]
    if len(rows) < 2 or "sentence" not in kinds:
        return False
    columns = list(zip(*rows[:_KIND_ROWS], strict=False))
    for cell, kind, cells in zip(header, kinds, columns, strict=False):
        n_ended = sum(bool(_SENTENCE_END.search(text)) for text in cells)
        if kind == "sentence" and n_ended > len(cells) / 2 and not _SENTENCE_END.search(cell):
            return False  # "List of test sentences" above sentences
    return all(
        sum(_kind(cell) == kind for cell in cells) > len(cells) / 2
        for kind, cells in zip(kinds, columns, strict=False)
    )


def _kind(cell: str) -> str:
    """Return the kind of a cell: a number, a sentence (three words and more), or a word."""
    if re.fullmatch(r"[+-]?\d+([.,]\d+)?", cell.strip()):
        return "number"
    words = cell.split()
    return "sentence" if len(words) > 2 else "word"


def is_sentence(cell: str) -> bool:
    """Whether a cell has several words or ends as a sentence does."""
    return _kind(cell) == "sentence"


def numbered_names(cells: list[str]) -> list[str]:
    """Name the columns of a table without a header; the only one with sentences is called so."""
    sentences = [number for number, cell in enumerate(cells) if is_sentence(cell)]
    return ["sentence" if sentences == [number] else f"column_{number + 1}" for number in range(len(cells))]


def read_table(path: Path, *, encoding: Encoding = "", delimiter: str = "") -> Table:
    """Read a delimited file into a frame of text, every cell exactly as given.

    Notes
    -----
    Lines above the header that start with ``#`` or are empty are skipped. Rows shorter than the header are
    filled with empty cells. Both are reported in ``notes``. An unnamed column is called ``unnamed_1``,
    ``unnamed_2``, ….
    """
    return table_from(read_text(path, encoding=encoding), delimiter=delimiter)


def first_lines(text: str, *, n_rows: int) -> list[Row]:
    """Return the cells of the first lines, with the delimiter that divides most of them."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")[:n_rows]
    delimiter = max(",\t;|", key=lambda mark: sum(mark in line for line in lines))
    with suppress(csv.Error):
        return [
            (number, next(csv.reader([line], delimiter=delimiter), []))
            for number, line in enumerate(lines, 1)
        ]
    return []


def line_below_title(rows: Sequence[Row]) -> int:
    """Return the line of the column names below a title; 0 if the first of these rows names the columns.

    Notes
    -----
    A title is a first row with one filled cell (a merged range repeats it), or with fewer cells than all rows
    below it, which have equally many.

    Examples
    --------
    >>> line_below_title([(1, ["Study 3"]), (3, ["item", "rating"]), (4, ["1", "6"])])
    3
    >>> line_below_title([(1, ["item", "rating"]), (2, ["1", "6"])])
    0
    """
    filled = [(line, cells) for line, cells in rows if any(cell.strip() for cell in cells)]
    if not filled:
        return 0
    (_, top), *below = filled
    if len({cell.strip() for cell in top} - {""}) == 1:
        wide = [row for row in below if len({cell.strip() for cell in row[1]} - {""}) > 1]
        below_wide = [*wide[1:], (0, [])]  # the row of column names has as many cells as the one below it
        rows_of_names = (
            row[0] for row, after in zip(wide, below_wide, strict=False) if len(row[1]) >= len(after[1])
        )
        return next(rows_of_names, 0)
    widths = {len(cells) for _, cells in below}
    is_narrow = len(below) > 2 and len(widths) == 1 and len(top) < min(widths)
    return below[0][0] if is_narrow else 0


def table_from(decoded: Decoded, *, delimiter: str = "", header_row: int = 0) -> Table:
    """Parse the table in a decoded text; see :func:`read_table`. ``header_row`` is the header's line."""
    if header_row > 1:
        return _table_below(decoded, header_row)
    delimiter = delimiter or guess_delimiter(decoded.text[:100_000])
    notes = []
    try:
        body = _parse(decoded, delimiter, quoted=True)
    except BadInput:
        # Tab-separated files are often written without quoting: a lone quotation mark is then text.
        if delimiter not in ("\t", ONE_COLUMN):
            raise
        body = _parse(decoded, delimiter, quoted=False)
        notes.append("quotation marks are read as plain characters")
    (first_line, header), lines, cells = body.header, body.lines, body.cells
    if is_data(header, cells[:_KIND_ROWS].tolist()):
        lines, cells = [first_line, *lines], np.vstack([np.array([header], dtype=object), cells])
        header = numbered_names(header)
        notes.append(f"{NO_HEADER}; its columns are called {', '.join(header)}")
    if body.n_notices:
        notes.append(f"{body.n_notices} lines above the header skipped")
    if body.first_short:
        notes.append(
            f"rows shorter than the header, from row {body.first_short} on, are filled with empty cells"
        )
    frame = pd.DataFrame(
        cells,
        columns=column_names(header, decoded.file),
        index=pd.Index(lines, name="line", dtype="int64"),
        dtype=object,
    )
    return Table(frame, replace(decoded, text=""), delimiter, tuple(notes))


def _table_below(decoded: Decoded, header_row: int) -> Table:
    """Parse the table below so many lines less one; lines keep their numbers."""
    lines = decoded.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    table = table_from(replace(decoded, text="\n".join(lines[header_row - 1 :])), header_row=1)
    frame = table.frame.set_axis(table.frame.index + header_row - 1)
    return replace(
        table, frame=frame, notes=(f"{header_row - 1} lines above the header skipped", *table.notes)
    )


def _parse(decoded: Decoded, delimiter: str, *, quoted: bool) -> Body:
    rows = delimited_rows(decoded.text, delimiter=delimiter, file=decoded.file, quoted=quoted)
    return rows_under_head(rows, n_bytes=len(decoded.text), file=decoded.file)


def refuse_many_columns(n: int, *, file: str) -> None:
    """Refuse a table with more columns than any experiment has."""
    if n > MAX_COLUMNS:
        raise BadInput(
            f"the file has {n:,} columns, more than {MAX_COLUMNS:,}.",
            file=file,
            remedy="Delete the columns that are not needed; give rows as rows.",
        )


def column_names(header: list[str], file: str) -> list[str]:
    """Name the columns of a header; unnamed ones are numbered, repeated ones refused."""
    refuse_many_columns(len(header), file=file)
    unnamed = 0
    names: list[str] = []
    for name in (re.sub(r'^"(.*)"$', r"\1", cell) for cell in header):
        if not name:
            unnamed += 1
            name = f"{UNNAMED}{unnamed}"
        if name in names:
            raise BadInput(
                "the header names this column twice.", file=file, column=name, remedy="Rename one of them."
            )
        names.append(name)
    return names
