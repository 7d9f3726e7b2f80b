"""Criteria of agreement with humans: BLiMP, the Acceptability Delta Criterion (ADC), Matthews correlation."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import BadInput

Signs = Literal["strict", "published"]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

DELTAS = (0.5, 1.0, 5.0)
_DECIMALS = 12  # distances are rounded, so that float error does not move a pair across δ


def standardize(scores: pd.Series) -> pd.Series:
    """Standardize scores over all sentences, each counted once.

    Parameters
    ----------
    scores : Series of float
        One score per sentence of the set, indexed by ``sentence_id``; missing scores are omitted.

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
    """Test for each pair whether the acceptable member has the strictly higher score.

    Parameters
    ----------
    good : array-like of float
        Scores of the acceptable members.
    bad : array-like of float
        Scores of the unacceptable members, same length, with the same logarithm base and tokenization.

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
    """Test for each pair whether the model's difference is within δ of the human difference.

    Parameters
    ----------
    human_delta : array-like of float
        Standardized human score of the acceptable member minus that of the other, in standard deviations.
    model_delta : array-like of float
        The same difference of the model's standardized scores, same length.
    delta : float
        Upper bound of the distance (exclusive), in standard deviations.
    signs : {"strict", "published"}
        How differences of zero are treated. ``strict``: both differences must be non-zero and have the
        same sign. ``published``: the test is ``(human > 0) == (model > 0)``, which accepts a zero beside
        a negative difference and reproduces the published table.

    Returns
    -------
    Series of boolean
        Whether the criterion is met; missing where a difference is missing.

    Notes
    -----
    ADC_δ holds iff ``sign(Δh) = sign(Δlm)`` and ``|Δh - Δlm| < δ`` (equations 1 and 2). A distance that
    equals δ to twelve decimals counts as δ, hence as outside.

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


def adc_met(
    human_delta: FloatArray, model_delta: FloatArray, *, delta: float, signs: Signs = "strict"
) -> BoolArray:
    """Evaluate the ADC on arrays that broadcast; a missing difference counts as not met.

    Examples
    --------
    >>> adc_met(np.array([1.0, 1.0]), np.array([1.2, 2.0]), delta=0.5).tolist()
    [True, False]
    """
    if not delta > 0:
        raise BadInput(f"δ must be positive, got {delta:g}.", column="delta")
    distance = np.round(np.abs(human_delta - model_delta), _DECIMALS)
    passes: BoolArray = signs_agree(human_delta, model_delta, signs=signs) & (distance < delta)
    return passes


def adc_counts(
    human_delta: FloatArray, model_delta: FloatArray, deltas: Sequence[float], *, signs: Signs = "strict"
) -> npt.NDArray[np.int64]:
    """Count the pairs that meet the ADC at each of many δ, in one pass.

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


def adc_shares(
    human_delta: FloatArray, model_delta: FloatArray, *, deltas: Sequence[float], signs: Signs
) -> dict[float, float | None]:
    """Return the share of pairs that meet the ADC at each δ.

    Examples
    --------
    >>> adc_shares(np.array([1.2, 0.4]), np.array([0.9, -0.1]), deltas=[0.5, 1.0], signs="strict")
    {0.5: 0.5, 1.0: 0.5}
    """
    n_pairs = int((~(np.isnan(human_delta) | np.isnan(model_delta))).sum())
    if not n_pairs:
        return {float(delta): None for delta in deltas}
    counts = adc_counts(human_delta, model_delta, deltas, signs=signs)
    return {float(delta): int(count) / n_pairs for delta, count in zip(deltas, counts, strict=True)}


def signs_agree(human_delta: FloatArray, model_delta: FloatArray, *, signs: Signs = "strict") -> BoolArray:
    """Test where two differences have the same sign.

    Examples
    --------
    >>> signs_agree(np.array([0.0, 1.0]), np.array([-1.0, 2.0])).tolist()
    [False, True]
    >>> signs_agree(np.array([0.0, 1.0]), np.array([-1.0, 2.0]), signs="published").tolist()
    [True, True]
    """
    if signs not in ("strict", "published"):
        raise BadInput(f"unknown treatment of signs {signs!r}.", remedy="Use strict or published.")
    if signs == "strict":
        agree = np.sign(human_delta) * np.sign(model_delta) > 0
    else:
        complete = ~(np.isnan(human_delta) | np.isnan(model_delta))
        agree = complete & ((human_delta > 0) == (model_delta > 0))
    return np.asarray(agree, dtype=np.bool_)


def as_floats(values: npt.ArrayLike) -> FloatArray:
    """Convert numbers with missing values (None, NaN, NA) to an array of floats.

    Examples
    --------
    >>> as_floats([1, None]).tolist()
    [1.0, nan]
    """
    return np.array(pd.to_numeric(pd.Series(values), errors="raise"), dtype=np.float64)


def _nullable(passes: BoolArray, *, missing: BoolArray) -> pd.Series:
    return pd.Series(pd.array(passes, dtype="boolean")).mask(missing)


class Matthews(NamedTuple):
    """The coefficient, its status (``ok``, ``degenerate``, ``no_data``) and the number of rows."""

    mcc: float | None
    status: str
    n: int


def matthews_correlation(true: npt.ArrayLike, predicted: npt.ArrayLike) -> Matthews:
    """Correlate yes-no decisions with yes-no labels.

    The coefficient from -1 to 1; 0 with status ``degenerate`` when either side is constant.

    Notes
    -----
    ``(TP·TN - FP·FN) / sqrt((TP+FP)(TP+FN)(TN+FP)(TN+FN))``. A threshold for graded scores must be chosen
    on other data.

    References
    ----------
    Matthews (1975), Biochimica et Biophysica Acta 405.

    Examples
    --------
    >>> matthews_correlation([1, 1, 0, 0], [1, 1, 0, 0]).mcc
    1.0
    """
    label, decision = as_floats(true), as_floats(predicted)
    complete = ~(np.isnan(label) | np.isnan(decision))
    label, decision = label[complete], decision[complete]
    if not np.isin(np.concatenate([label, decision]), (0.0, 1.0)).all():
        raise BadInput("labels and decisions must be 0 or 1.")
    if not label.size:
        return Matthews(None, "no_data", 0)
    tp, tn = float(label @ decision), float((1 - label) @ (1 - decision))
    fp, fn = float((1 - label) @ decision), float(label @ (1 - decision))
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    if product == 0:
        return Matthews(0.0, "degenerate", int(label.size))
    return Matthews((tp * tn - fp * fn) / math.sqrt(product), "ok", int(label.size))
