"""Cohen's kappa for more than two annotators: the mean over pairs of them."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.agreement.cohen import cohen_kappa
from analysis.columns import require_columns
from analysis.rows import group_codes

LEAST_COMMON = 10
MOST_PAIRS = 300
_MOST_CELLS = 20_000_000


def light_kappa(
    answers: pd.DataFrame,
    *,
    weights: str = "none",
    least_common: int = LEAST_COMMON,
    most_pairs: int = MOST_PAIRS,
    seed: int = 0,
) -> dict[str, Any]:
    """Average Cohen's kappa over pairs of annotators with enough common units.

    Parameters
    ----------
    answers : DataFrame, one row per answer
        Needs ``unit``, ``participant`` and ``value``; the first answer to a unit counts.
    weights : {"none", "linear", "quadratic"}
        As in :func:`analysis.agreement.cohen.cohen_kappa`.
    least_common : int
        Units that two annotators must share.
    most_pairs : int
        Where there are more pairs, so many are drawn.
    seed : int
        Of the draw.

    Returns
    -------
    dict
        ``value``, ``low`` and ``high`` (quartiles over pairs), ``pairs``, ``drawn`` (whether the pairs are
        a draw) and ``status``: ``ok``, ``no_data``, ``too_few`` (no pair with enough common units) or
        ``no_variation`` (no pair whose kappa is defined).

    Raises
    ------
    MissingColumns
        If a column is absent.

    Notes
    -----
    Each pair has its own marginals, so that a rater's bias counts as disagreement. For sparse designs
    Krippendorff's alpha uses all answers and is to be preferred.

    References
    ----------
    Light (1971), Psychological Bulletin 76; Cohen (1968), Psychological Bulletin 70.

    Examples
    --------
    >>> rows = pd.DataFrame(
    ...     {"participant": list("aaabbb"), "unit": [1, 2, 3] * 2, "value": [0, 1, 1, 0, 1, 0]})
    >>> round(light_kappa(rows, least_common=3)["value"], 3)
    0.4
    """
    require_columns(answers, "unit", "participant", "value")
    known = answers[answers["value"].notna()]
    empty = {"value": None, "low": None, "high": None, "pairs": 0, "drawn": False}
    if known.empty:
        return empty | {"status": "no_data"}
    person, people = group_codes(known["participant"])
    unit, units = group_codes(known["unit"])
    if len(people) * len(units) > _MOST_CELLS:
        chosen = np.random.default_rng(seed).permutation(len(people))[: _MOST_CELLS // len(units)]
        inside = np.isin(person, chosen)
        person, unit, known = np.unique(person[inside], return_inverse=True)[1], unit[inside], known[inside]
    table = np.full((int(person.max(initial=-1)) + 1, len(units)), np.nan)
    table[person[::-1], unit[::-1]] = known["value"].to_numpy(dtype=np.float64)[::-1]
    answered = ~np.isnan(table)
    common = answered.astype(np.float32) @ answered.astype(np.float32).T
    pairs = [pair for pair in combinations(range(len(table)), 2) if common[pair] >= least_common]
    if not pairs:
        return empty | {"status": "too_few"}
    drawn = len(pairs) > most_pairs
    if drawn:
        order = np.random.default_rng(seed).permutation(len(pairs))[:most_pairs]
        pairs = [pairs[place] for place in sorted(order)]
    found = [cohen_kappa(pd.Series(table[a]), pd.Series(table[b]), weights=weights).value for a, b in pairs]
    values = np.array([value for value in found if value is not None])
    if len(values) == 0:
        return empty | {"status": "no_variation"}
    low, high = np.quantile(values, [0.25, 0.75])
    return {
        "value": float(values.mean()),
        "low": float(low),
        "high": float(high),
        "pairs": len(values),
        "drawn": drawn,
        "status": "ok",
    }
