"""Read lines of a large file, singly or in blocks, and parse blocks of n-grams."""

import io
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from .counts import Ids
from .query import Floats

BLOCK = 2**23
"""Bytes read at once."""


class Entries(NamedTuple):
    """N-grams of one order as they are listed: log10 probability, words, log10 back-off weight."""

    log10: Floats
    words: Ids
    backoff: Floats


class Lines:
    """Read a binary file once; ``number`` is the number of the last line returned.

    Parameters
    ----------
    file : binary file
        Only read from.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.buffer, self.place, self.number = file, b"", 0, 0
        self.before = (0, 0)

    def line(self) -> str | None:
        """Return the next line without its newline; None after the last."""
        end = self._newline()
        self.before = (self.place, self.number)
        line, self.place = self.buffer[self.place : end], end
        if not line:
            return None
        self.number += 1
        return line.decode("utf-8").rstrip("\r\n")

    def block(self, most: int) -> tuple[bytes, int]:
        """Return the buffered whole lines, at most ``most``, and their number."""
        end = self._newline()
        self.before = (self.place, self.number)
        end = max(end, self.buffer.rfind(b"\n") + 1)
        block = self.buffer[self.place : end]
        n = block.count(b"\n") + (not block.endswith(b"\n") and bool(block))
        if n > most:
            ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
            block, n = block[: int(ends[most - 1]) + 1], most
        self.place += len(block)
        self.number += n
        return block, n

    def give_back(self) -> None:
        """Push back the lines that were returned last."""
        self.place, self.number = self.before

    def _newline(self) -> int:
        """Return the end of the current line, after reading more if needed."""
        while (end := self.buffer.find(b"\n", self.place) + 1) == 0:
            more = self.file.read(BLOCK)
            if not more:
                return len(self.buffer)
            self.buffer, self.place = self.buffer[self.place :] + more, 0
        return end


def read_entries(block: bytes, n_lines: int, n: int, vocabulary: pa.Array) -> Entries | None:
    """Read lines that all have the same number of fields.

    Notes
    -----
    None where a line differs from the first in its fields, a number is none or a word is not known; read
    line by line, these can be named.
    """
    step = len(block[: block.find(b"\n")].replace(b"\t", b" ").split(b" "))
    if step not in (n + 1, n + 2):
        return None
    names = [str(column) for column in range(step)]
    words = names[1 : n + 1]
    kinds = {
        name: pa.dictionary(pa.int32(), pa.string()) if name in words else pa.float64() for name in names
    }
    try:
        table = csv.read_csv(
            io.BytesIO(block.replace(b"\t", b" ")),
            read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=len(block) + 1),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(column_types=kinds, null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    if table.num_rows != n_lines:
        return None
    columns = [table.column(name).combine_chunks() for name in names]
    ids, start = np.empty((n_lines, n), dtype=np.int64), 0
    numbers = pc.index_in(pa.concat_arrays([column.dictionary for column in columns[1 : n + 1]]), vocabulary)
    if numbers.null_count:
        return None
    for place, column in enumerate(columns[1 : n + 1]):
        ids[:, place] = numbers.to_numpy()[column.indices.to_numpy() + start]
        start += len(column.dictionary)
    backoff = columns[n + 1].to_numpy() if step == n + 2 else np.zeros(n_lines)
    return Entries(columns[0].to_numpy(), ids, backoff)
