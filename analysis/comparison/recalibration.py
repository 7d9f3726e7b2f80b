"""ADC after putting a model's differences on people's scale."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.comparison.baselines import adc_shares
from analysis.comparison.criteria import DELTAS, FloatArray, Signs, as_floats

FOLDS = 10


def recalibrated_delta(
    human_delta: npt.ArrayLike, model_delta: npt.ArrayLike, clusters: pd.Series, *, folds: int = FOLDS
) -> FloatArray:
    """Predict people's differences by a straight line fitted to the other families of pairs.

    Parameters
    ----------
    human_delta, model_delta : array-like of float
        Differences, one per pair.
    clusters : Series
        Family of each pair; a family is never in the fit that predicts it.
    folds : int
        Number of parts; families are dealt out in order of size, the largest first.

    Returns
    -------
    ndarray of float
        Predicted differences; NaN for pairs with a gap, and everywhere when no line can be fitted.

    Notes
    -----
    People's means of z have a standard deviation below 1, a model's z has 1: a plain ADC also
    measures this mismatch of units. The affine map Δh ≈ a + b·Δlm takes it out.

    Examples
    --------
    >>> families = pd.Series(list("abcd"))
    >>> recalibrated_delta([1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0], families).round(6).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    human, model = as_floats(human_delta), as_floats(model_delta)
    known = ~(np.isnan(human) | np.isnan(model))
    predicted = np.full(human.shape, np.nan)
    sizes = clusters[known].value_counts()
    fold_of = {name: place % folds for place, name in enumerate(sizes.index)}
    fold = clusters.map(fold_of).to_numpy()
    for part in range(min(folds, len(sizes))):
        inside = known & (fold == part)
        fitted = known & (fold != part)
        if fitted.sum() < 3 or np.ptp(model[fitted]) == 0:
            continue
        slope, intercept = np.polyfit(model[fitted], human[fitted], 1)
        predicted[inside] = intercept + slope * model[inside]
    return predicted


def held_out_mean(human_delta: npt.ArrayLike, clusters: pd.Series, *, folds: int = FOLDS) -> FloatArray:
    """Predict each pair by people's mean difference in the other families: the recalibrated constant.

    Parameters
    ----------
    human_delta : array-like of float
        People's differences, one per pair.
    clusters : Series
        Family of each pair.
    folds : int
        As in :func:`recalibrated_delta`.

    Returns
    -------
    ndarray of float
        NaN for pairs with a gap, and everywhere with a single family.

    Examples
    --------
    >>> held_out_mean([1.0, 2.0, 3.0], pd.Series(list("abc"))).tolist()
    [2.5, 2.0, 1.5]
    """
    human = as_floats(human_delta)
    known = ~np.isnan(human)
    sizes = clusters[known].value_counts()
    fold = clusters.map({name: place % folds for place, name in enumerate(sizes.index)}).to_numpy()
    predicted = np.full(human.shape, np.nan)
    for part in range(min(folds, len(sizes))):
        outside = known & (fold != part)
        if outside.any():
            predicted[known & (fold == part)] = human[outside].mean()
    return predicted


def recalibrated_adc(
    human_delta: npt.ArrayLike,
    model_delta: npt.ArrayLike,
    clusters: pd.Series,
    *,
    deltas: Sequence[float] = DELTAS,
    signs: Signs = "strict",
) -> dict[float, float | None]:
    """Give the ADC of a model after a cross-validated affine map.

    Parameters
    ----------
    human_delta, model_delta : array-like of float
        Differences, one per pair.
    clusters : Series
        Family of each pair.
    deltas : sequence of float
        The δ wanted.
    signs : {"strict", "published"}
        How zeros are treated.

    Returns
    -------
    dict of δ to float or None
        Share of pairs that meet the criterion.

    See Also
    --------
    recalibrated_delta : The prediction itself.
    """
    predicted = recalibrated_delta(human_delta, model_delta, clusters)
    return adc_shares(as_floats(human_delta), predicted, deltas=deltas, signs=signs)
