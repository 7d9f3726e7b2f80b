"""The probabilities of single tokens, which SLOR and NormLP hold against those in context."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput, NotEnoughData
from analysis.files import whole_file

UNIGRAMS = "unigrams.txt"
TOKENIZER = "# tokenizer: "
BATCH = 10_000
Floats = npt.NDArray[np.float64]


class CountsTokens(Protocol):
    """A scorer whose tokens can be counted in a text."""

    tokenizer_sha: str

    @property
    def n_types(self) -> int:
        """Size of its vocabulary."""
        ...

    @property
    def end(self) -> int | None:
        """Number of the token that ends a sentence, where its probability is asked for."""
        ...

    def token_ids(self, sentences: Sequence[str]) -> list[list[int]]:
        """Cut sentences into numbers of tokens, without marks."""
        ...


@dataclass(frozen=True)
class Unigrams:
    """Natural log probability of each token by its number, and the digest of the file."""

    logprob: Floats
    revision: str

    def sums(self, rows: Sequence[Sequence[int]]) -> Floats:
        """Add up the tokens of each row; NaN for a row without tokens."""
        return np.array([self.logprob[list(row)].sum() if len(row) else np.nan for row in rows])


def train_unigrams(scorer: CountsTokens, sentences: Iterable[str]) -> Floats:
    """Count a model's own tokens in a text.

    Parameters
    ----------
    scorer : CountsTokens
        A causal or masked scorer: casing and leading space are those of its address.
    sentences : iterable of str
        Gone through once; the text the model was trained on, or one like it.

    Returns
    -------
    ndarray of float
        Natural logarithm of (occurrences + 1) / (all occurrences + number of types), by the token's number.
        The end of a sentence counts once for each, where the scorer asks for it.

    Raises
    ------
    NotEnoughData
        Without any token.

    Notes
    -----
    Plain frequencies, each raised by one so that no token is impossible. They stand in the model's token
    space: SLOR is then (log p - log p_u) / |s| over the same tokens above and below.

    References
    ----------
    Pauls & Klein (2012), ACL; Lau, Clark & Lappin (2017), Cognitive Science 41.
    """
    counts, rest = np.ones(scorer.n_types), iter(sentences)
    while batch := list(islice(rest, BATCH)):
        rows = [row for row in scorer.token_ids(batch) if row]
        flat = np.fromiter((token for row in rows for token in row), dtype=np.int64)
        counts += np.bincount(flat, minlength=len(counts))
        if scorer.end is not None:
            counts[scorer.end] += len(rows)
    if counts.sum() == len(counts):
        raise NotEnoughData("there is no token to count.")
    return np.asarray(np.log(counts / counts.sum()), dtype=np.float64)


def write_unigrams(logprob: Floats, path: str | Path, *, tokenizer_sha: str) -> None:
    """Write one number per line, under the digest of the tokenizer; the file appears whole or not at all.

    Parameters
    ----------
    logprob : ndarray of float
        From :func:`train_unigrams`.
    path : str or Path
        Where to.
    tokenizer_sha : str
        Digest of the tokenizer that cut the text.

    Raises
    ------
    BadInput
        If the file cannot be written.
    """
    with whole_file(path) as draft, draft.open("w", encoding="ascii") as file:
        file.write(f"{TOKENIZER}{tokenizer_sha}\n")
        np.savetxt(file, logprob, fmt="%.17g")


def read_unigrams(path: str | Path, *, n_types: int, tokenizer_sha: str = "") -> Unigrams:
    """Read the probabilities of single tokens.

    Parameters
    ----------
    path : str or Path
        A natural logarithm per line; line k is token k. Lines that begin with ``#`` may say which tokenizer.
    n_types : int
        Size of the model's vocabulary.
    tokenizer_sha : str
        Digest of the model's tokenizer; a file that names another one is refused.

    Returns
    -------
    Unigrams

    Raises
    ------
    BadInput
        If the file is absent, holds something else, has another number of lines than the vocabulary, or was
        counted with another tokenizer.
    """
    try:
        content = Path(path).read_bytes()
        lines = content.decode("ascii").splitlines()
    except OSError as error:
        remedy = "Make one with manage.py train_unigram."
        raise BadInput("there is no such file of unigrams.", file=str(path), remedy=remedy) from error
    except UnicodeDecodeError as error:
        raise BadInput("the unigrams cannot be read: no plain numbers.", file=str(path)) from error
    said = next((line.removeprefix(TOKENIZER) for line in lines if line.startswith(TOKENIZER)), "")
    if said and tokenizer_sha and said != tokenizer_sha:
        remedy = "Count them anew with this model: manage.py train_unigram."
        raise BadInput("the unigrams are those of another tokenizer.", file=str(path), remedy=remedy)
    try:
        values = np.array([float(line) for line in lines if line and not line.startswith("#")])
    except ValueError as error:
        raise BadInput(f"the unigrams cannot be read: {error}", file=str(path)) from error
    if len(values) != n_types:
        raise BadInput(f"it has {len(values)} lines, the vocabulary {n_types}.", file=str(path))
    if not (np.isfinite(values).all() and values.max(initial=-1.0) <= 0):
        raise BadInput("the unigrams are no logarithms of probabilities.", file=str(path))
    return Unigrams(values, f"sha256:{hashlib.sha256(content).hexdigest()}")


def model_unigrams(target: str, named: str, *, n_types: int, tokenizer_sha: str) -> Unigrams | None:
    """Find the probabilities of a model's single tokens.

    Parameters
    ----------
    target : str
        The model: a folder may hold ``unigrams.txt``.
    named : str
        A file that goes before that one; empty for none.
    n_types : int
        Size of the model's vocabulary.
    tokenizer_sha : str
        Digest of its tokenizer.

    Returns
    -------
    Unigrams or None
        None where no file is named and none lies in the folder.

    Raises
    ------
    BadInput
        As :func:`read_unigrams` does.
    """
    beside = Path(target) / UNIGRAMS
    path = named or (str(beside) if beside.is_file() else "")
    return read_unigrams(path, n_types=n_types, tokenizer_sha=tokenizer_sha) if path else None
