"""Base of scorers of models of the library transformers: their options, opening and columns."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..base import Scores, Spec, assemble_scores, capabilities_with, token_sums
from ..model_uri import (
    ADAPTER,
    ATTENTION,
    CASING,
    CONTEXT,
    DEVICE,
    DTYPE,
    PROMPT,
    QUANTIZE,
    TRUST,
    UNIGRAM,
    VOCABULARY,
    ModelURI,
    Option,
    parse_options,
)
from ..neural.loading import LoadedModel, load_model
from ..neural.texts import Encoded, read_tokens
from ..neural.vocabulary import n_types
from ..words.contexts import context_rule
from ..words.sentence_check import Readings
from ..words.tokens import indistinguishable
from ..words.unigrams import model_unigrams

Floats = npt.NDArray[np.float64]
MODEL_OPTIONS = (DTYPE, DEVICE, ATTENTION, ADAPTER, QUANTIZE, TRUST)
TOKEN_OPTIONS = (CASING, PROMPT, CONTEXT, UNIGRAM, VOCABULARY, *MODEL_OPTIONS)


class TransformerScorer(ABC):
    """A model with a log probability for each token of a sentence; subclasses declare how it is computed.

    A subclass calls ``_open`` first and ``_build_spec`` last, and implements ``_encode``.
    """

    AUTO_CLASS: str
    """Class of transformers that loads the model."""
    OPTIONS: ClassVar[tuple[Option, ...]] = TOKEN_OPTIONS

    def _open(self, uri: ModelURI) -> tuple[dict[str, str], LoadedModel]:
        """Load the model of the URI; return the parsed options and what was loaded."""
        options = parse_options(uri, self.OPTIONS)
        loaded = load_model(uri.target, self.AUTO_CLASS, options)
        # torch is there once a model is open; without it load_model says how to install it.
        from ..neural.structure import longest

        self.model, self.tokenizer, self.warnings = loaded.model, loaded.tokenizer, loaded.warnings
        self.library_tokenizer = loaded.library_tokenizer
        self.tokenizer_sha, self.n_types = loaded.tokenizer_sha, n_types(loaded.tokenizer)
        self.contexts, self.lower = context_rule(options), options["casing"] == "lower"
        self.max_tokens = longest(self.model)
        self.unigrams = model_unigrams(
            uri.target, options["unigram"], n_types=self.n_types, tokenizer_sha=self.tokenizer_sha
        )
        self.capabilities = capabilities_with(self.unigrams)
        return options, loaded

    def _build_spec(
        self,
        uri: ModelURI,
        loaded: LoadedModel,
        *,
        method: str,
        bos: bool,
        eos: bool,
        options: Mapping[str, str],
        scorer_version: int = 1,
    ) -> Spec:
        """Return the specification: what the subclass gives, and what every loaded model has."""
        return Spec(
            uri=uri.uri,
            revision=loaded.revision,
            method=method,
            bos=bos,
            eos=eos,
            casing="lower" if self.lower else CASING.initial,
            dtype=loaded.dtype,
            scorer_version=scorer_version,
            options={
                **options,
                "tokenizer": loaded.tokenizer_sha,
                "vocabulary": loaded.vocabulary,
                "unigram": self.unigrams.revision if self.unigrams is not None else "none",
                **loaded.recorded,
            },
        )

    def same_tokens(self, sentences: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which sentences have the same tokens as a different one."""
        return indistinguishable(sentences, list(map(tuple, self.token_ids(sentences))))

    def read_sentences(self, sentences: Sequence[str]) -> Readings:
        """Return what the model reads of each sentence."""
        encoded = self._encode(sentences)
        return read_tokens(self.tokenizer, encoded, library_tokenizer=self.library_tokenizer)

    def token_ids(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the token ids of sentences, without marks."""
        return self._encode(sentences).ids

    @abstractmethod
    def _encode(self, sentences: Sequence[str]) -> Encoded:
        """Tokenize sentences, with the marks that the scorer adds counted towards the longest input."""

    def _columns(
        self,
        sentences: Sequence[str],
        logprobs: list[Floats],
        *,
        encoded: Encoded,
        scored: list[list[int]],
        flags: npt.NDArray[np.uint8] | npt.NDArray[np.uint16],
        spans: list[list[tuple[int, int]]] | None,
        tokens: bool,
    ) -> Scores:
        """Return the scores of sentences from the log probabilities of their ``scored`` tokens."""
        unknown = self.tokenizer.unk_token_id
        return assemble_scores(
            sentences,
            token_sums(logprobs),
            n_tokens=encoded.n_tokens,
            n_unk=encoded.n_unk,
            flags=flags,
            unigram_logprob=None if self.unigrams is None else self.unigrams.sums(scored),
            token_logprobs=logprobs if tokens else None,
            spans=spans if tokens else None,
            token_unknown=[np.array([token == unknown for token in row], dtype=np.bool_) for row in scored]
            if tokens
            else None,
            token_unigrams=self.unigrams.rows(scored) if tokens and self.unigrams is not None else None,
        )
