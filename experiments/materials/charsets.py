"""Which characters do these bytes stand for? Byte order marks first, then evidence, never a silent guess.

An eight-bit file cannot name its own encoding: ``0x9F`` is *ü* in Mac Roman and *Ÿ* in Windows-1252.
The reading whose characters sit more plausibly beside their neighbours is taken, and the caller is told
that it was inferred.
"""

import codecs
from collections.abc import Iterator

from analysis.errors import BadInput

#: Our name of an encoding → Python's codec.
CODECS = {
    "UTF-8": "utf-8",
    "UTF-16 LE": "utf-16-le",
    "UTF-16 BE": "utf-16-be",
    "Latin-1": "latin-1",
    "Windows-1252": "cp1252",
    "Mac Roman": "mac-roman",
}
_MARKS = ((codecs.BOM_UTF8, "UTF-8"), (codecs.BOM_UTF16_LE, "UTF-16 LE"), (codecs.BOM_UTF16_BE, "UTF-16 BE"))
_REMEDY = "Save the file as UTF-8, or name its encoding."
_NO_TEXT = "It looks like no text file (a picture, a PDF, an old spreadsheet): save the table as CSV (UTF-8)."
_SAMPLE = 4_000
_PLAUSIBLE = 0.4  # text read rightly scores about 0.9, Cyrillic or Chinese read as Latin about 0


def named_codec(name: str) -> str:
    """Give our name of an encoding from any common spelling of it.

    Parameters
    ----------
    name : str
        A name such as ``utf8``, ``UTF-16LE``, ``macroman`` or ``latin1``.

    Returns
    -------
    str
        One of :data:`CODECS`, or Python's own name of another codec it knows.

    Raises
    ------
    BadInput
        If Python has no such codec.

    Examples
    --------
    >>> named_codec("macroman"), named_codec("utf8"), named_codec("gb18030")
    ('Mac Roman', 'UTF-8', 'gb18030')
    """
    try:
        canonical = codecs.lookup(name.replace("UTF-16 ", "utf-16-")).name
    except LookupError:
        raise BadInput(f"unknown encoding {name!r}.", remedy=f"Known are {', '.join(CODECS)}.") from None
    return next((ours for ours, codec in CODECS.items() if codecs.lookup(codec).name == canonical), canonical)


def guess_encoding(data: bytes, *, file: str = "") -> tuple[str, int, bool]:
    """Name the encoding of bytes, the length of their byte order mark, and whether the name is an inference.

    Parameters
    ----------
    data : bytes
    file : str
        Named in errors.

    Returns
    -------
    tuple of (str, int, bool)
        One of :data:`CODECS`; bytes to skip; True where the encoding was inferred from its characters.

    Raises
    ------
    BadInput
        For NUL bytes in an eight-bit file, for UTF-8 broken in places, and where no encoding reads plausibly;
        each with the position of the byte.

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
        return _wide_or_refused(data, file), 0, True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse_broken_utf8(data, error.start, file)
        return _eight_bit(data, error.start, file), 0, True
    return "UTF-8", 0, False


def place(data: bytes, position: int) -> int:
    """Give the line, from 1, in which a byte stands; a bare CR ends a line too."""
    before = data[:position].replace(b"\r\n", b"\n")
    return 1 + before.count(b"\n") + before.count(b"\r")


def _wide_or_refused(data: bytes, file: str) -> str:
    """Tell UTF-16 without a mark from a text file with stray NUL bytes."""
    even, odd = data[0::2].count(0), data[1::2].count(0)
    if len(data) % 2 == 0 and max(even, odd) >= 10 * min(even, odd) and max(even, odd) * 50 > len(data):
        return "UTF-16 BE" if even > odd else "UTF-16 LE"
    first = data.index(0)
    raise BadInput(f"NUL byte at position {first}.", file=file, row=place(data, first), remedy=_NO_TEXT)


def _refuse_broken_utf8(data: bytes, start: int, file: str) -> None:
    """Refuse bytes that are UTF-8 but for a few places: reading them otherwise would garble the rest."""
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    sound = sum(1 for character in text if character > "\x7f") - broken
    if sound > 2 * broken:
        raise BadInput(
            f"byte 0x{data[start]:02X} at position {start} is not UTF-8, while the rest of the file is.",
            file=file,
            row=place(data, start),
            remedy=_REMEDY,
        )


def _eight_bit(data: bytes, start: int, file: str) -> str:
    latin = "Windows-1252" if any(0x80 <= byte < 0xA0 for byte in data) else "Latin-1"
    scores = {}
    for name in (latin, "Mac Roman"):
        try:
            scores[name] = _plausibility(data.decode(CODECS[name]))
        except UnicodeDecodeError:
            continue
    best = max(scores, key=lambda name: scores[name])
    if scores[best] < _PLAUSIBLE:
        raise BadInput(
            f"byte 0x{data[start]:02X} at position {start} belongs to no encoding that could be recognized.",
            file=file,
            row=place(data, start),
            remedy=_REMEDY,
        )
    return best


def _plausibility(text: str) -> float:
    """Mean plausibility of the non-ASCII characters beside their neighbours, from -1 to 1."""
    points = [_point(*context) for context in _contexts(text)]
    return sum(points) / len(points)


def _contexts(text: str) -> Iterator[tuple[str, str, str]]:
    found = 0
    padded = f" {text} "
    for index, character in enumerate(padded):
        if character > "\x7f":
            yield padded[index - 1], character, padded[index + 1]
            found += 1
            if found == _SAMPLE:
                return


def _point(before: str, character: str, after: str) -> float:
    inside = before.isalpha() and after.isalpha()
    if before > "\x7f" and after > "\x7f" and inside:
        return -0.5  # three in a row: no language of these encodings writes so for long
    if character.isalpha():
        if character in "ªºƒıˆˇﬁﬂΩπµ":
            return -0.5
        if character.isupper() and before.islower():
            return -1.0
        return 1.0 if before.isalpha() or after.isalpha() else 0.5
    if character == "’":
        return 1.0
    if character in "‘“”«»…–—¿¡€£§°·\u00a0":
        return -0.5 if inside else 0.6
    return -1.0 if inside else -0.4
