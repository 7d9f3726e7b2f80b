"""Scorer of critical words after their prefixes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ...errors import BadInput
from ..base import FLAG_CUT, Progress, Scorer, Scores
from .tokens import ComparesTokens

Floats = npt.NDArray[np.float64]
WORDS = "words"
MARK = "\x1f"  # between the text and the number of characters before its word


@runtime_checkable
class CorrectsBoundaries(Protocol):
    """A scorer that can correct the log probability of a word for its boundaries."""

    def boundary_correction(self, texts: Sequence[str], n_before: Sequence[int]) -> Floats:
        """Return what to add for the last word of each text, after ``n_before`` tokens."""
        ...


def word_question(prefix: str, word: str, *, sentence: str = "", lead: str = "") -> str:
    """Encode a critical word and its prefix as one string.

    Notes
    -----
    The text up to the end of the word, a mark, and the number of characters before the word. Equal
    questions are equal strings, so that a cache can use them as keys. ``lead`` is the text before the
    prefix, such as a context.

    Examples
    --------
    >>> word_question("The cat", "eats", sentence="The cat  eats mice.")
    'The cat  eats\\x1f9'
    """
    prefix, word = prefix.strip(), word.strip()
    remainder = sentence[len(prefix) :].lstrip() if prefix and sentence.startswith(prefix) else ""
    if word and remainder.startswith(word):
        start = len(sentence) - len(remainder)
        return f"{lead}{sentence[: start + len(word)]}{MARK}{len(lead) + start}"
    if not prefix:
        return f"{lead}{word}{MARK}{len(lead)}"
    return f"{lead}{prefix} {word}{MARK}{len(lead) + len(prefix) + 1}"


class WordScorer:
    """log p(word | prefix) for each question of :func:`word_question`; nothing after the word enters.

    ``method`` is part of the specification, which differs from that of whole sentences.

    Raises
    ------
    BadInput
        If the model does not give probabilities of words after prefixes.
    """

    capabilities = frozenset({WORDS})

    def __init__(self, model: Scorer, method: str = WORDS, *, template: str = "") -> None:
        if "conditional" not in model.capabilities:
            raise BadInput(
                "this model does not give the probability of a word after a prefix.",
                remedy="Give a table of such scores: sentence_id and one column.",
            )
        self.model = model
        # The template that puts a context before the prefix is part of the specification.
        options = {**model.spec.options, **({"context": template} if template else {})}
        self.spec = replace(model.spec, method=f"{model.spec.method} {method}", options=options)

    @property
    def why(self) -> str:
        """The path through the model, and the reason for it."""
        return str(getattr(self.model, "why", ""))

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
        """Score questions; NaN where word or prefix has no token. Lengths are those of the word."""
        apart = [question.rpartition(MARK) for question in sentences]
        texts, starts = [text for text, _, _ in apart], [int(start) for _, _, start in apart]
        scores = self.model.score(texts, tokens=True, progress=progress)
        if scores.token_logprobs is None or scores.spans is None:
            raise BadInput(
                f"{self.model.spec.uri} does not give the characters of its tokens, which words need.",
                remedy="Use a model with a fast tokenizer, or a method over whole sentences.",
            )
        values, n_tokens, n_before, is_cut = _sum_words(scores, texts, starts)
        if isinstance(self.model, CorrectsBoundaries):
            values = values + self.model.boundary_correction(texts, n_before)
        words = [text[start:] for text, start in zip(texts, starts, strict=True)]
        return Scores(
            values,
            n_tokens,
            np.array([len(word.split()) for word in words], dtype=np.int32),
            np.array([len(word) for word in words], dtype=np.int32),
            scores.n_unk,
            scores.flags.astype(np.uint16) | (FLAG_CUT * is_cut).astype(np.uint16),
        )


def _sum_words(
    scores: Scores, texts: Sequence[str], starts: Sequence[int]
) -> tuple[Floats, npt.NDArray[np.int32], list[int], npt.NDArray[np.bool_]]:
    """Return the sum over the tokens of each word, their number, that of those before, and FLAG_CUT."""
    n = len(texts)
    values, n_tokens = np.full(n, np.nan), np.zeros(n, dtype=np.int32)
    is_cut, n_before = np.zeros(n, dtype=np.bool_), [0] * n
    rows = zip(texts, starts, scores.token_logprobs or [], scores.spans or [], strict=True)
    for place, (text, start, logprobs, spans) in enumerate(rows):
        prefix_end = len(text[:start].rstrip())
        overlap = [k for k, (first, end) in enumerate(spans) if end > prefix_end and first < len(text)]
        if not (prefix_end and overlap and len(logprobs) == len(spans)):
            continue
        values[place] = float(logprobs[overlap].sum())
        n_tokens[place] = len(overlap)
        scored = sum(first < len(text) for first, _ in spans)
        n_before[place] = int(scores.n_tokens[place]) - scored + overlap[0]
        is_cut[place] = spans[overlap[0]][0] < prefix_end
    return values, n_tokens, n_before, is_cut
