"""Reproducible files from frames: fixed columns, stable order, LF, UTF-8."""

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from analysis.columns import require_columns

BLIMP_FIELDS = (
    "sentence_good",
    "sentence_bad",
    "field",
    "linguistics_term",
    "UID",
    "simple_LM_method",
    "one_prefix_method",
    "two_prefix_method",
    "lexically_identical",
    "pairID",
)
ARROW_TYPES = {
    "text": pa.string(),
    "number": pa.float64(),
    "integer": pa.int64(),
    "flag": pa.bool_(),
    "time": pa.string(),
}
# Significant; sums in another order differ from about the 15th digit on.
DIGITS = 12


def csv_bytes(frame: pd.DataFrame, columns: Sequence[str]) -> bytes:
    """Serialize the given columns of a frame as CSV.

    Notes
    -----
    UTF-8 without BOM, LF; whole numbers without a decimal point, other floats in the shortest form that
    round-trips, missing values empty, flags ``true`` and ``false``.

    Examples
    --------
    >>> csv_bytes(pd.DataFrame({"n": [2.0, None], "secret": [1, 2]}), ["n"])
    b'n\\n2\\n""\\n'
    """
    require_columns(frame, *columns)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(_cells(frame[name]) for name in columns), strict=True))
    return text.getvalue().encode()


def parquet_bytes(table: bytes, kinds: Mapping[str, str]) -> bytes:
    """Convert a CSV file of ours to Parquet, typed by the kinds of its columns; empty cells are null.

    A column whose cells are not of its kind is text.

    Examples
    --------
    >>> content = parquet_bytes(b"n,word\\n2,01\\n,\\n", {"n": "integer", "word": "text"})
    >>> pd.read_parquet(io.BytesIO(content)).to_dict("list")
    {'n': [2.0, nan], 'word': ['01', None]}
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
    >>> content = record_parquet_bytes([{"n": 1, "note": [2]}], {"n": "integer", "note": "any"})
    >>> pd.read_parquet(io.BytesIO(content)).to_dict("list")
    {'n': [1], 'note': ['[2]']}
    """
    columns = {}
    for name, kind in kinds.items():
        values = [_plain(record.get(name)) for record in records]
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


def quoted_yaml(text: str) -> str:
    """Quote a text for YAML, of which JSON's strings are a part.

    Examples
    --------
    >>> print(quoted_yaml('say "x"'))
    "say \\"x\\""
    """
    return json.dumps(text, ensure_ascii=False)


def jsonl_bytes(records: Iterable[dict[str, Any]]) -> bytes:
    """Serialize records as JSON lines, keys in their own order; undefined numbers are null.

    Examples
    --------
    >>> jsonl_bytes([{"share": float("nan"), "text": "naïve"}]).decode()
    '{"share": null, "text": "naïve"}\\n'
    """
    lines = (json.dumps(_plain(record), ensure_ascii=False, allow_nan=False) for record in records)
    return "".join(f"{line}\n" for line in lines).encode()


def json_bytes(document: Any) -> bytes:
    """Serialize one JSON document, indented, with sorted keys."""
    text = json.dumps(_plain(document), ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True)
    return f"{text}\n".encode()


def blimp_record(fields: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Return a pair in BLiMP's format: its ten fields first, then further fields of its source.

    Examples
    --------
    >>> blimp_record({"field": "syntax"}, {"UID": "islands"})["UID"]
    'islands'
    """
    blimp = {name: fields.get(name, defaults.get(name)) for name in BLIMP_FIELDS}
    return blimp | {name: fields[name] for name in sorted(fields) if name not in blimp}


def rounded(values: pd.Series) -> pd.Series:
    """Round computed numbers to 12 significant digits, so that the order of summation has no effect.

    Examples
    --------
    >>> rounded(pd.Series([1 / 3])).tolist()
    [0.333333333333]
    """
    return values.map(lambda value: float(f"{value:.{DIGITS}g}"), na_action="ignore").astype(float)


def _cells(column: pd.Series) -> list[str]:
    return [_cell(value) for value in column.astype(object)]


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return _number(float(value))
    return str(value)


def _number(value: float) -> str:
    if math.isnan(value):
        return ""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return None if value is pd.NA or value is pd.NaT else value
