"""When does a model agree with people about a minimal pair: the BLiMP criterion and the ADC."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.errors import BadInput

Signs = Literal["strict", "published"]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

DELTAS = (0.5, 1.0, 5.0)
_DECIMALS = 12


def standardize(scores: pd.Series) -> pd.Series:
    """Turn scores into standard deviations from the mean of all sentences, each counted once.

    Parameters
    ----------
    scores : Series of float
        One score per sentence of the set, indexed by ``sentence_id``; missing scores are left out.

    Returns
    -------
    Series of float, same index
        ``(score - mean) / sd`` with ddof 0; NaN where the score is missing, and everywhere when
        all scores are equal.

    Notes
    -----
    The population is the whole set of sentences, not the members of the pairs: a sentence that
    belongs to several pairs counts once. Vázquez Martínez (2021) standardizes model scores so.

    Examples
    --------
    >>> standardize(pd.Series([1.0, 2.0, 3.0])).round(4).tolist()
    [-1.2247, 0.0, 1.2247]
    """
    values = scores.astype(float)
    spread = float(values.std(ddof=0))
    if not spread > 0:
        return pd.Series(np.nan, index=scores.index, dtype=float)
    return (values - float(values.mean())) / spread


def blimp_criterion(good: npt.ArrayLike, bad: npt.ArrayLike) -> pd.Series:
    """Say for each pair whether the acceptable member scores strictly higher.

    Parameters
    ----------
    good, bad : array-like of float
        The model's scores of the two members, in the same base and tokenisation.

    Returns
    -------
    Series of boolean
        True, False (equal scores are a failure), or missing where a score is missing.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8.

    Examples
    --------
    >>> blimp_criterion([-10.0, -12.0, -9.0], [-11.0, -12.0, None]).tolist()
    [True, False, <NA>]
    """
    first, second = as_floats(good), as_floats(bad)
    return _nullable(first > second, missing=np.isnan(first) | np.isnan(second))


def acceptability_delta_criterion(
    human_delta: npt.ArrayLike, model_delta: npt.ArrayLike, *, delta: float = 1.0, signs: Signs = "strict"
) -> pd.Series:
    """Say for each pair whether the model's difference is people's difference to within δ.

    Parameters
    ----------
    human_delta, model_delta : array-like of float
        Standardized score of the acceptable member minus that of the other, from people and model.
    delta : float
        Largest distance, not itself included.
    signs : {"strict", "published"}
        ``strict``: both differences must be non-zero and point the same way. ``published``: the test
        is ``(human > 0) == (model > 0)``, which lets a zero pass beside a negative difference and
        reproduces the published table.

    Returns
    -------
    Series of boolean
        Whether the criterion is met; missing where a difference is missing.

    Notes
    -----
    ADC_δ holds iff ``sign(Δh) = sign(Δlm)`` and ``|Δh - Δlm| < δ`` (equations 1 and 2). A distance that
    equals δ to twelve decimals is at δ, hence outside.

    References
    ----------
    Vázquez Martínez (2021), "The Acceptability Delta Criterion", BlackboxNLP.

    Examples
    --------
    >>> acceptability_delta_criterion([2.32, 1.0, None], [0.63, 0.5, 0.4], delta=1.0).tolist()
    [False, True, <NA>]
    """
    human, model = as_floats(human_delta), as_floats(model_delta)
    missing = np.isnan(human) | np.isnan(model)
    return _nullable(adc_met(human, model, delta=delta, signs=signs), missing=missing)


def adc_passes(
    human_delta: FloatArray, model_delta: FloatArray, *, delta: float, signs: Signs = "strict"
) -> FloatArray:
    """Give 1 where the ADC is met, 0 where not, NaN where a difference is missing.

    Parameters
    ----------
    human_delta, model_delta : ndarray of float
        Differences, one per pair.
    delta : float
        Largest distance, not itself included.
    signs : {"strict", "published"}
        How zeros are treated.

    Returns
    -------
    ndarray of float
        Ready for means that leave gaps out.

    Examples
    --------
    >>> adc_passes(np.array([1.0, np.nan]), np.array([1.2, 0.3]), delta=0.5).tolist()
    [1.0, nan]
    """
    met = adc_met(human_delta, model_delta, delta=delta, signs=signs).astype(np.float64)
    return np.where(np.isnan(human_delta) | np.isnan(model_delta), np.nan, met)


def adc_met(
    human_delta: FloatArray, model_delta: FloatArray, *, delta: float, signs: Signs = "strict"
) -> BoolArray:
    """Evaluate the ADC on arrays that broadcast; a missing difference counts as not met.

    Parameters
    ----------
    human_delta, model_delta : ndarray of float
        Differences; any two shapes that broadcast.
    delta : float
        Largest distance, not itself included; must be positive.
    signs : {"strict", "published"}
        How zeros are treated, see :func:`acceptability_delta_criterion`.

    Returns
    -------
    ndarray of bool
        Whether the criterion is met.

    Raises
    ------
    BadInput
        If δ is not positive or ``signs`` is not a known word.

    Examples
    --------
    >>> adc_met(np.array([1.0, 1.0]), np.array([1.2, 2.0]), delta=0.5).tolist()
    [True, False]
    """
    if not delta > 0:
        raise BadInput(f"δ must be positive, got {delta:g}.", column="delta")
    distance = np.round(np.abs(human_delta - model_delta), _DECIMALS)
    met: BoolArray = signs_agree(human_delta, model_delta, signs=signs) & (distance < delta)
    return met


def adc_counts(
    human_delta: FloatArray, model_delta: FloatArray, deltas: Sequence[float], *, signs: Signs = "strict"
) -> npt.NDArray[np.int64]:
    """Count the pairs that meet the ADC at each of many δ, in one pass.

    Parameters
    ----------
    human_delta, model_delta : ndarray of float
        Differences of the same shape; a missing one counts as not met.
    deltas : sequence of float
        Largest distances, not themselves included; must be positive.
    signs : {"strict", "published"}
        How zeros are treated.

    Returns
    -------
    ndarray of int
        One count per δ, as the sums of :func:`adc_met`.

    Raises
    ------
    BadInput
        If a δ is not positive or ``signs`` is not a known word.

    Examples
    --------
    >>> adc_counts(np.array([1.0, 1.0]), np.array([0.5, 1.1]), [0.2, 0.5, 1.0]).tolist()
    [1, 1, 2]
    """
    for delta in deltas:
        if not delta > 0:
            raise BadInput(f"δ must be positive, got {delta:g}.", column="delta")
    agree = signs_agree(human_delta, model_delta, signs=signs)
    distance = np.sort(np.round(np.abs(human_delta[agree] - model_delta[agree]), _DECIMALS))
    return np.searchsorted(distance, np.asarray(deltas, dtype=np.float64), side="left").astype(np.int64)


def signs_agree(human_delta: FloatArray, model_delta: FloatArray, *, signs: Signs = "strict") -> BoolArray:
    """Say where the two differences point the same way.

    Parameters
    ----------
    human_delta, model_delta : ndarray of float
        Differences; any two shapes that broadcast.
    signs : {"strict", "published"}
        ``strict`` never lets a zero agree; ``published`` compares ``> 0`` with ``> 0``.

    Returns
    -------
    ndarray of bool
        Agreement; False where a difference is missing.

    Raises
    ------
    BadInput
        If ``signs`` is not a known word.

    Examples
    --------
    >>> signs_agree(np.array([0.0, 1.0]), np.array([-1.0, 2.0])).tolist()
    [False, True]
    >>> signs_agree(np.array([0.0, 1.0]), np.array([-1.0, 2.0]), signs="published").tolist()
    [True, True]
    """
    if signs not in ("strict", "published"):
        raise BadInput(f"unknown way to compare signs {signs!r}.", remedy="Use strict or published.")
    if signs == "strict":
        agree = np.sign(human_delta) * np.sign(model_delta) > 0
    else:
        known = ~(np.isnan(human_delta) | np.isnan(model_delta))
        agree = known & ((human_delta > 0) == (model_delta > 0))
    return np.asarray(agree, dtype=np.bool_)


def as_floats(values: npt.ArrayLike) -> FloatArray:
    """Read numbers with gaps (None, NaN, missing) as an array of floats.

    Parameters
    ----------
    values : array-like
        Numbers; gaps become NaN.

    Returns
    -------
    ndarray of float
        A new array.

    Examples
    --------
    >>> as_floats([1, None]).tolist()
    [1.0, nan]
    """
    return np.array(pd.to_numeric(pd.Series(values), errors="raise"), dtype=np.float64)


def _nullable(met: BoolArray, *, missing: BoolArray) -> pd.Series:
    return pd.Series(pd.array(met, dtype="boolean")).mask(missing)
