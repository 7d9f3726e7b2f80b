"""The probability of a word after a prefix: what the one- and two-prefix methods compare."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput
from analysis.scoring.base import Scorer, Scores

Floats = npt.NDArray[np.float64]


class RegionScores(NamedTuple):
    """Columns of equal length: natural log probability of each critical word, and its tokens.

    ``is_cut`` tells where the first of them begins inside the prefix.
    """

    logprob: Floats
    n_tokens: npt.NDArray[np.int32]
    is_cut: npt.NDArray[np.bool_]


@runtime_checkable
class CorrectsBoundaries(Protocol):
    """A scorer that can add the probability that a word ends, and take away that one begins."""

    def boundary_correction(self, texts: Sequence[str], n_before: Sequence[int]) -> Floats:
        """What to add for the last word of each text, so many tokens standing before it."""
        ...


def score_words(
    scorer: Scorer,
    prefixes: Sequence[str],
    words: Sequence[str],
    *,
    sentences: Sequence[str] | None = None,
) -> RegionScores:
    """Score each word after its prefix.

    Parameters
    ----------
    scorer : Scorer
        One with the capability ``conditional``: it says which characters each token stands for.
    prefixes, words : sequences of str
        What stands before, and the critical word.
    sentences : sequence of str, optional
        The sentences they are from. Where one begins with prefix and word, what stands between them is taken
        from it (Chinese has no space there); otherwise it is one space.

    Returns
    -------
    RegionScores
        Log probabilities summed over the tokens that reach behind the prefix, so that a space before the word
        counts with it; NaN where word or prefix has no token. A token that begins inside the prefix counts
        with the word and is told.

    Raises
    ------
    BadInput
        If the scorer does not give probabilities of words after prefixes.

    Notes
    -----
    Prefix and word are cut into tokens together, once. Nothing after the word enters, nor does the end of the
    sentence. For a masked model it is the pseudo-log-likelihood of the word's tokens, the prefix being all it
    sees besides. With ``boundary=corrected`` a causal model adds log P(boundary | prefix word) and takes away
    log P(boundary | prefix): tokens that begin with a space leave it to the next one to end a word. Sums over
    whole sentences stay as they are; there the corrections cancel but for one at the end.

    References
    ----------
    Linzen, Dupoux & Goldberg (2016), TACL 4. Pimentel & Meister (2024), EMNLP.
    """
    if "conditional" not in scorer.capabilities:
        raise BadInput(
            "this model does not give the probability of a word after a prefix.",
            remedy="Give a table of such scores: sentence_id and one column.",
        )
    known = sentences if sentences is not None else [""] * len(prefixes)
    placed = [
        _placed(prefix.strip(), word.strip(), sentence)
        for prefix, word, sentence in zip(prefixes, words, known, strict=True)
    ]
    texts, starts = [text for text, _ in placed], [start for _, start in placed]
    found = scorer.score(texts, tokens=True)
    scored, n_before = _read(found, texts, starts)
    if isinstance(scorer, CorrectsBoundaries):
        scored = scored._replace(logprob=scored.logprob + scorer.boundary_correction(texts, n_before))
    return scored


def score_regions(
    scorer: Scorer,
    sentence_ids: Sequence[str],
    regions: Mapping[str, tuple[str, str]],
    *,
    sentences: Sequence[str] | None = None,
) -> RegionScores:
    """Score each sentence's critical word after its prefix.

    Parameters
    ----------
    scorer : Scorer
        As for :func:`score_words`.
    sentence_ids : sequence of str
        The sentences, in the order wanted.
    regions : mapping of str to (str, str)
        Prefix and word by sentence, from :func:`analysis.comparison.prefixes.sentence_regions`.
    sentences : sequence of str, optional
        Their texts, in the same order.

    Returns
    -------
    RegionScores
        NaN and no token for sentences without a region.

    Raises
    ------
    BadInput
        As for :func:`score_words`.
    """
    n = len(sentence_ids)
    whole = RegionScores(np.full(n, np.nan), np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.bool_))
    places = [place for place, name in enumerate(sentence_ids) if name in regions]
    asked = [regions[sentence_ids[place]] for place in places]
    found = score_words(
        scorer,
        [prefix for prefix, _ in asked],
        [word for _, word in asked],
        sentences=None if sentences is None else [sentences[place] for place in places],
    )
    whole.logprob[places], whole.n_tokens[places], whole.is_cut[places] = found
    return whole


def _placed(prefix: str, word: str, sentence: str) -> tuple[str, int]:
    """The text from its beginning to the end of the word, and where the word begins."""
    rest = sentence[len(prefix) :].lstrip() if prefix and sentence.startswith(prefix) else ""
    if word and rest.startswith(word):
        start = len(sentence) - len(rest)
        return sentence[: start + len(word)], start
    return f"{prefix} {word}", len(prefix) + 1


def _read(found: Scores, texts: Sequence[str], starts: Sequence[int]) -> tuple[RegionScores, list[int]]:
    """Sum over the tokens that reach into the word; how many tokens of the text stand before these."""
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
    return RegionScores(values, n_tokens, is_cut), n_before
