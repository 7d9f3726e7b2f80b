"""What one test means for the author's contrast, and how many contrasts hold."""

from typing import Any

import pandas as pd

from analysis.aggregation.proportions import wilson_interval
from analysis.rows import none_if_nan

ANALYSES = ("direction", "two_tailed", "one_tailed", "bayes_factor", "mixed_model")
OUTCOMES = ("converges", "reversed", "null", "not_estimable")
ALPHA = 0.05
BAYES_CUT = 3.0


def outcome(
    analysis: str, result: dict[str, Any], *, alpha: float = ALPHA, bayes_cut: float = BAYES_CUT
) -> str:
    """Say what one result means for the predicted contrast.

    Parameters
    ----------
    analysis : str
        One of :data:`ANALYSES`.
    result : dict
        With ``estimate``, ``statistic`` and ``p``.
    alpha, bayes_cut : float

    Returns
    -------
    str
        One of :data:`OUTCOMES`.

    Examples
    --------
    >>> outcome("two_tailed", {"estimate": 0.4, "statistic": 3.1, "p": 0.004})
    'converges'
    >>> outcome("two_tailed", {"estimate": -0.4, "statistic": -3.1, "p": 0.004})
    'reversed'
    """
    estimate, p = result["estimate"], result["p"]
    if estimate is None or (analysis in ("two_tailed", "one_tailed", "mixed_model") and p is None):
        return "not_estimable"
    if analysis == "direction":
        met, other = estimate > 0, estimate < 0
    elif analysis == "one_tailed":
        met, other = p < alpha, result["p_less"] is not None and result["p_less"] < alpha
    elif analysis == "bayes_factor":
        if result["statistic"] is None:
            return "not_estimable"
        decided = result["statistic"] > bayes_cut
        met, other = decided and estimate > 0, decided and estimate < 0
    else:
        met, other = p < alpha and estimate > 0, p < alpha and estimate < 0
    return "converges" if met else "reversed" if other else "null"


def convergence_rates(table: pd.DataFrame, *, population: int | None = None) -> pd.DataFrame:
    """Give, for each task and analysis, the share of estimable contrasts that converge.

    Parameters
    ----------
    table : DataFrame
        Needs ``task``, ``analysis`` and ``outcome``.
    population : int, optional
        Size of the finite population sampled.

    Returns
    -------
    DataFrame
        ``task``, ``analysis``, the four outcomes' counts, ``estimable``, ``rate``, ``ci_low``, ``ci_high``
        (Wilson, 95 %; with a finite population the sample counts as n (N - 1) / (N - n)).

    Examples
    --------
    >>> rows = pd.DataFrame({"outcome": ["converges"] * 19 + ["null"]})
    >>> rows = rows.assign(task="likert", analysis="direction")
    >>> convergence_rates(rows)[["estimable", "rate"]].values.tolist()
    [[20.0, 0.95]]
    """
    found = []
    for (task, analysis), part in table.groupby(["task", "analysis"], sort=False):
        counts = {name: int((part["outcome"] == name).sum()) for name in OUTCOMES}
        n, k = len(part) - counts["not_estimable"], counts["converges"]
        known = bool(population and population > n > 0)
        weight = (population - 1) / (population - n) if known and population else 1.0
        low, high = wilson_interval(k * weight, n * weight)
        ends = {"ci_low": none_if_nan(float(low)), "ci_high": none_if_nan(float(high))}
        rate = k / n if n else None
        found.append({"task": task, "analysis": analysis, **counts, "estimable": n, "rate": rate, **ends})
    return pd.DataFrame(found)
