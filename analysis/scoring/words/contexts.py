"""Scores of sentences after a context that is not scored itself."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ...errors import BadInput
from ..base import (
    FLAG_EMPTY,
    FLAG_JOINED,
    FLAG_NO_FIRST,
    FLAG_TOO_LONG,
    FLAG_UNKNOWN,
    Progress,
    Scorer,
    Scores,
)
from .critical_words import MARK
from .tokens import ComparesTokens

Floats = npt.NDArray[np.float64]
IN_CONTEXT = "in context"
OPTION = "context"  # of a specification: the template by which context and sentence were joined
CONTEXT_SLOT, SENTENCE_SLOT = "{context}", "{sentence}"
TEMPLATE = f"{CONTEXT_SLOT} {SENTENCE_SLOT}"


class ContextRule(NamedTuple):
    """Treatment of contexts by a model: its template, or none."""

    template: str = TEMPLATE
    is_ignored: bool = False

    def applies(self, contexts: Sequence[str]) -> bool:
        """Return whether sentences with these contexts are scored after something."""
        return not self.is_ignored and (self.template != TEMPLATE or any(map(str.strip, contexts)))

    def lead(self, context: str, *, sentence_id: str = "") -> str:
        """Return the text before a sentence.

        Examples
        --------
        >>> ContextRule().lead("It rained. "), ContextRule().lead(" ")
        ('It rained. ', '')
        >>> ContextRule("Is this English? {sentence}").lead("")
        'Is this English? '
        """
        context = context.strip()
        if not context and self.template == TEMPLATE:
            return ""
        if not context and CONTEXT_SLOT in self.template:
            raise BadInput(
                f"sentence {sentence_id!r} has no context for the template {self.template!r}.",
                column="context",
                remedy="Fill in its context, or use a prompt without {context}.",
            )
        return self.template.removesuffix(SENTENCE_SLOT).replace(CONTEXT_SLOT, context)


def context_rule(options: Mapping[str, str]) -> ContextRule:
    """Return the rule that the options ``prompt`` and ``context`` of a model URI set.

    Examples
    --------
    >>> context_rule({"prompt": "Q: {context}\\\\nA: {sentence}", "context": "use"}).template
    'Q: {context}\\nA: {sentence}'
    """
    template = options.get("prompt", "").replace(r"\n", "\n") or TEMPLATE
    if not template.endswith(SENTENCE_SLOT) or template.count(SENTENCE_SLOT) != 1:
        raise BadInput(
            f"{template!r} is not a template.",
            column="prompt",
            remedy="Write {sentence} once, at its end, and {context} before it: '{context} {sentence}'.",
        )
    if template == SENTENCE_SLOT:
        raise BadInput(
            f"nothing stands before {SENTENCE_SLOT}.", column="prompt", remedy="Use context=ignore."
        )
    return ContextRule(template, options.get("context") == "ignore")


def model_context_rule(model: Scorer) -> ContextRule:
    """Return the rule of a model; models of installed packages follow the default."""
    rule: ContextRule = getattr(model, "contexts", ContextRule())
    return rule


def context_question(lead: str, sentence: str) -> str:
    """Encode a sentence and the text before it as one string, as words and their prefixes are.

    Examples
    --------
    >>> context_question("It rained. ", "We left.")
    'It rained. We left.\\x1f11'
    """
    return f"{lead}{sentence}{MARK}{len(lead)}"


@runtime_checkable
class ScoresAfter(Protocol):
    """A scorer that saves work where only the end of a text is scored."""

    def score_after(
        self, texts: Sequence[str], starts: Sequence[int], *, progress: Progress | None = None
    ) -> Scores:
        """Score the tokens that reach behind a character of each text."""
        ...


class ContextScorer:
    """log p(sentence | text before it) for each question of :func:`context_question`.

    The tokens that reach behind the text before it are summed, so that the white space between counts with
    the sentence: where a token ends there, that is log p(text and sentence) − log p(text). A token that
    begins inside the text before it counts and is flagged. Lengths, unknown tokens and unigram probabilities
    are those of the scored tokens; the other flags concern both texts. For a masked model it is the
    pseudo-log-likelihood of the sentence's tokens, with the text before visible.

    Raises
    ------
    BadInput
        If the model does not give the probability of a text after another.

    References
    ----------
    Lau, Armendariz, Lappin, Purver & Shu (2020), "How furiously can colorless green ideas sleep? Sentence
    acceptability in context", TACL 8.
    """

    def __init__(self, model: Scorer) -> None:
        kind = model.spec.uri.partition(":")[0]
        if "conditional" not in model.capabilities:
            raise BadInput(
                f"{kind}: does not give the probability of a sentence after its context.",
                column="context",
                remedy="Add context=ignore to the model URI, or use an n-gram, recurrent, causal, masked or "
                "served model.",
            )
        self.model, self.contexts = model, model_context_rule(model)
        self.capabilities = frozenset({IN_CONTEXT, "sum", "tokens"} | (model.capabilities & {"unigram"}))
        self.spec = replace(model.spec, options={**model.spec.options, OPTION: self.contexts.template})

    @property
    def why(self) -> str:
        """The path through the model, and the reason for it."""
        return str(getattr(self.model, "why", ""))

    @property
    def warnings(self) -> list[str]:
        """Warnings of the model."""
        return list(getattr(self.model, "warnings", []))

    def same_tokens(self, sentences: Sequence[str]) -> npt.NDArray[np.bool_] | None:
        """Return which questions' texts have the same tokens as a different one, if the model knows."""
        texts = [question.rpartition(MARK)[0] for question in sentences]
        return self.model.same_tokens(texts) if isinstance(self.model, ComparesTokens) else None

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score questions; spans of tokens count from the beginning of the sentence."""
        apart = [question.rpartition(MARK) for question in sentences]
        texts, starts = [text for text, _, _ in apart], [int(start) for _, _, start in apart]
        lead_ends = [len(text[:start].rstrip()) for text, start in zip(texts, starts, strict=True)]
        scores = (
            self.model.score_after(texts, lead_ends, progress=progress)
            if isinstance(self.model, ScoresAfter)
            else self.model.score(texts, tokens=True, progress=progress)
        )
        if scores.token_logprobs is None or scores.spans is None:
            raise BadInput(
                f"{self.spec.uri} does not give the characters of its tokens, which contexts need.",
                remedy="Use a model with a fast tokenizer, or add context=ignore to the model URI.",
            )
        sentence_tokens = [
            _SentenceTokens.of(scores, place, text, start)
            for place, (text, start) in enumerate(zip(texts, starts, strict=True))
        ]
        has_unigrams = scores.unigram_logprob is not None
        has_unknown = scores.token_unknown is not None
        alone = [text[start:] for text, start in zip(texts, starts, strict=True)]
        n_unk = (
            np.array([row.n_unk for row in sentence_tokens], dtype=np.int32) if has_unknown else scores.n_unk
        )
        return Scores(
            np.array(
                [row.logprob.sum() if len(row.logprob) else np.nan for row in sentence_tokens],
                dtype=np.float64,
            ),
            np.array([row.n_tokens for row in sentence_tokens], dtype=np.int32),
            np.array([len(sentence.split()) for sentence in alone], dtype=np.int32),
            np.array([len(sentence) for sentence in alone], dtype=np.int32),
            n_unk,
            _flags(scores, sentence_tokens, starts, n_unk),
            np.array([row.unigram for row in sentence_tokens], dtype=np.float64) if has_unigrams else None,
            [row.logprob for row in sentence_tokens] if tokens else None,
            [row.spans for row in sentence_tokens] if tokens else None,
            [row.unknown for row in sentence_tokens] if tokens and has_unknown else None,
        )


def in_context(
    model: Scorer, sentences: Sequence[str], contexts: Sequence[str], *, ids: Sequence[str]
) -> tuple[Scorer, list[str]]:
    """Return the scorer of sentences that may have contexts, and what to ask of it.

    A table of scores is looked up by ``sentence_id``; by sentence it is refused where one has two contexts.
    ``model`` may be a :class:`ContextScorer`, perhaps behind a cache.
    """
    if IN_CONTEXT not in model.capabilities:
        if not model_context_rule(model).applies(contexts):
            return model, list(sentences)
        if model.spec.method == "csv":
            _refuse_two_contexts(model, sentences, contexts)
            return model, list(sentences)
        model = ContextScorer(model)
    rule = model_context_rule(model)
    return model, [
        context_question(rule.lead(context, sentence_id=name), sentence)
        for sentence, context, name in zip(sentences, contexts, ids, strict=True)
    ]


def _refuse_two_contexts(model: Scorer, sentences: Sequence[str], contexts: Sequence[str]) -> None:
    if getattr(model, "key", "") != "sentence":
        return
    first: dict[str, str] = {}
    for sentence, context in zip(sentences, contexts, strict=True):
        if first.setdefault(sentence, context) != context:
            raise BadInput(
                f"the file has no sentence_id, and {sentence!r} occurs after two contexts.",
                file=model.spec.uri.partition(":")[2],
                remedy="Give a column sentence_id in place of the sentence.",
            )


class _SentenceTokens(NamedTuple):
    """The tokens of a text that belong to the sentence at its end."""

    logprob: Floats
    spans: list[tuple[int, int]]
    unknown: npt.NDArray[np.bool_]
    n_tokens: int
    unigram: float
    is_joined: bool

    @property
    def n_unk(self) -> int:
        return int(self.unknown.sum())

    @classmethod
    def of(cls, scores: Scores, place: int, text: str, start: int) -> "_SentenceTokens":
        logprobs, spans = (scores.token_logprobs or [])[place], (scores.spans or [])[place]
        if not len(logprobs) or len(logprobs) != len(spans):  # nothing was scored
            return cls(np.empty(0), [], np.empty(0, dtype=np.bool_), 0, np.nan, False)
        lead_end = len(text[:start].rstrip())
        sentence_places = [k for k, (_, end) in enumerate(spans) if end > lead_end]
        word_places = [
            k for k in sentence_places if spans[k][0] < len(text)
        ]  # without the end of the sentence
        unknown = np.zeros(len(spans), dtype=np.bool_)
        if scores.token_unknown is not None:
            unknown = scores.token_unknown[place]
        # Without tokens of the context every token counts, also a first one that has no probability.
        n_tokens = len(word_places) if start else int(scores.n_tokens[place])
        unigrams = scores.token_unigrams
        return cls(
            logprobs[sentence_places] if word_places else np.empty(0),
            [(max(0, spans[k][0] - start), max(0, spans[k][1] - start)) for k in sentence_places],
            unknown[sentence_places],
            n_tokens,
            float(unigrams[place][sentence_places].sum()) if unigrams is not None and word_places else np.nan,
            bool(word_places) and spans[word_places[0]][0] < lead_end,
        )


def _flags(
    scores: Scores,
    sentence_tokens: Sequence[_SentenceTokens],
    starts: Sequence[int],
    n_unk: npt.NDArray[np.int32],
) -> npt.NDArray[np.uint16]:
    """Return the flags of text and sentence; unknown and first tokens are judged by the sentence's own."""
    flags = scores.flags.astype(np.uint16)
    has_lead = np.array(starts, dtype=np.int64) > 0
    is_long = flags & FLAG_TOO_LONG > 0
    is_empty = np.array([not len(row.logprob) for row in sentence_tokens], dtype=np.bool_) & ~is_long
    flags = np.where(has_lead, flags & ~np.uint16(FLAG_NO_FIRST), flags)
    flags = flags & ~np.uint16(FLAG_UNKNOWN | FLAG_EMPTY)
    flags |= (FLAG_UNKNOWN * (n_unk > 0)).astype(np.uint16)
    flags |= (FLAG_EMPTY * is_empty).astype(np.uint16)
    joined = np.array([row.is_joined for row in sentence_tokens], dtype=np.bool_)
    return (flags | (FLAG_JOINED * joined).astype(np.uint16)).astype(np.uint16)
