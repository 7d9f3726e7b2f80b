"""Measures of acceptability from log probabilities and lengths, after Lau, Clark and Lappin."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import BadInput, UnknownName

Floats = npt.NDArray[np.float64]
ALPHA = 0.8  # exponent of the length penalty in Wu et al. (2016), as used by Lau, Clark & Lappin
SUBLINEAR = 0.5


def lp(logprob: npt.ArrayLike) -> Floats:
    """Return the log probability itself (natural logarithm)."""
    return np.array(logprob, dtype=np.float64)


def mean_lp(logprob: npt.ArrayLike, n_tokens: npt.ArrayLike) -> Floats:
    """Divide the log probability by length.

    Examples
    --------
    >>> mean_lp([-30.0], [10]).tolist()
    [-3.0]
    """
    return lp(logprob) / _positive(n_tokens)


def pen_lp(logprob: npt.ArrayLike, n_tokens: npt.ArrayLike, *, alpha: float = ALPHA) -> Floats:
    """Divide the log probability by the length penalty of machine translation.

    Examples
    --------
    >>> pen_lp([-30.0], [10]).round(6).tolist()
    [-14.413493]
    """
    return lp(logprob) / ((5.0 + _positive(n_tokens)) / 6.0) ** alpha


def slln_lp(logprob: npt.ArrayLike, n_tokens: npt.ArrayLike, *, alpha: float = SUBLINEAR) -> Floats:
    """Divide the log probability by a power of the length below 1.

    References
    ----------
    Liu et al. (2024), ZhoBLiMP, arXiv 2411.06096, for the idea; the exponent is recorded with every score.

    Examples
    --------
    >>> slln_lp([-30.0], [9]).tolist()
    [-10.0]
    """
    return lp(logprob) / _positive(n_tokens) ** alpha


def char_lp(logprob: npt.ArrayLike, n_chars: npt.ArrayLike) -> Floats:
    """Divide the log probability by the number of characters, which is independent of the tokenizer.

    Examples
    --------
    >>> char_lp([-30.0], [60]).tolist()
    [-0.5]
    """
    return lp(logprob) / _positive(n_chars)


def byte_lp(logprob: npt.ArrayLike, n_bytes: npt.ArrayLike) -> Floats:
    """Divide the log probability by the number of bytes, more comparable across scripts than characters.

    Examples
    --------
    >>> byte_lp([-30.0], [60]).tolist()
    [-0.5]
    """
    return lp(logprob) / _positive(n_bytes)


def norm_lp(logprob: npt.ArrayLike, unigram_logprob: npt.ArrayLike) -> Floats:
    """Divide the negative log probability by the unigram log probability.

    Examples
    --------
    >>> norm_lp([-30.0], [-45.0]).round(6).tolist()
    [-0.666667]
    """
    unigram = np.array(unigram_logprob, dtype=np.float64)
    return -lp(logprob) / np.where(unigram == 0, np.nan, unigram)


def slor(logprob: npt.ArrayLike, unigram_logprob: npt.ArrayLike, n_tokens: npt.ArrayLike) -> Floats:
    """Return the syntactic log-odds ratio: log probability beyond the unigram model, per token.

    Notes
    -----
    SLOR = (log p - log p_u) / n; NaN where the unigram part is missing or there are no tokens.

    References
    ----------
    Pauls & Klein (2012), ACL; Lau, Clark & Lappin (2017), Cognitive Science 41.

    Examples
    --------
    >>> slor([-30.0], [-45.0], [10]).tolist()
    [1.5]
    """
    return (lp(logprob) - np.array(unigram_logprob, dtype=np.float64)) / _positive(n_tokens)


def _positive(n_tokens: npt.ArrayLike) -> Floats:
    n = np.array(n_tokens, dtype=np.float64)  # NaN, not infinity, for an empty sentence
    return np.where(n > 0, n, np.nan)


class Inputs(NamedTuple):
    """Inputs of a measure, one entry per sentence."""

    logprob: npt.ArrayLike
    n_tokens: npt.ArrayLike
    unigram_logprob: npt.ArrayLike
    n_chars: npt.ArrayLike
    n_bytes: npt.ArrayLike


MEASURES: dict[str, Callable[[Inputs], Floats]] = {
    "lp": lambda inputs: lp(inputs.logprob),
    "meanlp": lambda inputs: mean_lp(inputs.logprob, inputs.n_tokens),
    "penlp": lambda inputs: pen_lp(inputs.logprob, inputs.n_tokens),
    "sllnlp": lambda inputs: slln_lp(inputs.logprob, inputs.n_tokens),
    "charlp": lambda inputs: char_lp(inputs.logprob, inputs.n_chars),
    "bytelp": lambda inputs: byte_lp(inputs.logprob, inputs.n_bytes),
    "normlp": lambda inputs: norm_lp(inputs.logprob, inputs.unigram_logprob),
    "slor": lambda inputs: slor(inputs.logprob, inputs.unigram_logprob, inputs.n_tokens),
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
    "yes_no": "log p of yes - log p of no",
    "rating": "expected rating",
    "forced_choice": "log p of this sentence - log p of the other",
}
NEEDS = {
    "charlp": ("n_chars", "the number of characters of each sentence, which is not given."),
    "bytelp": ("n_bytes", "the number of bytes of each sentence, which is not given."),
    "normlp": ("unigram_logprob", "the words' own probabilities, which this model does not give."),
    "slor": ("unigram_logprob", "the words' own probabilities, which this model does not give."),
}


def check_method(name: str) -> str:
    """Return the canonical name of a measure."""
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
    """Compute a measure by its name."""
    key = check_method(name)
    nothing = np.full(len(lp(logprob)), np.nan)
    optional = {"unigram_logprob": unigram_logprob, "n_chars": n_chars, "n_bytes": n_bytes}
    column, reason = NEEDS.get(key, ("", ""))
    if column and optional[column] is None:
        raise BadInput(f"{name} needs {reason}")
    there = {name: nothing if values is None else values for name, values in optional.items()}
    return MEASURES[key](Inputs(logprob, n_tokens, **there))
