"""Cohen's kappa of two annotators, plain and weighted, and Light's kappa, its mean over pairs."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ..columns import require_columns
from ..errors import BadInput, UnknownName
from ..rows import Floats, group_codes
from .chance_corrected import Coefficient, one_answer_each

WEIGHTS = ("none", "linear", "quadratic")


def cohen_kappa(first: pd.Series, second: pd.Series, *, weights: str = "none") -> Coefficient:
    """Compute Cohen's kappa of two annotators who answered the same items.

    Notes
    -----
    κ_w = 1 - Σ w_vw o_vw / Σ w_vw e_vw with o the joint and e the product of the marginal shares. Distances
    are those of the scale points, so unused points count as steps too. For more than two annotators
    use :func:`obelus.reliability.chance_corrected.krippendorff_alpha`.

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
    ratings, other_ratings = first.to_numpy(), second.to_numpy()
    paired = ~(pd.isna(ratings) | pd.isna(other_ratings))
    if not paired.any():
        return Coefficient(None, "no_data")
    answers = np.concatenate([ratings[paired], other_ratings[paired]])
    codes, categories = pd.factorize(answers, sort=True)
    q, n = len(categories), int(paired.sum())
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


# Units that a pair of annotators must share.
MIN_COMMON = 10
MAX_PAIRS = 300  # pairs of annotators; more are sampled
# Annotators × units of the dense table (160 MB); more annotators are sampled.
_MAX_CELLS = 20_000_000


def light_kappa(
    answers: pd.DataFrame,
    *,
    weights: str = "none",
    min_common: int = MIN_COMMON,
    max_pairs: int = MAX_PAIRS,
    seed: int = 0,
) -> dict[str, Any]:
    """Average Cohen's kappa over pairs of annotators with enough common units.

    Notes
    -----
    ``value``, ``low`` and ``high`` (quartiles over pairs), ``pairs``, ``drawn`` (whether the pairs are
    a sample) and ``status``: ``ok``, ``no_data``, ``too_few`` (no pair with enough common units) or
    ``no_variation`` (no pair whose kappa is defined).

    Each pair has its own marginals, so that a rater's bias counts as disagreement. Krippendorff's alpha
    uses all answers and is preferable for sparse designs.

    References
    ----------
    Light (1971), Psychological Bulletin 76; Cohen (1968), Psychological Bulletin 70.

    Examples
    --------
    >>> rows = pd.DataFrame(
    ...     {"participant": list("aaabbb"), "unit": [1, 2, 3] * 2, "value": [0, 1, 1, 0, 1, 0]})
    >>> round(light_kappa(rows, min_common=3)["value"], 3)
    0.4
    """
    require_columns(answers, "unit", "participant", "value")
    rows = one_answer_each(answers)
    empty = {"value": None, "low": None, "high": None, "pairs": 0, "drawn": False}
    if rows.empty:
        return empty | {"status": "no_data"}
    person, people = group_codes(rows["participant"])
    unit, units = group_codes(rows["unit"])
    if len(people) * len(units) > _MAX_CELLS:
        chosen = np.random.default_rng(seed).permutation(len(people))[: _MAX_CELLS // len(units)]
        is_chosen = np.isin(person, chosen)
        person = np.unique(person[is_chosen], return_inverse=True)[1]
        unit, rows = unit[is_chosen], rows[is_chosen]
    table = np.full((int(person.max(initial=-1)) + 1, len(units)), np.nan)
    table[person, unit] = rows["value"].to_numpy(dtype=np.float64)
    answered = ~np.isnan(table)
    common = answered.astype(np.float32) @ answered.astype(np.float32).T
    pairs = [pair for pair in combinations(range(len(table)), 2) if common[pair] >= min_common]
    if not pairs:
        return empty | {"status": "too_few"}
    is_sample = len(pairs) > max_pairs
    if is_sample:
        order = np.random.default_rng(seed).permutation(len(pairs))[:max_pairs]
        pairs = [pairs[place] for place in sorted(order)]
    kappas = [cohen_kappa(pd.Series(table[a]), pd.Series(table[b]), weights=weights).value for a, b in pairs]
    values = np.array([value for value in kappas if value is not None])
    if len(values) == 0:
        return empty | {"status": "no_variation"}
    low, high = np.quantile(values, [0.25, 0.75])
    return {
        "value": float(values.mean()),
        "low": float(low),
        "high": float(high),
        "pairs": len(values),
        "drawn": is_sample,
        "status": "ok",
    }
