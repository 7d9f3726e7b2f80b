"""Program that prints the cells of a spreadsheet as JSON, in a process with little memory.

calamine reserves every cell between the first and the last one of a sheet, and ends the process where the
memory does not suffice. So ``experiments.materials.readers.spreadsheets`` runs this file in a process of its
own; it imports nothing of the project, which would take longer than most files.
"""

import datetime
import json
import posixpath
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree import ElementTree

import python_calamine

WORKBOOK = "xl/workbook.xml"
_START = rb"<(?:\w+:)?"  # of an element, with or without the prefix of its namespace
_FORMULA = re.compile(_START + rb"c\s([^>]*)>\s*" + _START + rb"f[\s/>](.*?)</(?:\w+:)?c>", re.DOTALL)
_ERROR = re.compile(_START + rb'c\s([^>]*\bt="e"[^>]*)>(.*?)</(?:\w+:)?c>', re.DOTALL)
_VALUE = re.compile(_START + rb"v(?:\s[^>]*)?>([^<]+)<")
_PLACE = re.compile(rb'\br="([A-Z]+\d+)"')
_HIDDEN = rb'\s[^>]*\bhidden="(?:1|true)"[^>]*'
_HIDDEN_ROW = re.compile(_START + rb"row" + _HIDDEN + rb"(?<!/)>")
_HIDDEN_COLUMN = re.compile(_START + rb"col" + _HIDDEN + rb">")
_RANGE = re.compile(rb'\b(min|max)="(\d+)"')


def main(path: str, sheet: str, max_bytes: int, max_cells: int, names_only: bool) -> dict[str, Any]:
    """Return the names of the sheets, and the rows of the chosen one or of the first that is not empty."""
    limit_memory(max_bytes)
    workbook = python_calamine.CalamineWorkbook.from_path(path)
    shown, hidden = _tables(workbook)
    document: dict[str, Any] = {"sheets": list(workbook.sheet_names), "shown": shown, "hidden": hidden}
    if names_only or (sheet and sheet not in workbook.sheet_names):
        return document
    document |= {"sheet": sheet, "rows": [], "dates": 0}
    for name in [sheet] if sheet else shown:
        print(json.dumps(name), flush=True)  # the sheet to name if this process ends here
        cells = workbook.get_sheet_by_name(name)
        last_row, last_column = cells.end or (-1, -1)
        document |= {"sheet": name, "last": [last_row + 1, last_column + 1]}
        if (last_row + 1) * (last_column + 1) > max_cells:
            return document | {"too_many": True}
        rows = list(_rows(cells, document))
        document["filled"] = _fill_merged(rows, cells.merged_cell_ranges or ())
        document |= _lost_and_hidden(path, workbook.sheet_names.index(name), last_column + 1)
        if any(rows) or document.get("uncomputed"):
            return document | {"rows": rows}
    return document


def limit_memory(n_bytes: int) -> None:
    """Let this process allocate so many bytes at most."""
    try:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limits = [limit for limit in (soft, hard, n_bytes) if limit != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_DATA, (min(limits), hard))
    except (ImportError, ValueError, OSError):  # no Unix, or one without this limit
        pass


def _tables(workbook: python_calamine.CalamineWorkbook) -> tuple[list[str], list[str]]:
    """Return the names of the sheets with cells that are shown, and of those that are hidden."""
    visible = python_calamine.SheetVisibleEnum.Visible
    is_table = python_calamine.SheetTypeEnum.WorkSheet
    sheets = [sheet for sheet in workbook.sheets_metadata if sheet.typ == is_table]
    shown = [sheet.name for sheet in sheets if sheet.visible == visible]
    if not shown:
        return list(workbook.sheet_names), []
    return shown, [sheet.name for sheet in sheets if sheet.visible != visible]


def _lost_and_hidden(path: str, place: int, n_columns: int) -> dict[str, Any]:
    """Return what calamine does not report of a sheet of an Excel file (``.xlsx``, ``.xlsm``).

    ``uncomputed`` are cells with a formula whose value was not stored; programs that compute nothing leave it
    out, or write 0 and ask for a calculation on opening. ``errors`` are cells such as ``#REF!``.
    """
    if not zipfile.is_zipfile(path):
        return {}
    with zipfile.ZipFile(path) as archive:
        if WORKBOOK not in archive.namelist():
            return {}
        workbook = archive.read(WORKBOOK)
        part = _parts(archive, workbook)[place]
        data = archive.read(part)
    is_zero_computed = not re.search(rb'\bfullCalcOnLoad="(?:1|true)"', workbook)
    uncomputed = []
    for attributes, content in _FORMULA.findall(data):
        value = _VALUE.search(content)
        is_stored = value[1] != b"0" or is_zero_computed if value else b't="str"' in attributes
        if not is_stored:
            uncomputed.append(_place(attributes))
    errors = [
        [_place(attributes), value[1].decode()]
        for attributes, content in _ERROR.findall(data)
        if (value := _VALUE.search(content))
    ]
    ranges = [dict(_RANGE.findall(column)) for column in _HIDDEN_COLUMN.findall(data)]
    n_hidden = sum(
        max(0, min(int(limits[b"max"]), n_columns) - int(limits[b"min"]) + 1) for limits in ranges if limits
    )
    return {
        "uncomputed": uncomputed,
        "errors": errors,
        "hidden_rows": len(_HIDDEN_ROW.findall(data)),
        "hidden_columns": n_hidden,
    }


def _parts(archive: zipfile.ZipFile, workbook: bytes) -> list[str]:
    """Return the names of the parts with the sheets' cells, in the order of the sheets."""
    relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))  # noqa: S314 - memory is limited
    targets = {relation.get("Id"): relation.get("Target", "") for relation in relations}
    ids = [
        value
        for element in ElementTree.fromstring(workbook).iterfind(".//{*}sheet")  # noqa: S314 - as above
        for name, value in element.items()
        if name.endswith("}id")
    ]
    return [posixpath.join("/xl", targets[name]).lstrip("/") for name in ids]


def _place(attributes: bytes) -> str:
    match = _PLACE.search(attributes)
    return match[1].decode() if match else ""


def _rows(cells: python_calamine.CalamineSheet, document: dict[str, Any]) -> Iterator[list[str]]:
    """Yield every row from the first of the sheet on, without the empty cells at its end; count dates."""
    left = [""] * (cells.start or (0, 0))[1]
    for row in cells.iter_rows():
        document["dates"] += sum(isinstance(cell, datetime.date | datetime.time) for cell in row)
        texts = [_as_text(cell) for cell in row]
        while texts and not texts[-1]:
            texts.pop()
        yield left + texts if texts else []


def _fill_merged(rows: list[list[str]], ranges: Iterable[tuple[tuple[int, int], tuple[int, int]]]) -> int:
    """Write the value of cells merged downwards into each of their rows; return how many were written."""
    n_filled = 0
    for (first, column), (last, _) in ranges:
        value = rows[first][column] if first < len(rows) and column < len(rows[first]) else ""
        for row in rows[first + 1 : last + 1] if value else ():
            row.extend([""] * (column + 1 - len(row)))
            row[column] = value
            n_filled += 1
    return n_filled


def _as_text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return "" if cell is None else str(cell)


if __name__ == "__main__":
    try:
        answer = main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5] == "names")
        print(json.dumps(answer))
    except MemoryError:
        sys.exit(3)
    except (python_calamine.CalamineError, OSError) as error:
        print(json.dumps({"error": str(error)}))
    except BaseException as error:  # a panic of the library derives from BaseException
        print(json.dumps({"error": str(error)}))
