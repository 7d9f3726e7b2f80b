"""Scorer protocol, specification of a scoring run, and the columns of scores."""

import hashlib
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ..errors import BadInput

# Bits of a sentence's flags; FLAG_CUT needs more than eight, so its column is uint16.
FLAG_EMPTY, FLAG_UNKNOWN, FLAG_TOO_LONG, FLAG_NORMALISED = 1, 2, 4, 8
FLAG_SAME, FLAG_NO_FIRST, FLAG_NOT_FINITE, FLAG_MARKED = 16, 32, 64, 128
FLAG_CUT, FLAG_JOINED, FLAG_FAILED = 256, 512, 1024
FLAGS = {
    "empty": FLAG_EMPTY,
    "unknown tokens": FLAG_UNKNOWN,
    "too long for the model, not scored": FLAG_TOO_LONG,
    "normalised by the tokenizer": FLAG_NORMALISED,
    "indistinguishable from another sentence": FLAG_SAME,
    "first token not scored": FLAG_NO_FIRST,
    "score not finite": FLAG_NOT_FINITE,
    "white space at an end, or a mark of the model inside": FLAG_MARKED,
    "critical word begins inside a token": FLAG_CUT,
    "sentence begins inside a token of its context": FLAG_JOINED,
    "the model failed on it, not scored": FLAG_FAILED,
}
# What the check of sentences reports with examples.
CHECKED = tuple(name for name, flag in FLAGS.items() if flag in (FLAG_UNKNOWN, FLAG_NORMALISED, FLAG_SAME))

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Spec:
    """Everything that affects a score; its digest identifies a scoring run."""

    uri: str
    revision: str
    method: str
    bos: bool = True
    eos: bool = False
    tokens: str = "model"
    casing: str = "as-is"
    punctuation: str = "keep"
    dtype: str = "float64"
    scorer_version: int = 1
    options: dict[str, str] = field(default_factory=dict)

    @property
    def spec_id(self) -> str:
        """SHA-256 of the canonical JSON of all fields."""
        text = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


class Scores(NamedTuple):
    """Columns of equal length, one entry per sentence; log probabilities are natural.

    ``unigram_logprob`` sums the single tokens' log probabilities over the scored tokens. ``token_logprobs``,
    ``spans`` (first character and the one after the last), ``token_unknown`` and ``token_unigrams`` have one
    entry per scored token. ``standard_error`` is that of a log probability estimated from random samples.
    """

    logprob: npt.NDArray[np.float64]
    n_tokens: npt.NDArray[np.int32]
    n_words: npt.NDArray[np.int32]
    n_chars: npt.NDArray[np.int32]
    n_unk: npt.NDArray[np.int32]
    flags: npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
    unigram_logprob: npt.NDArray[np.float64] | None = None
    token_logprobs: list[npt.NDArray[np.float64]] | None = None
    spans: list[list[tuple[int, int]]] | None = None
    token_unknown: list[npt.NDArray[np.bool_]] | None = None
    token_unigrams: list[npt.NDArray[np.float64]] | None = None
    standard_error: npt.NDArray[np.float64] | None = None


def flag_counts(flags: npt.NDArray[np.uint8] | npt.NDArray[np.uint16]) -> dict[str, int]:
    """Count the sentences of each flag that occurs, by the flag's description.

    Examples
    --------
    >>> flag_counts(np.array([FLAG_EMPTY, 0, FLAG_EMPTY + FLAG_UNKNOWN], dtype=np.uint8))
    {'empty': 2, 'unknown tokens': 1}
    """
    wide = flags.astype(np.uint16)
    return {name: n for name, flag in FLAGS.items() if (n := int(np.count_nonzero(wide & flag)))}


def flag_where(flag: int, condition: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    """Set one flag for the sentences where a condition holds.

    Examples
    --------
    >>> flag_where(FLAG_UNKNOWN, [True, False]).tolist()
    [2, 0]
    """
    return (flag * np.asarray(condition, dtype=np.bool_)).astype(np.uint8)


def sampling_note(standard_error: npt.NDArray[np.float64], n_samples: int) -> str:
    """Describe the standard errors of estimates from random samples.

    Examples
    --------
    >>> sampling_note(np.array([0.0, 0.1, np.nan]), 64)
    'estimated from 64 samples: standard error of log p 0.05 nats (median), 0.1 at most'
    """
    errors = standard_error[np.isfinite(standard_error)]
    if not len(errors):
        return "no estimate has a standard error"
    middle, largest = np.median(errors), errors.max()
    return (
        f"estimated from {n_samples} samples: standard error of log p {middle:.2g} nats (median), "
        f"{largest:.2g} at most"
    )


def token_sums(token_logprobs: Sequence[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """Sum the log probabilities of each sentence's tokens; NaN for a sentence without any."""
    return np.array([row.sum() if len(row) else np.nan for row in token_logprobs], dtype=np.float64)


def assemble_scores(
    sentences: Sequence[str],
    logprob: npt.NDArray[np.float64],
    *,
    n_tokens: npt.NDArray[np.int32],
    n_unk: npt.NDArray[np.int32],
    flags: npt.NDArray[np.uint8] | npt.NDArray[np.uint16],
    unigram_logprob: npt.NDArray[np.float64] | None = None,
    token_logprobs: list[npt.NDArray[np.float64]] | None = None,
    spans: list[list[tuple[int, int]]] | None = None,
    token_unknown: list[npt.NDArray[np.bool_]] | None = None,
    token_unigrams: list[npt.NDArray[np.float64]] | None = None,
    flag_missing: bool = True,
) -> Scores:
    """Build the columns of scores: count words and characters, and flag scores that are not finite.

    Sentences that are empty or too long, or on which the model failed, get no further flag, nor does a
    missing score where it is no fault of the model (``flag_missing=False``).
    """
    is_finite = np.isfinite(logprob)
    is_skipped = (flags.astype(np.uint16) & (FLAG_EMPTY | FLAG_TOO_LONG | FLAG_FAILED) > 0) | (
        not flag_missing
    )
    return Scores(
        np.where(is_finite, logprob, np.nan),
        n_tokens,
        np.array([len(sentence.split()) for sentence in sentences], dtype=np.int32),
        np.array([len(sentence) for sentence in sentences], dtype=np.int32),
        n_unk,
        flags | flag_where(FLAG_NOT_FINITE, ~is_finite & ~is_skipped),
        unigram_logprob,
        token_logprobs,
        spans,
        token_unknown,
        token_unigrams,
    )


def looked_up_scores(
    sentences: Sequence[str],
    logprobs: Mapping[str, float],
    *,
    keys: Sequence[str] | None = None,
    n_tokens: Mapping[str, int] | None = None,
    unscored_first: Collection[str] = (),
    progress: Progress | None = None,
) -> Scores:
    """Build the columns of scores that a file of another tool has, by the keys of the sentences.

    By default a key is the sentence without white space at its ends. The score of a key that the file does
    not have is NaN and no fault of the model. Tokens are words unless ``n_tokens`` has their number;
    ``unscored_first`` are the keys whose first token has no score.

    Examples
    --------
    >>> looked_up_scores(["It is. ", "It are."], {"It is.": -3.0}).logprob.tolist()
    [-3.0, nan]
    """
    names = [sentence.strip() for sentence in sentences] if keys is None else keys
    words = np.array([len(sentence.split()) for sentence in sentences], dtype=np.int32)
    tokens = words
    if n_tokens is not None:
        tokens = np.array([n_tokens.get(name, 0) for name in names], dtype=np.int32)
    if progress is not None:
        progress(len(sentences))
    return assemble_scores(
        sentences,
        np.array([logprobs.get(name, math.nan) for name in names], dtype=np.float64),
        n_tokens=tokens,
        n_unk=np.zeros_like(tokens),
        flags=flag_where(FLAG_EMPTY, words == 0)
        | flag_where(FLAG_NO_FIRST, [name in unscored_first for name in names]),
        flag_missing=False,
    )


def capabilities_with(unigrams: object | None) -> frozenset[str]:
    """Return the capabilities of a token-level scorer; SLOR and NormLP need its unigram probabilities."""
    return frozenset({"sum", "tokens", "conditional"} | ({"unigram"} if unigrams is not None else set()))


class Scorer(Protocol):
    """Scores sentences by a language model."""

    spec: Spec
    capabilities: frozenset[str]

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences.

        ``ids`` are the keys for scorers that look up scores; with ``tokens`` the result includes the log
        probability and span of each token; ``progress`` receives the number of sentences just scored.
        """
        ...


def file_revision(path: str | Path) -> str:
    """Return ``sha256:`` and the digest of a file, so that scores can be traced to the exact model."""
    try:
        with Path(path).open("rb") as content:
            return f"sha256:{hashlib.file_digest(content, 'sha256').hexdigest()}"
    except OSError as error:
        raise BadInput("there is no such file.", file=str(path)) from error
