"""Read one table from delimited text, JSON, Parquet, Arrow, a spreadsheet or a dataset folder."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from analysis.errors import BadInput
from experiments.materials.collection import Source
from experiments.materials.delimited import refuse_many_cells, refuse_many_columns, table_from
from experiments.materials.encoding import (
    Decoded,
    Encoding,
    max_unpacked_bytes,
    read_text,
)
from experiments.materials.readers.arrow_files import read_arrow
from experiments.materials.readers.dataset_folders import dataset_files, is_dataset
from experiments.materials.readers.json_text import NotJSON, parse_json
from experiments.materials.readers.spreadsheets import is_spreadsheet, name_other_sheets, read_spreadsheet

SPLIT = "split"  # column of a dataset with several splits
BATCH_BYTES = 100_000_000  # of a Parquet file, while its values are counted


@dataclass(frozen=True)
class Sheet:
    """A table and its source.

    Attributes
    ----------
    frame : DataFrame
        Cells as given, ``""`` or None where empty; the index is the row of the file.
    source : Source
    kind : str
        Kind of the rows, where it was recognized without a mapping: sentences, pairs or wide.
    columns : mapping of str to str
        Field → column, of such a sheet.
    """

    frame: pd.DataFrame
    source: Source
    kind: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """The file's name."""
        return self.source.file


def read_sheet(path: Path, *, encoding: Encoding = "", sheet: str = "", header_row: int = 0) -> Sheet:
    """Read a CSV, TSV, JSON, JSONL, Parquet or Arrow file, a sheet of a spreadsheet, or a dataset folder.

    ``header_row`` is the row of the column names in delimited files and spreadsheets, by default the first.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if is_dataset(path):
        table = _dataset(path, sheet, encoding)
    elif ".parquet" in suffixes:
        table = _parquet(path)
    elif is_spreadsheet(path):
        table = _spreadsheet(path, sheet, header_row)
    elif ".jsonl" in suffixes or ".ndjson" in suffixes:
        table = _json_lines(read_text(path, encoding=encoding))
    elif ".json" in suffixes:
        table = json_sheet(read_text(path, encoding=encoding))
    elif ".arrow" in suffixes:
        table = _arrow(path)
    else:
        table = _read_delimited(path, encoding, header_row)
    if table.frame.empty:
        remedy = name_other_sheets(table.source.description)
        raise BadInput("the file has no rows.", file=path.name, remedy=remedy)
    return table


def _read_delimited(path: Path, encoding: Encoding, header_row: int) -> Sheet:
    decoded = read_text(path, encoding=encoding)
    if is_json(decoded.text):
        return json_sheet(decoded)
    table = table_from(decoded, header_row=header_row)
    columns = tuple(str(column) for column in table.frame.columns)
    source = Source(
        table.source.file, table.description, len(table.frame), columns, table.notes, table.source.check
    )
    return Sheet(table.frame, source)


def _spreadsheet(path: Path, sheet: str, header_row: int) -> Sheet:
    table = read_spreadsheet(path, sheet=sheet, header_row=header_row)
    columns = tuple(str(column) for column in table.frame.columns)
    return Sheet(table.frame, Source(path.name, table.description, len(table.frame), columns, table.notes))


def json_lines(decoded: Decoded) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and the object of each line of a JSON lines text."""
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
    for row, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            fields = parse_json(line, file=decoded.file, row=row, decoder=_STRICT)
            if "\\u" in line:  # an escape may form half of a surrogate pair, which no database stores
                json.dumps(fields, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise BadInput(
                "half of a surrogate pair is not a character.", file=decoded.file, row=row
            ) from None
        except _NotFinite as error:
            message = f"{error} is not a number that can be stored."
            raise BadInput(message, file=decoded.file, row=row, remedy="Write null.") from None
        if not isinstance(fields, dict) or "\\u0000" in line:
            problem = "contains a NUL character" if isinstance(fields, dict) else "is not a JSON object"
            remedy = 'Write {"name": value, …}.'
            raise BadInput(f"the line {problem}.", file=decoded.file, row=row, remedy=remedy)
        refuse_many_columns(len(fields), file=decoded.file)
        yield row, fields


class _NotFinite(ValueError):
    """NaN or an infinity in JSON."""


def _refuse_constant(name: str) -> float:
    raise _NotFinite(name)


_STRICT = json.JSONDecoder(parse_constant=_refuse_constant)


def _json_lines(decoded: Decoded) -> Sheet:
    return _objects(decoded, dict(json_lines(decoded)), "JSON lines")


_JSON_START = re.compile(r'\s*(\[\s*)*\{\s*("|\})')


def is_json(text: str) -> bool:
    """Return whether a text begins as JSON does, whatever its file is called.

    Examples
    --------
    >>> is_json('[{"item": 1}]'), is_json("[item],sentence"), is_json("{a},b")
    (True, False, False)
    """
    return _JSON_START.match(text) is not None


def json_sheet(decoded: Decoded) -> Sheet:
    """Read a list of objects, an object that holds one, a table by columns, or JSON lines called JSON."""
    try:
        document = parse_json(decoded.text, file=decoded.file, decoder=_STRICT)
    except _NotFinite as error:
        raise BadInput(
            f"{error} is not a number that can be stored.", file=decoded.file, remedy="Write null."
        ) from None
    except NotJSON as error:
        if not error.has_more:
            raise
        return _json_lines(decoded)
    records, kind = json_records(document)
    rows = dict(enumerate(records, start=1))
    wrong = [number for number, row in rows.items() if not isinstance(row, dict)]
    if wrong:
        raise BadInput(
            "is no JSON object.",
            file=decoded.file,
            row=wrong[0],
            remedy='Write [{"name": value, …}, …], of pandas to_json(orient="records").',
        )
    return _objects(decoded, rows, kind)


def json_records(document: Any) -> tuple[list[Any], str]:
    """Return the rows of a JSON document, and how they are written.

    Notes
    -----
    Rows are a list of objects, the only list of objects in an object, or a table as pandas writes it by
    columns, by index or split, or as lists of equal length by column. Any other object is one row.

    Examples
    --------
    >>> json_records({"data": [{"item": 1}, {"item": 2}], "n": 2})
    ([{'item': 1}, {'item': 2}], "JSON, the list 'data'")
    >>> json_records({"item": {"0": 1, "1": 2}, "rating": {"0": 6, "1": 3}})
    ([{'item': 1, 'rating': 6}, {'item': 2, 'rating': 3}], 'JSON by columns')
    """
    if not isinstance(document, dict):
        return document if isinstance(document, list) else [document], "JSON"
    if {"columns", "data"} <= set(document) and isinstance(document["columns"], list):
        names, rows = document["columns"], document["data"]
        if isinstance(rows, list) and all(isinstance(row, list) and len(row) == len(names) for row in rows):
            return [dict(zip(map(str, names), row, strict=True)) for row in rows], "JSON by rows and columns"
    lists = [name for name, cells in document.items() if _is_list(cells, dict)]
    if len(lists) == 1:
        return document[lists[0]], f"JSON, the list {lists[0]!r}"
    cells = list(document.values())
    if len(cells) > 1 and _is_list(cells, dict) and all(set(cell) == set(cells[0]) for cell in cells):
        is_by_column, is_by_row = (all(name.isdigit() for name in names) for names in (cells[0], document))
        if is_by_column != is_by_row:
            columns = {name: [cell[row] for row in cells[0]] for name, cell in document.items()}
            return (cells, "JSON by rows") if is_by_row else (_to_rows(columns), "JSON by columns")
    if len(cells) > 1 and _is_list(cells, list) and len({len(cell) for cell in cells}) == 1:
        return _to_rows(document), "JSON by columns"
    return [document], "JSON"


def _is_list(cells: Any, kind: type) -> bool:
    return isinstance(cells, list) and bool(cells) and all(isinstance(cell, kind) for cell in cells)


def _to_rows(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _objects(decoded: Decoded, rows: dict[int, dict[str, Any]], kind: str) -> Sheet:
    frame = object_frame(
        list(rows.values()), list(rows), n_bytes=len(decoded.text), file=decoded.file, absent=""
    )
    names = tuple(map(str, frame.columns))
    description = f"{decoded.description}, {kind}"
    return Sheet(frame, Source(decoded.file, description, len(frame), names, inferred=decoded.check))


def object_frame(
    records: Sequence[Mapping[str, Any]],
    lines: Sequence[int],
    *,
    n_bytes: int,
    file: str,
    absent: Any = np.nan,
) -> pd.DataFrame:
    """Return objects as rows with all their names as columns; ``absent`` is the value of a name they lack.

    ``n_bytes`` of text, from which the objects are, limit the number of cells.
    """
    names = list(dict.fromkeys(name for fields in records for name in fields))
    refuse_many_columns(len(names), file=file)
    refuse_many_cells(len(records), len(names), n_bytes=n_bytes, file=file)
    values = {name: [fields.get(name, absent) for fields in records] for name in names}
    return pd.DataFrame(values, index=pd.Index(lines, name="line"), dtype=object)


def check_parquet(path: Path) -> None:
    """Refuse a Parquet file that would fill the memory, and a file that is none."""
    try:
        with path.open("rb") as file:
            n_unpacked = parquet_bytes(file, beyond=max_unpacked_bytes(path), name=path.name)
    except (pa.ArrowException, OSError) as error:  # of a cut footer the latter
        raise BadInput(f"not a Parquet file ({str(error).splitlines()[0]}).", file=path.name) from None
    if n_unpacked > max_unpacked_bytes(path):
        raise BadInput(
            f"unpacks to {n_unpacked / 1e6:,.0f} MB, more than is read.",
            file=path.name,
            remedy="Give it in parts.",
        )


def parquet_bytes(file: IO[bytes], *, beyond: int, name: str = "") -> int:
    """Return the bytes of all values of a Parquet file, or any number above ``beyond`` if they are more.

    The sizes that the file states are those of its pages: a text that a million rows share is there once.
    """
    layout = pq.ParquetFile(file)
    refuse_many_columns(layout.metadata.num_columns, file=name)
    groups = [layout.metadata.row_group(n) for n in range(layout.num_row_groups)]
    n_pages = sum(group.total_byte_size for group in groups)
    n_bytes: int = max(n_pages, layout.metadata.num_rows * layout.metadata.num_columns)
    if n_bytes > beyond:
        return n_bytes
    schema = layout.schema_arrow
    texts = [field.name for field in schema if _is_text(field.type)]
    nested = [field.name for field in schema if pa.types.is_nested(field.type)]
    n_bytes = layout.metadata.num_rows * (len(schema) - len(texts) - len(nested))
    file.seek(0)
    shared = pq.ParquetFile(file, read_dictionary=texts)  # each text once, and its number in each row
    for batch in shared.iter_batches(columns=texts) if texts else ():
        for column in batch.columns:
            if isinstance(column, pa.DictionaryArray):
                lengths = pc.binary_length(column.dictionary).take(column.indices)
                n_bytes += pc.sum(lengths).as_py() or 0
            else:
                n_bytes += column.nbytes
        if n_bytes > beyond:
            return n_bytes
    # Lists cannot be read that way: so few rows at once that even one page for each fits.
    n_rows = max(1, BATCH_BYTES // max(1, n_pages))
    for batch in layout.iter_batches(n_rows, columns=nested) if nested else ():
        n_bytes += batch.nbytes
        if n_bytes > beyond:
            return n_bytes
    return n_bytes


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def _parquet(path: Path) -> Sheet:
    check_parquet(path)
    try:
        table = pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise BadInput(f"not a Parquet file ({str(error).splitlines()[0]}).", file=path.name) from None
    return _arrow_table(table, path.name, "Parquet")


def _arrow(path: Path) -> Sheet:
    """Read Arrow's stream format, as ``save_to_disk`` of ``datasets`` writes it, or its file format."""
    try:
        table = read_arrow(path)
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"not an Arrow file ({str(error).splitlines()[0]}).", file=path.name) from None
    return _arrow_table(table, path.name, "Arrow")


def _arrow_table(table: pa.Table, file: str, kind: str) -> Sheet:
    refuse_many_columns(table.num_columns, file=file)
    classes = _class_names(table.schema)
    values = {
        name: [_finite(value, file=file, column=name) for value in table.column(name).to_pylist()]
        for name in table.column_names
    }
    for name in set(classes) & set(values):
        values[name] = _name_classes(values[name], classes[name], file=file, column=name)
    frame = pd.DataFrame(values, columns=table.column_names, dtype=object)
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="line")
    return Sheet(frame, Source(file, kind, len(frame), tuple(table.column_names)))


def _class_names(schema: pa.Schema) -> dict[str, list[str]]:
    """Return the names of the classes of each column that ``datasets`` stored as numbers (``ClassLabel``)."""
    try:
        features = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
        return {
            name: list(map(str, feature["names"]))
            for name, feature in features.items()
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
        }
    except (ValueError, KeyError, TypeError, AttributeError):  # no metadata of datasets
        return {}


def _name_classes(values: list[Any], names: list[str], *, file: str, column: str) -> list[Any]:
    """Return the names of classes; -1 and None are empty cells."""
    for row, value in enumerate(values, start=1):
        if value is not None and not (isinstance(value, int) and -1 <= value < len(names)):
            raise BadInput(
                f"{value!r} is none of the {len(names)} classes.",
                file=file,
                row=row,
                column=column,
                remedy="Write the dataset again with the classes of its column.",
            )
    return [None if value in (None, -1) else names[value] for value in values]


def _dataset(path: Path, name: str, encoding: Encoding) -> Sheet:
    """Read a table of a dataset: the rows of its files one after the other, numbered from 1."""
    with dataset_files(path, name=name) as dataset:
        n_files = sum(map(len, dataset.splits.values()))
        frames, notes, checks = [], list(dataset.notes), []
        n_rows = 0
        for split, files in dataset.splits.items():
            for file in files:
                part = read_sheet(file, encoding=encoding)
                if n_files > 1:
                    label = file.relative_to(dataset.folder).as_posix()
                    first, last = n_rows + 1, n_rows + len(part.frame)
                    rows = f"row {first} is" if first == last else f"rows {first} to {last} are"
                    notes.append(f"{rows} {label}")
                frame = part.frame
                if len(dataset.splits) > 1 and SPLIT not in frame.columns:
                    frame = frame.assign(**{SPLIT: split})
                frames.append(frame)
                checks.append(part.source.inferred)
                notes += part.source.notes
                n_rows += len(frame)
    frame = pd.concat(frames, ignore_index=True).astype(object)
    refuse_many_columns(frame.shape[1], file=path.name)
    frame = frame.where(frame.notna(), None)
    frame.index = pd.RangeIndex(1, n_rows + 1, name="line")
    described = f"dataset, {dataset.name}: {', '.join(dataset.splits)}"
    inferred = next((check for check in checks if check is not None), None)
    return Sheet(frame, Source(path.name, described, n_rows, tuple(frame.columns), tuple(notes), inferred))


def _finite(value: Any, *, file: str, column: str) -> Any:
    """Return a Parquet cell as a plain value; NaN is an empty cell, an infinity is refused."""
    if isinstance(value, float) and not math.isfinite(value):
        if math.isinf(value):
            raise BadInput("an infinite number cannot be stored.", file=file, column=column)
        return None
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)
