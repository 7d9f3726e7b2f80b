"""The ADC over δ that a model's own scores reach when they are dealt out at random."""

import numpy as np
import numpy.typing as npt

from analysis.comparison.criteria import FloatArray, Signs, signs_agree

PERMUTATIONS = 100


def chance_curve(
    scores: FloatArray,
    good: npt.NDArray[np.int64],
    bad: npt.NDArray[np.int64],
    human_delta: FloatArray,
    *,
    grid: FloatArray,
    rng: np.random.Generator,
    signs: Signs = "strict",
    permutations: int = PERMUTATIONS,
) -> FloatArray:
    """Deal standardized scores out at random and give the mean ADC at every δ of a grid.

    Parameters
    ----------
    scores : ndarray of float
        The model's score of every sentence of the set, without gaps.
    good, bad : ndarray of int
        Place in ``scores`` of the members of each pair.
    human_delta : ndarray of float
        People's differences of the same pairs, without gaps.
    grid : ndarray of float
        Ascending δ.
    rng : Generator
        Source of randomness.
    signs : {"strict", "published"}
        How zeros are treated.
    permutations : int
        Number of deals.

    Returns
    -------
    ndarray of float
        One ADC per δ; NaN without pairs.

    See Also
    --------
    analysis.comparison.baselines.permutation_chance : The same at a few δ, with an interval.

    Notes
    -----
    Each deal's distances of pairs whose signs agree are sorted once; the count below δ is strict.

    Examples
    --------
    >>> scores, human = np.array([1.0, -1.0]), np.array([2.0])
    >>> rng = np.random.default_rng(0)
    >>> float(chance_curve(scores, np.array([0]), np.array([1]), human, grid=np.array([0.5]), rng=rng)[0]) < 1
    True
    """
    if not len(good):
        return np.full(len(grid), np.nan)
    found = np.zeros(len(grid))
    for _ in range(permutations):
        shuffled = rng.permutation(scores)
        model = shuffled[good] - shuffled[bad]
        agree = signs_agree(human_delta, model, signs=signs)
        distances = np.sort(np.abs(human_delta - model)[agree])
        found += np.searchsorted(distances, grid, side="left") / len(good)
    return found / permutations
