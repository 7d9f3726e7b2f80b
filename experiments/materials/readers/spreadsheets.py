"""Read one sheet of an Excel or OpenDocument spreadsheet as a table of text."""

import datetime
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import python_calamine

from analysis.errors import BadInput, UnknownName
from experiments.materials.delimited import Row, column_names, rows_under_head
from experiments.materials.encoding import max_unpacked_bytes

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
PIECE = 1 << 20  # bytes unpacked at a time


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
    return _shown(_workbook(path))


def read_spreadsheet(path: Path, *, sheet: str = "") -> Spreadsheet:
    """Read a sheet, by default the first that is not empty; numbers become text without decimals if whole."""
    workbook = _workbook(path)
    names = _shown(workbook)
    if sheet and sheet not in workbook.sheet_names:
        raise UnknownName("sheet", sheet, workbook.sheet_names)
    chosen, cells = sheet, [] if not sheet else _cells(workbook, sheet)
    for name in names if not sheet else []:
        chosen, cells = name, _cells(workbook, name)
        if any(any(row) for row in cells):
            break
    dates = sum(isinstance(cell, datetime.date | datetime.time) for row in cells for cell in row)
    (_, header), body, n_notices, first_short = rows_under_head(_rows(cells), file=path.name)
    notes = [f"{n_notices} rows above the header skipped"] if n_notices else []
    if dates:
        notes.append(f"{dates} cells are dates or times; spreadsheets make them from text such as 2-3")
    frame = pd.DataFrame(
        [row for _, row in body],
        columns=column_names(header, path.name),
        index=pd.Index([line for line, _ in body], name="line", dtype="int64"),
        dtype=object,
    )
    return Spreadsheet(frame, chosen, tuple(names), tuple(notes))


def _workbook(path: Path) -> python_calamine.CalamineWorkbook:
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                limit = max_unpacked_bytes(path)
                n_unpacked = sum(member.file_size for member in archive.infolist())
                if n_unpacked <= limit:
                    n_unpacked = _unpacked_size(archive, limit)
            if n_unpacked > limit:
                raise BadInput(
                    f"the spreadsheet unpacks to {n_unpacked / 1e6:,.0f} MB, more than is read.",
                    file=path.name,
                    remedy="Save the sheet as CSV (UTF-8).",
                )
        return python_calamine.CalamineWorkbook.from_path(path)
    except (python_calamine.CalamineError, zipfile.BadZipFile, OSError) as error:
        raise BadInput(
            f"cannot be read as a spreadsheet ({error}).", file=path.name, remedy="Save it as CSV (UTF-8)."
        ) from None


def _unpacked_size(archive: zipfile.ZipFile, limit: int) -> int:
    """Bytes that the archive unpacks to, counted up to the limit: the sizes it states may be wrong."""
    size = 0
    for member in archive.infolist():
        member.file_size = 1 << 62  # bytes; reading stops at the stated size and checks the sum there
        try:
            with archive.open(member) as file:
                while size <= limit and (piece := file.read(PIECE)):
                    size += len(piece)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
            continue  # damaged or encrypted: the reader says so
        if size > limit:
            break
    return size


def _shown(workbook: python_calamine.CalamineWorkbook) -> list[str]:
    visible = python_calamine.SheetVisibleEnum.Visible
    is_table = python_calamine.SheetTypeEnum.WorkSheet
    names = [
        sheet.name for sheet in workbook.sheets_metadata if sheet.visible == visible and sheet.typ == is_table
    ]
    return names or list(workbook.sheet_names)


def _cells(workbook: python_calamine.CalamineWorkbook, sheet: str) -> list[list[Any]]:
    # Empty rows are kept, so that a row's place in the list is its number in the sheet.
    rows = workbook.get_sheet_by_name(sheet).to_python(skip_empty_area=False)
    width = max(
        (n for row in rows for n, cell in enumerate(row, start=1) if cell not in ("", None)), default=0
    )
    return [list(row[:width]) for row in rows]


def _rows(cells: list[list[Any]]) -> Iterator[Row]:
    for number, row in enumerate(cells, start=1):
        if row:
            yield number, [_as_text(cell) for cell in row]


def _as_text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return "" if cell is None else str(cell)
