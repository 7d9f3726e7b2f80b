"""Tables in files (CSV, TSV, JSON lines, Parquet): strict reading, atomic writing."""

import csv
import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from .errors import BadInput

SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
# Characters, as for materials; the default of the csv module is 131,072.
MAX_CELL_LENGTH = 1_000_000
FREE_CELLS = 1_000_000  # of any JSON lines table; a larger one has at most as many as bytes

csv.field_size_limit(MAX_CELL_LENGTH)


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table without converting its cells.

    Parameters
    ----------
    path : str or Path
        UTF-8 CSV, TSV, JSON lines or Parquet; the suffix decides: ``.csv``, ``.tsv``, ``.jsonl`` or
        ``.parquet``.

    Returns
    -------
    DataFrame
        The index is the line of the file on which each row begins, from 1 (Parquet: the row number). CSV
        and TSV cells are text; an empty cell is None.

    Raises
    ------
    BadInput
        If the file is absent, empty, of another format or not UTF-8, or if a row does not have as many
        cells as the header; the message names the line.

    Examples
    --------
    >>> read_table("judgments.doc")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    obelus.errors.BadInput: judgments.doc: files ending in '.doc' are not read. ...
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise BadInput(
            f"files ending in {suffix or 'nothing'!r} are not read.", file=str(path),
            remedy=f"Use {', '.join(SUFFIXES)}.",
        )  # fmt: skip
    if not path.is_file():
        raise BadInput("there is no such file.", file=str(path))
    if suffix == ".parquet":
        return _read_parquet(path)
    try:
        return _read_json_lines(path) if suffix == ".jsonl" else _read_delimited(path, suffix=suffix)
    except UnicodeDecodeError as error:
        line = _first_undecodable_line(path)
        raise BadInput(
            "the text is not UTF-8.", file=str(path), row=line, remedy="Save it as UTF-8."
        ) from error


def read_column_names(path: str | Path) -> list[str]:
    """Return the columns of a table by its first row alone; JSON lines by their first object."""
    path = Path(path)
    suffix = path.suffix.lower()
    try:
        if suffix == ".parquet":
            return [str(name) for name in pq.read_schema(path).names]
        with path.open(encoding="utf-8-sig", newline="") as text:
            if suffix == ".jsonl":
                first = next((line for line in text if line.strip()), "")
                return list(_json_object(first, path, 1))
            reader = csv.reader(text, delimiter="\t" if suffix == ".tsv" else ",")
            return [name.strip() for name in next(reader, [])]
    except pa.ArrowException as error:
        raise BadInput("not a Parquet file.", file=str(path)) from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise BadInput("the first line cannot be read.", file=str(path), row=1) from error


def write_table(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a table in the format of the suffix, atomically."""
    writers: dict[str, Callable[[Path], Any]] = {
        ".csv": lambda to: frame.to_csv(to, index=False, lineterminator="\n"),
        ".tsv": lambda to: frame.to_csv(to, index=False, sep="\t", lineterminator="\n"),
        ".jsonl": lambda to: frame.to_json(
            to, orient="records", lines=True, force_ascii=False, double_precision=15
        ),
        ".parquet": lambda to: frame.to_parquet(to, index=False),
    }
    path = Path(path)
    if path.suffix.lower() not in writers:
        raise BadInput(
            "this kind of file is not written.", file=str(path), remedy=f"Use {', '.join(writers)}."
        )
    with atomic_write(path) as draft:
        writers[path.suffix.lower()](draft)


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Yield a temporary file in the same folder that replaces the path only if the block succeeds."""
    path = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
        os.close(handle)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}.", file=str(path)) from error
    draft = Path(name)
    try:
        yield draft
        # mkstemp creates files that only their owner can read.
        draft.chmod(0o644)
        draft.replace(path)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror or error}.", file=str(path)) from error
    finally:
        draft.unlink(missing_ok=True)


def _first_undecodable_line(path: Path) -> int | None:
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return number
    return None


def _read_delimited(path: Path, *, suffix: str) -> pd.DataFrame:
    rows, lines, line = [], [], 0
    with path.open(encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(text, delimiter="\t" if suffix == ".tsv" else ",", strict=True)
        try:
            head = [name.strip() for name in next(reader, [])]
            _check_head(head, path)
            line = reader.line_num
            for row in reader:
                if row:
                    _check_width(row, head, path, line + 1)
                    rows.append([cell if cell != "" else None for cell in row])
                    lines.append(line + 1)
                line = reader.line_num
        except csv.Error as error:
            is_long = "field limit" in str(error)
            remedy = "A quotation mark that is not closed makes cells as long." if is_long else ""
            raise BadInput(f"{error}.", file=str(path), row=line + 1, remedy=remedy) from error
    return pd.DataFrame(rows, columns=pd.Index(head), index=pd.Index(lines, dtype="int64"), dtype=object)


def _check_head(head: list[str], path: Path) -> None:
    if not any(head):
        raise BadInput("the file is empty.", file=str(path), remedy="The first line names the columns.")
    repeated = sorted(name for name, n_columns in Counter(head).items() if n_columns > 1)
    if repeated:
        raise BadInput("the head names this column twice.", file=str(path), row=1, column=repeated[0])


def _check_width(row: list[str], head: list[str], path: Path, line: int) -> None:
    if len(row) != len(head):
        raise BadInput(
            f"{len(row)} cells where the head names {len(head)} columns.", file=str(path), row=line,
            remedy="Put quotes around text that holds the delimiter.",
        )  # fmt: skip


def _read_json_lines(path: Path) -> pd.DataFrame:
    rows, lines = [], []
    names: set[str] = set()
    max_cells = max(FREE_CELLS, path.stat().st_size)
    with path.open(encoding="utf-8-sig") as text:
        for number, line in enumerate(text, start=1):
            if line.strip():
                rows.append(_json_object(line, path, number))
                lines.append(number)
                names.update(rows[-1])
                # Rows are filled to the width of the table: few bytes could take any memory.
                if len(rows) * len(names) > max_cells:
                    raise BadInput(
                        f"{len(names):,} columns in {number:,} rows or more are too many for its size.",
                        file=str(path), remedy="Give rows with the same names.",
                    )  # fmt: skip
    if not rows:
        raise BadInput("the file is empty.", file=str(path))
    return pd.DataFrame(rows, index=pd.Index(lines, dtype="int64"), dtype=object).astype(object).where(
        lambda frame: frame.notna(), None
    )  # fmt: skip


def _json_object(line: str, path: Path, number: int) -> dict[str, Any]:
    def refuse(word: str) -> Any:
        raise BadInput(f"{word} is not a number.", file=str(path), row=number, remedy="Write null for none.")

    try:
        row = json.loads(line, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise BadInput(f"not JSON ({error.msg}).", file=str(path), row=number) from error
    except RecursionError as error:
        raise BadInput("brackets are nested too deeply.", file=str(path), row=number) from error
    except ValueError as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput("a number has too many digits.", file=str(path), row=number) from error
    if not isinstance(row, dict):
        raise BadInput("not a JSON object.", file=str(path), row=number)
    return row


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(path)
    except (pa.ArrowException, OSError) as error:
        raise BadInput("not a Parquet file.", file=str(path)) from error
    frame.index = pd.RangeIndex(1, len(frame) + 1)
    return frame
