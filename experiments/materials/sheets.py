"""One table from one file, whatever its suffix: delimited text, JSON lines or Parquet."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.errors import BadInput
from experiments.materials.blimp import json_lines
from experiments.materials.collection import Source
from experiments.materials.encoding import read_text, table_from


@dataclass(frozen=True)
class Sheet:
    """A table and how its file is written.

    Attributes
    ----------
    frame : DataFrame
        Cells as given, ``""`` or None where there is nothing; the index is the row of the file.
    source : Source
    """

    frame: pd.DataFrame
    source: Source

    @property
    def file(self) -> str:
        """The file's name."""
        return self.source.file


def read_sheet(path: Path, *, encoding: str = "") -> Sheet:
    """Read a CSV, TSV, JSONL or Parquet file.

    Parameters
    ----------
    path : Path
    encoding : str
        Taken instead of the detection.

    Returns
    -------
    Sheet

    Raises
    ------
    BadInput
        If the file is not what its suffix says, or has no rows.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if ".parquet" in suffixes:
        sheet = _parquet(path)
    elif ".jsonl" in suffixes or ".ndjson" in suffixes:
        sheet = _json_lines(path, encoding)
    else:
        table = table_from(read_text(path, encoding=encoding))
        columns = tuple(str(column) for column in table.frame.columns)
        source = Source(table.source.file, table.description, len(table.frame), columns, table.notes)
        sheet = Sheet(table.frame, source)
    if sheet.frame.empty:
        raise BadInput("the file has no rows.", file=path.name)
    return sheet


def _json_lines(path: Path, encoding: str) -> Sheet:
    decoded = read_text(path, encoding=encoding)
    rows = dict(json_lines(decoded))
    names = list(dict.fromkeys(name for fields in rows.values() for name in fields))
    values = {name: [fields.get(name, "") for fields in rows.values()] for name in names}
    frame = pd.DataFrame(values, index=pd.Index(list(rows), name="line"), dtype=object)
    return Sheet(frame, Source(decoded.file, f"{decoded.description}, JSON lines", len(frame), tuple(names)))


def _parquet(path: Path) -> Sheet:
    try:
        table = pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise BadInput(f"not a Parquet file ({str(error).splitlines()[0]}).", file=path.name) from None
    values = {
        name: [_finite(value, file=path.name, column=name) for value in table.column(name).to_pylist()]
        for name in table.column_names
    }
    frame = pd.DataFrame(values, dtype=object)
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="line")
    return Sheet(frame, Source(path.name, "Parquet", len(frame), tuple(table.column_names)))


def _finite(value: Any, *, file: str, column: str) -> Any:
    """NaN in Parquet means that there is nothing; an infinity cannot be kept."""
    if isinstance(value, float) and not math.isfinite(value):
        if math.isinf(value):
            raise BadInput("an infinite number cannot be kept.", file=file, column=column)
        return None
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)
