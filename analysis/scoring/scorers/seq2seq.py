"""Scorer of encoder-decoder models: ``hf-seq2seq:NAME@REVISION`` or ``hf-seq2seq:FOLDER``."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import BadInput
from ..base import FLAG_TOO_LONG, Progress, Scores, flag_where
from ..model_uri import EOS, ModelURI
from ..neural.failures import Failures
from ..neural.texts import Encoded, encode, read_tokens
from ..neural.vocabulary import n_rows, n_target_rows, outer_marks, target_side
from ..words.sentence_check import Readings
from .transformer import TOKEN_OPTIONS, TransformerScorer

Floats = npt.NDArray[np.float64]
# Largest change of a logit when more tokens follow, over the spread of the logits.
LIMIT, HALF_LIMIT = 1e-3, 0.1
TOKENS = 1_024  # of one batch, source and sentence


class Seq2SeqScorer(TransformerScorer):
    """log p(sentence | source) = Σ log p(token | source, all before it), by the decoder.

    The source is what stands before the sentence: its context, or the text of a template, and nothing
    otherwise (the encoder then reads the tokenizer's marks alone). The decoder begins with its start token
    and the tokenizer's marks of a target, which are not scored.

    Notes
    -----
    Models that were trained on one task only, such as translation, expect its sources; with an empty source
    their scores are those of an unusual input. T5's span corruption is no text model: checkpoints that were
    adapted to language modelling or fine-tuned give more sensible numbers.

    References
    ----------
    Raffel et al. (2020), "Exploring the limits of transfer learning with a unified text-to-text transformer",
    JMLR 21. Lewis et al. (2020), "BART", ACL.
    """

    AUTO_CLASS = "AutoModelForSeq2SeqLM"
    OPTIONS = (EOS, *TOKEN_OPTIONS)

    def __init__(self, uri: ModelURI) -> None:
        options, loaded = self._open(uri)
        if not getattr(self.model.config, "is_encoder_decoder", False):
            raise BadInput(
                f"the model {uri.target!r} ({type(self.model).__name__}) has no encoder that reads text.",
                remedy="Use hf-causal: with its language model.",
            )
        self.source_tokenizer, self.tokenizer = self.tokenizer, target_side(self.tokenizer)
        self.before, after = outer_marks(self.tokenizer)
        if options["eos"] == "yes" and not after:
            raise BadInput("the tokenizer ends no target.", remedy="Remove eos=yes.")
        _refuse_lookahead(self.model, uri.target, [_start(self.model, uri.target), *self.before])
        self.end = after[-1] if options["eos"] == "yes" else None
        self.why = "sources and sentences of one length together, with the model's own head"
        self.spec = self._build_spec(
            uri,
            loaded,
            method="seq2seq",
            bos=True,
            eos=self.end is not None,
            options={"start": f"decoder:{_start(self.model, uri.target)}", "source": "empty, or the context"},
        )

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences after an empty source; what cannot be scored is NaN and flagged."""
        return self._score(sentences, [""] * len(sentences), tokens=tokens, progress=progress)

    def read_sentences(self, sentences: Sequence[str]) -> Readings:
        """Return what the decoder reads of each sentence."""
        library = None if self.library_tokenizer is None else target_side(self.library_tokenizer)
        return read_tokens(
            self.tokenizer,
            self._encode(sentences),
            library_tokenizer=library,
            decoder=self.source_tokenizer,  # one with the vocabularies of two languages restores targets
        )

    def score_after(
        self, texts: Sequence[str], starts: Sequence[int], *, progress: Progress | None = None
    ) -> Scores:
        """Score the end of each text, with its beginning as the source; spans are those of the whole text."""
        # The white space between belongs to neither, as the two are no longer one text.
        ends = [len(text) - len(text[start:].lstrip()) for text, start in zip(texts, starts, strict=True)]
        scores = self._score(
            [text[end:] for text, end in zip(texts, ends, strict=True)],
            [text[:start] for text, start in zip(texts, starts, strict=True)],
            tokens=True,
            progress=progress,
        )
        if scores.spans is None:
            return scores
        return scores._replace(
            spans=[
                [(first + end, last + end) for first, last in row]
                for row, end in zip(scores.spans, ends, strict=True)
            ]
        )

    def _score(
        self,
        sentences: Sequence[str],
        sources: Sequence[str],
        *,
        tokens: bool,
        progress: Progress | None,
    ) -> Scores:
        encoded = self._encode(sentences)
        texts = [source.lower() if self.lower else source for source in sources]
        source_ids = [list(row) for row in self.source_tokenizer(texts)["input_ids"]] if texts else []
        # A source longer than the encoder takes makes the sentence too long, like a long sentence.
        is_usable = encoded.is_scorable & np.array(
            [len(row) <= self.max_tokens for row in source_ids], dtype=np.bool_
        )
        flags = encoded.flags | flag_where(FLAG_TOO_LONG, encoded.is_scorable & ~is_usable)
        last = [] if self.end is None else [self.end]
        scored = [[*row, *last] if row else [] for row in encoded.ids]
        pairs = [
            # A tokenizer without marks gives an empty source no token; the encoder needs one.
            (tuple(source) or (_start(self.model, ""),), tuple(row)) if usable else None
            for source, row, usable in zip(source_ids, scored, is_usable, strict=True)
        ]
        distinct = [pair for pair in dict.fromkeys(pairs) if pair is not None]
        failures = Failures(self.warnings)
        run = partial(self._run, progress=progress)
        by_pair = dict(zip(distinct, failures.run(run, distinct, missing=np.empty(0)), strict=True))
        logprobs = [np.empty(0) if pair is None else by_pair[pair] for pair in pairs]
        return self._columns(
            sentences,
            logprobs,
            encoded=encoded,
            scored=scored,
            flags=flags | failures.flags(sentences, [pair in failures.reasons for pair in pairs]),
            spans=self._spans(encoded),
            tokens=tokens,
        )

    def _spans(self, encoded: Encoded) -> list[list[tuple[int, int]]] | None:
        if encoded.spans is None:
            return None
        return [
            [*spans, *([(len(sentence), len(sentence))] if self.end is not None and spans else [])]
            for sentence, spans in zip(encoded.sentences, encoded.spans, strict=True)
        ]

    def _encode(self, sentences: Sequence[str]) -> Encoded:
        return encode(
            self.tokenizer,
            sentences,
            lower=self.lower,
            max_tokens=max(0, self.max_tokens - len(self.before) - 1 - (self.end is not None)),
            n_rows=n_target_rows(self.model),
        )

    def _run(
        self, pairs: Sequence[tuple[tuple[int, ...], tuple[int, ...]]], *, progress: Progress | None
    ) -> list[Floats]:
        """Return the log probabilities of each sentence's tokens, in batches of one length on either side."""
        import torch

        device, start = self.model.device, [_start(self.model, ""), *self.before]
        by_length: dict[tuple[int, int], list[tuple[tuple[int, ...], tuple[int, ...]]]] = {}
        for pair in pairs:
            by_length.setdefault((len(pair[0]), len(pair[1])), []).append(pair)
        logprobs: dict[tuple[tuple[int, ...], tuple[int, ...]], Floats] = {}
        queue = [
            group[first : first + size]
            for lengths, group in by_length.items()
            for size in (max(1, TOKENS // sum(lengths)),)
            for first in range(0, len(group), size)
        ]
        while queue:
            batch = queue[-1]
            try:
                with torch.inference_mode():
                    decoder = torch.tensor([[*start, *row] for _, row in batch], device=device)
                    logits = self.model(
                        input_ids=torch.tensor([source for source, _ in batch], device=device),
                        decoder_input_ids=decoder[:, :-1],
                        use_cache=False,
                    ).logits[:, len(start) - 1 :]
                    rows = torch.log_softmax(logits.float(), -1)
                    values = rows.gather(2, decoder[:, len(start) :, None])[:, :, 0].double().cpu().numpy()
            except torch.OutOfMemoryError:
                if len(batch) == 1:
                    raise
                torch.cuda.empty_cache()
                queue[-1:] = [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
                continue
            queue.pop()
            logprobs.update(zip(batch, values, strict=True))
            if progress is not None:
                progress(len(batch))
        return [logprobs[pair] for pair in pairs]


def _refuse_lookahead(model: Any, name: str, start: Sequence[int]) -> None:
    """Refuse a decoder whose predictions change when other tokens, or more of them, follow."""
    import torch

    special = {
        *start,
        getattr(model.config, "pad_token_id", None),
        getattr(model.config, "eos_token_id", None),
    }
    usable = [token for token in range(n_target_rows(model)) if token not in special][:8]
    if len(usable) < 8:
        return
    short = [*start, *usable[:3]]
    rows = (short, [*short, *usable[3:6]], [*short, usable[7], *usable[4:6]])
    source = torch.tensor([[usable[0] if usable[0] < n_rows(model) else start[0]]], device=model.device)
    try:
        with torch.inference_mode():
            first, *others = (
                model(
                    input_ids=source,
                    decoder_input_ids=torch.tensor([row], device=model.device),
                    use_cache=False,
                )
                .logits[0, : len(short)]
                .double()
                for row in rows
            )
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # models of others raise any type; reported below
        reason = str(error).strip().split("\n")[0][:160] or type(error).__name__
        raise BadInput(f"the model {name!r} cannot be run on tokens alone: {reason}") from error
    change = max(float((logits - first).abs().max()) for logits in others)
    limit = LIMIT if model.dtype in (torch.float32, torch.float64) else HALF_LIMIT
    if change > limit * float(first.std()):
        raise BadInput(
            f"the decoder of {name!r} ({type(model).__name__}) gives other predictions when more tokens "
            f"follow (by {change:.2g} in a logit), so sums of its log probabilities are no probability.",
            remedy="Use another model.",
        )


def _start(model: Any, name: str) -> int:
    """Return the token with which the decoder begins."""
    for owner in (model.generation_config, model.config):
        start = getattr(owner, "decoder_start_token_id", None)
        if isinstance(start, int):
            return start
    raise BadInput(
        f"the model {name!r} does not say with which token its decoder begins.",
        remedy="Set decoder_start_token_id in its configuration.",
    )
