"""Write ARPA files, plain or compressed with gzip, block by block."""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..files import atomic_write
from .columns import blocks
from .counts import Ids
from .query import BackoffModel, Floats

TOKENIZATION = "# tokenization:"
BLOCK = 2**18  # lines formatted at once

Progress = Callable[[int], None]


def write_arpa(model: BackoffModel, path: str | Path, *, progress: Progress | None = None) -> None:
    """Write a model as an ARPA file, atomically.

    Notes
    -----
    Logarithms are written in single precision, as lmplz does. The tokenization, if known, is written
    on a line beginning with ``#`` before ``\\data\\``; kenlm and our reader skip such lines.
    """
    with atomic_write(path) as draft, _open(draft) as file:
        if model.tokenization:
            recorded = " ".join(f"{name}={value}" for name, value in model.tokenization.items())
            file.write(f"{TOKENIZATION} {recorded}\n\n".encode())
        sizes = "".join(f"ngram {n}={len(level.keys)}\n" for n, level in enumerate(model.orders, start=1))
        file.write(f"\\data\\\n{sizes}".encode())
        words = pa.array(model.words, pa.string())
        for n in range(1, model.order + 1):
            file.write(f"\n\\{n}-grams:\n".encode())
            for part in blocks(len(model.orders[n - 1].keys), BLOCK):
                file.write(_lines(model, words, n, part))
                if progress is not None:
                    progress(part.stop - part.start)
        file.write(b"\n\\end\\\n")


def _open(path: Path) -> IO[bytes] | gzip.GzipFile:
    if path.suffix == ".gz":
        return gzip.open(path, "wb", compresslevel=6)
    return path.open("wb")


def _lines(model: BackoffModel, words: pa.Array, n: int, part: slice) -> memoryview:
    """Format lines of one order: log10 probability, words, back-off weight."""
    level = model.orders[n - 1]
    pieces = list(_word_indices(model, n, level.keys[part]))
    gram = pc.binary_join_element_wise(*(words.take(pa.array(ids)) for ids in reversed(pieces)), " ")
    fields = [_numbers(level.log10[part]), gram]
    if n < model.order:
        fields.append(_numbers(level.backoff[part]))
    fields[-1] = pc.binary_join_element_wise(fields[-1], "", "\n")
    lines = pc.binary_join_element_wise(*fields, "\t")
    return memoryview(lines.buffers()[2])


def _word_indices(model: BackoffModel, n: int, keys: Ids) -> Iterator[Ids]:
    """Return the word indices, last word first."""
    for shorter in reversed(model.orders[: n - 1]):
        place, word = np.divmod(keys, len(model.words))
        yield word
        keys = shorter.keys[place]
    yield keys


def _numbers(values: Floats) -> pa.Array:
    return pc.cast(pa.array(values.astype(np.float32)), pa.string())
