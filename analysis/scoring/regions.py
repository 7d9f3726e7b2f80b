"""The probability of a word after a prefix: what the one- and two-prefix methods compare."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from analysis.scoring.base import FLAG_CUT, Progress, Scorer
from analysis.scoring.critical_words import WORDS, WordScorer, word_question

Floats = npt.NDArray[np.float64]


class RegionScores(NamedTuple):
    """Columns of equal length: natural log probability of each critical word, and its tokens.

    ``is_cut`` tells where the first of them begins inside the prefix.
    """

    logprob: Floats
    n_tokens: npt.NDArray[np.int32]
    is_cut: npt.NDArray[np.bool_]


def score_words(
    scorer: Scorer,
    prefixes: Sequence[str],
    words: Sequence[str],
    *,
    sentences: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> RegionScores:
    """Score each word after its prefix.

    Parameters
    ----------
    scorer : Scorer
        One with the capability ``conditional``: it says which characters each token stands for. Or a
        :class:`~analysis.scoring.critical_words.WordScorer` of one, perhaps behind a cache.
    prefixes, words : sequences of str
        What stands before, and the critical word.
    sentences : sequence of str, optional
        The sentences they are from. Where one begins with prefix and word, what stands between them is taken
        from it (Chinese has no space there); otherwise it is one space.
    progress : callable, optional
        Told how many words are done.

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
    asked = scorer if WORDS in scorer.capabilities else WordScorer(scorer)
    known = sentences if sentences is not None else [""] * len(prefixes)
    questions = [
        word_question(prefix, word, sentence=sentence)
        for prefix, word, sentence in zip(prefixes, words, known, strict=True)
    ]
    found = asked.score(questions, progress=progress)
    return RegionScores(found.logprob, found.n_tokens, found.flags.astype(np.uint16) & FLAG_CUT > 0)


def score_regions(
    scorer: Scorer,
    sentence_ids: Sequence[str],
    regions: Mapping[str, tuple[str, str]],
    *,
    sentences: Sequence[str] | None = None,
    progress: Progress | None = None,
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
    progress : callable, optional
        Told how many words are done.

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
        progress=progress,
    )
    whole.logprob[places], whole.n_tokens[places], whole.is_cut[places] = found
    return whole
