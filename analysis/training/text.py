"""A corpus of sentences: one per line, part of it held out to say when to stop."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.errors import BadInput, NotEnoughData

HELD_OUT, MOST_HELD_OUT, FEWEST = 0.05, 5_000, 20


@dataclass(frozen=True)
class Corpus:
    """Sentences to learn from and sentences held out, none of them in both; ``sha256`` names the two."""

    train: list[str]
    held_out: list[str]
    sha256: str


def read_corpus(path: str | Path, *, held_out: str | Path | None = None) -> Corpus:
    """Read a corpus, and hold part of it out.

    Parameters
    ----------
    path : str or Path
        UTF-8 text, a sentence per line; empty lines are left out.
    held_out : str or Path, optional
        A second file of the kind. Without one a twentieth of the distinct sentences (at most 5,000) is held
        out, drawn from the same seed for every model, so that models of one corpus can be compared.

    Returns
    -------
    Corpus
        A sentence that is held out is not learned from, however often it occurs.

    Raises
    ------
    BadInput
        If a file is absent, empty or not UTF-8; the line is named.
    NotEnoughData
        With fewer than 20 distinct sentences.
    """
    lines = read_lines(path)
    if held_out is None:
        distinct = list(dict.fromkeys(lines))
        if len(distinct) < FEWEST:
            raise NotEnoughData(
                f"{len(distinct)} distinct sentences are too few.",
                file=str(path),
                remedy=f"Give at least {FEWEST}, a sentence per line.",
            )
        n = min(MOST_HELD_OUT, max(1, round(HELD_OUT * len(distinct))))
        drawn = np.random.default_rng(2026).choice(len(distinct), size=n, replace=False)
        kept = [distinct[place] for place in sorted(drawn.tolist())]
    else:
        kept = list(dict.fromkeys(read_lines(held_out)))
    barred = set(kept)
    train = [line for line in lines if line not in barred]
    if not train:
        raise NotEnoughData("every sentence is held out.", file=str(path))
    return Corpus(train, kept, _digest(train, kept))


def read_lines(path: str | Path) -> list[str]:
    """Read the lines of a text that hold anything.

    Parameters
    ----------
    path : str or Path
        UTF-8 text.

    Returns
    -------
    list of str
        Without white space at either end.

    Raises
    ------
    BadInput
        If the file is absent, empty or not UTF-8; the line is named.
    """
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
