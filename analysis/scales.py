"""Ratings of different participants on one scale: z-scores, robust z-scores and ranks.

Raw values are not changed; every function returns a new Series or frame with the same index.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy

from .columns import require_columns
from .errors import BadInput
from .rows import (
    MIN_RATINGS,
    Codes,
    Floats,
    column_or_blank,
    group_codes,
    is_kind,
    joint_codes,
    moments,
    numbers,
    scale_status,
    standardize,
)

Z_SCOPE = ("target", "filler")
OUTLIER_CUT = 3.5  # in robust standard deviations
# Standard deviation / MAD of a normal distribution.
_MAD_TO_SD = 1.4826


def zscore_by_participant(
    judgments: pd.DataFrame,
    *,
    ddof: int = 1,
    scope: Sequence[str] = Z_SCOPE,
    min_ratings: int = MIN_RATINGS,
) -> pd.Series:
    """Standardize ratings within each participant.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant`` and ``value`` (scale points); ``kind``, ``task``, ``scale_low``, ``scale_high``
        and ``status`` are used if present.
    ddof : {1, 0}
        Delta degrees of freedom of the standard deviation: 1 divides by n - 1 (R's ``scale``, the usual
        convention in the field), 0 by n.
    scope : sequence of str
        Kinds of trial that enter the mean and standard deviation and that receive a z-score; practice,
        catch and anchor trials are left out by default.
    min_ratings : int
        Participants with fewer ratings have no z-scores (2 is the mathematical minimum).

    Returns
    -------
    Series of float, same index
        NaN for missing ratings, for rows outside ``scope``, and for participants whose status in
        :func:`participant_scales` is ``too_few`` or ``constant``.

    Raises
    ------
    MissingColumns
        If ``participant`` or ``value`` is absent.

    See Also
    --------
    participant_scales : The means, spreads and statuses behind the z-scores.

    Notes
    -----
    z = (x - mean) / sd over the participant's own rows, in two passes. It removes how high and how
    wide a participant uses the scale, not the curvature. Ratings of one participant on two scales (tasks, or
    end points) are standardized separately. Never standardize within an item.

    References
    ----------
    Schütze & Sprouse (2013), "Judgment data", in *Research Methods in Linguistics*, CUP.

    Examples
    --------
    >>> frame = pd.DataFrame({"participant": ["P"] * 4, "value": [1, 4, 7, 4]})
    >>> zscore_by_participant(frame).round(6).tolist()
    [-1.224745, 0.0, 1.224745, 0.0]
    """
    require_columns(judgments, "participant", "value")
    ratings = usable_ratings(judgments, scope=scope)
    codes, n_groups = _raters(judgments)
    return pd.Series(
        standardize(ratings, codes, n_groups=n_groups, ddof=ddof, min_ratings=min_ratings),
        index=judgments.index,
        name="z",
    )


def participant_scales(
    judgments: pd.DataFrame,
    *,
    ddof: int = 1,
    scope: Sequence[str] = Z_SCOPE,
    min_ratings: int = MIN_RATINGS,
) -> pd.DataFrame:
    """Describe how each participant uses the scale; where there are several, each of them.

    Notes
    -----
    ``participant``, ``n``, ``mean``, ``sd``, ``status``; with several scales one row for each ``scale`` that
    the participant used.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": "a", "value": [1.0, 3, 5, 7]})
    >>> participant_scales(rows)[["n", "mean", "status"]].to_dict("records")
    [{'n': 4, 'mean': 4.0, 'status': 'ok'}]
    """
    require_columns(judgments, "participant", "value")
    ratings = usable_ratings(judgments, scope=scope)
    codes, labels = group_codes(judgments["participant"])
    people, names = np.arange(len(labels)), rating_scales(judgments, ratings)
    scale = people
    if len(names) > 1:
        codes, people, scale = joint_codes(codes, scale_codes(judgments)[0])
    n, mean, sd, constant = moments(ratings, codes, n_groups=len(people), ddof=ddof)
    status = scale_status(n, constant, ddof=ddof, min_ratings=min_ratings)
    table = pd.DataFrame(
        {"participant": np.array(labels, dtype=object)[people], "n": n, "mean": mean, "sd": sd}
    )
    table["status"] = status
    if len(names) > 1:
        table.insert(1, "scale", np.array(scale_codes(judgments)[1], dtype=object)[scale])
        has_ratings = np.isin(people, people[n > 0])
        table = table[(n > 0) | (~has_ratings & ~table["participant"].duplicated())].reset_index(drop=True)
    return table


def scale_codes(judgments: pd.DataFrame) -> tuple[Codes, list[str]]:
    """Number the scales of the rows by task and end points, with their names.

    Examples
    --------
    >>> rows = pd.DataFrame({"task": ["likert", "slider"], "scale_low": [1, 0], "scale_high": [7, 100]})
    >>> scale_codes(rows)[1]
    ['likert 1–7', 'slider 0–100']
    """
    codes, names = group_codes(column_or_blank(judgments, "task"))
    for column, mark in (("scale_low", " "), ("scale_high", "–")):
        if column in judgments.columns:
            ends, values = pd.factorize(
                pd.to_numeric(judgments[column], errors="coerce").to_numpy(np.float64)
            )
            codes, earlier, added = joint_codes(codes, ends.astype(np.int64) + 1)
            texts = ["", *(f"{mark}{value:g}" for value in values)]
            names = [f"{names[first]}{texts[second]}" for first, second in zip(earlier, added, strict=True)]
    return codes, names


def rating_scales(judgments: pd.DataFrame, ratings: Floats | None = None) -> list[str]:
    """Name the scales that ratings were given on."""
    codes, names = scale_codes(judgments)
    if len(names) < 2:
        return names
    rated = ~np.isnan(usable_ratings(judgments) if ratings is None else ratings)
    return [names[code] for code in np.unique(codes[rated])]


def _raters(judgments: pd.DataFrame) -> tuple[Codes, int]:
    """Number the participants, or the participants on each scale; return the count too."""
    codes, labels = group_codes(judgments["participant"])
    scale, names = scale_codes(judgments)
    if len(names) < 2:
        return codes, len(labels)
    codes, people, _ = joint_codes(codes, scale)
    return codes, len(people)


def refuse_two_scales(judgments: pd.DataFrame) -> None:
    """Raise :class:`~obelus.errors.BadInput` where raw ratings of several scales would be pooled."""
    if len(names := rating_scales(judgments)) > 1:
        message = (
            f"ratings are on {len(names)} scales ({', '.join(names)}), whose raw points are not comparable."
        )
        raise BadInput(message, column="value", remedy="Use z, or analyse each scale separately.")


def usable_ratings(judgments: pd.DataFrame, *, scope: Sequence[str] = Z_SCOPE) -> Floats:
    """Return the ratings that are answered, in scope and, for magnitudes, not negative; NaN elsewhere.

    An estimate of zero is a rating, although it has no logarithm.

    Examples
    --------
    >>> usable_ratings(pd.DataFrame({"value": [5, 7], "kind": ["target", "catch"]})).tolist()
    [5.0, nan]
    """
    ratings = numbers(judgments)
    in_scope = is_kind(judgments, scope)
    if not in_scope.all():
        ratings[~in_scope] = np.nan
    if "task" in judgments.columns:
        magnitude = (judgments["task"] == "magnitude_estimation").to_numpy(dtype=bool, na_value=False)
        if magnitude.any():
            ratings[magnitude & (ratings < 0)] = np.nan
    return ratings


def robust_z_by_participant(judgments: pd.DataFrame, *, scope: Sequence[str] = Z_SCOPE) -> pd.Series:
    """Compute (x - median) / (1.4826 MAD) within each participant.

    References
    ----------
    Iglewicz & Hoaglin (1993), *How to Detect and Handle Outliers*.
    """
    require_columns(judgments, "participant", "value")
    ratings = pd.Series(usable_ratings(judgments, scope=scope), index=judgments.index)
    codes = _raters(judgments)[0]
    distance = ratings - ratings.groupby(codes).transform("median")
    spread = distance.abs().groupby(codes).transform("median") * _MAD_TO_SD
    return (distance / spread.where(spread > 0)).rename("robust_z")


def outliers(judgments: pd.DataFrame, *, cut: float = OUTLIER_CUT) -> pd.Series:
    """Flag ratings far from their participant's median; no rating is removed.

    References
    ----------
    Iglewicz & Hoaglin (1993), *How to Detect and Handle Outliers*: cut 3.5.
    """
    return (robust_z_by_participant(judgments).abs() > cut).rename("outlier")


def rank_normal_by_participant(judgments: pd.DataFrame, *, scope: Sequence[str] = Z_SCOPE) -> pd.Series:
    """Replace ratings by the normal quantiles of their ranks within each participant.

    Notes
    -----
    Quantile of (rank - 3/8) / (n + 1/4), Blom's formula. Invariant to any monotone use of the scale.
    """
    require_columns(judgments, "participant", "value")
    ratings = pd.Series(usable_ratings(judgments, scope=scope), index=judgments.index)
    groups = ratings.groupby(_raters(judgments)[0])
    varied = groups.transform("nunique") > 1
    share = (groups.rank() - 0.375) / (groups.transform("count") + 0.25)
    return pd.Series(scipy.stats.norm.ppf(share.where(varied)), index=judgments.index, name="rank_normal")
