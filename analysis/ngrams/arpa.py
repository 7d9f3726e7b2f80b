"""Read ARPA files, plain or compressed with gzip."""

import gzip
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, repeat
from pathlib import Path
from typing import IO, NamedTuple, TypeVar

import numpy as np

from analysis.errors import BadInput
from analysis.ngrams.counts import Ids
from analysis.ngrams.query import BackoffModel, BackoffOrder, Floats
from analysis.ngrams.writing import TOKENIZATION

T = TypeVar("T")
BLOCK = 2**16

_COUNT = re.compile(r"ngram\s+(\d+)\s*=\s*(\d+)")
_SECTION = re.compile(r"\\(\d+)-grams:")


class Entries(NamedTuple):
    """The n-grams of one order as they are listed: log10 probability, words, log10 back-off weight."""

    log10: Floats
    words: Ids
    backoff: Floats


def read_arpa(path: str | Path, *, max_order: int | None = None) -> BackoffModel:
    """Read a back-off model from an ARPA file.

    Parameters
    ----------
    path : str or Path
        UTF-8 text; a name ending in ``.gz`` is decompressed.
    max_order : int, optional
        Stop after this order (1 for single words alone).

    Returns
    -------
    BackoffModel
        Probabilities and weights as in the file (log10), and how text became tokens where the file says so.

    Raises
    ------
    BadInput
        Naming file and line: no ARPA file, a number that is none, an n-gram whose beginning is not listed,
        or another number of n-grams than announced.
    """
    return _guarded(path, lambda reader: reader.read(max_order=max_order))


def arpa_order(path: str | Path) -> int:
    """Give the order of the model in an ARPA file, from its head.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    int
        Length of its longest n-gram.

    Raises
    ------
    BadInput
        If it is no ARPA file.
    """
    return _guarded(path, lambda reader: reader.order())


def _guarded(path: str | Path, ask: Callable[["_Reader"], T]) -> T:
    reader = _Reader(Path(path))
    try:
        return ask(reader)
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
        raise BadInput("not a text file in UTF-8.", file=str(path), row=reader.line + 1) from error


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="\n")
    return path.open(encoding="utf-8", newline="\n")


class _Reader:
    """Goes through the file once, keeping the number of the line for messages."""

    def __init__(self, path: Path) -> None:
        self.path, self.line = path, 0
        self.ids: dict[str, int] = {}
        self.tokenization: dict[str, str] = {}

    def order(self) -> int:
        """Read the head alone."""
        with self._text() as text:
            return len(self._head(text))

    def read(self, *, max_order: int | None) -> BackoffModel:
        """Read the head and as many sections as wanted."""
        orders: list[BackoffOrder] = []
        with self._text() as text:
            announced = self._head(text)
            for n in range(1, min(max_order or len(announced), len(announced)) + 1):
                orders.append(self._section(text, n, announced[n - 1], orders))
        return BackoffModel(list(self.ids), orders, self.tokenization)

    def _text(self) -> IO[str]:
        if not self.path.is_file():
            raise BadInput("there is no such file.", file=str(self.path))
        return _open(self.path)

    def _lines(self, text: Iterable[str]) -> Iterator[str]:
        for line in text:
            self.line += 1
            yield line.rstrip("\r\n")

    def _head(self, text: IO[str]) -> list[int]:
        """Read from ``\\data\\`` to the empty line after the announced numbers."""
        lines = self._lines(text)
        for line in lines:
            if line.startswith(TOKENIZATION):
                named = (field.partition("=") for field in line.removeprefix(TOKENIZATION).split())
                self.tokenization = {name: value for name, _, value in named}
            if line.strip() == "\\data\\":
                break
        else:
            raise BadInput("not an ARPA file: there is no line \\data\\.", file=str(self.path))
        announced: list[int] = []
        for line in lines:
            match = _COUNT.fullmatch(line.strip())
            if match is None:
                break
            announced.append(int(match[2]))
        if not announced:
            raise self._wrong("no number of n-grams is announced after \\data\\.")
        return announced

    def _section(self, text: IO[str], n: int, announced: int, shorter: list[BackoffOrder]) -> BackoffOrder:
        start = next((line for line in self._lines(text) if line.strip()), "")
        match = _SECTION.fullmatch(start.strip())
        if match is None or int(match[1]) != n:
            raise self._wrong(f"\\{n}-grams: should begin here.")
        first = self.line + 1
        log10, words, backoff = self._entries(text, n, announced)
        if len(log10) != announced:
            raise self._wrong(f"{announced} {n}-grams are announced, {len(log10)} are listed.")
        if len(log10) and not (
            np.isfinite(log10).all() and np.isfinite(backoff).all() and log10.max() < 1e-6
        ):
            wrong = int(np.flatnonzero(~(np.isfinite(log10 + backoff) & (log10 < 1e-6)))[0])
            raise self._wrong("not the logarithm of a probability.", line=first + wrong)
        keys = self._keys(words, shorter, first=first)
        order = np.argsort(keys, kind="stable")
        if (np.diff(keys[order]) == 0).any():
            raise self._wrong(f"a {n}-gram is listed twice.")
        return BackoffOrder(keys[order], log10[order], backoff[order])

    def _entries(self, text: IO[str], n: int, announced: int) -> Entries:
        """Read log10 probability, words and back-off weight of each line up to the empty one."""
        parts: list[Entries] = []
        left, block = announced, []
        while n > 1 and left:
            block = list(islice(text, min(left, BLOCK)))
            found = self._regular(block, n)
            if found is None:
                break
            parts.append(found)
            left, self.line, block = left - len(block), self.line + len(block), []
        parts.append(self._any(chain(block, text), n))
        return Entries(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _regular(self, block: list[str], n: int) -> Entries | None:
        """Read lines that all have the same number of fields, or leave them to be read one by one."""
        fields = "".join(block).split()
        step, rest = divmod(len(fields), max(len(block), 1))
        if rest or step not in (n + 1, n + 2):
            return None
        numbers = self.ids.__getitem__
        words = np.empty((len(block), n), dtype=np.int64)
        try:
            log10 = np.fromiter(map(float, fields[::step]), np.float64, len(block))
            for column in range(n):
                words[:, column] = np.fromiter(map(numbers, fields[column + 1 :: step]), np.int64, len(block))
            weights = map(float, fields[n + 1 :: step]) if step == n + 2 else repeat(0.0, len(block))
            return Entries(log10, words, np.fromiter(weights, np.float64, len(block)))
        except (ValueError, KeyError):
            return None

    def _any(self, lines: Iterable[str], n: int) -> Entries:
        """Read line by line, and tell the line that is wrong."""
        log10: list[float] = []
        backoff: list[float] = []
        words: list[int] = []
        ids = self.ids
        try:
            for line in self._lines(lines):
                if not line:
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

    def _keys(self, words: Ids, shorter: list[BackoffOrder], *, first: int) -> Ids:
        """Find the place of each n-gram's beginning in the order below, word by word."""
        place = words[:, 0]
        for column, level in enumerate(shorter[1:], start=1):
            wanted = place * len(self.ids) + words[:, column]
            found = np.minimum(np.searchsorted(level.keys, wanted), max(len(level.keys) - 1, 0))
            absent = level.keys[found] != wanted if len(level.keys) else np.ones(len(words), dtype=np.bool_)
            if absent.any():
                raise self._wrong(
                    "the beginning of this n-gram is not listed itself.",
                    line=first + int(np.flatnonzero(absent)[0]),
                )
            place = found
        return place * len(self.ids) + words[:, -1] if shorter else place

    def _wrong(self, message: str, *, line: int | None = None) -> BadInput:
        return BadInput(message, file=str(self.path), row=self.line if line is None else line)
