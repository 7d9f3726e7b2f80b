"""Baselines of the ADC: a constant difference, chance, recalibrated models, and skill relative to humans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from .criteria import DELTAS, FloatArray, Signs, adc_counts, adc_shares, as_floats
from .intervals import FOLDS, cluster_folds

PERMUTATIONS = 1_000


@dataclass(frozen=True)
class Constant:
    """Results of a baseline that predicts the same difference for every pair."""

    value: float | None
    blimp: float | None
    adc: dict[float, float | None]


@dataclass(frozen=True)
class Chance:
    """Results of a model's scores randomly permuted over its sentences."""

    permutations: int
    blimp: float | None
    adc: dict[float, float | None]
    interval: dict[float, tuple[float, float] | None]


def constant_baseline(
    human_delta: npt.ArrayLike,
    value: float | None = None,
    *,
    deltas: Sequence[float] = DELTAS,
    signs: Signs = "strict",
) -> Constant:
    """Evaluate a baseline that predicts the same difference, by default the median, for every pair.

    Notes
    -----
    The median exceeds published language models at δ = 0.5 and 1, without any information about the pairs:
    the ADC rewards a typical size of difference.

    Examples
    --------
    >>> constant_baseline([1.0, 1.2, 3.0], deltas=[0.5]).adc
    {0.5: 0.6666666666666666}
    """
    human = as_floats(human_delta)
    human = human[~np.isnan(human)]
    if not human.size:
        return Constant(value, None, {float(delta): None for delta in deltas})
    answer = float(np.median(human)) if value is None else float(value)
    model = np.full(human.shape, answer)
    return Constant(answer, float(answer > 0), adc_shares(human, model, deltas=deltas, signs=signs))


def permutation_chance(
    scores: FloatArray,
    good: npt.NDArray[np.int64],
    bad: npt.NDArray[np.int64],
    human_delta: FloatArray,
    *,
    rng: np.random.Generator,
    deltas: Sequence[float] = DELTAS,
    signs: Signs = "strict",
    permutations: int = PERMUTATIONS,
) -> Chance:
    """Permute a model's standardized scores over its sentences at random, many times.

    Notes
    -----
    The chance level of the ADC is neither 0 nor one half: for normal scores about .175, .317 and .5 at
    δ = 0.5, 1 and 5. It depends on the distribution of the scores, hence on the model.

    References
    ----------
    Phipson & Smyth (2010), SAGMB 9: permutation. Vázquez Martínez (2021), "The Acceptability Delta
    Criterion", BlackboxNLP.
    """
    if not len(good):
        undefined = {float(delta): None for delta in deltas}
        return Chance(0, None, dict(undefined), dict(undefined))
    counts = np.empty((permutations, len(deltas)))
    preferred = np.empty(permutations)
    for draw in range(permutations):
        shuffled = rng.permutation(scores)
        model = shuffled[good] - shuffled[bad]
        preferred[draw] = np.count_nonzero(model > 0) / model.size
        counts[draw] = adc_counts(human_delta, model, deltas, signs=signs)
    shares = {float(delta): counts[:, column] / len(good) for column, delta in enumerate(deltas)}
    intervals = {delta: np.percentile(reached, [2.5, 97.5]) for delta, reached in shares.items()}
    return Chance(
        permutations,
        float(preferred.mean()),
        {delta: float(reached.mean()) for delta, reached in shares.items()},
        {delta: (float(low), float(high)) for delta, (low, high) in intervals.items()},
    )


def skill(
    adc: Mapping[float, float | None],
    constant: Mapping[float, float | None],
    ceiling: Mapping[float, float | None],
) -> dict[float, float | None]:
    """Rescale an ADC between the constant baseline (0) and another human sample (1).

    Notes
    -----
    ``(adc - constant) / (ceiling - constant)``; below 0 the model does worse than the
    constant. None when a part is undefined or humans do not exceed the constant.

    Examples
    --------
    >>> skill({0.5: 0.4}, {0.5: 0.5}, {0.5: 0.7})
    {0.5: -0.5}
    """
    skills: dict[float, float | None] = {}
    for delta, reached in adc.items():
        low, high = constant.get(delta), ceiling.get(delta)
        is_defined = reached is not None and low is not None and high is not None
        skills[delta] = round((reached - low) / (high - low), 12) if is_defined and high > low else None  # type: ignore[operator]
    return skills


def recalibrated_delta(
    human_delta: npt.ArrayLike, model_delta: npt.ArrayLike, clusters: pd.Series, *, folds: int = FOLDS
) -> FloatArray:
    """Predict human differences by a straight line fitted to the other clusters of pairs.

    Notes
    -----
    Human means of z have a standard deviation below 1, a model's z has 1: a plain ADC also measures this
    mismatch of units. The affine map Δh ≈ a + b·Δlm removes it.

    Examples
    --------
    >>> families = pd.Series(list("abcd"))
    >>> recalibrated_delta([1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0], families).round(6).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    human, model = as_floats(human_delta), as_floats(model_delta)
    complete = ~(np.isnan(human) | np.isnan(model))
    predicted = np.full(human.shape, np.nan)
    fold = cluster_folds(clusters.where(complete), folds=folds)
    for part in np.unique(fold[complete]):
        is_held_out = complete & (fold == part)
        is_fitted = complete & (fold != part)
        # Standardizing leaves rounding errors in differences that are equal: no line goes through them.
        rounding = 1e-12 * np.abs(model[is_fitted]).max(initial=0.0)
        if is_fitted.sum() < 3 or np.ptp(model[is_fitted]) <= rounding:
            continue
        slope, intercept = np.polyfit(model[is_fitted], human[is_fitted], 1)
        predicted[is_held_out] = intercept + slope * model[is_held_out]
    return predicted


def held_out_mean(human_delta: npt.ArrayLike, clusters: pd.Series, *, folds: int = FOLDS) -> FloatArray:
    """Predict each pair by the mean human difference of the other clusters: the recalibrated constant.

    Examples
    --------
    >>> held_out_mean([1.0, 2.0, 3.0], pd.Series(list("abc"))).tolist()
    [2.5, 2.0, 1.5]
    """
    human = as_floats(human_delta)
    labeled = ~np.isnan(human)
    fold = cluster_folds(clusters.where(labeled), folds=folds)
    predicted = np.full(human.shape, np.nan)
    for part in np.unique(fold[labeled]):
        outside = labeled & (fold != part)
        if outside.any():
            predicted[labeled & (fold == part)] = human[outside].mean()
    return predicted


def recalibrated_adc(
    human_delta: npt.ArrayLike,
    model_delta: npt.ArrayLike,
    clusters: pd.Series,
    *,
    deltas: Sequence[float] = DELTAS,
    signs: Signs = "strict",
) -> dict[float, float | None]:
    """Return the ADC of a model after a cross-validated affine map."""
    predicted = recalibrated_delta(human_delta, model_delta, clusters)
    return adc_shares(as_floats(human_delta), predicted, deltas=deltas, signs=signs)
