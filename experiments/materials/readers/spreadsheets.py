"""Read one sheet of an Excel or OpenDocument spreadsheet as a table of text."""

import contextlib
import json
import re
import subprocess  # noqa: S404 - a program of our own
import sys
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.errors import BadInput, UnknownName
from analysis.text import plural
from experiments.materials.delimited import (
    TOP_ROWS,
    column_names,
    line_below_title,
    max_cells,
    refuse_many_cells,
    rows_under_head,
)
from experiments.materials.encoding import max_unpacked_bytes

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
PIECE = 1 << 20  # bytes unpacked at a time
PROGRAM = str(Path(__file__).with_name("spreadsheet_cells.py"))
# Bytes of memory of the process that reads a file: a filled cell takes 6 times its bytes in the file.
FREE_MEMORY, MEMORY_RATIO, MAX_MEMORY = 250_000_000, 50, 4_000_000_000
NO_MEMORY = 3  # the program's exit status; where memory ends in calamine, a signal ends the process
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
_CELL = re.compile(rb'<(?:\w+:)?c\s[^>]*?\br="([A-Z]{1,3})(\d{1,7})"')


@dataclass(frozen=True)
class Spreadsheet:
    """One sheet of a spreadsheet.

    Attributes
    ----------
    frame : DataFrame of str
        One row per data row; the index ``line`` is the row of the sheet. Empty cells are ``""``.
    sheet : str
        Its name.
    sheets : tuple of str
        Names of all sheets.
    notes : tuple of str
        What was skipped, filled or converted.
    """

    frame: pd.DataFrame
    sheet: str
    sheets: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """The sheet, for messages."""
        of_sheets = f" of {len(self.sheets)} ({', '.join(self.sheets)})" if len(self.sheets) > 1 else ""
        return f"spreadsheet, sheet {self.sheet!r}{of_sheets}"


def is_spreadsheet(path: Path) -> bool:
    """Whether a file's name ends like a spreadsheet's."""
    return path.suffix.lower() in SUFFIXES


def sheet_names(path: Path) -> list[str]:
    """Return the names of the sheets that are shown."""
    names: list[str] = _read(path, names_only=True)[0]["shown"]
    return names


def first_cells(path: Path, *, sheet: str = "", n_rows: int) -> list[list[str]]:
    """Return the cells of the first rows of a sheet, by default the first that is not empty."""
    rows: list[list[str]] = _read(path, sheet=sheet)[0].get("rows", [])[:n_rows]
    return rows


def read_spreadsheet(
    path: Path, *, sheet: str = "", header_row: int = 0, may_have_title: bool = False
) -> Spreadsheet:
    """Read a sheet, by default the first that is not empty; numbers become text without decimals if whole.

    ``header_row`` is the row of the column names; with ``may_have_title`` the first below a title, if any.
    """
    document, n_bytes = _read(path, sheet=sheet)
    if "sheet" not in document:
        raise UnknownName("sheet", sheet, document["sheets"])
    chosen, dates = document["sheet"], document["dates"]
    if document.get("too_many"):
        n_rows, n_columns = document["last"]
        last_cell = f"{column_letters(n_columns)}{n_rows}"
        refuse_many_cells(
            n_rows,
            n_columns,
            n_bytes=n_bytes,
            file=path.name,
            place=f"sheet {chosen!r} up to cell {last_cell}",
        )
    if may_have_title:
        header_row = line_below_title(list(enumerate(document["rows"][:TOP_ROWS], start=1)))
    width = max(map(len, document["rows"]), default=0)
    rows = (
        (number, row + [""] * (width - len(row)))
        for number, row in enumerate(document["rows"], start=1)
        if number >= header_row
    )
    body = rows_under_head(rows, file=path.name, n_bytes=n_bytes)
    n_notices = body.n_notices + max(0, header_row - 1)
    notes = [f"{plural(n_notices, 'row')} above the header skipped"] if n_notices else []
    if dates:
        verb = "is a date or time" if dates == 1 else "are dates or times"
        notes.append(f"{plural(dates, 'cell')} {verb}; spreadsheets make them from text such as 2-3")
    if filled := document.get("filled"):
        notes.append(f"{plural(filled, 'cell')} of merged ranges filled with the range's value")
    frame = pd.DataFrame(
        body.cells,
        columns=column_names(body.header[1], path.name),
        index=pd.Index(body.lines, name="line", dtype="int64"),
        dtype=object,
    )
    return Spreadsheet(frame, chosen, tuple(document["shown"]), tuple(notes))


def column_letters(number: int) -> str:
    """Return the name of a column, counted from 1.

    Examples
    --------
    >>> column_letters(1), column_letters(28), column_letters(16_384)
    ('A', 'AB', 'XFD')
    """
    letters = ""
    while number:
        number, place = divmod(number - 1, 26)
        letters = chr(ord("A") + place) + letters
    return letters


def _read(path: Path, *, sheet: str = "", names_only: bool = False) -> tuple[dict[str, Any], int]:
    """Return what the reading process prints of a file, and the bytes that the file unpacks to."""
    n_bytes = _unpacked_bytes(path)
    max_memory = min(MAX_MEMORY, FREE_MEMORY + MEMORY_RATIO * n_bytes)
    arguments = [
        str(path),
        sheet,
        str(max_memory),
        str(max_cells(n_bytes)),
        "names" if names_only else "rows",
    ]
    # -P: the folder of the program is not searched for modules.
    process = subprocess.run([sys.executable, "-P", PROGRAM, *arguments], capture_output=True)  # noqa: S603 - our own program
    last = (process.stdout.splitlines() or [b""])[-1]
    if process.returncode < 0 or process.returncode == NO_MEMORY:
        # The process ended without an answer: its last line names the sheet that it was reading.
        name = f"sheet {json.loads(last)!r}" if last else "the spreadsheet"
        raise BadInput(
            f"{name} needs more than {max_memory // 1_000_000} MB of memory{_outermost(path)}.",
            file=path.name,
            remedy="Delete the rows and columns beyond the table, or save the sheet as CSV (UTF-8).",
        )
    process.check_returncode()
    document: dict[str, Any] = json.loads(last)
    if "error" in document:
        raise BadInput(
            f"cannot be read as a spreadsheet ({document['error']}).",
            file=path.name,
            remedy="Save it as CSV (UTF-8).",
        )
    return document, n_bytes


def _outermost(path: Path) -> str:
    """Return words that name the last row and column of an Excel file, where its parts state them."""
    if not zipfile.is_zipfile(path):
        return ""
    n_rows, widest = 0, b""
    with zipfile.ZipFile(path) as archive, contextlib.suppress(*_DAMAGED):
        for name in archive.namelist():
            if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                for letters, row in set(_CELL.findall(archive.read(name))):
                    n_rows = max(n_rows, int(row))
                    widest = max(widest, letters, key=lambda column: (len(column), column))
    return f", because its cells reach to {widest.decode()}{n_rows}" if n_rows else ""


def _unpacked_bytes(path: Path) -> int:
    """Return the bytes that a spreadsheet unpacks to; refuse one that unpacks to too many."""
    try:
        if not zipfile.is_zipfile(path):
            return path.stat().st_size
        with zipfile.ZipFile(path) as archive:
            limit = max_unpacked_bytes(path)
            n_unpacked = sum(member.file_size for member in archive.infolist())
            if n_unpacked <= limit:
                n_unpacked = _unpacked_size(archive, limit)
    except (zipfile.BadZipFile, OSError) as error:
        raise BadInput(
            f"cannot be read as a spreadsheet ({error}).", file=path.name, remedy="Save it as CSV (UTF-8)."
        ) from None
    if n_unpacked > limit:
        raise BadInput(
            f"the spreadsheet unpacks to {n_unpacked / 1e6:,.0f} MB, more than is read.",
            file=path.name,
            remedy="Save the sheet as CSV (UTF-8).",
        )
    return n_unpacked


def _unpacked_size(archive: zipfile.ZipFile, limit: int) -> int:
    """Bytes that the archive unpacks to, counted up to the limit: the sizes it states may be wrong."""
    size = 0
    for member in archive.infolist():
        member.file_size = 1 << 62  # bytes; reading stops at the stated size and checks the sum there
        try:
            with archive.open(member) as file:
                while size <= limit and (piece := file.read(PIECE)):
                    size += len(piece)
        except _DAMAGED:
            continue  # damaged or encrypted: the reader says so
        if size > limit:
            break
    return size
