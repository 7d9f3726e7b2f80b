"""Measures by their names: what each is made of, its formula in words, and what it needs."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput, UnknownName
from analysis.scoring import reductions
from analysis.scoring.reductions import ALPHA, SUBLINEAR, Floats


class Given(NamedTuple):
    """What a measure is made of, one entry per sentence."""

    logprob: npt.ArrayLike
    n_tokens: npt.ArrayLike
    unigram_logprob: npt.ArrayLike
    n_chars: npt.ArrayLike
    n_bytes: npt.ArrayLike


MEASURES: dict[str, Callable[[Given], Floats]] = {
    "lp": lambda given: reductions.lp(given.logprob),
    "meanlp": lambda given: reductions.mean_lp(given.logprob, given.n_tokens),
    "penlp": lambda given: reductions.pen_lp(given.logprob, given.n_tokens),
    "sllnlp": lambda given: reductions.slln_lp(given.logprob, given.n_tokens),
    "charlp": lambda given: reductions.char_lp(given.logprob, given.n_chars),
    "bytelp": lambda given: reductions.byte_lp(given.logprob, given.n_bytes),
    "normlp": lambda given: reductions.norm_lp(given.logprob, given.unigram_logprob),
    "slor": lambda given: reductions.slor(given.logprob, given.unigram_logprob, given.n_tokens),
}
FORMULAS = {
    "lp": "log p",
    "meanlp": "log p / tokens",
    "penlp": f"log p / ((5 + tokens) / 6)^{ALPHA}",
    "sllnlp": f"log p / tokens^{SUBLINEAR}",
    "charlp": "log p / characters",
    "bytelp": "log p / bytes",
    "normlp": "-log p / log p of single tokens",
    "slor": "(log p - log p of single tokens) / tokens",
    "one_prefix": "log p of the critical word after its prefix",
    "two_prefix": "log p of the critical word after its prefix",
}
NEEDS = {
    "charlp": ("n_chars", "the number of characters of each sentence, which is not given."),
    "bytelp": ("n_bytes", "the number of bytes of each sentence, which is not given."),
    "normlp": ("unigram_logprob", "the words' own probabilities, which this model does not give."),
    "slor": ("unigram_logprob", "the words' own probabilities, which this model does not give."),
}


def check_method(name: str) -> str:
    """Give the canonical name of a measure.

    Parameters
    ----------
    name : str
        In any case.

    Returns
    -------
    str
        The name in lower case.

    Raises
    ------
    UnknownName
        If there is no such measure; near names are suggested.
    """
    if name.lower() not in MEASURES:
        raise UnknownName("method", name, list(MEASURES))
    return name.lower()


def measure(
    name: str,
    logprob: npt.ArrayLike,
    *,
    n_tokens: npt.ArrayLike,
    unigram_logprob: npt.ArrayLike | None = None,
    n_chars: npt.ArrayLike | None = None,
    n_bytes: npt.ArrayLike | None = None,
) -> Floats:
    """Compute a measure by its name.

    Parameters
    ----------
    name : {"lp", "meanlp", "penlp", "sllnlp", "charlp", "bytelp", "normlp", "slor"}
        The measure, in any case.
    logprob : array-like of float
        Natural log probability of each sentence.
    n_tokens : array-like of int
        Tokens of each sentence without boundary marks.
    unigram_logprob : array-like of float, optional
        Needed for ``normlp`` and ``slor``.
    n_chars : array-like of int, optional
        Characters of each sentence; needed for ``charlp``.
    n_bytes : array-like of int, optional
        Bytes of each sentence in UTF-8; needed for ``bytelp``.

    Returns
    -------
    ndarray of float
        One score per sentence, higher is better.

    Raises
    ------
    UnknownName
        If there is no such measure.
    BadInput
        If the measure needs unigram probabilities, or counts of characters or bytes, that are not there.
    """
    key = check_method(name)
    nothing = np.full(len(reductions.lp(logprob)), np.nan)
    optional = {"unigram_logprob": unigram_logprob, "n_chars": n_chars, "n_bytes": n_bytes}
    column, told = NEEDS.get(key, ("", ""))
    if column and optional[column] is None:
        raise BadInput(f"{name} needs {told}")
    there = {name: nothing if values is None else values for name, values in optional.items()}
    return MEASURES[key](Given(logprob, n_tokens, **there))
