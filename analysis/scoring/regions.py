"""The probability of a word after a prefix: what the one- and two-prefix methods compare."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput
from analysis.scoring.base import Scorer
from analysis.scoring.tokens import Tokenization


@runtime_checkable
class CutsTokens(Protocol):
    """A scorer that says how it cuts a sentence."""

    tokenization: Tokenization


def word_logprobs(scorer: Scorer, prefixes: Sequence[str], words: Sequence[str]) -> npt.NDArray[np.float64]:
    """Give log P(word | prefix) for each prefix and word.

    Parameters
    ----------
    scorer : Scorer
        One that gives each token's probability and says how it cuts sentences, as n-gram models do, or which
        characters each token stands for, as causal models do.
    prefixes, words : sequences of str
        What stands before, and the critical word, cut into tokens as the scorer does.

    Returns
    -------
    ndarray of float
        Natural logarithms, summed over the tokens of the word; NaN where word or prefix has no token or the
        cut goes through a token.

    Raises
    ------
    BadInput
        If the scorer does not give probabilities of tokens.

    Notes
    -----
    Nothing after the word enters, nor does the end of the sentence. Prefix and word are cut into tokens
    together; a causal model's token that begins before the word, as the space in front of it does, counts
    with the word.
    """
    if "conditional" in scorer.capabilities:
        return _by_characters(scorer, prefixes, words)
    if "tokens" not in scorer.capabilities or not isinstance(scorer, CutsTokens):
        raise BadInput(
            "this model does not give the probability of a word after a prefix.",
            remedy="Give a table of such scores: sentence_id and one column.",
        )
    cut = scorer.tokenization.tokens
    texts = [f"{prefix.strip()} {word.strip()}" for prefix, word in zip(prefixes, words, strict=True)]
    found = scorer.score(texts, tokens=True).token_logprobs or []
    values = np.full(len(texts), np.nan)
    for place, (prefix, text, logprobs) in enumerate(zip(prefixes, texts, found, strict=True)):
        before, every = cut(prefix), cut(text)
        if before and len(every) > len(before) and every[: len(before)] == before:
            values[place] = float(logprobs[len(before) : len(every)].sum())
    return values


def _by_characters(scorer: Scorer, prefixes: Sequence[str], words: Sequence[str]) -> npt.NDArray[np.float64]:
    """Sum over the tokens that reach into the word."""
    starts = [prefix.strip() for prefix in prefixes]
    texts = [f"{start} {word.strip()}" for start, word in zip(starts, words, strict=True)]
    found = scorer.score(texts, tokens=True)
    values = np.full(len(texts), np.nan)
    rows = zip(starts, texts, found.token_logprobs or [], found.spans or [], strict=True)
    for place, (start, text, logprobs, spans) in enumerate(rows):
        inside = [k for k, (_, end) in enumerate(spans) if end > len(start) + 1 and spans[k][0] < len(text)]
        if start and inside and len(logprobs) == len(spans):
            values[place] = float(logprobs[inside].sum())
    return values


def region_scores(
    scorer: Scorer, sentence_ids: Sequence[str], regions: Mapping[str, tuple[str, str]]
) -> npt.NDArray[np.float64]:
    """Give each sentence the log probability of its critical word after its prefix.

    Parameters
    ----------
    scorer : Scorer
        As for :func:`word_logprobs`.
    sentence_ids : sequence of str
        The sentences, in the order wanted.
    regions : mapping of str to (str, str)
        Prefix and word by sentence, from :func:`analysis.comparison.prefixes.sentence_regions`.

    Returns
    -------
    ndarray of float
        NaN for sentences without a region.
    """
    values = np.full(len(sentence_ids), np.nan)
    places = [place for place, name in enumerate(sentence_ids) if name in regions]
    asked = [regions[sentence_ids[place]] for place in places]
    values[places] = word_logprobs(scorer, [prefix for prefix, _ in asked], [word for _, word in asked])
    return values
