"""Ratings of different participants on one scale: z-scores, robust z-scores and ranks.

Raw values are not changed; every function returns a new Series or frame with the same index.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy

from .columns import require_columns
from .rows import (
    MIN_RATINGS,
    Floats,
    group_codes,
    is_kind,
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
        Needs ``participant`` and ``value`` (scale points); ``kind``, ``task`` and ``status`` are used if
        present.
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
    wide a participant uses the scale, not the curvature. Never standardize within an item.

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
    codes, labels = group_codes(judgments["participant"])
    return pd.Series(
        standardize(ratings, codes, n_groups=len(labels), ddof=ddof, min_ratings=min_ratings),
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
    """Describe how each participant uses the scale.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": "a", "value": [1.0, 3, 5, 7]})
    >>> participant_scales(rows)[["n", "mean", "status"]].to_dict("records")
    [{'n': 4, 'mean': 4.0, 'status': 'ok'}]
    """
    require_columns(judgments, "participant", "value")
    ratings = usable_ratings(judgments, scope=scope)
    codes, labels = group_codes(judgments["participant"])
    n, mean, sd, constant = moments(ratings, codes, n_groups=len(labels), ddof=ddof)
    status = scale_status(n, constant, ddof=ddof, min_ratings=min_ratings)
    return pd.DataFrame({"participant": labels, "n": n, "mean": mean, "sd": sd, "status": status})


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
    codes = group_codes(judgments["participant"])[0]
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
    groups = ratings.groupby(group_codes(judgments["participant"])[0])
    varied = groups.transform("nunique") > 1
    share = (groups.rank() - 0.375) / (groups.transform("count") + 0.25)
    return pd.Series(scipy.stats.norm.ppf(share.where(varied)), index=judgments.index, name="rank_normal")
