"""Causal language models of the hub or of a folder: ``hf-causal:NAME@REVISION`` or ``hf-causal:FOLDER``."""

from collections.abc import Sequence
from typing import Any

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

Floats = npt.NDArray[np.float64]
STARTS = ("auto", "bos", "eos", "none")
WAYS = ("auto", "tree", "plain", "own-head", "naive")
OPTIONS = ("bos", "eos", "casing", "space", "dtype", "device", "trust", "path")


class CausalScorer:
    """log p(sentence) = Σ log p(token | all before it), after a mark of the beginning.

    Options: ``bos`` (``auto``: the model's beginning mark, else its end mark, else none; or ``bos``, ``eos``,
    ``none``), ``eos=yes`` (adds the probability of the end), ``casing=lower``, ``space=yes`` (a space before
    the sentence), ``dtype=bfloat16``, ``device``, ``path`` (``auto``, ``tree``, ``plain``, ``own-head``,
    ``naive``), ``trust=yes``. Without a beginning mark the first token has no probability and is left out,
    which every result then says.
    """

    capabilities = frozenset({"sum", "tokens", "conditional"})

    def __init__(self, address: ScorerAddress) -> None:
        options = take_options(address, *OPTIONS)
        self.way = options.get("path", "auto")
        if self.way not in WAYS:
            raise UnknownName("path", self.way, WAYS)
        need("torch")
        opened = open_model(address, "AutoModelForCausalLM")
        self.model, self.tokenizer = opened.model, opened.tokenizer
        self.lower = lower_case(options.get("casing", "as-is"))
        self.space = read_flag(address, "space", default=False)
        self.start, start_name = self._start(options.get("bos", "auto"))
        self.end = self._end() if read_flag(address, "eos", default=False) else None
        self.most = int(getattr(opened.model.config, "max_position_embeddings", 0) or 0)
        self.why = ""
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
            None,
            found if tokens else None,
            self._spans(read) if tokens and read.spans is not None else None,
        )

    def _spans(self, read: Encoded) -> list[list[tuple[int, int]]]:
        """The characters of each token that has a probability; the end stands for none."""
        first = 0 if self.start is not None else 1
        return [
            [*spans[first:], *([(len(sentence), len(sentence))] if self.end is not None else [])]
            for sentence, spans in zip(read.sentences, read.spans or [], strict=True)
        ]

    def _encode(self, sentences: Sequence[str]) -> Encoded:
        marks = (self.start is not None) + (self.end is not None)
        most = max(0, self.most - marks)
        return encode(self.tokenizer, sentences, lower=self.lower, space=self.space, most=most)

    def _logprobs(self, read: Encoded, *, progress: Progress | None) -> list[Floats]:
        """Log probabilities of each sentence's tokens; distinct token sequences are run once."""
        from analysis.scoring.neural.probe import choose_path

        wanted = [
            () if flags & (FLAG_EMPTY | FLAG_TOO_LONG) else tuple(tokens)
            for tokens, flags in zip(read.ids, read.flags.tolist(), strict=True)
        ]
        distinct = list(dict.fromkeys(one for one in wanted if one))
        sequences = [self._marked(one) for one in distinct]
        chosen = choose_path(self.model, sequences, wanted=self.way)
        self.why = chosen.why
        found = dict(zip(distinct, chosen.path.run(sequences, done=progress), strict=True))
        return [found.get(one, np.empty(0)) for one in wanted]

    def _marked(self, tokens: Sequence[int]) -> list[int]:
        start = [] if self.start is None else [self.start]
        return [*start, *tokens, *([] if self.end is None else [self.end])]

    def _start(self, wanted: str) -> tuple[int | None, str]:
        """The id before the first token, and its name."""
        if wanted not in STARTS:
            raise UnknownName("beginning mark", wanted, STARTS)
        marks: dict[str, Any] = {"bos": self.tokenizer.bos_token_id, "eos": self.tokenizer.eos_token_id}
        if wanted in marks and marks[wanted] is None:
            raise BadInput(f"the model has no {wanted} token.", remedy="Use bos=auto or bos=none.")
        for name in ("bos", "eos") if wanted == "auto" else (wanted,):
            if marks.get(name) is not None:
                return int(marks[name]), f"{name}:{marks[name]}"
        return None, "none"

    def _end(self) -> int:
        if self.tokenizer.eos_token_id is None:
            raise BadInput("the model has no eos token.", remedy="Leave eos=yes out.")
        return int(self.tokenizer.eos_token_id)
