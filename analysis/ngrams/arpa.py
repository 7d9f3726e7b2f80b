"""Read ARPA files, plain or compressed with gzip."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import IO, TypeVar, cast

import numpy as np
import pyarrow as pa

from ..errors import BadInput
from .counts import Ids
from .lines import Entries, Lines, read_entries
from .query import BackoffModel, BackoffOrder
from .writing import TOKENIZATION

T = TypeVar("T")
BLOCK = 2**20
"""Maximum number of n-grams read at once."""

_COUNT = re.compile(r"ngram\s+(\d+)\s*=\s*(\d+)")
_SECTION = re.compile(r"\\(\d{1,18})-grams:")
MAX_DIGITS = 18  # of an announced number; Python reads no number of thousands of digits


def read_arpa(path: str | Path, *, max_order: int | None = None) -> BackoffModel:
    """Read a back-off model from an ARPA file.

    Notes
    -----
    Memory is 24 bytes for each n-gram and the vocabulary; while an order is read whose n-grams are not listed
    in the order of their words, twice as much for that order.
    """
    return _call_reader(path, lambda reader: reader.read(max_order=max_order))


def arpa_order(path: str | Path) -> int:
    """Read the order of the model from the header of an ARPA file."""
    return _call_reader(path, lambda reader: reader.order())


def _call_reader(path: str | Path, ask: Callable[["_Reader"], T]) -> T:
    path = Path(path)
    if not path.is_file():
        raise BadInput("there is no such file.", file=str(path))
    with _open(path) as file:
        lines = Lines(file)
        try:
            return ask(_Reader(path, lines))
        except (UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
            raise BadInput("not a text file in UTF-8.", file=str(path), row=lines.number + 1) from error


def _open(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


class _Reader:
    """Read a file once, tracking the line number for error messages."""

    def __init__(self, path: Path, lines: Lines) -> None:
        self.path, self.lines = path, lines
        self.ids: dict[str, int] = {}
        self.tokenization: dict[str, str] = {}

    def order(self) -> int:
        """Read only the header."""
        return len(self._head())

    def read(self, *, max_order: int | None) -> BackoffModel:
        """Read the header and the requested sections."""
        orders: list[BackoffOrder] = []
        announced = self._head()
        for n in range(1, min(max_order or len(announced), len(announced)) + 1):
            orders.append(self._section(n, announced[n - 1], orders))
        return BackoffModel(list(self.ids), orders, self.tokenization)

    def _head(self) -> list[int]:
        """Read from ``\\data\\`` to the empty line after the announced numbers."""
        while (line := self.lines.line()) is not None and line.strip() != "\\data\\":
            if line.startswith(TOKENIZATION):
                settings = (field.partition("=") for field in line.removeprefix(TOKENIZATION).split())
                self.tokenization = {name: value for name, _, value in settings}
        if line is None:
            raise BadInput("not an ARPA file: there is no line \\data\\.", file=str(self.path))
        announced: list[int] = []
        while match := _COUNT.fullmatch((self.lines.line() or "").strip()):
            if len(match[2]) > MAX_DIGITS:
                raise self._wrong("more n-grams are announced than memory holds.")
            announced.append(int(match[2]))
        if not announced:
            raise self._wrong("no number of n-grams is announced after \\data\\.")
        return announced

    def _section(self, n: int, announced: int, shorter: list[BackoffOrder]) -> BackoffOrder:
        start = self.lines.line()
        while start is not None and not start.strip():
            start = self.lines.line()
        match = _SECTION.fullmatch((start or "").strip())
        if match is None or int(match[1]) != n:
            raise self._wrong(f"\\{n}-grams: should begin here.")
        try:
            keys, log10, backoff = np.empty(announced, dtype=np.int64), *np.empty((2, announced))
        except (MemoryError, ValueError) as error:
            raise self._wrong(f"{announced} {n}-grams are announced, more than memory holds.") from error
        n_read, vocabulary = 0, pa.array(self.ids, pa.string()) if n > 1 else None
        while n_read < announced:
            first = self.lines.number + 1
            entries = self._entries(n, min(announced - n_read, BLOCK), vocabulary)
            if not len(entries.log10):
                break
            self._check(entries, first=first)
            part = slice(n_read, n_read + len(entries.log10))
            keys[part] = self._keys(entries.words, shorter, first=first)
            log10[part], backoff[part] = entries.log10, entries.backoff
            n_read = part.stop
        while self.lines.line():
            n_read += 1
        if n_read != announced:
            raise self._wrong(f"{announced} {n}-grams are announced, {n_read} are listed.")
        if not (keys[1:] > keys[:-1]).all():
            order = np.argsort(keys, kind="stable")
            keys, log10, backoff = keys[order], log10[order], backoff[order]
            if (keys[1:] == keys[:-1]).any():
                raise self._wrong(f"a {n}-gram is listed twice.")
        return BackoffOrder(keys, log10, backoff)

    def _entries(self, n: int, most: int, vocabulary: pa.Array | None) -> Entries:
        """Read n-grams in bulk if their lines have the same fields, otherwise line by line."""
        if vocabulary is not None:
            entries = read_entries(*self.lines.block(most), n, vocabulary)
            if entries is not None:
                return entries
            self.lines.give_back()
        return self._line_by_line(n, most)

    def _line_by_line(self, n: int, most: int) -> Entries:
        """Parse an ARPA file line by line, with the line number in errors."""
        log10: list[float] = []
        backoff: list[float] = []
        words: list[int] = []
        ids = self.ids
        try:
            while len(log10) < most:
                line = self.lines.line()
                if not line:
                    self.lines.give_back()
                    break
                fields = line.replace("\t", " ").split(" ")
                log10.append(float(fields[0]))
                if n == 1:
                    words.append(ids.setdefault(fields[1], len(ids)))
                else:
                    words += [ids[word] for word in fields[1 : n + 1]]
                backoff.append(float(fields[n + 1]) if len(fields) > n + 1 and fields[n + 1] else 0.0)
        except (ValueError, IndexError) as error:
            raise self._wrong(f"not a line of a {n}-gram.") from error
        except KeyError as error:
            raise self._wrong(f"the word {error.args[0]!r} is not among the 1-grams.") from error
        if len(words) != n * len(log10):
            raise self._wrong(f"a {n}-gram has another number of words.")
        return Entries(np.array(log10), np.array(words, dtype=np.int64).reshape(-1, n), np.array(backoff))

    def _check(self, entries: Entries, *, first: int) -> None:
        right = np.isfinite(entries.log10 + entries.backoff) & (entries.log10 < 1e-6)
        if not right.all():
            line = first + int(np.flatnonzero(~right)[0])
            raise self._wrong("not the logarithm of a probability.", line=line)

    def _keys(self, words: Ids, shorter: list[BackoffOrder], *, first: int) -> Ids:
        """Look up the position of each n-gram's prefix in the order below, word by word."""
        place = words[:, 0]
        for column, level in enumerate(shorter[1:], start=1):
            wanted_keys = place * len(self.ids) + words[:, column]
            positions, absent = _find_keys(level.keys, wanted_keys)
            if absent.any():
                raise self._wrong(
                    "the beginning of this n-gram is not listed itself.",
                    line=first + int(np.flatnonzero(absent)[0]),
                )
            place = positions
        return place * len(self.ids) + words[:, -1] if shorter else place

    def _wrong(self, message: str, *, line: int | None = None) -> BadInput:
        return BadInput(message, file=str(self.path), row=self.lines.number if line is None else line)


def _find_keys(keys: Ids, wanted_keys: Ids) -> tuple[Ids, Ids]:
    """Return the positions of keys, and which are absent; ascending keys make the search fast."""
    if not len(keys):
        return np.zeros(len(wanted_keys), dtype=np.int64), np.ones(len(wanted_keys), dtype=np.bool_)
    if (wanted_keys[1:] >= wanted_keys[:-1]).all():
        place = np.searchsorted(keys, wanted_keys)
    else:
        order = np.argsort(wanted_keys)
        place = np.empty(len(wanted_keys), dtype=np.int64)
        place[order] = np.searchsorted(keys, wanted_keys[order])
    np.minimum(place, len(keys) - 1, out=place)
    return place, keys[place] != wanted_keys
