"""Filter files: definitions of the constructions that are removed from a corpus."""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import BadInput, UnknownName
from .conllu import Sentence
from .notation import error_context, read_pattern
from .patterns import Pattern

FOLDER = Path(__file__).parent / "filters"
KEYS = ("name", "title", "definition", "source", "paradigms", "note", "lists", "remove")
FULL = "full"


@dataclass(frozen=True)
class Filter:
    """A construction that is removed from a corpus.

    Parameters
    ----------
    name, title, definition, source, note : str
        What it is, from where, and where it departs from its source.
    paradigms : tuple of str
        Paradigms that it bears on.
    patterns : tuple of Pattern
        A sentence that matches one of these is removed.
    sha256 : str
        Hash of the file and its word lists, for reports.
    """

    name: str
    title: str
    definition: str
    source: str
    note: str
    paradigms: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    sha256: str

    def removes(self, sentence: Sentence) -> Pattern | None:
        """Return the first pattern that removes a sentence, or None if it is kept."""
        return next((pattern for pattern in self.patterns if pattern.is_in(sentence)), None)


def filter_names() -> tuple[str, ...]:
    """List the filters that come with the platform.

    Examples
    --------
    >>> len(filter_names())
    15
    """
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def find_filter(name: str) -> Filter:
    """Read a filter by its name or its file.

    References
    ----------
    Patil, Jumelet et al. (2024), "Filtered Corpus Training (FiCT)", TACL, section 3.2 and table 1.

    Examples
    --------
    >>> find_filter("passive").paradigms
    ('passive_1', 'passive_2')
    """
    if name.endswith(".toml"):
        return read_filter(name)
    if name not in filter_names():
        raise UnknownName("filter", name, filter_names())
    return read_filter(FOLDER / f"{name}.toml")


def read_filter(path: str | Path) -> Filter:
    """Read a filter's file."""
    path = Path(path)
    if not path.is_file():
        raise BadInput("there is no such file.", file=str(path))
    digest = hashlib.sha256(path.read_bytes())
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise BadInput("the text is not UTF-8.", file=str(path), remedy="Save it as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"not TOML ({error}).", file=str(path)) from error
    try:
        return _parse_filter(document, path, digest)
    except BadInput as error:
        raise BadInput(error.message, file=error.file or str(path), remedy=error.remedy) from error


def _parse_filter(document: dict[str, Any], path: Path, digest: Any) -> Filter:
    for key in document:
        if key not in KEYS:
            raise UnknownName("key of a filter", key, KEYS)
    lists = {
        name: _words(name, entry, path.parent, digest) for name, entry in _table(document, "lists").items()
    }
    removed = document.get("remove")
    if not isinstance(removed, list) or not removed:
        raise BadInput("the filter removes nothing.", remedy="Add a table [[remove]] with words.")
    patterns = []
    for number, entry in enumerate(removed, start=1):
        with error_context(f"pattern {number}"):
            pattern = read_pattern(entry, lists)
        patterns.append(pattern if pattern.name else _named_pattern(pattern, f"pattern {number}"))
    paradigms = document.get("paradigms", [])
    if not isinstance(paradigms, list) or not all(isinstance(name, str) for name in paradigms):
        raise BadInput("paradigms is not a list of names.")
    name = str(document.get("name", path.stem))
    if name == FULL or not name.replace("-", "").replace("_", "").isalnum():
        raise BadInput(
            f"{name!r} is not a valid filter name.", remedy="Use letters, digits, - and _; full is reserved."
        )
    texts = {key: str(document.get(key, "")).strip() for key in ("title", "definition", "source", "note")}
    return Filter(
        name=name, paradigms=tuple(paradigms), patterns=tuple(patterns), sha256=digest.hexdigest(), **texts
    )  # fmt: skip


def _table(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    table = document.get(key, {})
    if not isinstance(table, Mapping):
        raise BadInput(f"{key} is not a table.", remedy=f"Write [{key}].")
    return table


def _words(name: str, source: Any, folder: Path, digest: Any) -> frozenset[str]:
    if isinstance(source, str):
        file = folder / source
        if not file.is_file():
            raise BadInput(f"list {name!r}: there is no file {source!r} beside the filter.")
        content = file.read_bytes()
        digest.update(content)
        try:
            lines = content.decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise BadInput("the text is not UTF-8.", file=str(file), remedy="Save it as UTF-8.") from error
        source = [word for line in lines for word in line.partition("#")[0].split(",") if word.strip()]
    if (
        not isinstance(source, list)
        or not source
        or not all(isinstance(word, str) and word.strip() for word in source)
    ):
        raise BadInput(
            f"list {name!r} contains no words.", remedy="Write a list of texts, or the name of a file."
        )
    return frozenset(" ".join(word.lower().split()) for word in source)


def _named_pattern(pattern: Pattern, name: str) -> Pattern:
    return Pattern(name, pattern.words, pattern.edges, pattern.orders, pattern.without, pattern.count)
