"""Characters that look like others, or like nothing: they change scores and judgments unseen."""

import re
import unicodedata
from collections.abc import Iterator

from experiments.materials.report import Severity

#: Code of the check → its severity, the characters, and what to say of them.
STRAY: dict[str, tuple[Severity, re.Pattern[str], str]] = {
    "control": ("warning", re.compile(r"[\x00-\x1f\x7f-\x9f]"), "a control character"),
    "replacement": (
        "warning",
        re.compile("[\ufffd\ufffe\uffff]"),
        "a replacement character: text was lost before",
    ),
    "zero_width": ("warning", re.compile("[\u200b\u2060\ufeff\u00ad]"), "an invisible character"),
    "joiner": (
        "note",
        re.compile("[\u200c\u200d]"),
        "a joiner, at home in emoji, Persian and Indic scripts only",
    ),
    "no_break_space": ("warning", re.compile("[\u00a0\u202f\u2007]"), "a no-break space"),
    "odd_space": (
        "warning",
        re.compile("[\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f]"),
        "an unusual space",
    ),
    "bidi": ("warning", re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]"), "a direction mark"),
    "private_use": ("warning", re.compile("[\ue000-\uf8ff]"), "a private-use character"),
}
_ANY_STRAY = re.compile("|".join(pattern.pattern for _, pattern, _ in STRAY.values()))
_STRAIGHT, _CURLY = re.compile("['\"]"), re.compile("[‘’“”]")


def compared(text: str) -> str:
    """Give the form in which texts are compared: Unicode NFC.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def stray_characters(text: str) -> Iterator[tuple[str, Severity, str]]:
    """Find what a reader cannot see in a text.

    Parameters
    ----------
    text : str

    Yields
    ------
    tuple of (str, str, str)
        Code of the check, severity, and a description with the code points.

    Examples
    --------
    >>> [code for code, _, _ in stray_characters("a\u00a0b ")]
    ['edge_space', 'no_break_space']
    """
    if text != text.strip():
        yield "edge_space", "warning", "space at its beginning or end"
    if "  " in text:
        yield "double_space", "note", "two spaces in a row"
    if _STRAIGHT.search(text) and _CURLY.search(text):
        yield "mixed_quotes", "warning", "straight and curly quotation marks in one sentence"
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        yield "not_nfc", "warning", "letters composed otherwise than in Unicode NFC"
    if not _ANY_STRAY.search(text):
        return
    for code, (severity, pattern, words) in STRAY.items():
        found = sorted(set(pattern.findall(text)))
        if found:
            points = ", ".join(f"U+{ord(character):04X}" for character in found)
            yield code, severity, f"{words} ({points})"


def quote_style(text: str) -> str:
    """Name the style of a text's quotation marks and apostrophes.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        ``straight``, ``curly``, ``mixed`` or ``none``.

    Examples
    --------
    >>> quote_style("don't"), quote_style("don’t")
    ('straight', 'curly')
    """
    straight, curly = bool(_STRAIGHT.search(text)), bool(_CURLY.search(text))
    return ("none", "curly", "straight", "mixed")[2 * straight + curly]
