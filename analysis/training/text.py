"""Corpora of one sentence per line, with a held-out part for early stopping."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import BadInput, NotEnoughData

HELD_OUT_SHARE, MAX_HELD_OUT, MIN_SENTENCES = 0.05, 5_000, 20


@dataclass(frozen=True)
class Corpus:
    """Disjoint sentences for training and held out; ``sha256`` is the digest of both."""

    train: list[str]
    held_out: list[str]
    sha256: str


def read_corpus(path: str | Path, *, held_out: str | Path | None = None) -> Corpus:
    """Read a corpus and hold out a part, or the sentences of another file."""
    lines = read_lines(path)
    if held_out is None:
        distinct = list(dict.fromkeys(lines))
        if len(distinct) < MIN_SENTENCES:
            raise NotEnoughData(
                f"{len(distinct)} distinct sentences are too few.",
                file=str(path),
                remedy=f"Give at least {MIN_SENTENCES}, a sentence per line.",
            )
        n = min(MAX_HELD_OUT, max(1, round(HELD_OUT_SHARE * len(distinct))))
        # A fixed seed: models of different seeds are compared on the same held-out sentences.
        indices = np.random.default_rng(2026).choice(len(distinct), size=n, replace=False)
        held_lines = [distinct[index] for index in sorted(indices.tolist())]
    else:
        held_lines = list(dict.fromkeys(read_lines(held_out)))
    excluded = set(held_lines)
    train = [line for line in lines if line not in excluded]
    if not train:
        raise NotEnoughData("every sentence is held out.", file=str(path))
    return Corpus(train, held_lines, _digest(train, held_lines))


def read_lines(path: str | Path) -> list[str]:
    """Read the non-empty lines of a text."""
    path = Path(path)
    if not path.is_file():
        raise BadInput("there is no such file.", file=str(path))
    lines = []
    with path.open("rb") as text:
        for number, raw in enumerate(text, start=1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            except UnicodeDecodeError as error:
                raise BadInput(
                    "the text is not UTF-8.", file=str(path), row=number, remedy="Save it as UTF-8."
                ) from error
            if line:
                lines.append(line)
    if not lines:
        raise BadInput("the corpus is empty.", file=str(path), remedy="Give a sentence per line.")
    return lines


def _digest(*parts: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        for line in part:
            digest.update(line.encode() + b"\n")
        digest.update(b"\0")
    return digest.hexdigest()
