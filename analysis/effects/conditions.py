"""Ratings by condition: means, medians, histograms, raw contrasts and outliers of magnitude estimates."""

from typing import Any

import numpy as np
import pandas as pd

from ..aggregation.ratings import likert_distribution, transform_ratings
from ..errors import BadInput
from ..magnitudes import log_ratios, unusable_estimates
from ..rows import RATING_TASKS, Flags, column_or_blank, is_kind, none_if_nan, numbers, tasks
from ..scales import (
    OUTLIER_CUT,
    outliers,
    participant_scales,
    rating_scales,
    scale_codes,
    usable_ratings,
    zscore_by_participant,
)
from ..text import natural_order
from .contrasts import common_language
from .five_analyses import contrast_rows, rating_contrast
from .within import within_intervals

MAX_OUTLIERS = 100
"""Largest number of outliers listed individually."""


def condition_report(judgments: pd.DataFrame, *, transform: str = "z", ddof: int = 1) -> dict[str, Any]:
    """Summarize ratings by condition, on the transformed and on the raw scale.

    Notes
    -----
    JSON-ready: ``conditions`` (over all items: n, means, median, quartiles, within-participant
    interval, n with a score, and for Likert the ``histogram``), ``contrasts`` (by phenomenon: CLES of raw
    values),
    ``points`` of the scale, ``scales`` (with several, conditions and contrasts are those of each),
    ``without_z`` and ``magnitudes`` (outliers and values that have no logarithm; magnitude estimation only).

    CLES = P(good > bad) + ½ P(equal) over all pairs of ratings. Intervals are Cousineau–Morey intervals for
    within-participant differences: their width comes from the ``n_within`` participants with every
    condition, their centre is the mean of all ratings. Outliers are flagged, never trimmed:
    ``means_without`` shows their influence, with scores recomputed without them, because an outlier also
    changes the mean and standard deviation of its participant.

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
    if rows.empty:
        return {"conditions": [], "contrasts": [], **scale_use(rows)}
    score = transform_ratings(rows, transform=transform, ddof=ddof, by_scale=True)
    scored = rows.assign(score=score, raw=numbers(rows), condition=_condition_names(rows))
    targets = scored[is_kind(scored, ("target",)) & ~np.isnan(scored["raw"])]
    histogram = _histogram(targets)[1]
    return {
        "conditions": _conditions(targets, histogram),
        "contrasts": _contrasts(targets),
        **scale_use(judgments),
        "magnitudes": _magnitudes(scored[_is_magnitude(rows)], transform=transform, ddof=ddof)
        if _is_magnitude(rows).any()
        else None,
    }


def _condition_names(rows: pd.DataFrame) -> pd.Series:
    """Return the conditions, else the expected status, with the name of the scale where there are several."""
    condition = column_or_blank(rows, "condition").astype(str)
    if condition.isin(["", "nan"]).all():  # without conditions, both sides of a contrast are told apart
        condition = column_or_blank(rows, "expected").astype(object).fillna("").astype(str)
    if len(rating_scales(rows)) < 2:
        return condition
    codes, names = scale_codes(rows)
    scale = pd.Series(np.array(names, dtype=object)[codes], index=rows.index)
    return (condition + ", " + scale).str.lstrip(", ")


def _is_magnitude(rows: pd.DataFrame) -> Flags:
    return (tasks(rows) == "magnitude_estimation").to_numpy(dtype=bool, na_value=False)


def scale_use(judgments: pd.DataFrame) -> dict[str, Any]:
    """Return the points of the scale, and count the ratings that have no z-score or no logarithm.

    Notes
    -----
    ``scales`` (names); ``points`` (one Likert scale); ``without_z``: participants by reason (``constant``,
    ``too_few``) and their answered targets (``judgments``); ``magnitudes``: magnitude estimates that are zero
    or negative, None elsewhere.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": list("aaaabbbb"), "value": [1, 2, 3, 4, 5, 5, 5, 5]})
    >>> scale_use(rows.assign(item=list("wxyz") * 2, task="likert"))["without_z"]
    {'constant': 1, 'too_few': 0, 'judgments': 4}
    """
    rows = judgments[tasks(judgments).astype(object).isin(RATING_TASKS).to_numpy()]
    if rows.empty:
        empty = {"constant": 0, "too_few": 0, "judgments": 0}
        return {"scales": [], "points": [], "without_z": empty, "magnitudes": None}
    targets = rows[is_kind(rows, ("target",)) & ~np.isnan(numbers(rows))]
    people = participant_scales(rows)
    reasons = people.loc[people["n"] > 0, ["participant", "status"]].drop_duplicates()
    counts = reasons["status"].value_counts()
    is_rated = is_kind(rows, ("target",)) & ~np.isnan(usable_ratings(rows))
    return {
        "scales": rating_scales(rows),
        "points": _histogram(targets)[0],
        "without_z": {
            "constant": int(counts.get("constant", 0)),
            "too_few": int(counts.get("too_few", 0)),
            "judgments": int(zscore_by_participant(rows)[is_rated].isna().sum()),
        },
        "magnitudes": unusable_estimates(rows[_is_magnitude(rows)]) if _is_magnitude(rows).any() else None,
    }


def _histogram(targets: pd.DataFrame) -> tuple[list[int], dict[str, list[int]]]:
    """Return the points of the one Likert scale, and their counts by condition; empty for other scales."""
    if set(tasks(targets).astype(str)) != {"likert"} or len(rating_scales(targets)) > 1:
        return [], {}
    try:
        table = likert_distribution(targets)
    except BadInput:
        # Imported ratings may lie between the scale points.
        return [], {}
    points = [name for name in table.columns if str(name).lstrip("-").isdigit()]
    by_condition = table.groupby(table["condition"].astype(str))[points].sum()
    return [int(name) for name in points], {
        str(name): [int(count) for count in row] for name, row in by_condition.iterrows()
    }


def _conditions(targets: pd.DataFrame, histogram: dict[str, list[int]]) -> list[dict[str, Any]]:
    within = within_intervals(targets.dropna(subset=["score"]), value="score")
    ends_of: dict[Any, dict[str, Any]] = within.set_index("condition").to_dict("index")  # type: ignore[assignment]
    rows = []
    for name, part in _in_design_order(targets):
        first, middle, third = np.quantile(part["raw"], [0.25, 0.5, 0.75])
        ends = ends_of.get(name)
        mean = none_if_nan(part["score"].mean())
        half = None if ends is None else none_if_nan(ends["ci_high"] - ends["mean"])
        low, high = (None, None) if mean is None or half is None else (mean - half, mean + half)
        rows.append(
            {
                "condition": str(name),
                "n": len(part),
                "n_scored": int(part["score"].notna().sum()),
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
    return rows


def _in_design_order(targets: pd.DataFrame) -> list[tuple[Any, pd.DataFrame]]:
    """Group by condition, in the order of the factors' levels; by name where there are no factors."""
    factors = [
        name
        for name, dtype in targets.dtypes.items()
        if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered
    ]

    def place(group: tuple[Any, pd.DataFrame]) -> tuple[Any, ...]:
        name, part = group
        codes = [int(part[factor].cat.codes.iloc[0]) for factor in factors]
        # A condition without levels, such as one of an imported file, follows the cells of the design.
        return -1 in codes, codes, natural_order(str(name))

    return sorted(targets.groupby("condition"), key=place)


def _contrasts(targets: pd.DataFrame) -> list[dict[str, Any]]:
    if "expected" not in targets.columns:
        return []
    rows = []
    groups = column_or_blank(targets, "phenomenon").astype(str)
    if len(rating_scales(targets)) > 1:
        codes, names = scale_codes(targets)
        groups = groups + ", " + pd.Series(np.array(names, dtype=object)[codes], index=targets.index)
    for name, part in targets.groupby(groups, sort=True):
        word = part["expected"].astype(object).to_numpy()
        good, bad = (part["raw"].to_numpy()[word == side] for side in ("acceptable", "unacceptable"))
        if len(good) and len(bad):
            rows.append(
                {
                    "phenomenon": str(name),
                    "n_acceptable": len(good),
                    "n_unacceptable": len(bad),
                    "median_acceptable": float(np.median(good)),
                    "median_unacceptable": float(np.median(bad)),
                    "cles": common_language(good, bad),
                }
            )
    return rows


def contrasts_by_transform(judgments: pd.DataFrame, is_outlier: Flags) -> list[dict[str, Any]]:
    """Compare every contrast under z, z of logarithms and robust z, and under z without the outliers.

    Notes
    -----
    By phenomenon and ``transform`` (``z``, ``z-log``, ``robust-z``, ``z-without-outliers``): difference of
    participants' means with its t interval, ``d_z``, ``n`` (participants, those with both sides) and
    ``status``. One outlier dominates its participant's mean and SD, so that the others' z shrink; logarithms
    pull it in; robust z leave the others alone and keep it as far out as it is.

    References
    ----------
    Bard, Robertson & Sorace (1996), Language 72 (logarithms). Iglewicz & Hoaglin (1993), *How to Detect and
    Handle Outliers*.
    """
    if "expected" not in judgments.columns:
        return []
    versions = {name: (judgments, name) for name in ("z", "z-log", "robust-z")}
    if is_outlier.any():
        versions["z-without-outliers"] = (judgments[~is_outlier], "z")
    rows = []
    for name, (part, transform) in versions.items():
        for phenomenon, _, scored in contrast_rows(part, by="phenomenon", transform=transform):
            tested, _ = rating_contrast(scored)
            numbers = {key: getattr(tested, key) for key in ("ci_low", "ci_high", "d_z", "p", "status", "n")}
            difference = tested.mean_difference
            rows.append({"phenomenon": phenomenon, "transform": name, "difference": difference, **numbers})
    return sorted(rows, key=lambda row: natural_order(row["phenomenon"]))


def _magnitudes(scored: pd.DataFrame, *, transform: str, ddof: int) -> dict[str, Any]:
    flagged = outliers(scored).to_numpy(dtype=bool)
    unflagged = np.full(len(scored), np.nan)
    unflagged[~flagged] = transform_ratings(scored[~flagged], transform=transform, ddof=ddof)
    scored = scored.assign(without=unflagged)
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
        for name, part in sorted(
            scored[targets].assign(flagged=flagged[targets]).groupby("condition"),
            key=lambda group: natural_order(str(group[0])),
        )
    ]
    examples = scored[flagged].head(MAX_OUTLIERS)
    return {
        "outliers": int(flagged.sum()),
        "nonpositive": int((raw <= 0).sum()),
        **unusable_estimates(scored.assign(value=raw)),
        "without_logarithm": int((log_ratios(scored).isna() & ~np.isnan(raw)).sum()),
        "cut": OUTLIER_CUT,
        "means_without": without,
        "contrasts": contrasts_by_transform(scored, flagged),
        "flagged": [
            {
                "participant": str(row["participant"]),
                "sentence_id": str(row.get("sentence_id", "")),
                "value": float(row["raw"]),
            }
            for row in examples.to_dict("records")
        ],
    }
