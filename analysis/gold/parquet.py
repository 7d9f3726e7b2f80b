"""Parquet files of a release: the rows of its CSV files and records, typed."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from .writers import plain_value

ARROW_TYPES = {
    "text": pa.string(),
    "number": pa.float64(),
    "integer": pa.int64(),
    "flag": pa.bool_(),
    "time": pa.string(),
}


def parquet_bytes(table: bytes, kinds: Mapping[str, str]) -> bytes:
    """Convert a CSV file of ours to Parquet, typed by the kinds of its columns; empty cells are null.

    A column whose cells are not of its kind is text.

    Examples
    --------
    >>> import io
    >>> content = parquet_bytes(b"n,word\\n2,01\\n,\\n", {"n": "integer", "word": "text"})
    >>> parquet.read_table(io.BytesIO(content)).to_pydict()
    {'n': [2, None], 'word': ['01', None]}
    """
    rows = pa.BufferReader(table)
    types = {name: ARROW_TYPES[kind] for name, kind in kinds.items()}
    try:
        frame = _arrow_table(rows, types)
    except pa.ArrowInvalid:
        frame = _typed_where_possible(
            _arrow_table(pa.BufferReader(table), dict.fromkeys(kinds, pa.string())), types
        )
    return _parquet(frame)


def record_parquet_bytes(records: Sequence[Mapping[str, Any]], kinds: Mapping[str, str]) -> bytes:
    """Write records as Parquet, typed by the kinds of their fields; values of no kind are JSON texts.

    Examples
    --------
    >>> import io
    >>> content = record_parquet_bytes([{"n": 1, "note": [2]}], {"n": "integer", "note": "any"})
    >>> parquet.read_table(io.BytesIO(content)).to_pydict()
    {'n': [1], 'note': ['[2]']}
    """
    columns = {}
    for name, kind in kinds.items():
        values = [plain_value(record.get(name)) for record in records]
        if kind == "any":
            values = [
                value if value is None or isinstance(value, str) else json.dumps(value) for value in values
            ]
        columns[name] = pa.array(values, type=ARROW_TYPES.get(kind, pa.string()), from_pandas=True)
    return _parquet(pa.table(columns))


def _parquet(table: pa.Table) -> bytes:
    buffer = pa.BufferOutputStream()
    parquet.write_table(table, buffer, compression="snappy", store_schema=False)
    return bytes(buffer.getvalue().to_pybytes())


def _arrow_table(rows: Any, types: Mapping[str, pa.DataType]) -> pa.Table:
    return arrow_csv.read_csv(
        rows,
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            column_types=types,
            null_values=[""],
            strings_can_be_null=True,
            true_values=["true"],
            false_values=["false"],
        ),
    )


def _typed_where_possible(table: pa.Table, types: Mapping[str, pa.DataType]) -> pa.Table:
    columns = []
    for name in table.column_names:
        try:
            columns.append(table[name].cast(types[name]))
        except pa.ArrowInvalid:
            columns.append(table[name])
    return pa.table(columns, names=table.column_names)
