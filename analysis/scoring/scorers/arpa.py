"""Scorer of n-gram models in ARPA files: ``arpa:PATH?options``."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import BadInput
from ...ngrams import BackoffModel, arpa_order, read_arpa, token_logprobs
from ...ngrams.counts import BEGIN, END
from ..base import Progress, Scores, Spec, assemble_scores, file_revision
from ..model_uri import (
    CASING,
    CONTEXT,
    NO_YES,
    PROMPT,
    PUNCTUATION_MARKS,
    TOKENS,
    ModelURI,
    Option,
    given_options,
    parse_options,
)
from ..words.contexts import context_rule
from ..words.sentence_check import Readings
from ..words.tokens import Tokenization, indistinguishable, token_flags

try:
    import kenlm
except ImportError:  # optional: our own reader gives the same numbers
    kenlm = None

MARKS = frozenset({BEGIN, END})
BATCH = 20_000  # sentences whose tokens are in memory at once
BOS = Option("bos", "Mark before a sentence", "N-gram models: yes or no.", NO_YES, default="yes")
EOS = Option(
    "eos",
    "End of a sentence",
    "Whether its probability counts. Causal, recurrent and n-gram models.",
    NO_YES,
    default="yes",
)
ENGINE = Option("engine", "Reader of n-gram files", "Both give the same numbers.", ("auto", "own", "kenlm"))


class _TokenColumns(NamedTuple):
    """The scored tokens of a batch, end to end."""

    logprob: npt.NDArray[np.float64]
    unigram: npt.NDArray[np.float64]
    unknown: npt.NDArray[np.bool_]
    sentence: npt.NDArray[np.int64]


class _BatchScores(NamedTuple):
    """Sums and tokens of one batch of sentences; ``keys`` are equal where the model reads equal tokens."""

    logprob: npt.NDArray[np.float64]
    unigram_logprob: npt.NDArray[np.float64]
    n_tokens: list[int]
    n_unk: npt.NDArray[np.int32]
    has_mark: list[bool]
    keys: list[Hashable]
    token_logprobs: list[npt.NDArray[np.float64]]
    spans: list[list[tuple[int, int]]]
    token_unknown: list[npt.NDArray[np.bool_]]
    token_unigrams: list[npt.NDArray[np.float64]]


class ArpaScorer:
    """An n-gram model; by default sentences are scored between ``<s>`` and ``</s>``.

    ``n_tokens`` counts neither mark. A file that records its tokenization sets ``tokens``, ``casing`` and
    ``punctuation``; a model URI that differs is followed, with an entry in ``warnings``.
    """

    OPTIONS = (TOKENS, CASING, PUNCTUATION_MARKS, BOS, EOS, PROMPT, CONTEXT, ENGINE)
    capabilities = frozenset({"sum", "tokens", "conditional", "unigram"})

    def __init__(self, uri: ModelURI) -> None:
        # Options are validated first: reading a large file takes minutes.
        options = parse_options(uri, self.OPTIONS)
        uri_options, self.contexts = given_options(uri, options), context_rule(options)
        _tokenization(uri_options, {})
        self.engine = _engine(options["engine"], uri.target)
        self.model = read_arpa(uri.target, max_order=1 if self.engine == "kenlm" else None)
        self.tokenization, self.warnings = _tokenization(uri_options, self.model.tokenization)
        self.spec = Spec(
            uri=uri.uri,
            revision=file_revision(uri.target),
            method="ngram",
            bos=options["bos"] == "yes",
            eos=options["eos"] == "yes",
            tokens=self.tokenization.unit,
            casing=self.tokenization.casing,
            punctuation=self.tokenization.punctuation,
            options=_versions(self.tokenization),
        )
        self._kenlm = _open_kenlm(uri.target) if self.engine == "kenlm" else None

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences in batches."""
        batches: list[_BatchScores] = []
        for start in range(0, max(len(sentences), 1), BATCH):
            batch = sentences[start : start + BATCH]
            batches.append(self._score(batch, tokens=tokens))
            if progress is not None:
                progress(len(batch))
        n_tokens = np.array([n for batch in batches for n in batch.n_tokens], dtype=np.int32)
        n_unk = np.concatenate([batch.n_unk for batch in batches])
        return assemble_scores(
            sentences,
            np.concatenate([batch.logprob for batch in batches]),
            n_tokens=n_tokens,
            n_unk=n_unk,
            flags=token_flags(
                sentences,
                [key for batch in batches for key in batch.keys],
                n_tokens=n_tokens,
                n_unk=n_unk,
                has_mark=[mark for batch in batches for mark in batch.has_mark],
                casing=self.tokenization.casing,
            ),
            unigram_logprob=np.concatenate([batch.unigram_logprob for batch in batches]),
            token_logprobs=[row for batch in batches for row in batch.token_logprobs] if tokens else None,
            spans=[row for batch in batches for row in batch.spans] if tokens else None,
            token_unknown=[row for batch in batches for row in batch.token_unknown] if tokens else None,
            token_unigrams=[row for batch in batches for row in batch.token_unigrams] if tokens else None,
        )

    def same_tokens(self, sentences: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which sentences have the same tokens as a different one."""
        rows = [tuple(map(self.model.ids.get, self.tokenization.tokens(text))) for text in sentences]
        return indistinguishable(sentences, rows)

    def read_sentences(self, sentences: Sequence[str]) -> Readings:
        """Return what the model reads of each sentence."""
        return self.tokenization.read_sentences(sentences, self.model.ids)

    def _score(self, sentences: Sequence[str], *, tokens: bool) -> _BatchScores:
        n, pieces = len(sentences), [self.tokenization.tokens(sentence) for sentence in sentences]
        columns = self._by_reader(pieces) if self._kenlm is None else self._by_kenlm(pieces, self._kenlm)
        n_unk = np.bincount(columns.sentence, weights=columns.unknown, minlength=n).astype(np.int32)
        ends = np.cumsum(np.bincount(columns.sentence, minlength=n))
        return _BatchScores(
            logprob=_sums(columns.sentence, columns.logprob, n),
            unigram_logprob=_sums(columns.sentence, columns.unigram, n),
            n_tokens=[len(row) for row in pieces],
            n_unk=n_unk,
            has_mark=[not MARKS.isdisjoint(row) for row in pieces],
            # Different unknown words are the same to the model, so these rows are compared by number.
            keys=[
                tuple(map(self.model.ids.get, row)) if unknown else " ".join(row)
                for row, unknown in zip(pieces, n_unk.tolist(), strict=True)
            ],
            token_logprobs=list(np.split(columns.logprob, ends[:-1])) if tokens else [],
            spans=self.tokenization.all_spans(sentences, pieces, end=self.spec.eos) if tokens else [],
            token_unknown=list(np.split(columns.unknown, ends[:-1])) if tokens else [],
            token_unigrams=list(np.split(columns.unigram, ends[:-1])) if tokens else [],
        )

    def _by_reader(self, pieces: list[list[str]]) -> _TokenColumns:
        columns = token_logprobs(self.model, pieces, bos=self.spec.bos, eos=self.spec.eos)
        return _TokenColumns(columns.logprob, columns.unigram, columns.unknown, columns.sentence)

    def _by_kenlm(self, pieces: list[list[str]], engine: Any) -> _TokenColumns:
        """Take words in context from kenlm, and unigrams from the file, which kenlm does not give."""
        model: BackoffModel = self.model
        unigrams = token_logprobs(model, pieces, bos=self.spec.bos, eos=self.spec.eos)
        log10 = [
            entry[0]
            for row in pieces
            for entry in engine.full_scores(" ".join(row), bos=self.spec.bos, eos=self.spec.eos)
        ]
        logprob = np.array(log10, dtype=np.float64) * np.log(10.0)  # kenlm's logarithms are decimal
        return _TokenColumns(logprob, unigrams.unigram, unigrams.unknown, unigrams.sentence)


def _sums(
    sentence: npt.NDArray[np.int64], values: npt.NDArray[np.float64], n: int
) -> npt.NDArray[np.float64]:
    return np.bincount(sentence, weights=values, minlength=n).astype(np.float64)


def _open_kenlm(path: str) -> Any:
    try:
        return kenlm.Model(path)
    except OSError as error:
        raise BadInput("kenlm cannot read it.", file=path, remedy="Try engine=own.") from error


def _tokenization(uri_options: dict[str, str], recorded: dict[str, str]) -> tuple[Tokenization, list[str]]:
    """Follow the model URI, else the file, else the defaults; warn where URI and file differ."""
    defaults = Tokenization().record()
    chosen = {name: uri_options.get(name, recorded.get(name, default)) for name, default in defaults.items()}
    tokenization = Tokenization(chosen["tokens"], chosen["casing"], chosen["punctuation"])
    actual = tokenization.record()
    return tokenization, [
        f"the model was trained with {name}={value}, and is used with {name}={actual[name]}"
        for name, value in recorded.items()
        if name in actual and actual[name] != value
    ]


def _versions(tokenization: Tokenization) -> dict[str, str]:
    """Return the version of jieba, which affects tokens as well."""
    return {name: value for name, value in tokenization.record().items() if name == "jieba"}


def _engine(name: str, path: str) -> str:
    if name == "kenlm" and kenlm is None:
        raise BadInput("kenlm is not installed.", remedy="Use engine=auto, which needs no kenlm.")
    if name == "auto" and kenlm is not None:
        return "kenlm" if arpa_order(path) > 1 else "own"  # kenlm refuses models of single words
    return "own" if name == "auto" else name
