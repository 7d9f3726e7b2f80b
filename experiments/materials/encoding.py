"""Files as they come: encoding, line ends and delimiter are detected, named, and the text is kept exactly."""

import gzip
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from analysis.errors import BadInput
from experiments.materials.charsets import CODECS, guess_encoding, named_codec, place
from experiments.materials.delimited import (
    DELIMITER_NAMES,
    ONE_COLUMN,
    Row,
    delimited_rows,
    guess_delimiter,
    rows_under_head,
)


@dataclass(frozen=True)
class Decoded:
    """A file's text and how it was found to be written.

    Attributes
    ----------
    text : str
        Exactly as in the file, without a byte order mark; line ends untouched.
    encoding : str
        ``UTF-8``, ``UTF-16 LE``, ``UTF-16 BE``, ``Latin-1``, ``Windows-1252``, ``Mac Roman``, or the codec
        asked for.
    bom : bool
        Whether a byte order mark stood at the beginning.
    newline : str
        ``LF``, ``CRLF``, ``CR``, ``mixed`` or ``none``.
    inferred : bool
        Whether the encoding was inferred from the characters, because the bytes do not say it.
    file : str
        The file's name, for messages.
    """

    text: str
    encoding: str
    bom: bool
    newline: str
    inferred: bool
    file: str

    @property
    def description(self) -> str:
        """Say the encoding and line ends in words."""
        mark = " with byte order mark" if self.bom else ""
        return f"{self.encoding}{mark}{' (inferred)' if self.inferred else ''}, line ends {self.newline}"


@dataclass(frozen=True)
class Table:
    """A delimited file as a frame of text.

    Attributes
    ----------
    frame : DataFrame of str
        One row per data row; the index ``line`` is the line of the file where the row begins. Empty
        cells are ``""``.
    source : Decoded
        How the file is written; its text is dropped.
    delimiter : str
        The character between cells.
    notes : tuple of str
        What was passed over or filled.
    """

    frame: pd.DataFrame
    source: Decoded
    delimiter: str
    notes: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """Say encoding, line ends and delimiter in words."""
        return f"{self.source.description}, delimiter {DELIMITER_NAMES.get(self.delimiter, self.delimiter)}"


def read_text(path: Path, *, encoding: str = "") -> Decoded:
    """Read a text file of unknown encoding.

    Parameters
    ----------
    path : Path
        A name that ends in ``.gz`` is unpacked.
    encoding : str
        Taken instead of the detection.

    Returns
    -------
    Decoded

    Raises
    ------
    BadInput
        If the file cannot be opened, or holds bytes that no text has; the message gives position and line.
    """
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"cannot be read ({reason}).", file=path.name) from None
    return decode(data, file=path.name, encoding=encoding)


def decode(data: bytes, *, file: str = "", encoding: str = "") -> Decoded:
    r"""Turn bytes into text; see :func:`read_text`.

    Parameters
    ----------
    data : bytes
    file : str
        Named in errors.
    encoding : str
        Taken instead of the detection.

    Returns
    -------
    Decoded

    Raises
    ------
    BadInput
        As :func:`read_text`.

    Examples
    --------
    >>> decode(b"bad,good\r1,2").newline
    'CR'
    """
    name, skip, inferred = guess_encoding(data, file=file) if not encoding else _asked_for(data, encoding)
    try:
        text = data[skip:].decode(CODECS.get(name, name))
    except UnicodeDecodeError as error:
        at = error.start + skip
        raise BadInput(
            f"byte 0x{data[at]:02X} at position {at} is not {name}.",
            file=file,
            row=place(data, at),
            remedy="Save the file as UTF-8, or name its encoding.",
        ) from None
    if "\0" in text:
        at = text.index("\0")
        raise BadInput(
            f"NUL character at position {at}.",
            file=file,
            row=place(text[:at].encode("utf-8", "surrogatepass"), at * 4),
            remedy="Save the file as UTF-8.",
        )
    return Decoded(text, name, bool(skip), line_ends(text), inferred, file)


def _asked_for(data: bytes, encoding: str) -> tuple[str, int, bool]:
    name = named_codec(encoding)
    mark = "\ufeff".encode(CODECS.get(name, name), "ignore")
    return name, len(mark) if mark and data.startswith(mark) else 0, False


def line_ends(text: str) -> str:
    """Name the line ends of a text.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        ``LF``, ``CRLF``, ``CR``, ``mixed``, or ``none`` for a single line.
    """
    crlf = text.count("\r\n")
    counts = {"CRLF": crlf, "LF": text.count("\n") - crlf, "CR": text.count("\r") - crlf}
    used = [name for name, count in counts.items() if count]
    return used[0] if len(used) == 1 else ("mixed" if used else "none")


def read_table(path: Path, *, encoding: str = "", delimiter: str = "") -> Table:
    """Read a delimited file into a frame of text, every cell exactly as given.

    Parameters
    ----------
    path : Path
        CSV, TSV or another delimited text, also packed as ``.gz``.
    encoding, delimiter : str
        Taken instead of the detection.

    Returns
    -------
    Table

    Raises
    ------
    BadInput
        If a row has more cells than the head, a quotation mark is not closed, a column is named twice, or
        :func:`read_text` refuses the file; the message names the file and the line.

    Notes
    -----
    Lines above the head that start with ``#`` or are empty are passed over. Rows shorter than the head are
    filled with empty cells. Both are said in ``notes``. An unnamed column is called ``unnamed_1``,
    ``unnamed_2``, ….
    """
    return table_from(read_text(path, encoding=encoding), delimiter=delimiter)


def table_from(decoded: Decoded, *, delimiter: str = "") -> Table:
    """Read the table in a decoded text; see :func:`read_table`.

    Parameters
    ----------
    decoded : Decoded
    delimiter : str
        Taken instead of the detection.

    Returns
    -------
    Table

    Raises
    ------
    BadInput
        As :func:`read_table`.
    """
    delimiter = delimiter or guess_delimiter(decoded.text[:100_000])
    notes = []
    try:
        (_, head), rows, n_notices, first_short = _parsed(decoded, delimiter, quoted=True)
    except BadInput:
        if delimiter not in ("\t", ONE_COLUMN):
            raise
        (_, head), rows, n_notices, first_short = _parsed(decoded, delimiter, quoted=False)
        notes.append("quotation marks are plain characters in this file")
    if n_notices:
        notes.append(f"{n_notices} lines above the head passed over")
    if first_short:
        notes.append(f"rows shorter than the head, from row {first_short} on, are filled with empty cells")
    frame = pd.DataFrame(
        [cells for _, cells in rows],
        columns=_column_names(head, decoded.file),
        index=pd.Index([line for line, _ in rows], name="line", dtype="int64"),
        dtype=object,
    )
    return Table(frame, replace(decoded, text=""), delimiter, tuple(notes))


def _parsed(decoded: Decoded, delimiter: str, *, quoted: bool) -> tuple[Row, list[Row], int, int]:
    rows = delimited_rows(decoded.text, delimiter=delimiter, file=decoded.file, quoted=quoted)
    return rows_under_head(rows, file=decoded.file)


def _column_names(head: list[str], file: str) -> list[str]:
    unnamed = 0
    names: list[str] = []
    for name in (re.sub(r'^"(.*)"$', r"\1", cell) for cell in head):
        if not name:
            unnamed += 1
            name = f"unnamed_{unnamed}"
        if name in names:
            raise BadInput(
                "the head names this column twice.", file=file, column=name, remedy="Rename one of them."
            )
        names.append(name)
    return names
