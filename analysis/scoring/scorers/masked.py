"""Scorer of masked language models by pseudo-log-likelihood: ``hf-masked:NAME`` or ``hf-masked:FOLDER``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput
from analysis.scoring.base import (
    Progress,
    Scores,
    Spec,
    assemble_scores,
    capabilities_with,
    token_sums,
)
from analysis.scoring.model_uri import (
    ADAPTER,
    ATTENTION,
    CASING,
    CONTEXT,
    DEVICE,
    DTYPE,
    PROMPT,
    QUANTIZE,
    SPACE,
    TRUST,
    UNIGRAM,
    VOCABULARY,
    ModelURI,
    Option,
    parse_options,
)
from analysis.scoring.neural.failures import Failures, refuse_unrunnable
from analysis.scoring.neural.loading import load_model
from analysis.scoring.neural.masked_copies import METHODS, masked_copies
from analysis.scoring.neural.texts import Encoded, encode
from analysis.scoring.neural.vocabulary import n_rows, n_types
from analysis.scoring.words.contexts import context_rule
from analysis.scoring.words.tokens import indistinguishable
from analysis.scoring.words.unigrams import model_unigrams

if TYPE_CHECKING:
    from analysis.scoring.neural.masked_paths import Copy
    from analysis.scoring.neural.probe import Chosen

Floats = npt.NDArray[np.float64]
METHOD = Option(
    "method",
    "Masked models",
    "“pll-l2r” masks the later pieces of a word too; “pll” is the original.",
    METHODS,
    default="pll-l2r",
)
SHARD = 2_000  # sentences whose masked copies are in memory at once


class MaskedScorer:
    """PLL(sentence) = Σ log p(token | the sentence with that token masked); its marks are not scored."""

    OPTIONS: tuple[Option, ...] = (
        METHOD,
        CASING,
        SPACE,
        PROMPT,
        CONTEXT,
        UNIGRAM,
        VOCABULARY,
        DTYPE,
        DEVICE,
        ATTENTION,
        ADAPTER,
        QUANTIZE,
        TRUST,
    )
    AUTO_CLASS, PREFIX = "AutoModelForMaskedLM", ""  # of the library, and before the method's name
    start: int | None = None
    end: int | None = None  # the end of a sentence is not scored

    def __init__(self, uri: ModelURI) -> None:
        options = parse_options(uri, self.OPTIONS)
        loaded = load_model(uri.target, self.AUTO_CLASS, options)
        # torch is there once a model is open; without it load_model says how to install it.
        from analysis.scoring.neural.structure import longest

        self.model, self.tokenizer, self.warnings = loaded.model, loaded.tokenizer, loaded.warnings
        self.tokenizer_sha, self.n_types = loaded.tokenizer_sha, n_types(loaded.tokenizer)
        self.mask, self.method = self._mask(options, uri.target), options["method"]
        if options["method"] == "pll-l2r" and not self.tokenizer.is_fast:
            raise BadInput(
                f"the tokenizer of {uri.target!r} does not give the words that pll-l2r masks.",
                remedy="Add method=pll to the model URI, or use a model with a fast tokenizer.",
            )
        self.contexts = context_rule(options)
        self.lower, self.space = options["casing"] == "lower", options["space"] == "yes"
        self.max_tokens = longest(self.model)
        before, after = self._marks()
        refuse_unrunnable(self.model, [*before, self.tokenizer.mask_token_id, *after], uri.target)
        self.unigrams = model_unigrams(
            uri.target, options["unigram"], n_types=self.n_types, tokenizer_sha=self.tokenizer_sha
        )
        self.capabilities = capabilities_with(self.unigrams)
        self.chosen: Chosen[Any] | None = None
        self.spec = Spec(
            uri=uri.uri,
            revision=loaded.revision,
            method=self.PREFIX + self.method,
            bos=True,
            eos=True,
            casing=options["casing"],
            dtype=loaded.dtype,
            options={
                "space": options["space"],
                "tokenizer": loaded.tokenizer_sha,
                "vocabulary": loaded.vocabulary,
                "unigram": self.unigrams.revision if self.unigrams is not None else "none",
                **loaded.recorded,
            },
        )

    @property
    def why(self) -> str:
        """The path through the model, and the reason for it."""
        return "" if self.chosen is None else self.chosen.why

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences, distinct masked copies once; what cannot be scored is NaN and flagged."""
        return self._score(sentences, tokens=tokens, starts=None, progress=progress)

    def score_after(
        self, texts: Sequence[str], starts: Sequence[int], *, progress: Progress | None = None
    ) -> Scores:
        """Score only the tokens that reach behind a character of each text, as single tokens."""
        return self._score(texts, tokens=True, starts=starts, progress=progress)

    def _score(
        self,
        sentences: Sequence[str],
        *,
        tokens: bool,
        starts: Sequence[int] | None,
        progress: Progress | None,
    ) -> Scores:
        encoded = self._encode(sentences)
        if starts is not None:
            encoded = encoded.after(starts)
        scored = [
            [token for token, word in zip(row, words, strict=True) if word is not None]
            for row, words in zip(encoded.ids, encoded.words, strict=True)
        ]
        unknown = self.tokenizer.unk_token_id
        failures, logprobs = Failures(self.warnings), list[Floats]()
        for start in range(0, len(encoded.ids), SHARD):
            logprobs += self._logprobs(encoded, range(start, min(start + SHARD, len(encoded.ids))), failures)
            if progress is not None:
                progress(min(SHARD, len(encoded.ids) - start))
        return assemble_scores(
            sentences,
            token_sums(logprobs),
            n_tokens=encoded.n_tokens,
            n_unk=encoded.n_unk,
            flags=encoded.flags
            | failures.flags(sentences, [index in failures.reasons for index in range(len(sentences))]),
            unigram_logprob=None if self.unigrams is None else self.unigrams.sums(scored),
            token_logprobs=logprobs if tokens else None,
            spans=encoded.spans if tokens else None,
            token_unknown=[np.array([token == unknown for token in row], dtype=np.bool_) for row in scored]
            if tokens
            else None,
            token_unigrams=self.unigrams.rows(scored) if tokens and self.unigrams is not None else None,
        )

    def same_tokens(self, sentences: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which sentences have the same tokens as a different one."""
        return indistinguishable(sentences, list(map(tuple, self.token_ids(sentences))))

    def token_ids(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the token ids of sentences, without marks."""
        return self._encode(sentences).ids

    def _encode(self, sentences: Sequence[str]) -> Encoded:
        before, after = self._marks()
        return encode(
            self.tokenizer,
            sentences,
            lower=self.lower,
            space=self.space,
            max_tokens=max(0, self.max_tokens - len(before) - len(after)),
            n_rows=n_rows(self.model),
        )

    def _logprobs(self, encoded: Encoded, indices: range, failures: Failures) -> list[Floats]:
        from analysis.scoring.neural.masked_paths import token_logprobs

        usable = [index for index in indices if encoded.is_scorable[index]]
        before, after = self._marks()

        def run(places: Sequence[int]) -> list[Floats]:
            ids = [[*before, *encoded.ids[index], *after] for index in places]
            words = [
                [*(None for _ in before), *encoded.words[index], *(None for _ in after)] for index in places
            ]
            masked = masked_copies(ids, words, mask=self.mask, method=self.method)
            copies = list(masked.copies)
            if not copies:
                return [np.empty(0) for _ in places]
            self.chosen = self.chosen or self._choose(copies)
            values = token_logprobs(self.chosen.path, copies)
            return [values[numbers] for numbers in masked.of]

        rows = dict(zip(usable, failures.run(run, usable, missing=np.empty(0)), strict=True))
        return [rows.get(index, np.empty(0)) for index in indices]

    def _choose(self, copies: "Sequence[Copy]") -> "Chosen[Any]":
        """Return the path to use for copies, tested on some of them."""
        from analysis.scoring.neural.masked_paths import choose_masked_path

        return choose_masked_path(self.model, copies)

    def _mask(self, options: dict[str, str], name: str) -> int:
        """Return the token that masks others."""
        if self.tokenizer.mask_token_id is None:
            raise BadInput(f"{name!r} has no mask token.", remedy="Use hf-causal: for causal models.")
        return int(self.tokenizer.mask_token_id)

    def _marks(self) -> tuple[list[int], list[int]]:
        """Return the marks that the tokenizer adds before and after a sentence."""
        bare = self.tokenizer("a", add_special_tokens=False)["input_ids"]
        marked: list[Any] = self.tokenizer("a")["input_ids"]
        for start in range(len(marked) - len(bare) + 1):
            if marked[start : start + len(bare)] == bare:
                return marked[:start], marked[start + len(bare) :]
        return [], []
