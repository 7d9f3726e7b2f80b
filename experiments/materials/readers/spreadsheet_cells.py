"""Program that prints the cells of a spreadsheet as JSON, in a process with little memory.

calamine reserves every cell between the first and the last one of a sheet, and ends the process where the
memory does not suffice. So ``experiments.materials.readers.spreadsheets`` runs this file in a process of its
own; it imports nothing of the project, which would take longer than most files.
"""

import datetime
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import python_calamine


def main(path: str, sheet: str, max_bytes: int, max_cells: int, names_only: bool) -> dict[str, Any]:
    """Return the names of the sheets, and the rows of the chosen one or of the first that is not empty."""
    limit_memory(max_bytes)
    workbook = python_calamine.CalamineWorkbook.from_path(path)
    shown = _visible_sheets(workbook)
    document: dict[str, Any] = {"sheets": list(workbook.sheet_names), "shown": shown}
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
        if any(rows):
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


def _visible_sheets(workbook: python_calamine.CalamineWorkbook) -> list[str]:
    visible = python_calamine.SheetVisibleEnum.Visible
    is_table = python_calamine.SheetTypeEnum.WorkSheet
    names = [
        sheet.name for sheet in workbook.sheets_metadata if sheet.visible == visible and sheet.typ == is_table
    ]
    return names or list(workbook.sheet_names)


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
