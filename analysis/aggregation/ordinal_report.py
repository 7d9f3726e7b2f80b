"""Likert ratings as ordered categories, contrast by contrast: the check beside the means."""

from typing import Any

import numpy as np
import pandas as pd
import scipy

from analysis.aggregation.ordinal import cumulative_link
from analysis.aggregation.ordinal_mixed import mixed_cumulative_link
from analysis.effects.reml import one_thread
from analysis.rows import column_or_blank, is_kind, none_if_nan, numbers, tasks

MOST_ROWS = 3_000
REASONS = {
    "no_data": "no rating of a sentence with an expected status",
    "no_variation": "one point of the scale, or one side of the contrast, only",
    "not_converged": "no optimum was found",
    "too_many_rows": f"more than {MOST_ROWS:,} ratings: only the model without intercepts is fitted",
}


def ordinal_report(
    judgments: pd.DataFrame, *, by: str = "phenomenon", experiment: str = ""
) -> dict[str, Any]:
    """Fit the cumulative link model to every contrast, with and without crossed random intercepts.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment of a Likert study
        The kept rows; needs ``participant``, ``item``, ``value`` and ``expected``.
    by : str
        Column of the contrasts.
    experiment : str
        Copied into the document.

    Returns
    -------
    dict
        JSON-ready: ``rows`` with ``beta`` and ``se`` (logits, acceptable minus unacceptable) of both
        models, the ``thresholds``, the variances, ``p`` (Wald) and for each model ``status`` and
        ``reason``; ``conventions``.

    See Also
    --------
    analysis.aggregation.ordinal_mixed.mixed_cumulative_link : One contrast, with the formula.

    References
    ----------
    Liddell & Kruschke (2018), JESP 79; Agresti (2010), *Analysis of Ordinal Categorical Data*.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": ["a"], "item": ["i"], "value": [3], "expected": ["acceptable"],
    ...     "task": ["likert"]})
    >>> ordinal_report(rows)["rows"][0]["status"]
    'not_estimable'
    """
    found = []
    likert = (
        judgments[(tasks(judgments).astype(object) == "likert").to_numpy()] if len(judgments) else judgments
    )
    if len(likert) and "expected" in likert.columns:
        value = numbers(likert)
        used = is_kind(likert, ("target",)) & ~np.isnan(value)
        used &= likert["expected"].astype(object).isin(["acceptable", "unacceptable"]).to_numpy()
        rows = likert[used].assign(rating=value[used])
        with one_thread():
            groups = rows.groupby(column_or_blank(rows, by).astype(str), sort=True)
            found = [{by: str(name), **_fits(part)} for name, part in groups]
    return {
        "experiment": experiment,
        "by": by,
        "rows": found,
        "conventions": {
            "model": "logit P(rating <= j) = threshold_j - beta * condition; condition: 1 acceptable, 0 not",
            "fixed": "without intercepts: ratings of one person count as independent; beta is shrunken",
            "mixed": "crossed intercepts of participants and items, Laplace; p by Wald",
        },
    }


def _fits(rows: pd.DataFrame) -> dict[str, Any]:
    good = (rows["expected"].astype(object) == "acceptable").astype(float)
    ratings = rows["rating"].astype(float)
    fixed = cumulative_link(ratings, pd.DataFrame({"condition": good}))
    told = {
        "n": len(rows),
        "participants": int(rows["participant"].nunique()),
        "items": int(rows["item"].nunique()),
        "beta_fixed": fixed.beta.get("condition"),
        "se_fixed": fixed.se.get("condition"),
        "thresholds": fixed.thresholds,
        "beta": None,
        "se": None,
        "p": None,
        "var_participant": None,
        "var_item": None,
    }
    if len(rows) > MOST_ROWS:
        return told | {"status": "not_estimable", "reason": REASONS["too_many_rows"]}
    mixed = mixed_cumulative_link(
        ratings, good, participants=list(rows["participant"]), items=list(rows["item"])
    )
    if mixed.beta is None or mixed.se is None:
        return told | {"status": "not_estimable", "reason": REASONS.get(mixed.status, mixed.status)}
    return told | {
        "beta": mixed.beta,
        "se": none_if_nan(mixed.se),
        "p": _wald(mixed.beta, mixed.se),
        "var_participant": mixed.var_participant,
        "var_item": mixed.var_item,
        "status": "ok",
        "reason": "a variance came out as 0" if mixed.status == "singular" else "",
    }


def _wald(beta: float, se: float) -> float | None:
    return float(2 * scipy.stats.norm.sf(abs(beta / se))) if se > 0 else None
