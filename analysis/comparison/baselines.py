"""What an ADC is to be read against: one answer for every pair, chance, and people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.comparison.criteria import DELTAS, FloatArray, Signs, adc_counts, as_floats

PERMUTATIONS = 1_000


@dataclass(frozen=True)
class Constant:
    """The scorer that gives every pair the same difference."""

    value: float | None
    blimp: float | None
    adc: dict[float, float | None]


@dataclass(frozen=True)
class Chance:
    """What a model's own scores give once they are dealt out at random to the sentences."""

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
    """Score the answer "this much" for every pair.

    Parameters
    ----------
    human_delta : array-like of float
        People's differences; gaps are left out.
    value : float, optional
        The one answer; by default the median of people's differences.
    deltas : sequence of float
        The δ wanted.
    signs : {"strict", "published"}
        How zeros are treated.

    Returns
    -------
    Constant
        The value, its BLiMP criterion and its ADC at each δ; None throughout without data.

    Notes
    -----
    It knows nothing of any pair, and yet the median beats published language models at δ = 0.5 and 1:
    the ADC rewards the right typical size.

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


def adc_shares(
    human_delta: FloatArray, model_delta: FloatArray, *, deltas: Sequence[float], signs: Signs
) -> dict[float, float | None]:
    """Give the share of pairs that meet the ADC at each δ.

    Parameters
    ----------
    human_delta, model_delta : ndarray of float
        Differences; pairs with a gap are left out.
    deltas : sequence of float
        The δ wanted.
    signs : {"strict", "published"}
        How zeros are treated.

    Returns
    -------
    dict of δ to float or None
        None when no pair has both differences.

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
    """Deal a model's standardized scores out at random to its sentences, many times.

    Parameters
    ----------
    scores : ndarray of float
        The model's score of every sentence of the set, without gaps.
    good, bad : ndarray of int
        Place in ``scores`` of the members of each pair.
    human_delta : ndarray of float
        People's differences of the same pairs, without gaps.
    rng : Generator
        Source of randomness.
    deltas : sequence of float
        The δ wanted.
    signs : {"strict", "published"}
        How zeros are treated.
    permutations : int
        Number of deals.

    Returns
    -------
    Chance
        Mean BLiMP criterion and ADC over the deals, with the 2.5 and 97.5 percentiles of the ADC.

    Notes
    -----
    Chance of the ADC is neither 0 nor one half: for normal scores about .175, .317 and .5 at δ = 0.5, 1
    and 5. It depends on the distribution of the scores, hence on the model.

    References
    ----------
    Phipson & Smyth (2010), SAGMB 9: permutation. Vázquez Martínez (2021), "The Acceptability Delta
    Criterion", BlackboxNLP.
    """
    if not len(good):
        nothing = {float(delta): None for delta in deltas}
        return Chance(0, None, dict(nothing), dict(nothing))
    counts = np.empty((permutations, len(deltas)))
    preferred = np.empty(permutations)
    for deal in range(permutations):
        shuffled = rng.permutation(scores)
        model = shuffled[good] - shuffled[bad]
        preferred[deal] = np.count_nonzero(model > 0) / model.size
        counts[deal] = adc_counts(human_delta, model, deltas, signs=signs)
    shares = {float(delta): counts[:, place] / len(good) for place, delta in enumerate(deltas)}
    ends = {delta: np.percentile(found, [2.5, 97.5]) for delta, found in shares.items()}
    return Chance(
        permutations,
        float(preferred.mean()),
        {delta: float(found.mean()) for delta, found in shares.items()},
        {delta: (float(low), float(high)) for delta, (low, high) in ends.items()},
    )


def skill(
    adc: Mapping[float, float | None],
    constant: Mapping[float, float | None],
    ceiling: Mapping[float, float | None],
) -> dict[float, float | None]:
    """Place an ADC between the constant (0) and another sample of people (1).

    Parameters
    ----------
    adc, constant, ceiling : mapping of δ to float or None
        ADC of the model, of the constant baseline and of people.

    Returns
    -------
    dict of δ to float or None
        ``(adc - constant) / (ceiling - constant)``; below 0 the model does worse than one answer for
        all. None when a part is unknown or people do not exceed the constant.

    Examples
    --------
    >>> skill({0.5: 0.4}, {0.5: 0.5}, {0.5: 0.7})
    {0.5: -0.5}
    """
    found: dict[float, float | None] = {}
    for delta, reached in adc.items():
        low, high = constant.get(delta), ceiling.get(delta)
        known = reached is not None and low is not None and high is not None
        found[delta] = round((reached - low) / (high - low), 12) if known and high > low else None  # type: ignore[operator]
    return found
