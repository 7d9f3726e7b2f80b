"""Critical words after their prefixes, as a scorer of its own, asked by text and place of the word."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput
from analysis.scoring.base import FLAG_CUT, Progress, Scorer, Scores

Floats = npt.NDArray[np.float64]
WORDS = "words"
MARK = "\x1f"  # between the text and the number of characters before its word


@runtime_checkable
class CorrectsBoundaries(Protocol):
    """A scorer that can add the probability that a word ends, and take away that one begins."""

    def boundary_correction(self, texts: Sequence[str], n_before: Sequence[int]) -> Floats:
        """What to add for the last word of each text, so many tokens standing before it."""
        ...


def word_question(prefix: str, word: str, *, sentence: str = "") -> str:
    """Write down which word is asked for after which prefix.

    Parameters
    ----------
    prefix, word : str
        What stands before, and the critical word.
    sentence : str
        The sentence they are from. Where it begins with prefix and word, what stands between them is taken
        from it (Chinese has no space there); otherwise it is one space.

    Returns
    -------
    str
        The text to the end of the word, a mark, and the number of characters before the word. Equal
        questions are equal strings, so that a cache can know them by their bytes.

    Examples
    --------
    >>> word_question("The cat", "eats", sentence="The cat  eats mice.")
    'The cat  eats\\x1f9'
    """
    prefix, word = prefix.strip(), word.strip()
    rest = sentence[len(prefix) :].lstrip() if prefix and sentence.startswith(prefix) else ""
    if word and rest.startswith(word):
        start = len(sentence) - len(rest)
        return f"{sentence[: start + len(word)]}{MARK}{start}"
    return f"{prefix} {word}{MARK}{len(prefix) + 1}"


class WordScorer:
    """log p(word | prefix) for each question of :func:`word_question`; nothing after the word enters.

    ``method`` says what the words are asked for; it is part of the specification, which is another than that
    of whole sentences.

    Raises
    ------
    BadInput
        If the model does not give probabilities of words after prefixes.
    """

    capabilities = frozenset({WORDS})

    def __init__(self, model: Scorer, method: str = WORDS) -> None:
        if "conditional" not in model.capabilities:
            raise BadInput(
                "this model does not give the probability of a word after a prefix.",
                remedy="Give a table of such scores: sentence_id and one column.",
            )
        self.model = model
        self.spec = replace(model.spec, method=f"{model.spec.method} {method}")

    @property
    def why(self) -> str:
        """Which way the model took."""
        return str(getattr(self.model, "why", ""))

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
        read = self.model.score(texts, tokens=True, progress=progress)
        values, n_tokens, n_before, is_cut = _read(read, texts, starts)
        if isinstance(self.model, CorrectsBoundaries):
            values = values + self.model.boundary_correction(texts, n_before)
        words = [text[start:] for text, start in zip(texts, starts, strict=True)]
        return Scores(
            values,
            n_tokens,
            np.array([len(word.split()) for word in words], dtype=np.int32),
            np.array([len(word) for word in words], dtype=np.int32),
            read.n_unk,
            read.flags.astype(np.uint16) | (FLAG_CUT * is_cut).astype(np.uint16),
        )


def _read(
    found: Scores, texts: Sequence[str], starts: Sequence[int]
) -> tuple[Floats, npt.NDArray[np.int32], list[int], npt.NDArray[np.bool_]]:
    """Sum over the tokens that reach into the word; how many there are, how many stand before, is one cut."""
    n = len(texts)
    values, n_tokens = np.full(n, np.nan), np.zeros(n, dtype=np.int32)
    is_cut, n_before = np.zeros(n, dtype=np.bool_), [0] * n
    rows = zip(texts, starts, found.token_logprobs or [], found.spans or [], strict=True)
    for place, (text, start, logprobs, spans) in enumerate(rows):
        prefix_end = len(text[:start].rstrip())
        inside = [k for k, (first, end) in enumerate(spans) if end > prefix_end and first < len(text)]
        if not (prefix_end and inside and len(logprobs) == len(spans)):
            continue
        values[place] = float(logprobs[inside].sum())
        n_tokens[place] = len(inside)
        scored = sum(first < len(text) for first, _ in spans)
        n_before[place] = int(found.n_tokens[place]) - scored + inside[0]
        is_cut[place] = spans[inside[0]][0] < prefix_end
    return values, n_tokens, n_before, is_cut
