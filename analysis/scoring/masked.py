"""Masked language models: ``hf-masked:NAME@REVISION`` or ``hf-masked:FOLDER``, by pseudo-log-likelihood."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput, UnknownName
from analysis.scoring.base import (
    FLAG_EMPTY,
    FLAG_NOT_FINITE,
    FLAG_TOO_LONG,
    Progress,
    ScorerAddress,
    Scores,
    Spec,
    read_flag,
    take_options,
)
from analysis.scoring.neural.loading import need, open_model
from analysis.scoring.neural.masked_copies import METHODS, masked_copies
from analysis.scoring.neural.texts import Encoded, encode, lower_case
from analysis.scoring.neural.vocabulary import longest, n_rows, n_types
from analysis.scoring.unigrams import model_unigrams

Floats = npt.NDArray[np.float64]
OPTIONS = ("method", "casing", "space", "unigram", "vocabulary", "dtype", "device", "trust")
SHARD = 2_000  # sentences whose copies are held at once


class MaskedScorer:
    """PLL(sentence) = Σ log p(token | the sentence with that token masked); the marks around it do not count.

    Options: ``method`` (``pll-l2r`` masks the rest of a word as well, ``pll`` is the original),
    ``casing=lower``, ``space=yes``, ``unigram=FILE`` (single tokens, for SLOR; by default ``unigrams.txt`` of
    the folder), ``vocabulary=tokenizer``, ``dtype=bfloat16``, ``device``, ``trust=yes``.
    """

    end: int | None = None  # no sentence's end is asked for

    def __init__(self, address: ScorerAddress) -> None:
        options = take_options(address, *OPTIONS)
        method = options.get("method", "pll-l2r")
        if method not in METHODS:
            raise UnknownName("method", method, METHODS)
        need("torch")
        opened = open_model(address, "AutoModelForMaskedLM")
        self.model, self.tokenizer, self.warnings = opened.model, opened.tokenizer, opened.warnings
        self.tokenizer_sha, self.n_types = opened.tokenizer_sha, n_types(opened.tokenizer)
        if self.tokenizer.mask_token_id is None:
            raise BadInput(
                f"{address.target!r} has no mask token.", remedy="Use hf-causal: for causal models."
            )
        self.lower = lower_case(options.get("casing", "as-is"))
        self.space = read_flag(address, "space", default=False)
        self.most = longest(opened.model.config)
        self.unigrams = model_unigrams(
            address.target, options.get("unigram", ""), n_types=self.n_types, tokenizer_sha=self.tokenizer_sha
        )
        known = {"sum", "tokens", "conditional"} | ({"unigram"} if self.unigrams is not None else set())
        self.capabilities = frozenset(known)
        self.way: Any = None
        self.why = ""
        self.spec = Spec(
            uri=address.uri,
            revision=opened.revision,
            method=method,
            bos=True,
            eos=True,
            casing="lower" if self.lower else "as-is",
            dtype=opened.dtype,
            options={
                "space": "yes" if self.space else "no",
                "tokenizer": opened.tokenizer_sha,
                "vocabulary": opened.vocabulary,
                "unigram": self.unigrams.revision if self.unigrams is not None else "none",
            },
        )

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences, each distinct masked copy once; what cannot be scored is NaN and flagged."""
        read = self._encode(sentences)
        found: list[Floats] = []
        for start in range(0, len(read.ids), SHARD):
            found += self._logprobs(read, range(start, min(start + SHARD, len(read.ids))))
            if progress is not None:
                progress(min(SHARD, len(read.ids) - start))
        flags, sums = read.flags.copy(), np.array([row.sum() if len(row) else np.nan for row in found])
        flags[~np.isfinite(sums) & (flags & (FLAG_EMPTY | FLAG_TOO_LONG) == 0)] |= FLAG_NOT_FINITE
        return Scores(
            np.where(np.isfinite(sums), sums, np.nan),
            read.n_tokens,
            np.array([len(sentence.split()) for sentence in sentences], dtype=np.int32),
            np.array([len(sentence) for sentence in sentences], dtype=np.int32),
            read.n_unk,
            flags,
            None if self.unigrams is None else self.unigrams.sums(read.ids),
            found if tokens else None,
            read.spans if tokens else None,
        )

    def token_ids(self, sentences: Sequence[str]) -> list[list[int]]:
        """Cut sentences into numbers of tokens, without marks."""
        return self._encode(sentences).ids

    def _encode(self, sentences: Sequence[str]) -> Encoded:
        before, after = self._marks()
        most = max(0, self.most - len(before) - len(after))
        return encode(
            self.tokenizer,
            sentences,
            lower=self.lower,
            space=self.space,
            most=most,
            n_rows=n_rows(self.model),
        )

    def _logprobs(self, read: Encoded, places: range) -> list[Floats]:
        from analysis.scoring.neural.masked_paths import choose_way, token_logprobs

        usable = [place for place in places if not read.flags[place] & (FLAG_EMPTY | FLAG_TOO_LONG)]
        before, after = self._marks()
        ids = [[*before, *read.ids[place], *after] for place in usable]
        words = [[*(None for _ in before), *read.words[place], *(None for _ in after)] for place in usable]
        made = masked_copies(ids, words, mask=self.tokenizer.mask_token_id, method=self.spec.method)
        copies = list(made.copies)
        if not copies:
            return [np.empty(0) for _ in places]
        if self.way is None:
            self.way, self.why = choose_way(self.model, copies)
        values = token_logprobs(self.way, copies)
        rows = {place: values[own] for place, own in zip(usable, made.of, strict=True)}
        return [rows.get(place, np.empty(0)) for place in places]

    def _marks(self) -> tuple[list[int], list[int]]:
        """What the tokenizer itself puts before and after a sentence."""
        bare = self.tokenizer("a", add_special_tokens=False)["input_ids"]
        whole: list[Any] = self.tokenizer("a")["input_ids"]
        for start in range(len(whole) - len(bare) + 1):
            if whole[start : start + len(bare)] == bare:
                return whole[:start], whole[start + len(bare) :]
        return [], []
