"""Iterate over the tokenized sentences of a text file."""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from ..errors import BadInput
from .counts import BEGIN, END, UNKNOWN

MARKS = frozenset({UNKNOWN, BEGIN, END})


class CorpusSentences:
    """The sentences of a text file as tokens, without holding the file in memory.

    Parameters
    ----------
    path : str or Path
        UTF-8 text, a sentence per line; a name ending in ``.gz`` is decompressed.
    tokens : callable
        Cuts a line into tokens, as :meth:`obelus.scoring.words.tokens.Tokenization.tokens` does.

    Raises
    ------
    BadInput
        When gone through: if the file is absent or not UTF-8, or a token is a boundary mark; names the line.

    Notes
    -----
    Lines without a token are left out and counted in ``n_blank`` (lmplz counts them as empty sentences).
    """

    def __init__(self, path: str | Path, tokens: Callable[[str], list[str]]) -> None:
        self.path, self.tokens, self.n_blank = Path(path), tokens, 0

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the tokens of each line."""
        if not self.path.is_file():
            raise BadInput("there is no such file.", file=str(self.path))
        self.n_blank, number = 0, 0
        try:
            with self._open() as lines:
                for number, raw in enumerate(lines, start=1):
                    pieces = self.tokens(raw.decode("utf-8-sig" if number == 1 else "utf-8"))
                    if not pieces:
                        self.n_blank += 1
                        continue
                    if b"<" in raw and not MARKS.isdisjoint(pieces):
                        raise self._mark(number)
                    yield pieces
        except UnicodeDecodeError as error:
            raise BadInput(
                "the text is not UTF-8.", file=str(self.path), row=number, remedy="Save it as UTF-8."
            ) from error
        except (gzip.BadGzipFile, EOFError) as error:
            raise BadInput("the compressed file is broken.", file=str(self.path), row=number + 1) from error

    def _open(self) -> IO[bytes] | gzip.GzipFile:
        return gzip.open(self.path, "rb") if self.path.suffix == ".gz" else self.path.open("rb")

    def _mark(self, number: int) -> BadInput:
        remedy = "Leave them out of the text, or give --punctuation split."
        return BadInput(
            f"{UNKNOWN}, {BEGIN} and {END} are the model's own marks.",
            file=str(self.path), row=number, remedy=remedy,
        )  # fmt: skip


def read_text(path: str | Path) -> str:
    """Read a whole text, plain or ``.gz``; line ends become ``\\n``."""
    file = Path(path)
    lines = CorpusSentences(file, lambda line: [line])
    return "".join(line for [line] in lines).replace("\r\n", "\n")
