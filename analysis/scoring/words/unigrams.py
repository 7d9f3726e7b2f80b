"""Unigram probabilities of a model's tokens, for SLOR and NormLP."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ...errors import BadInput, NotEnoughData
from ...files import atomic_write

UNIGRAMS = "unigrams.txt"
TOKENIZER = "# tokenizer: "
BATCH = 10_000  # sentences tokenized at once
Floats = npt.NDArray[np.float64]


class CountsTokens(Protocol):
    """A scorer whose tokens can be counted in a text."""

    tokenizer_sha: str

    @property
    def n_types(self) -> int:
        """Size of the vocabulary."""
        ...

    @property
    def end(self) -> int | None:
        """Id of the end-of-sentence token, if its probability is part of a score."""
        ...

    def token_ids(self, sentences: Sequence[str]) -> list[list[int]]:
        """Tokenize sentences into token ids, without special tokens."""
        ...


@dataclass(frozen=True)
class Unigrams:
    """Natural log probability of each token by its id, and the digest of the file."""

    logprob: Floats
    revision: str

    def rows(self, rows: Sequence[Sequence[int]]) -> list[Floats]:
        """Return the log probabilities of the tokens of each row."""
        return [self.logprob[np.asarray(row, dtype=np.int64)] for row in rows]

    def sums(self, rows: Sequence[Sequence[int]]) -> Floats:
        """Sum the log probabilities of each row; NaN for a row without tokens."""
        return np.array([row.sum() if len(row) else np.nan for row in self.rows(rows)])


def train_unigrams(scorer: CountsTokens, sentences: Iterable[str]) -> Floats:
    """Estimate the unigram probabilities of a model's tokens from a text.

    Notes
    -----
    Natural logarithm of (occurrences + 1) / (all occurrences + number of types), by token id: add-one
    smoothing gives every token a probability. The end of a sentence is counted once per sentence if it is
    part of a score. Counts use the model's own tokens, so that both probabilities of SLOR,
    (log p - log p_u) / n, are over the same tokens.

    References
    ----------
    Pauls & Klein (2012), ACL; Lau, Clark & Lappin (2017), Cognitive Science 41.
    """
    counts, iterator = np.ones(scorer.n_types), iter(sentences)
    while batch := list(islice(iterator, BATCH)):
        rows = [row for row in scorer.token_ids(batch) if row]
        flat = np.fromiter((token for row in rows for token in row), dtype=np.int64)
        counts += np.bincount(flat, minlength=len(counts))
        if scorer.end is not None:
            counts[scorer.end] += len(rows)
    if counts.sum() == len(counts):
        raise NotEnoughData("there is no token to count.")
    return np.asarray(np.log(counts / counts.sum()), dtype=np.float64)


def write_unigrams(logprob: Floats, path: str | Path, *, tokenizer_sha: str) -> None:
    """Write one number per line after the digest of the tokenizer, atomically."""
    with atomic_write(path) as draft, draft.open("w", encoding="ascii") as file:
        file.write(f"{TOKENIZER}{tokenizer_sha}\n")
        np.savetxt(file, logprob, fmt="%.17g")


def read_unigrams(path: str | Path, *, n_types: int, tokenizer_sha: str = "") -> Unigrams:
    """Read the probabilities of single tokens."""
    try:
        content = Path(path).read_bytes()
        lines = content.decode("ascii").splitlines()
    except OSError as error:
        remedy = "Make one with manage.py train_unigram."
        raise BadInput("there is no such file of unigrams.", file=str(path), remedy=remedy) from error
    except UnicodeDecodeError as error:
        raise BadInput("the unigrams cannot be read: not a text file of numbers.", file=str(path)) from error
    recorded = next((line.removeprefix(TOKENIZER) for line in lines if line.startswith(TOKENIZER)), "")
    if recorded and tokenizer_sha and recorded != tokenizer_sha:
        remedy = "Make them with this model: manage.py train_unigram."
        raise BadInput("the unigrams were made with another tokenizer.", file=str(path), remedy=remedy)
    try:
        values = np.array([float(line) for line in lines if line and not line.startswith("#")])
    except ValueError as error:
        raise BadInput(f"the unigrams cannot be read: {error}", file=str(path)) from error
    if len(values) != n_types:
        raise BadInput(f"it has {len(values)} lines, the vocabulary {n_types}.", file=str(path))
    if not (np.isfinite(values).all() and values.max(initial=-1.0) <= 0):
        raise BadInput("the unigrams are not logarithms of probabilities.", file=str(path))
    return Unigrams(values, f"sha256:{hashlib.sha256(content).hexdigest()}")


def model_unigrams(target: str, path: str, *, n_types: int, tokenizer_sha: str) -> Unigrams | None:
    """Read the unigram probabilities of a model from ``path``, or from its folder."""
    default = Path(target) / UNIGRAMS
    path = path or (str(default) if default.is_file() else "")
    return read_unigrams(path, n_types=n_types, tokenizer_sha=tokenizer_sha) if path else None
