"""Causal language models of the hub or of a folder: ``hf-causal:NAME@REVISION`` or ``hf-causal:FOLDER``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput, UnknownName
from analysis.scoring.base import (
    FLAG_EMPTY,
    FLAG_NO_FIRST,
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
from analysis.scoring.neural.texts import Encoded, encode, lower_case
from analysis.scoring.neural.vocabulary import begin_mark, longest, n_rows, n_types
from analysis.scoring.unigrams import model_unigrams

if TYPE_CHECKING:
    from analysis.scoring.neural.probe import Choice

Floats = npt.NDArray[np.float64]
STARTS = ("auto", "bos", "eos", "none")
WAYS = ("auto", "tree", "plain", "own-head", "naive")
BOUNDARIES = ("none", "corrected")
TEXT = ("bos", "eos", "casing", "space", "unigram", "boundary")
MODEL = ("vocabulary", "dtype", "device", "trust", "path")


class CausalScorer:
    """log p(sentence) = Σ log p(token | all before it), after a mark of the beginning.

    Options: ``bos`` (``auto``: the model's beginning mark, else its end mark, else none; or ``bos``, ``eos``,
    ``none``), ``eos=yes`` (adds the probability of the end), ``casing=lower``, ``space=yes`` (a space before
    the sentence), ``unigram=FILE`` (single tokens, for SLOR; by default ``unigrams.txt`` of the folder),
    ``boundary=corrected`` (critical words end at a boundary, begin at one), ``vocabulary=tokenizer`` (rows of
    no token are taken away), ``dtype=bfloat16``, ``device``, ``path`` (``auto``, ``tree``, ``plain``,
    ``own-head``, ``naive``), ``trust=yes``. Without a beginning mark the first token has no probability and
    is left out, which every result then says.
    """

    def __init__(self, address: ScorerAddress) -> None:
        options = take_options(address, *TEXT, *MODEL)
        self.way = _choice(options, "path", WAYS)
        boundary = _choice(options, "boundary", BOUNDARIES)
        need("torch")
        opened = open_model(address, "AutoModelForCausalLM")
        self.model, self.tokenizer, self.warnings = opened.model, opened.tokenizer, opened.warnings
        self.tokenizer_sha, self.n_types = opened.tokenizer_sha, n_types(opened.tokenizer)
        self.lower = lower_case(options.get("casing", "as-is"))
        self.space = read_flag(address, "space", default=False)
        self.start, start_name = begin_mark(self.tokenizer, _choice(options, "bos", STARTS))
        if self.start is not None and self.start >= n_rows(self.model):
            raise BadInput(
                f"the beginning mark is token {self.start}, the model knows {n_rows(self.model)}.",
                remedy="Give the tokenizer that the model was trained with, or bos=none.",
            )
        self.end = self._end() if read_flag(address, "eos", default=False) else None
        self.most = longest(opened.model.config)
        self.choice: Choice | None = None
        self.why = ""
        self.unigrams = model_unigrams(
            address.target, options.get("unigram", ""), n_types=self.n_types, tokenizer_sha=self.tokenizer_sha
        )
        known = {"sum", "tokens", "conditional"} | ({"unigram"} if self.unigrams is not None else set())
        self.capabilities = frozenset(known)
        self.boundaries = self._boundaries() if boundary == "corrected" else []
        self.spec = Spec(
            uri=address.uri,
            revision=opened.revision,
            method="ll",
            bos=self.start is not None,
            eos=self.end is not None,
            casing="lower" if self.lower else "as-is",
            dtype=opened.dtype,
            options={
                "start": start_name,
                "space": "yes" if self.space else "no",
                "tokenizer": opened.tokenizer_sha,
                "boundary": boundary,
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
        """Score sentences, each distinct one once; what cannot be scored is NaN and flagged, never cut."""
        read = self._encode(sentences)
        found = self._logprobs(read, progress=progress)
        flags, sums = read.flags.copy(), np.array([row.sum() if len(row) else np.nan for row in found])
        flags[~np.isfinite(sums) & (flags & (FLAG_EMPTY | FLAG_TOO_LONG) == 0)] |= FLAG_NOT_FINITE
        if self.start is None:
            flags |= np.uint8(FLAG_NO_FIRST)
        return Scores(
            np.where(np.isfinite(sums), sums, np.nan),
            read.n_tokens,
            np.array([len(sentence.split()) for sentence in sentences], dtype=np.int32),
            np.array([len(sentence) for sentence in sentences], dtype=np.int32),
            read.n_unk,
            flags,
            self._unigram_sums(read),
            found if tokens else None,
            self._spans(read) if tokens and read.spans is not None else None,
        )

    def token_ids(self, sentences: Sequence[str]) -> list[list[int]]:
        """Cut sentences into numbers of tokens, without marks."""
        return self._encode(sentences).ids

    def boundary_correction(self, texts: Sequence[str], n_before: Sequence[int]) -> Floats:
        """What to add to the log probability of the last word of each text, after so many tokens.

        log P(boundary | all) − log P(boundary | what stands before): the word ends where a word can end, and
        that it begins where one can is no news. Zeros without ``boundary=corrected``.
        """
        if not self.boundaries:
            return np.zeros(len(texts))
        from analysis.scoring.neural.boundaries import next_logprobs

        ids = self.token_ids(texts)
        after = [self._begun(row) for row in ids]
        before = [self._begun(row[:n]) for row, n in zip(ids, n_before, strict=True)]
        usable = [place for place, one in enumerate(before) if one and len(after[place]) <= self.most]
        found = np.full(len(texts), np.nan)
        contexts = [rows[place] for rows in (after, before) for place in usable]
        ends, begins = np.split(next_logprobs(self.model, contexts, self.boundaries), 2)
        found[usable] = ends - begins
        return found

    def _spans(self, read: Encoded) -> list[list[tuple[int, int]]]:
        """The characters of each token that has a probability; the end stands for none."""
        first = 0 if self.start is not None else 1
        return [
            [*spans[first:], *([(len(sentence), len(sentence))] if self.end is not None else [])]
            for sentence, spans in zip(read.sentences, read.spans or [], strict=True)
        ]

    def _unigram_sums(self, read: Encoded) -> Floats | None:
        """Over the tokens that have a probability."""
        if self.unigrams is None:
            return None
        first, last = 0 if self.start is not None else 1, [] if self.end is None else [self.end]
        return self.unigrams.sums([[*row[first:], *last] if row else [] for row in read.ids])

    def _encode(self, sentences: Sequence[str]) -> Encoded:
        marks = (self.start is not None) + (self.end is not None)
        most = max(0, self.most - marks)
        return encode(
            self.tokenizer,
            sentences,
            lower=self.lower,
            space=self.space,
            most=most,
            n_rows=n_rows(self.model),
        )

    def _logprobs(self, read: Encoded, *, progress: Progress | None) -> list[Floats]:
        """Log probabilities of each sentence's tokens; distinct token sequences are run once."""
        from analysis.scoring.neural.probe import Choice

        wanted = [
            () if flags & (FLAG_EMPTY | FLAG_TOO_LONG) else tuple(tokens)
            for tokens, flags in zip(read.ids, read.flags.tolist(), strict=True)
        ]
        distinct = list(dict.fromkeys(one for one in wanted if one))
        sequences = [self._marked(one) for one in distinct]
        self.choice = self.choice or Choice(self.model, wanted=self.way)
        chosen = self.choice.path_for(sequences)
        self.why = chosen.why
        found = dict(zip(distinct, chosen.path.run(sequences, done=progress), strict=True))
        return [found.get(one, np.empty(0)) for one in wanted]

    def _marked(self, tokens: Sequence[int]) -> list[int]:
        return [*self._begun(tokens), *([] if self.end is None else [self.end])]

    def _begun(self, tokens: Sequence[int]) -> list[int]:
        return [*([] if self.start is None else [self.start]), *tokens]

    def _boundaries(self) -> list[int]:
        from analysis.scoring.neural.boundaries import boundary_tokens

        return boundary_tokens(self.tokenizer)

    def _end(self) -> int:
        if self.tokenizer.eos_token_id is None:
            raise BadInput("the model has no eos token.", remedy="Leave eos=yes out.")
        return int(self.tokenizer.eos_token_id)


def _choice(options: dict[str, str], name: str, known: Sequence[str]) -> str:
    given = options.get(name, known[0])
    if given not in known:
        raise UnknownName(name, given, known)
    return given
