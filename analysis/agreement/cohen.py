"""Agreement of two annotators: Cohen's kappa, plain and weighted."""

import numpy as np
import pandas as pd

from analysis.agreement.chance_corrected import Coefficient
from analysis.errors import BadInput, UnknownName
from analysis.rows import Floats

WEIGHTS = ("none", "linear", "quadratic")


def cohen_kappa(first: pd.Series, second: pd.Series, *, weights: str = "none") -> Coefficient:
    """Give Cohen's kappa of two annotators who answered the same items.

    Parameters
    ----------
    first, second : Series of equal length
        Answers of the two, item by item; items that one of them left out do not count.
    weights : {"none", "linear", "quadratic"}
        How far apart two different answers are: all alike, |v - w|, or (v - w)². The last two need
        numbers (scale points).

    Returns
    -------
    Coefficient
        ``no_data`` without a common item, ``no_variation`` where chance alone would agree on everything.

    Raises
    ------
    UnknownName
        If the weights are another word.
    BadInput
        If the lengths differ, or weighted answers are not numbers.

    Notes
    -----
    κ_w = 1 - Σ w_vw o_vw / Σ w_vw e_vw with o the joint and e the product of the marginal shares. Distances
    are those of the scale points, so a point nobody used still counts as a step. For more than two annotators
    use :func:`analysis.agreement.chance_corrected.krippendorff_alpha`.

    References
    ----------
    Cohen (1960), Educational and Psychological Measurement 20; Cohen (1968), Psychological Bulletin 70.

    Examples
    --------
    >>> a, b = pd.Series([1, 2, 3, 3]), pd.Series([1, 2, 3, 2])
    >>> round(cohen_kappa(a, b).value, 4), round(cohen_kappa(a, b, weights="linear").value, 4)
    (0.6364, 0.7143)
    """
    if weights not in WEIGHTS:
        raise UnknownName("weighting", weights, WEIGHTS)
    if len(first) != len(second):
        raise BadInput(
            f"there are {len(first)} and {len(second)} answers.", remedy="Give one of each per item."
        )
    one, other = first.to_numpy(), second.to_numpy()
    both = ~(pd.isna(one) | pd.isna(other))
    if not both.any():
        return Coefficient(None, "no_data")
    answers = np.concatenate([one[both], other[both]])
    codes, categories = pd.factorize(answers, sort=True)
    q, n = len(categories), int(both.sum())
    joint = np.bincount(codes[:n] * q + codes[n:], minlength=q * q).reshape(q, q) / n
    distance = _distances(np.asarray(categories), weights=weights)
    expected = float((distance * np.outer(joint.sum(axis=1), joint.sum(axis=0))).sum())
    if expected == 0:
        return Coefficient(None, "no_variation")
    return Coefficient(1 - float((distance * joint).sum()) / expected)


def _distances(categories: np.ndarray, *, weights: str) -> Floats:
    if weights == "none":
        return 1.0 - np.eye(len(categories))
    try:
        points = categories.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput("weighted kappa needs numbers.", remedy="Use weights none for words.") from error
    apart: Floats = np.abs(points[:, None] - points[None, :])
    return apart if weights == "linear" else apart**2
