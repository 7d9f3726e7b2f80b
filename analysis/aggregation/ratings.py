"""Item means of ratings, standardized within participants, with their errors.

Transforms of ratings before averaging.
"""

from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..choices import TRANSFORMS, ZEROS
from ..columns import require_columns
from ..errors import BadInput, NotEnoughData, UnknownName
from ..magnitudes import log_ratios, unusable_estimates, without_zeros
from ..rows import (
    MIN_RATINGS,
    Codes,
    Flags,
    Floats,
    average_repeats,
    column_or_blank,
    distinct_codes,
    group_codes,
    in_natural_order,
    is_kind,
    joint_codes,
    moments,
    rows_where,
    tasks,
)
from ..scales import (
    OUTLIER_CUT,
    Z_SCOPE,
    outliers,
    participant_scales,
    rank_normal_by_participant,
    rating_scales,
    refuse_two_scales,
    robust_z_by_participant,
    scale_codes,
    usable_ratings,
    zscore_by_participant,
)


def transform_ratings(
    judgments: pd.DataFrame,
    *,
    transform: str = "z",
    ddof: int = 1,
    min_ratings: int = MIN_RATINGS,
    by_scale: bool = False,
) -> pd.Series:
    """Transform ratings to the scale on which they are averaged.

    Raw ratings on several scales are refused, unless the caller keeps the scales apart (``by_scale``).

    Notes
    -----
    z = (x - mean) / SD by participant; z-log the same of log10(x / modulus);
    robust-z = (x - median) / (1.4826 MAD); rank-normal Φ⁻¹ of the participant's ranks.

    References
    ----------
    Schütze & Sprouse (2013), "Judgment data", in *Research Methods in Linguistics*, CUP.
    """
    if transform not in TRANSFORMS:
        raise UnknownName("transform", transform, TRANSFORMS)
    if transform == "z":
        return zscore_by_participant(judgments, ddof=ddof, min_ratings=min_ratings)
    if transform == "z-log":
        logs = judgments.assign(value=log_ratios(judgments), task="log_ratio")
        return zscore_by_participant(logs, ddof=ddof, min_ratings=min_ratings)
    if transform == "robust-z":
        return robust_z_by_participant(judgments)
    if transform == "rank-normal":
        return rank_normal_by_participant(judgments)
    if not by_scale:
        refuse_two_scales(judgments)
    return pd.Series(usable_ratings(judgments), index=judgments.index)


_ITEM_KEYS = ("paradigm", "item", "condition", "sentence_id")


def item_means(judgments: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    """Average transformed ratings by item, condition and sentence.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``value``; ``paradigm``, ``item``, ``condition`` and ``sentence_id`` define the groups. Only
        target trials are averaged.
    values : Series of float, same index as ``judgments``
        Transformed ratings, for example from :func:`obelus.scales.zscore_by_participant`; NaN is left out.

    Returns
    -------
    DataFrame
        ``paradigm``, ``item``, ``condition``, ``sentence_id``, ``n``, ``mean``, ``sd`` (ddof 1),
        ``se`` = sd / √n, ``ci_low``, ``ci_high`` (t with n - 1 degrees of freedom, 95 %),
        ``mean_raw`` (of the same rows; NaN where they are on several scales) and ``status``: ``ok``,
        ``too_few`` (one rating: no spread) or ``no_data``.

    Notes
    -----
    The mean over participants of z, not the z of means. Several ratings of one sentence by one participant
    are averaged first, so ``n`` and the interval count participants. Do not use the error for conditions
    of several items.

    Examples
    --------
    >>> rows = pd.DataFrame({"item": ["i", "i"], "value": [4.0, 6.0]})
    >>> item_means(rows, rows["value"])[["n", "mean", "se"]].to_dict("records")
    [{'n': 2, 'mean': 5.0, 'se': 1.0}]
    """
    targets = is_kind(judgments, ("target",))
    rows = rows_where(judgments, targets)
    score = values.to_numpy(dtype=np.float64)[targets]
    raw = usable_ratings(judgments)[targets]
    codes, table = _cells(rows)
    raw[np.isnan(score)] = np.nan
    raw[_on_two_scales(codes, rows, ~np.isnan(raw))] = np.nan
    if "participant" in rows.columns:
        average_repeats([score, raw], codes, distinct_codes(rows["participant"]), n_groups=len(table))
    n, mean, sd, _ = moments(score, codes, n_groups=len(table), ddof=1)
    mean_raw = moments(raw, codes, n_groups=len(table), ddof=1)[1]
    se = np.divide(sd, np.sqrt(n), out=np.full(len(n), np.nan), where=n > 1)
    half = scipy.stats.t.ppf(0.975, np.maximum(n - 1, 1)) * se
    status = np.select([n == 0, n == 1], ["no_data", "too_few"], default="ok").astype(object)
    return table.assign(
        n=n,
        mean=mean,
        sd=sd,
        se=se,
        ci_low=mean - half,
        ci_high=mean + half,
        mean_raw=mean_raw,
        status=status,
    )


def _on_two_scales(codes: Codes, rows: pd.DataFrame, rated: Flags) -> Flags:
    """Return which rows are of cells with ratings on several scales."""
    scale, names = scale_codes(rows)
    if len(names) < 2:
        return np.zeros(len(rows), dtype=bool)
    scales = pd.Series(scale).where(rated).groupby(codes).transform("nunique")
    return (scales > 1).to_numpy()


def _cells(rows: pd.DataFrame) -> tuple[Codes, pd.DataFrame]:
    """Number the combinations of paradigm, item, condition and sentence."""
    coded = [group_codes(column_or_blank(rows, name)) for name in _ITEM_KEYS]
    codes = coded[0][0]
    parts = [np.arange(len(coded[0][1]))]
    for column, labels in coded[1:]:
        if len(labels) == 1:  # nothing to tell apart, for instance no column of sentences
            parts.append(np.zeros(len(parts[0]), dtype=np.int64))
            continue
        codes, earlier, added = joint_codes(codes, column)
        parts = [part[earlier] for part in parts] + [added]
    names = [np.array(labels, dtype=object) for _, labels in coded]
    columns = {key: name[part] for key, name, part in zip(_ITEM_KEYS, names, parts, strict=True)}
    return codes, pd.DataFrame(columns)


def ratings_report(
    judgments: pd.DataFrame,
    *,
    transform: str = "z",
    ddof: int = 1,
    experiment: str = "",
    min_ratings: int = MIN_RATINGS,
    zeros: str = "keep",
) -> dict[str, Any]:
    """Report item means and how participants use the scale.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant``, ``item`` and ``value``; forced choices are left out.
    transform : {"z", "z-log", "raw", "robust-z", "rank-normal"}
        Scale on which ratings are averaged: z-scores within participants, z-scores of log magnitudes
        (magnitude estimation only), raw values, z-scores from median and MAD, or normal quantiles of ranks.
    ddof : {1, 0}
        Delta degrees of freedom of the standard deviation in z-scores.
    experiment : str
        Name of the study, copied into the document.
    min_ratings : int
        Participants with fewer ratings have no z-scores and do not count.
    zeros : {"keep", "leave-out"}
        Whether magnitude estimates of zero are ratings; logarithms (``z-log``) never have them.

    Returns
    -------
    dict
        JSON-ready: ``experiment``, ``transform``, ``ddof``, ``scope``, ``items`` (see :func:`item_means`),
        ``participants``, ``scales`` (names; with several, items and participants have a row for each),
        ``outliers``, ``magnitudes`` (None, or how many estimates are zero or negative, and
        how many are left out) and ``conventions``. Undefined numbers are None, with a status.

    Raises
    ------
    MissingColumns, UnknownName
        If a column is absent or the transform or the choice for zeros is unknown.
    NotEnoughData
        If all judgments are forced choices, which have no ratings.

    See Also
    --------
    likert_distribution : Histograms and medians of scale points.

    Notes
    -----
    z = (value - mean) / SD of the participant's own ratings; an item's number is the mean of z, its error
    SD / √n.

    References
    ----------
    Schütze & Sprouse (2013), "Judgment data", in *Research Methods in Linguistics*, CUP.

    Examples
    --------
    >>> rows = [(p, i, float(p + 2 * i)) for p in range(3) for i in range(4)]
    >>> frame = pd.DataFrame(rows, columns=["participant", "item", "value"])
    >>> [round(item["mean"], 3) for item in ratings_report(frame)["items"]]
    [-1.162, -0.387, 0.387, 1.162]
    """
    require_columns(judgments, "participant", "item", "value")
    ratings = rows_where(judgments, _is_rating(judgments))
    if len(judgments) and ratings.empty:
        raise NotEnoughData("there are only forced choices.", column="task", remedy="Use agreement instead.")
    magnitudes = magnitude_counts(ratings, transform=transform, zeros=zeros)
    ratings = without_zeros(ratings) if zeros == "leave-out" else ratings
    scored = transform_ratings(
        ratings, transform=transform, ddof=ddof, min_ratings=min_ratings, by_scale=True
    )
    basis = ratings.assign(value=log_ratios(ratings), task="log_ratio") if transform == "z-log" else ratings
    people = participant_scales(basis, ddof=ddof, min_ratings=min_ratings)
    return {
        "experiment": experiment,
        "transform": transform,
        "ddof": ddof,
        "scope": "+".join(Z_SCOPE),
        "scales": rating_scales(ratings),
        "items": _records(in_natural_order(_means_by_scale(ratings, scored), *_ITEM_KEYS)),
        "participants": _records(people),
        "outliers": int(outliers(ratings).sum()),
        "magnitudes": magnitudes,
        "conventions": _conventions(ddof=ddof, min_ratings=min_ratings),
    }


def _means_by_scale(ratings: pd.DataFrame, scored: pd.Series) -> pd.DataFrame:
    """Average by item, and by scale where there are several."""
    if len(used := rating_scales(ratings)) < 2:
        return item_means(ratings, scored)
    codes, names = scale_codes(ratings)
    parts = [(name, codes == names.index(name)) for name in used]
    tables = [item_means(ratings[rows], scored[rows]).assign(scale=name) for name, rows in parts]
    return pd.concat(tables, ignore_index=True)


def magnitude_counts(
    ratings: pd.DataFrame, *, transform: str = "z", zeros: str = "keep"
) -> dict[str, Any] | None:
    """Count the estimates that are zero, negative and left out; None without magnitude estimates."""
    if zeros not in ZEROS:
        raise UnknownName("choice for zeros", zeros, ZEROS)
    if not (tasks(ratings) == "magnitude_estimation").any():
        return None
    counts = unusable_estimates(ratings[is_kind(ratings, Z_SCOPE)])
    are_left_out = zeros == "leave-out" or transform == "z-log"
    left_out = counts["negative"] + (counts["zeros"] if are_left_out else 0)
    return {**counts, "zeros_are": "left out" if are_left_out else "kept", "left_out": left_out}


def _is_rating(judgments: pd.DataFrame) -> np.ndarray:
    codes, labels = group_codes(tasks(judgments))
    rating = np.array([label != "forced_choice" for label in labels], dtype=bool)
    return rating[codes]


def _conventions(*, ddof: int, min_ratings: int) -> dict[str, Any]:
    return {
        "z": f"(x - mean) / sd of the participant's own ratings, ddof {ddof}, over target and filler trials; "
        "practice, catch and anchor trials are left out",
        "scales": "ratings of one participant on several scales (tasks or end points) are standardized and "
        "averaged by scale",
        "min_ratings": min_ratings,
        "constant": "a participant with one rating throughout has no z",
        "items": "targets; mean over participants of the transformed ratings; those of one sentence by one "
        "participant are averaged first",
        "sd": "over the participants of the item, ddof 1; se = sd / sqrt(n); interval: t, n - 1 df, 95 %",
        "mean_raw": "mean of the untransformed ratings of the same rows",
        "magnitudes": "zeros are kept in raw numbers and z, and left out of logarithms; negative numbers are "
        "left out; none is replaced",
        "outliers": f"ratings with |x - median| / (1.4826 MAD) above {OUTLIER_CUT} within the participant: "
        "counted, kept",
    }


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Convert a table to records of plain values, None where a number is undefined."""
    columns = [
        table[name].astype(object).where(table[name].notna(), None).tolist()
        if table[name].dtype.kind == "f"
        else table[name].tolist()
        for name in table.columns
    ]
    names = [str(name) for name in table.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def likert_distribution(judgments: pd.DataFrame) -> pd.DataFrame:
    """Count the scale points given to each sentence, with their median.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``item`` and ``value``; ``scale_low`` and ``scale_high`` add scale points that no
        participant chose.

    Returns
    -------
    DataFrame
        ``paradigm``, ``item``, ``condition``, ``sentence_id``, ``n``, ``median`` and one column of
        counts for each scale point, named by the point (``1``, ``2``, …).

    Raises
    ------
    BadInput
        If a value is not a whole number.

    Examples
    --------
    >>> rows = pd.DataFrame({"item": ["i"] * 3, "value": [1, 2, 2]})
    >>> likert_distribution(rows)[["n", "median", "1", "2"]].to_dict("records")
    [{'n': 3, 'median': 2.0, '1': 1, '2': 2}]
    """
    require_columns(judgments, "item", "value")
    rows = judgments[is_kind(judgments, ("target",))]
    value = usable_ratings(rows)
    answered = ~np.isnan(value)
    if (value[answered] != np.round(value[answered])).any():
        raise BadInput(
            "a value is no whole scale point.", column="value", remedy="Histograms are for Likert."
        )
    codes, table = _cells(rows)
    low, high = _scale_limits(rows, value[answered])
    points = np.arange(low, high + 1)
    cell = codes[answered] * len(points) + (value[answered] - low).astype(np.int64)
    counts = np.bincount(cell, minlength=len(table) * len(points)).reshape(len(table), len(points))
    median = pd.Series(value).groupby(codes).median().reindex(np.arange(len(table))).to_numpy()
    return table.assign(
        n=counts.sum(axis=1),
        median=median,
        **{str(int(point)): counts[:, column] for column, point in enumerate(points)},
    )


def _scale_limits(rows: pd.DataFrame, value: Floats) -> tuple[int, int]:
    lows = [value.min()] if len(value) else []
    highs = [value.max()] if len(value) else []
    for name, limits in (("scale_low", lows), ("scale_high", highs)):
        declared = pd.to_numeric(column_or_blank(rows, name), errors="coerce").dropna()
        limits.extend(declared.unique())
    return (int(min(lows)), int(max(highs))) if lows and highs else (1, 0)
