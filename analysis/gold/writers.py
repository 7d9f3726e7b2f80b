"""Reproducible files from frames: fixed columns, stable order, LF, UTF-8."""

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from ..columns import require_columns
from ..errors import BadInput

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
# Valid in JSON; in YAML they end a line or must be escaped.
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_PLAIN_TYPES = frozenset({str, int, bool, type(None)})
# Significant; sums in another order differ from about the 15th digit on.
DIGITS = 12


def csv_bytes(frame: pd.DataFrame, columns: Sequence[str]) -> bytes:
    """Serialize the given columns of a frame as CSV.

    Notes
    -----
    UTF-8 without BOM, LF; whole numbers without a decimal point, other floats in the shortest form that
    round-trips, missing values empty, flags ``true`` and ``false``. A cell with a line feed or a carriage
    return is quoted.

    Raises
    ------
    BadInput
        If two columns have one name.

    Examples
    --------
    >>> csv_bytes(pd.DataFrame({"n": [2.0, None], "secret": [1, 2]}), ["n"])
    b'n\\n2\\n""\\n'
    """
    require_columns(frame, *columns)
    if doubled := [
        name for name, count in Counter(map(str, [*columns, *frame.columns])).items() if count > 2
    ]:
        raise BadInput(
            f"two columns are named {doubled[0]!r}.",
            column=doubled[0],
            remedy="Rename the factor or the column of the source in the materials, and import them again.",
        )
    lines: list[str] = []
    # Before Python 3.13 the module quotes a carriage return only where it ends lines.
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows(zip(*(_cells(frame[name]) for name in columns), strict=True))
    return "".join(f"{line[:-2]}\n" for line in lines).encode()


def quoted_yaml(text: str) -> str:
    """Quote a text for YAML, of which JSON's strings are a part.

    Examples
    --------
    >>> print(quoted_yaml('say "x"'))
    "say \\"x\\""
    """
    quoted = json.dumps(text, ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda character: f"\\u{ord(character[0]):04x}", quoted)


def jsonl_bytes(records: Iterable[dict[str, Any]]) -> bytes:
    """Serialize records as JSON lines, keys in their own order; undefined numbers are null.

    Examples
    --------
    >>> jsonl_bytes([{"share": float("nan"), "text": "naïve"}]).decode()
    '{"share": null, "text": "naïve"}\\n'
    """
    lines = (json.dumps(plain_value(record), ensure_ascii=False, allow_nan=False) for record in records)
    return "".join(f"{line}\n" for line in lines).encode()


def json_bytes(document: Any) -> bytes:
    """Serialize one JSON document, indented, with sorted keys."""
    text = json.dumps(plain_value(document), ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True)
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


def round_computed(values: pd.Series) -> pd.Series:
    """Round computed numbers to 12 significant digits, so that the order of summation has no effect.

    Examples
    --------
    >>> round_computed(pd.Series([1 / 3])).tolist()
    [0.333333333333]
    """
    return values.map(lambda value: float(f"{value:.{DIGITS}g}"), na_action="ignore").astype(float)


def _cells(column: pd.Series) -> list[str]:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf":
        texts = {value: _cell(value) for value in column.dropna().unique().tolist()}
        return [texts.get(value, "") for value in column.tolist()]
    values = column.astype(object).tolist()
    # Most cells are text or missing, which need no call.
    return [v if type(v) is str else "" if v is None else _cell(v) for v in values]


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


def plain_value(value: Any) -> Any:
    """Turn NumPy's scalars into Python's and numbers that are not finite into None, in all depths."""
    if type(value) in _PLAIN_TYPES:
        return value
    if isinstance(value, dict):
        return {str(key): plain_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(inner) for inner in value]
    if isinstance(value, np.generic):
        return plain_value(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return None if value is pd.NA or value is pd.NaT else value
