"""Frames as bytes that are the same on every machine: stated columns, stable order, LF, UTF-8."""

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

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
DIGITS = 12


def csv_bytes(frame: pd.DataFrame, columns: Sequence[str]) -> bytes:
    """Write the named columns of a frame, and no others, as CSV.

    Parameters
    ----------
    frame : DataFrame
        Rows in the order in which they are to stand.
    columns : sequence of str
        The allow-list: a column that is not named is not written.

    Returns
    -------
    bytes
        UTF-8 without BOM, LF; whole numbers without a point, other floats in the shortest form that
        reads back equal, gaps empty, flags ``true`` and ``false``.

    Raises
    ------
    MissingColumns
        If a named column is absent.

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


def jsonl_bytes(records: Iterable[dict[str, Any]]) -> bytes:
    """Write records as JSON lines, keys in their own order; undefined numbers are null.

    Parameters
    ----------
    records : iterable of dict

    Returns
    -------
    bytes

    Examples
    --------
    >>> jsonl_bytes([{"share": float("nan"), "text": "naïve"}]).decode()
    '{"share": null, "text": "naïve"}\\n'
    """
    lines = (json.dumps(_plain(record), ensure_ascii=False, allow_nan=False) for record in records)
    return "".join(f"{line}\n" for line in lines).encode()


def json_bytes(document: Any) -> bytes:
    """Write one JSON document, indented, with sorted keys.

    Parameters
    ----------
    document : JSON-like

    Returns
    -------
    bytes

    See Also
    --------
    csv_bytes, jsonl_bytes : Tables, and one document a line.
    """
    text = json.dumps(_plain(document), ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True)
    return f"{text}\n".encode()


def blimp_record(fields: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Give a pair in BLiMP's form: its ten fields first, any further fields of its source after them.

    Parameters
    ----------
    fields : dict
        The source line's fields, as given.
    known : dict
        What is known of the pair otherwise; fills BLiMP fields the source lacks.

    Returns
    -------
    dict
        Further fields stand in alphabetical order, because databases do not keep theirs.

    Examples
    --------
    >>> blimp_record({"field": "syntax"}, {"UID": "islands"})["UID"]
    'islands'
    """
    blimp = {name: fields.get(name, known.get(name)) for name in BLIMP_FIELDS}
    return blimp | {name: fields[name] for name in sorted(fields) if name not in blimp}


def rounded(values: pd.Series) -> pd.Series:
    """Round computed numbers to 12 significant digits, so that the order of a sum does not show.

    Parameters
    ----------
    values : Series of float

    Returns
    -------
    Series of float

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
