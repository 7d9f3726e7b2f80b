"""Language files, and what all files of the generator share: reading TOML, and errors with code and place."""

import hashlib
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from analysis.errors import BadInput

FOLDER = Path(__file__).parents[1] / "languages"
MAX_BYTES = 1_000_000
#: Controls that reorder text; a file that needs them would look different from what is read.
BIDI = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


class ParadigmError(BadInput):
    """A file of a paradigm that cannot be used, with the linter's code."""

    def __init__(self, message: str, *, code: str, place: str, remedy: str = "") -> None:
        self.code = code
        super().__init__(message, file=place, remedy=remedy)


def unknown(
    kind: str, name: str, options: Iterable[str], *, place: str = "", code: str = "L02"
) -> ParadigmError:
    """Make the error for a name that does not exist, with near names."""
    choices = list(options)
    near = get_close_matches(name, choices, n=3, cutoff=0.5)
    if near:
        remedy = f"Did you mean {' or '.join(near)}?"
    else:
        remedy = f"There are: {', '.join(choices[:12])}." if choices else f"There is no {kind} yet."
    return ParadigmError(f"unknown {kind} {name!r}.", code=code, place=place, remedy=remedy)


def checked_keys(table: Any, options: Sequence[str], *, place: str, kind: str) -> None:
    """Refuse a table with keys that do not exist."""
    if not isinstance(table, dict):
        raise ParadigmError("not a table.", code="L01", place=place)
    for key in table:
        if key not in options:
            raise unknown(kind, key, options, place=place, code="L01")


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Read a TOML file and the SHA-256 of its bytes."""
    if not path.is_file():
        raise ParadigmError("there is no such file.", code="L01", place=str(path))
    return parse_toml(path.read_bytes(), file=path.name)


def parse_toml(content: bytes, *, file: str) -> tuple[dict[str, Any], str]:
    """Parse the content of a TOML file; return it with the SHA-256 of its bytes."""
    if len(content) > MAX_BYTES:
        raise ParadigmError(
            f"{len(content):,} bytes.", code="L01", place=file, remedy=f"At most {MAX_BYTES:,}."
        )
    try:
        text = content.decode("utf-8-sig")
        document = tomllib.loads(unicodedata.normalize("NFC", text))
    except UnicodeDecodeError as error:
        raise ParadigmError(
            "the text is not UTF-8.", code="L01", place=file, remedy="Save it as UTF-8."
        ) from error
    except (ValueError, RecursionError) as error:  # also a number of more than 4,300 digits
        raise ParadigmError(f"not TOML ({error}).", code="L01", place=file) from error
    if BIDI & set(text):
        raise ParadigmError(
            "the file has invisible characters of text direction.",
            code="L01",
            place=file,
            remedy="Delete them.",
        )
    return document, hashlib.sha256(content).hexdigest()


@dataclass(frozen=True)
class Language:
    """Rules that join the words of a language into a sentence.

    Parameters
    ----------
    tag : str
    joiner : str
        What stands between words; empty where words are written together.
    marks : tuple of str
        Final marks.
    articles : tuple of str
        Article before a consonant and before a vowel; empty if the language has none.
    capital : bool
        Whether a sentence begins with a capital.
    content : tuple of str
        Categories of which no lexeme comes twice in one sentence.
    default : mapping of str to str
        Category → form of a slot without ``form``.
    """

    tag: str
    joiner: str
    marks: tuple[str, ...]
    articles: tuple[str, ...]
    capital: bool
    content: tuple[str, ...]
    default: Mapping[str, str]


def languages() -> tuple[str, ...]:
    """List the languages that have a file."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def read_language(tag: str, place: str = "") -> Language:
    """Read the file of a language."""
    if tag not in languages():
        raise unknown("language", tag, languages(), place=place, code="L02")
    document, _ = read_toml(FOLDER / f"{tag}.toml")
    return Language(
        tag=tag,
        joiner=document.get("joiner", " "),
        marks=tuple(document["marks"]),
        articles=tuple(document.get("articles", ())),
        capital=document.get("capital", False),
        content=tuple(document["content"]),
        default=document.get("default", {}),
    )
