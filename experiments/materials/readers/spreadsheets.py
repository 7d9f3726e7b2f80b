"""Read one sheet of an Excel or OpenDocument spreadsheet as a table of text."""

import contextlib
import json
import re
import shlex
import string
import subprocess  # noqa: S404 - a program of our own
import sys
import zipfile
import zlib
from collections.abc import Sequence
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
SHOWN_PLACES = 5  # cells named in a message
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
        Labels of all sheets, as :func:`sheet_labels` makes them.
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


def sheet_labels(path: Path) -> dict[str, str]:
    """Return the label of each sheet by its name; the hidden ones are last, and labelled so."""
    return _labels(_read(path, names_only=True)[0])


def _labels(document: dict[str, Any]) -> dict[str, str]:
    hidden = {name: f"{name} (hidden)" for name in document["hidden"]}
    return {name: name for name in document["shown"]} | hidden


def name_other_sheets(description: str) -> str:
    """Return a remedy for a table that is none, where its description names several sheets."""
    several = description.startswith("spreadsheet, sheet ") and " of " in description
    return f"This is the {description}; choose another (--sheet NAME)." if several else ""


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
    chosen, labels = document["sheet"], _labels(document)
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
    if not document["rows"] and document["hidden"] and not sheet:
        names = document["hidden"]
        raise BadInput(
            f"the sheets that are shown are empty; hidden: {', '.join(map(repr, names))}.",
            file=path.name,
            remedy=f"Choose the one with the table (--sheet {shlex.quote(names[0])}).",
        )
    if may_have_title:
        header_row = line_below_title(list(enumerate(document["rows"][:TOP_ROWS], start=1)))
    _refuse_uncomputed(document, header_row, file=path.name)
    width = max(map(len, document["rows"]), default=0)
    rows = (
        (number, row + [""] * (width - len(row)))
        for number, row in enumerate(document["rows"], start=1)
        if number >= header_row
    )
    body = rows_under_head(rows, file=path.name, n_bytes=n_bytes)
    n_notices = body.n_notices + max(0, header_row - 1)
    notes = [f"{plural(n_notices, 'row')} above the header skipped"] if n_notices else []
    notes += _notes(document)
    frame = pd.DataFrame(
        body.cells,
        columns=column_names(body.header[1], path.name),
        index=pd.Index(body.lines, name="line", dtype="int64"),
        dtype=object,
    )
    return Spreadsheet(frame, chosen, tuple(labels.values()), tuple(notes))


def _notes(document: dict[str, Any]) -> list[str]:
    """Return what of the sheet was converted, filled or is not to be seen in the spreadsheet."""
    notes = []
    if dates := document["dates"]:
        verb = "is a date or time" if dates == 1 else "are dates or times"
        notes.append(f"{plural(dates, 'cell')} {verb}; spreadsheets make them from text such as 2-3")
    if filled := document.get("filled"):
        notes.append(f"{plural(filled, 'cell')} of merged ranges filled with the range's value")
    if errors := document.get("errors"):
        verb = "holds an error and is" if len(errors) == 1 else "hold errors and are"
        places = _list_places([f"{place} {value}" for place, value in errors])
        notes.append(f"{plural(len(errors), 'cell')} {verb} read as empty: {places}")
    hidden = [
        plural(document[f"hidden_{kind}s"], f"hidden {kind}")
        for kind in ("row", "column")
        if document.get(f"hidden_{kind}s")
    ]
    if hidden:
        notes.append(f"{' and '.join(hidden)} read as well")
    return notes


def _refuse_uncomputed(document: dict[str, Any], header_row: int, *, file: str) -> None:
    """Refuse formulas without a stored value from the header on: their cells would be read as empty."""
    places = [
        place
        for place in document.get("uncomputed", ())
        if int(place.lstrip(string.ascii_uppercase) or header_row) >= header_row
    ]
    if places:
        has = "has a formula" if len(places) == 1 else "have formulas"
        raise BadInput(
            f"sheet {document['sheet']!r}: {plural(len(places), 'cell')} {has} without a stored value "
            f"({_list_places(places)}).",
            file=file,
            remedy="Open the file in Excel or LibreOffice and save it, which computes and stores the values.",
        )


def _list_places(places: Sequence[str]) -> str:
    more = f" and {len(places) - SHOWN_PLACES} more" if len(places) > SHOWN_PLACES else ""
    return ", ".join(places[:SHOWN_PLACES]) + more


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
