"""Probabilities of words after prefixes, for the one- and two-prefix methods."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base import FLAG_CUT, Progress, Scorer
from .critical_words import WORDS, WordScorer, word_question

Floats = npt.NDArray[np.float64]


class RegionScores(NamedTuple):
    """Columns of equal length: natural log probability of each critical word, and its tokens.

    ``is_cut`` is set where the first of them begins inside the prefix.
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
    leads: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> RegionScores:
    """Score each word after its prefix.

    Parameters
    ----------
    scorer : Scorer
        One with the capability ``conditional``: it maps each token to its characters. Or a
        :class:`~obelus.scoring.words.critical_words.WordScorer` of one, perhaps behind a cache.
    prefixes, words : sequences of str
        The text before, and the critical word.
    sentences : sequence of str, optional
        The sentences they are from. Where one begins with prefix and word, the text between them is taken
        from it (Chinese has no space there); otherwise it is one space.
    leads : sequence of str, optional
        Text before each prefix, such as a context, with the space that ends it.
    progress : callable, optional
        Told how many words are done.

    Returns
    -------
    RegionScores
        Log probabilities summed over the tokens that reach behind the prefix, so that a space before the word
        counts with it; NaN where word or prefix has no token. A token that begins inside the prefix counts
        with the word and is flagged.

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
    word_scorer = scorer if WORDS in scorer.capabilities else WordScorer(scorer)
    nothing = [""] * len(prefixes)
    questions = [
        word_question(prefix, word, sentence=sentence, lead=lead)
        for prefix, word, sentence, lead in zip(
            prefixes, words, sentences or nothing, leads or nothing, strict=True
        )
    ]
    scores = word_scorer.score(questions, progress=progress)
    return RegionScores(scores.logprob, scores.n_tokens, scores.flags.astype(np.uint16) & FLAG_CUT > 0)


def score_regions(
    scorer: Scorer,
    sentence_ids: Sequence[str],
    regions: Mapping[str, tuple[str, str]],
    *,
    sentences: Sequence[str] | None = None,
    leads: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> RegionScores:
    """Score each sentence's critical word after its prefix."""
    n = len(sentence_ids)
    scores = RegionScores(np.full(n, np.nan), np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.bool_))
    places = [place for place, name in enumerate(sentence_ids) if name in regions]
    pairs = [regions[sentence_ids[place]] for place in places]
    scored = score_words(
        scorer,
        [prefix for prefix, _ in pairs],
        [word for _, word in pairs],
        sentences=None if sentences is None else [sentences[place] for place in places],
        leads=None if leads is None else [leads[place] for place in places],
        progress=progress,
    )
    scores.logprob[places], scores.n_tokens[places], scores.is_cut[places] = scored
    return scores
