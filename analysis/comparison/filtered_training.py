"""What a model loses when a construction is filtered out of its training corpus (FiCT)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.comparison.criteria import as_floats
from analysis.errors import NotEnoughData


def accuracy_delta(filtered: float, full: Sequence[float]) -> float:
    """Give the accuracy of the filtered model minus the mean of models of the full corpus.

    Parameters
    ----------
    filtered : float
        Accuracy of the model trained without the construction.
    full : sequence of float
        Accuracy of the models trained on everything, one per seed.

    Returns
    -------
    float
        Difference in the unit given (points or shares); negative when filtering hurts.

    Raises
    ------
    NotEnoughData
        Without any full-corpus model.

    References
    ----------
    Patil, Jumelet et al. (2024), "Filtered Corpus Training (FiCT)", TACL, equation 1.

    Examples
    --------
    >>> accuracy_delta(70.0, [74.0, 76.0, 75.0, 73.0, 77.0])
    -5.0
    """
    if not len(full):
        raise NotEnoughData("an accuracy delta needs at least one model of the full corpus.")
    return float(filtered - np.mean(np.asarray(full, dtype=float)))


def probability_delta(logprob_good: npt.ArrayLike, logprob_bad: npt.ArrayLike) -> pd.Series:
    """Give log P(good) - log P(bad) of each pair, in nats.

    Parameters
    ----------
    logprob_good, logprob_bad : array-like of float
        Natural log probabilities of the two members.

    Returns
    -------
    Series of float
        Positive when the model prefers the acceptable member; NaN where one is missing.

    References
    ----------
    Patil, Jumelet et al. (2024), "Filtered Corpus Training (FiCT)", TACL, equation 2.

    Examples
    --------
    >>> probability_delta([-20.5], [-23.0]).tolist()
    [2.5]
    """
    return pd.Series(as_floats(logprob_good) - as_floats(logprob_bad))
