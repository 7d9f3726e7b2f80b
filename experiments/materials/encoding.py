"""Detect the encoding and line ends of text files; the text itself is kept exactly.

A byte order mark decides, else the bytes do. An eight-bit file cannot name its encoding: the best fitting one
is used and reported as inferred, with the lines that a researcher can check; where two fit, none is used.
"""

import codecs
import gzip
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from analysis.errors import BadInput
from experiments.materials.charsets import CHARSETS, Candidate, decidable, plausible, ranked_charsets

#: Display name of an encoding → Python's codec.
CODECS = {
    "UTF-8": "utf-8",
    "UTF-16 LE": "utf-16-le",
    "UTF-16 BE": "utf-16-be",
    **{charset.name: charset.codec for charset in CHARSETS},
}
#: Encoding of all files, or of each file by its name; empty where it is to be detected.
Encoding = str | Mapping[str, str]
#: Suffixes of tables that are no text files.
BINARY_SUFFIXES = frozenset({".zip", ".arrow", ".parquet", ".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"})
_PIECE = 1 << 20  # bytes unpacked at a time
_MARKS = ((codecs.BOM_UTF8, "UTF-8"), (codecs.BOM_UTF16_LE, "UTF-16 LE"), (codecs.BOM_UTF16_BE, "UTF-16 BE"))
_REMEDY = "Save the file as UTF-8, or name its encoding."
_NOT_TEXT = (
    "It does not look like a text file (a picture, PDF or old spreadsheet?): save the table as CSV (UTF-8)."
)
# Compressed files unpack to any size. Tables of text shrink 5 to 60 times; what shrinks far more was made to.
MAX_UNPACKED_BYTES, FREE_BYTES, MAX_RATIO = 500_000_000, 50_000_000, 200
_MAX_LISTED_LINES = 10  # lines with non-ASCII characters that a researcher checks
_MAX_LINE = 200  # characters of such a line that are shown


def encoding_name(spelling: str) -> str:
    """Return the display name of an encoding from any common spelling of it.

    Examples
    --------
    >>> encoding_name("macroman"), encoding_name("utf8"), encoding_name("cp1250"), encoding_name("cp437")
    ('Mac Roman', 'UTF-8', 'Windows-1250', 'cp437')
    """
    if spelling in CODECS:
        return spelling
    try:
        canonical = codecs.lookup(spelling.replace("UTF-16 ", "utf-16-")).name
    except LookupError:
        raise BadInput(
            f"unknown encoding {spelling!r}.", remedy=f"Supported are {', '.join(CODECS)}."
        ) from None
    return next((name for name, codec in CODECS.items() if codecs.lookup(codec).name == canonical), canonical)


def guess_encoding(data: bytes, *, file: str = "") -> tuple[str, int, bool]:
    """Return the encoding of bytes, the length of their byte order mark, and whether it was inferred.

    Examples
    --------
    >>> guess_encoding("Schütze".encode("mac-roman"))
    ('Mac Roman', 0, True)
    >>> guess_encoding("Schütze".encode("utf-8"))
    ('UTF-8', 0, False)
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name, len(mark), False
    if data.startswith(b"PK\x03\x04"):
        raise BadInput(
            "this is a spreadsheet or a ZIP archive, not a text file.",
            file=file,
            remedy="Save the sheet as CSV (UTF-8).",
        )
    if b"\0" in data:
        return _utf16(data, file), 0, True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse_broken_utf8(data, error.start, file)
        return _eight_bit(data, error.start, file), 0, True
    return "UTF-8", 0, False


def line_after(before: bytes) -> int:
    """Return the number, from 1, of the line that follows these bytes; a bare CR ends a line too."""
    normalized = before.replace(b"\r\n", b"\n")
    return 1 + normalized.count(b"\n") + normalized.count(b"\r")


def _utf16(data: bytes, file: str) -> str:
    """Recognize UTF-16 without a byte order mark; refuse other data with NUL bytes."""
    # Mostly ASCII text in UTF-16 has its NUL bytes at even (BE) or odd (LE) positions only.
    even, odd = data[0::2].count(0), data[1::2].count(0)
    if len(data) % 2 == 0 and max(even, odd) >= 10 * min(even, odd) and max(even, odd) * 50 > len(data):
        return "UTF-16 BE" if even > odd else "UTF-16 LE"
    first = data.index(0)
    raise BadInput(
        f"NUL byte at position {first}.", file=file, row=line_after(data[:first]), remedy=_NOT_TEXT
    )


def _refuse_broken_utf8(data: bytes, start: int, file: str) -> None:
    """Refuse data that is UTF-8 except for a few bytes: any other encoding would garble the rest."""
    text = data.decode("utf-8", errors="replace")
    n_broken = text.count("\ufffd")
    n_valid = len(text) - len(text.encode("ascii", "ignore")) - n_broken
    if n_valid > 2 * n_broken:
        raise BadInput(
            f"byte 0x{data[start]:02X} at position {start} is not UTF-8, while the rest of the file is.",
            file=file,
            row=line_after(data[:start]),
            remedy=_REMEDY,
        )


def _eight_bit(data: bytes, start: int, file: str) -> str:
    """Return the encoding of one of the code pages; refuse the data if none fits, or two do."""
    ranked = ranked_charsets(data)
    # The ranking rests on a sample: the rest of the file may have bytes that an encoding lacks.
    while ranked and not _decodes(data, ranked[0].charset.codec):
        ranked = ranked[1:]
    if decidable(ranked):
        name = ranked[0].charset.name
        is_extended = name == "Latin-1" and re.search(rb"[\x80-\x9f]", data) and _decodes(data, "cp1252")
        return "Windows-1252" if is_extended else name
    row = line_after(data[:start])
    fitting = plausible(ranked)
    if len(fitting) > 1:
        examples = " or ".join(
            f"{_first_difference(candidate, fitting)!r} ({candidate.charset.name})" for candidate in fitting
        )
        raise BadInput(
            f"the encoding cannot be told from the characters: {examples}?",
            file=file,
            row=row,
            remedy="Name the encoding under which the line is right.",
        )
    raise BadInput(
        f"byte 0x{data[start]:02X} at position {start} belongs to no encoding that could be recognized.",
        file=file,
        row=row,
        remedy=_REMEDY,
    )


def _decodes(data: bytes, codec: str) -> bool:
    try:
        data.decode(codec)
    except UnicodeDecodeError:
        return False
    return True


def _first_difference(candidate: Candidate, other_candidates: list[Candidate]) -> str:
    """Return the first line of a candidate's text that another candidate reads differently."""
    lines = [other.text.split("\n") for other in other_candidates]
    lines_of_candidate = candidate.text.split("\n")
    number = next(
        (index for index, row in enumerate(zip(*lines, strict=False)) if len(set(row)) > 1),
        0,
    )
    return lines_of_candidate[number].strip()[:60]


@dataclass(frozen=True)
class InferredEncoding:
    """Evidence for a researcher to check an inferred encoding.

    Attributes
    ----------
    file : str
    encoding : str
    lines : tuple of (int, str)
        The first lines with non-ASCII characters, with their numbers.
    n_lines : int
        All lines with non-ASCII characters.
    alternatives : tuple of (str, str)
        Other encodings that decode the file, with the first line that they read differently.
    """

    file: str
    encoding: str
    lines: tuple[tuple[int, str], ...]
    n_lines: int
    alternatives: tuple[tuple[str, str], ...]

    @property
    def summary(self) -> str:
        """The lines to check and how other encodings read the first, for a terminal."""
        lines = [f"    row {row}: {line}" for row, line in self.lines[:5]]
        lines += [f"    as {encoding}: {line}" for encoding, line in self.alternatives]
        head = f"{self.file}: the encoding {self.encoding} is inferred from {self.n_lines} lines"
        return "\n".join([f"{head}; check them, --encoding sets another:", *lines])


def _collect_evidence(data: bytes, text: str, name: str, file: str) -> InferredEncoding:
    """Collect the lines with non-ASCII characters, and how other encodings read them."""
    lines: list[tuple[int, str]] = []
    n_lines = 0
    for match in re.finditer(r"[^\r\n]*[^\x00-\x7f\r\n][^\r\n]*", text):
        n_lines += 1
        if n_lines <= _MAX_LISTED_LINES:
            lines.append((line_after(text[: match.start()].encode()), match[0].strip()[:_MAX_LINE]))
    alternatives: list[tuple[str, str]] = []
    if not name.startswith("UTF"):
        listed = [line for _, line in lines]
        for candidate in plausible(ranked_charsets(data)):
            other_lines = [line.strip()[:_MAX_LINE] for line in candidate.text.split("\n")]
            different = [other for line, other in zip(listed, other_lines, strict=False) if line != other]
            if different and _decodes(data, candidate.charset.codec):
                alternatives.append((candidate.charset.name, different[0]))
    return InferredEncoding(file, name, tuple(lines), n_lines, tuple(alternatives))


@dataclass(frozen=True)
class Decoded:
    """A file's text with its encoding and line ends.

    Attributes
    ----------
    text : str
        Exactly as in the file, without a byte order mark; line ends untouched.
    encoding : str
        A name of :data:`CODECS`, or the requested codec.
    bom : bool
        Whether the file began with a byte order mark.
    newline : str
        ``LF``, ``CRLF``, ``CR``, ``mixed`` or ``none``.
    inferred : bool
        Whether the encoding was inferred from the characters.
    file : str
        The file's name, for messages.
    check : InferredEncoding or None
        What to check where the encoding was inferred.
    """

    text: str
    encoding: str
    bom: bool
    newline: str
    inferred: bool
    file: str
    check: InferredEncoding | None = None

    @property
    def description(self) -> str:
        """Encoding and line ends, for messages."""
        mark = " with byte order mark" if self.bom else ""
        return f"{self.encoding}{mark}{' (inferred)' if self.inferred else ''}, line ends {self.newline}"


def max_unpacked_bytes(path: Path) -> int:
    """Return how far a compressed file may unpack: a limit of size, and of the ratio above 50 MB."""
    return min(MAX_UNPACKED_BYTES, max(FREE_BYTES, MAX_RATIO * path.stat().st_size))


def _decompress(path: Path) -> bytes:
    most = max_unpacked_bytes(path)
    with gzip.open(path) as packed:
        data = packed.read(most + 1)
    if len(data) > most:
        raise BadInput(
            f"unpacks to more than {most / 1e6:,.0f} MB.",
            file=path.name,
            remedy="Unpack it, and give the file or parts of it.",
        )
    return data


def unpacks_beyond(file: IO[bytes], limit: int) -> bool:
    """Whether a gzip file holds more than ``limit`` bytes; False if it is damaged."""
    size = 0
    try:
        with gzip.GzipFile(fileobj=file, mode="rb") as packed:
            while size <= limit and (piece := packed.read(_PIECE)):
                size += len(piece)
    except (OSError, EOFError, zlib.error):
        return False
    return size > limit


def read_text(path: Path, *, encoding: Encoding = "") -> Decoded:
    """Read a text file of unknown encoding."""
    chosen = encoding if isinstance(encoding, str) else encoding.get(path.name, encoding.get("", ""))
    try:
        data = _decompress(path) if path.suffix.lower() == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"cannot be read ({reason}).", file=path.name) from None
    return decode(data, file=path.name, encoding=chosen)


def decode(data: bytes, *, file: str = "", encoding: str = "") -> Decoded:
    r"""Decode bytes of unknown encoding.

    Examples
    --------
    >>> decode(b"bad,good\r1,2").newline
    'CR'
    """
    name, skip, inferred = (
        guess_encoding(data, file=file) if not encoding else _requested_encoding(data, encoding)
    )
    try:
        text = data[skip:].decode(CODECS.get(name, name))
    except UnicodeDecodeError as error:
        position = error.start + skip
        raise BadInput(
            f"byte 0x{data[position]:02X} at position {position} is not {name}.",
            file=file,
            row=line_after(data[:position]),
            remedy=_REMEDY,
        ) from None
    if "\0" in text:
        before, _, _ = text.partition("\0")
        raise BadInput(
            f"NUL character at position {len(before)}.",
            file=file,
            row=line_after(before.encode("utf-8", "surrogatepass")),
            remedy="Save the file as UTF-8.",
        )
    check = _collect_evidence(data, text, name, file) if inferred else None
    return Decoded(text, name, bool(skip), line_ends(text), inferred, file, check)


def _requested_encoding(data: bytes, encoding: str) -> tuple[str, int, bool]:
    """Return the requested encoding and the length of a byte order mark, as :func:`guess_encoding` does."""
    name = encoding_name(encoding)
    mark = "\ufeff".encode(CODECS.get(name, name), "ignore")
    return name, len(mark) if mark and data.startswith(mark) else 0, False


def line_ends(text: str) -> str:
    """Return the name of a text's line ends."""
    if "\r" not in text:  # one fast search instead of three counts
        return "LF" if "\n" in text else "none"
    crlf = text.count("\r\n")
    counts = {"CRLF": crlf, "LF": text.count("\n") - crlf, "CR": text.count("\r") - crlf}
    kinds = [name for name, count in counts.items() if count]
    return kinds[0] if len(kinds) == 1 else ("mixed" if kinds else "none")
