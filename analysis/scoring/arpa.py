"""Score sentences with an n-gram model from an ARPA file: ``arpa:PATH?options``."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput, UnknownName
from analysis.ngrams import BackoffModel, arpa_order, read_arpa, token_logprobs
from analysis.ngrams.counts import BEGIN, END
from analysis.scoring.base import (
    FLAG_EMPTY,
    FLAG_MARKED,
    FLAG_NORMALISED,
    FLAG_SAME,
    FLAG_UNKNOWN,
    Progress,
    ScorerAddress,
    Scores,
    Spec,
    file_revision,
    read_flag,
    take_options,
)
from analysis.scoring.tokens import Tokenization, indistinguishable

try:
    import kenlm
except ImportError:  # optional: our own reader gives the same numbers
    kenlm = None

MARKS = frozenset({BEGIN, END})
ENGINES = ("auto", "own", "kenlm")
BATCH = 20_000


class _Tokens(NamedTuple):
    """Scored tokens laid end to end."""

    logprob: npt.NDArray[np.float64]
    unigram: npt.NDArray[np.float64]
    unknown: npt.NDArray[np.bool_]
    sentence: npt.NDArray[np.int64]


class ArpaScorer:
    """An n-gram model.

    Options: ``tokens=space|chars``, ``casing=as-is|lower``, ``punctuation=keep|split|drop``, ``bos=yes|no``,
    ``eos=yes|no``, ``engine=auto|own|kenlm``. Sentences are scored between ``<s>`` and ``</s>`` unless told
    otherwise; ``n_tokens`` counts neither. A file that records how its text became tokens sets the first
    three; to say otherwise is possible and leaves a word in ``warnings``.
    """

    capabilities = frozenset({"sum", "tokens", "conditional", "unigram"})

    def __init__(self, address: ScorerAddress) -> None:
        options = take_options(address, "tokens", "casing", "punctuation", "bos", "eos", "engine")
        _tokenization(options, {})  # a wrong name is told before a large file is read
        self.engine = _engine(options.get("engine", "auto"), address.target)
        self.model = read_arpa(address.target, max_order=1 if self.engine == "kenlm" else None)
        self.tokenization, self.warnings = _tokenization(options, self.model.tokenization)
        self.spec = Spec(
            uri=address.uri,
            revision=file_revision(address.target),
            method="ngram",
            bos=read_flag(address, "bos", default=True),
            eos=read_flag(address, "eos", default=True),
            tokens=self.tokenization.unit,
            casing=self.tokenization.casing,
            punctuation=self.tokenization.punctuation,
            options=_versions(self.tokenization),
        )
        self._kenlm = _open_kenlm(address.target) if self.engine == "kenlm" else None

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences in batches; ``progress`` is told how many are done."""
        parts: list[Scores] = []
        keys: list[Hashable] = []  # what the model sees of each sentence
        for start in range(0, max(len(sentences), 1), BATCH):
            batch = sentences[start : start + BATCH]
            cut = [self.tokenization.tokens(sentence) for sentence in batch]
            parts.append(self._score(batch, cut, tokens=tokens))
            keys += [
                tuple(map(self.model.ids.get, pieces)) if unknown else " ".join(pieces)
                for pieces, unknown in zip(cut, parts[-1].n_unk.tolist(), strict=True)
            ]
            if progress is not None:
                progress(len(batch))
        found = _joined(parts)
        return found._replace(flags=found.flags | self._seen_as(sentences, keys))

    def _seen_as(self, sentences: Sequence[str], keys: Sequence[Hashable]) -> npt.NDArray[np.uint8]:
        """Flag what lower case changes, and different sentences that are the same words to the model."""
        flags = FLAG_SAME * indistinguishable(sentences, keys)
        if self.tokenization.casing == "lower":
            changed = np.array([one != one.lower() for one in sentences], dtype=np.bool_)
            flags = flags + FLAG_NORMALISED * changed
        return np.asarray(flags, dtype=np.uint8)

    def _score(self, sentences: Sequence[str], cut: list[list[str]], *, tokens: bool) -> Scores:
        found = self._with_own(cut) if self._kenlm is None else self._with_kenlm(cut, self._kenlm)
        n = len(sentences)
        n_tokens = np.array([len(pieces) for pieces in cut], dtype=np.int32)
        n_unk = np.bincount(found.sentence, weights=found.unknown, minlength=n).astype(np.int32)
        flags = FLAG_EMPTY * (n_tokens == 0) + FLAG_UNKNOWN * (n_unk > 0)
        flags = flags + FLAG_MARKED * np.array(
            [not MARKS.isdisjoint(pieces) for pieces in cut], dtype=np.bool_
        )
        ends = np.cumsum(np.bincount(found.sentence, minlength=n))
        return Scores(
            _sums(found.sentence, found.logprob, n),
            n_tokens,
            np.array([len(sentence.split()) for sentence in sentences], dtype=np.int32),
            np.array([len(sentence) for sentence in sentences], dtype=np.int32),
            n_unk,
            flags.astype(np.uint8),
            _sums(found.sentence, found.unigram, n),
            list(np.split(found.logprob, ends[:-1])) if tokens else None,
            self.tokenization.all_spans(sentences, cut, end=self.spec.eos) if tokens else None,
        )

    def _with_own(self, cut: list[list[str]]) -> _Tokens:
        found = token_logprobs(self.model, cut, bos=self.spec.bos, eos=self.spec.eos)
        return _Tokens(found.logprob, found.unigram, found.unknown, found.sentence)

    def _with_kenlm(self, cut: list[list[str]], engine: Any) -> _Tokens:
        """Ask kenlm for the words in context; the single words come from the file all the same."""
        model: BackoffModel = self.model
        single = token_logprobs(model, cut, bos=self.spec.bos, eos=self.spec.eos)
        log10 = [
            entry[0]
            for pieces in cut
            for entry in engine.full_scores(" ".join(pieces), bos=self.spec.bos, eos=self.spec.eos)
        ]
        logprob = np.array(log10, dtype=np.float64) * np.log(10.0)
        return _Tokens(logprob, single.unigram, single.unknown, single.sentence)


def _sums(
    sentence: npt.NDArray[np.int64], values: npt.NDArray[np.float64], n: int
) -> npt.NDArray[np.float64]:
    return np.bincount(sentence, weights=values, minlength=n).astype(np.float64)


def _open_kenlm(path: str) -> Any:
    try:
        return kenlm.Model(path)
    except OSError as error:
        raise BadInput("kenlm cannot read it.", file=path, remedy="Try engine=own.") from error


def _tokenization(options: dict[str, str], recorded: dict[str, str]) -> tuple[Tokenization, list[str]]:
    """Follow the address, else the file, else cut at white space; say where address and file differ."""
    standard = Tokenization().recorded()
    chosen = {name: options.get(name, recorded.get(name, usual)) for name, usual in standard.items()}
    used = Tokenization(chosen["tokens"], chosen["casing"], chosen["punctuation"])
    now = used.recorded()
    return used, [
        f"the model was trained with {name}={value}, and is asked with {name}={now[name]}"
        for name, value in recorded.items()
        if name in now and now[name] != value
    ]


def _versions(tokenization: Tokenization) -> dict[str, str]:
    """Name what else changes tokens."""
    return {name: value for name, value in tokenization.recorded().items() if name == "jieba"}


def _engine(name: str, path: str) -> str:
    if name not in ENGINES:
        raise UnknownName("engine", name, ENGINES)
    if name == "kenlm" and kenlm is None:
        raise BadInput("kenlm is not installed.", remedy="Leave the engine to auto: our own reader serves.")
    if name == "auto" and kenlm is not None:
        return "kenlm" if arpa_order(path) > 1 else "own"  # kenlm refuses models of single words
    return "own" if name == "auto" else name


def _joined(parts: list[Scores]) -> Scores:
    every = [part.token_logprobs for part in parts]
    spans = [part.spans for part in parts]
    words = [part.unigram_logprob for part in parts if part.unigram_logprob is not None]
    return Scores(
        np.concatenate([part.logprob for part in parts]),
        np.concatenate([part.n_tokens for part in parts]),
        np.concatenate([part.n_words for part in parts]),
        np.concatenate([part.n_chars for part in parts]),
        np.concatenate([part.n_unk for part in parts]),
        np.concatenate([part.flags for part in parts]),
        np.concatenate(words) if len(words) == len(parts) else None,
        [token for part in every if part is not None for token in part] if every[0] is not None else None,
        [row for part in spans if part is not None for row in part] if spans[0] is not None else None,
    )
