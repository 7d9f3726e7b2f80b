"""Ratings by condition: means, medians, histograms, contrasts of raw points and outliers of magnitudes."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.aggregation.ratings import likert_distribution
from analysis.aggregation.transforms import transformed
from analysis.effects.contrasts import common_language
from analysis.effects.within import within_intervals
from analysis.errors import BadInput
from analysis.magnitudes import log_ratios
from analysis.rows import RATING_TASKS, column_or_blank, is_kind, none_if_nan, numbers, tasks
from analysis.scales import OUTLIER_CUT, outliers

MOST_OUTLIERS = 100


def condition_report(judgments: pd.DataFrame, *, transform: str = "z", ddof: int = 1) -> dict[str, Any]:
    """Report how ratings fall by condition, on the scale and as given.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment of one task
        The kept rows; needs ``participant``, ``item`` and ``value``.
    transform, ddof
        As in :func:`analysis.aggregation.transforms.transformed`.

    Returns
    -------
    dict
        JSON-ready: ``conditions`` (over all items: n, means, median, quartiles, within-participant
        interval, and for Likert the ``histogram``), ``contrasts`` (by phenomenon: CLES of raw values),
        ``points`` of the scale and ``magnitudes`` (outliers and values that have no logarithm; magnitude
        estimation only).

    Notes
    -----
    CLES = P(good > bad) + ½ P(equal) over all pairs of ratings. Intervals are Cousineau–Morey: for looking at
    differences within people: as wide as the ``n_within`` participants with every condition make them, about
    the mean of all ratings. Outliers are flagged, never trimmed: ``means_without`` shows what they do, the
    scores made again without them, because one typo also sets its participant's mean and spread.

    References
    ----------
    Morey (2008), TQMP 4; McGraw & Wong (1992), Psychological Bulletin 111; Iglewicz & Hoaglin (1993).

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": list("aabb"), "condition": ["x", "y"] * 2, "value": [6, 2] * 2,
    ...     "expected": ["acceptable", "unacceptable"] * 2}).assign(item="i", task="likert")
    >>> report = condition_report(rows, transform="raw")
    >>> [(row["condition"], row["median_raw"], row["histogram"]) for row in report["conditions"]]
    [('x', 6.0, [0, 0, 0, 0, 2]), ('y', 2.0, [2, 0, 0, 0, 0])]
    """
    rows = judgments[tasks(judgments).astype(object).isin(RATING_TASKS).to_numpy()]
    empty: dict[str, Any] = {"conditions": [], "contrasts": [], "points": [], "magnitudes": None}
    if rows.empty:
        return empty
    task = str(tasks(rows).iloc[0])
    score = transformed(rows, transform=transform, ddof=ddof)
    scored = rows.assign(
        score=score, raw=numbers(rows), condition=column_or_blank(rows, "condition").astype(str)
    )
    targets = scored[is_kind(scored, ("target",)) & ~np.isnan(scored["raw"])]
    points, histogram = _histogram(targets) if task == "likert" else ([], {})
    return {
        "conditions": _conditions(targets, histogram),
        "contrasts": _contrasts(targets),
        "points": points,
        "magnitudes": _magnitudes(scored, transform=transform, ddof=ddof)
        if task == "magnitude_estimation"
        else None,
    }


def _histogram(targets: pd.DataFrame) -> tuple[list[int], dict[str, list[int]]]:
    try:
        table = likert_distribution(targets)
    except BadInput:  # imported ratings between the points
        return [], {}
    points = [name for name in table.columns if str(name).lstrip("-").isdigit()]
    by_condition = table.groupby(table["condition"].astype(str))[points].sum()
    return [int(name) for name in points], {
        str(name): [int(count) for count in row] for name, row in by_condition.iterrows()
    }


def _conditions(targets: pd.DataFrame, histogram: dict[str, list[int]]) -> list[dict[str, Any]]:
    within = within_intervals(targets.dropna(subset=["score"]), value="score")
    ends_of: dict[Any, dict[str, Any]] = within.set_index("condition").to_dict("index")  # type: ignore[assignment]
    found = []
    for name, part in targets.groupby("condition", sort=True):
        first, middle, third = np.quantile(part["raw"], [0.25, 0.5, 0.75])
        ends = ends_of.get(name)
        mean = none_if_nan(part["score"].mean())
        half = None if ends is None else none_if_nan(ends["ci_high"] - ends["mean"])
        low, high = (None, None) if mean is None or half is None else (mean - half, mean + half)
        found.append(
            {
                "condition": str(name),
                "n": len(part),
                "participants": int(part["participant"].nunique()),
                "sentences": int(column_or_blank(part, "sentence_id").astype(str).nunique()),
                "mean": mean,
                "ci_low": low,
                "ci_high": high,
                "n_within": 0 if ends is None else int(ends["n"]),
                "mean_raw": float(part["raw"].mean()),
                "sd_raw": none_if_nan(part["raw"].std()),
                "median_raw": float(middle),
                "quartile_low": float(first),
                "quartile_high": float(third),
                "histogram": histogram.get(str(name), []),
            }
        )
    return found


def _contrasts(targets: pd.DataFrame) -> list[dict[str, Any]]:
    if "expected" not in targets.columns:
        return []
    found = []
    groups = column_or_blank(targets, "phenomenon").astype(str)
    for name, part in targets.groupby(groups, sort=True):
        word = part["expected"].astype(object).to_numpy()
        good, bad = (part["raw"].to_numpy()[word == side] for side in ("acceptable", "unacceptable"))
        if len(good) and len(bad):
            found.append(
                {
                    "phenomenon": str(name),
                    "n_acceptable": len(good),
                    "n_unacceptable": len(bad),
                    "median_acceptable": float(np.median(good)),
                    "median_unacceptable": float(np.median(bad)),
                    "cles": common_language(good, bad),
                }
            )
    return found


def _magnitudes(scored: pd.DataFrame, *, transform: str, ddof: int) -> dict[str, Any]:
    flagged = outliers(scored).to_numpy(dtype=bool)
    rest = np.full(len(scored), np.nan)
    rest[~flagged] = transformed(scored[~flagged], transform=transform, ddof=ddof)
    scored = scored.assign(without=rest)
    raw = scored["raw"].to_numpy(dtype=np.float64)
    targets = is_kind(scored, ("target",))
    without = [
        {
            "condition": str(name),
            "mean": none_if_nan(part["score"].mean()),
            "mean_without": none_if_nan(part["without"].mean()),
            "flagged": int(part["flagged"].sum()),
            "n": len(part),
        }
        for name, part in scored[targets].assign(flagged=flagged[targets]).groupby("condition", sort=True)
    ]
    shown = scored[flagged].head(MOST_OUTLIERS)
    return {
        "outliers": int(flagged.sum()),
        "nonpositive": int((raw <= 0).sum()),
        "without_logarithm": int((log_ratios(scored).isna() & ~np.isnan(raw)).sum()),
        "cut": OUTLIER_CUT,
        "means_without": without,
        "flagged": [
            {
                "participant": str(row["participant"]),
                "sentence_id": str(row.get("sentence_id", "")),
                "value": float(row["raw"]),
            }
            for row in shown.to_dict("records")
        ],
    }
