"""From a sentence's log probability to an acceptability score: the measures of Lau, Clark and Lappin."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
ALPHA = 0.8
SUBLINEAR = 0.5


def lp(logprob: npt.ArrayLike) -> Floats:
    """Give the log probability itself.

    Parameters
    ----------
    logprob : array-like of float
        Natural log probability of each sentence.

    Returns
    -------
    ndarray of float
        LP.
    """
    return np.array(logprob, dtype=np.float64)


def mean_lp(logprob: npt.ArrayLike, n_tokens: npt.ArrayLike) -> Floats:
    """Divide the log probability by length.

    Parameters
    ----------
    logprob : array-like of float
        Natural log probability of each sentence.
    n_tokens : array-like of int
        Tokens of each sentence without boundary marks.

    Returns
    -------
    ndarray of float
        MeanLP = log p / n; NaN for a sentence without tokens.

    Examples
    --------
    >>> mean_lp([-30.0], [10]).tolist()
    [-3.0]
    """
    return lp(logprob) / _positive(n_tokens)


def pen_lp(logprob: npt.ArrayLike, n_tokens: npt.ArrayLike, *, alpha: float = ALPHA) -> Floats:
    """Divide the log probability by the length penalty of machine translation.

    Parameters
    ----------
    logprob : array-like of float
        Natural log probability of each sentence.
    n_tokens : array-like of int
        Tokens of each sentence without boundary marks.
    alpha : float
        Strength of the penalty.

    Returns
    -------
    ndarray of float
        PenLP = log p / ((5 + n) / (5 + 1))^α; NaN for a sentence without tokens.

    Examples
    --------
    >>> pen_lp([-30.0], [10]).round(6).tolist()
    [-14.413493]
    """
    return lp(logprob) / ((5.0 + _positive(n_tokens)) / 6.0) ** alpha


def slln_lp(logprob: npt.ArrayLike, n_tokens: npt.ArrayLike, *, alpha: float = SUBLINEAR) -> Floats:
    """Divide the log probability by a power of the length below 1.

    Parameters
    ----------
    logprob : array-like of float
        Natural log probability of each sentence.
    n_tokens : array-like of int
        Tokens of each sentence without boundary marks.
    alpha : float
        The power: 0 gives LP, 1 gives MeanLP.

    Returns
    -------
    ndarray of float
        SLLN-LP = log p / n^α; NaN for a sentence without tokens.

    References
    ----------
    Liu et al. (2024), ZhoBLiMP, arXiv 2411.06096, for the idea; the power is stated with every score.

    Examples
    --------
    >>> slln_lp([-30.0], [9]).tolist()
    [-10.0]
    """
    return lp(logprob) / _positive(n_tokens) ** alpha


def char_lp(logprob: npt.ArrayLike, n_chars: npt.ArrayLike) -> Floats:
    """Divide the log probability by the number of characters, which no tokenizer decides.

    Parameters
    ----------
    logprob : array-like of float
        Natural log probability of each sentence.
    n_chars : array-like of int
        Characters (code points) of each sentence.

    Returns
    -------
    ndarray of float
        log p / characters; NaN for an empty sentence.

    Examples
    --------
    >>> char_lp([-30.0], [60]).tolist()
    [-0.5]
    """
    return lp(logprob) / _positive(n_chars)


def byte_lp(logprob: npt.ArrayLike, n_bytes: npt.ArrayLike) -> Floats:
    """Divide the log probability by the number of bytes, which compares scripts better than characters.

    Parameters
    ----------
    logprob : array-like of float
        Natural log probability of each sentence.
    n_bytes : array-like of int
        Bytes of each sentence in UTF-8.

    Returns
    -------
    ndarray of float
        log p / bytes; NaN for an empty sentence.

    Examples
    --------
    >>> byte_lp([-30.0], [60]).tolist()
    [-0.5]
    """
    return lp(logprob) / _positive(n_bytes)


def norm_lp(logprob: npt.ArrayLike, unigram_logprob: npt.ArrayLike) -> Floats:
    """Divide the log probability by that of the words alone.

    Parameters
    ----------
    logprob : array-like of float
        Natural log probability of each sentence.
    unigram_logprob : array-like of float
        Sum of the single words' natural log probabilities over the same tokens.

    Returns
    -------
    ndarray of float
        NormLP = -log p / log p_u; NaN where log p_u is 0 or missing.

    Examples
    --------
    >>> norm_lp([-30.0], [-45.0]).round(6).tolist()
    [-0.666667]
    """
    words = np.array(unigram_logprob, dtype=np.float64)
    return -lp(logprob) / np.where(words == 0, np.nan, words)


def slor(logprob: npt.ArrayLike, unigram_logprob: npt.ArrayLike, n_tokens: npt.ArrayLike) -> Floats:
    """Give the syntactic log-odds ratio: what the context adds to each word on average.

    Parameters
    ----------
    logprob : array-like of float
        Natural log probability of each sentence.
    unigram_logprob : array-like of float
        Sum of the single words' natural log probabilities over the same tokens.
    n_tokens : array-like of int
        Tokens of each sentence without boundary marks.

    Returns
    -------
    ndarray of float
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
    n = np.array(n_tokens, dtype=np.float64)
    return np.where(n > 0, n, np.nan)
