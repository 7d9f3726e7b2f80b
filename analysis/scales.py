"""Put ratings of different people on one scale: participant z, robust z, ranks.

The raw value is never changed; every function gives a new Series or frame with the same index.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy

from analysis.columns import require_columns
from analysis.moments import MIN_RATINGS, moments, scale_status, standardize
from analysis.rows import Floats, group_codes, is_kind, numbers

Z_SCOPE = ("target", "filler")
OUTLIER_CUT = 3.5
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
        Needs ``participant`` and ``value``; ``kind`` and ``status`` are used when present.
    ddof : 0 or 1
        1 divides by n - 1 (R's ``scale``, the practice of the field).
    scope : sequence of str
        Kinds of trial that give the mean and spread, and that get a z.
    min_ratings : int
        Participants with fewer ratings get none (2 is the mathematical minimum).

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
    wide a person uses the scale, not the curvature. Never standardize within an item.

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
    ratings = rated(judgments, scope=scope)
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

    Parameters
    ----------
    judgments, ddof, scope, min_ratings
        As in :func:`zscore_by_participant`.

    Returns
    -------
    DataFrame
        One row per participant: ``participant``, ``n``, ``mean``, ``sd`` and ``status`` (``ok``,
        ``too_few``, ``constant`` or ``no_data``).

    Raises
    ------
    MissingColumns
        If ``participant`` or ``value`` is absent.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": "a", "value": [1.0, 3, 5, 7]})
    >>> participant_scales(rows)[["n", "mean", "status"]].to_dict("records")
    [{'n': 4, 'mean': 4.0, 'status': 'ok'}]
    """
    require_columns(judgments, "participant", "value")
    ratings = rated(judgments, scope=scope)
    codes, labels = group_codes(judgments["participant"])
    n, mean, sd, constant = moments(ratings, codes, n_groups=len(labels), ddof=ddof)
    status = scale_status(n, constant, ddof=ddof, min_ratings=min_ratings)
    return pd.DataFrame({"participant": labels, "n": n, "mean": mean, "sd": sd, "status": status})


def rated(judgments: pd.DataFrame, *, scope: Sequence[str] = Z_SCOPE) -> Floats:
    """Give the usable ratings: answered, of the kinds in scope, and positive if they are magnitudes.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``value``.
    scope : sequence of str
        Kinds of trial.

    Returns
    -------
    array of float
        NaN where there is no usable rating.

    Examples
    --------
    >>> rated(pd.DataFrame({"value": [5, 7], "kind": ["target", "catch"]})).tolist()
    [5.0, nan]
    """
    ratings = numbers(judgments)
    inside = is_kind(judgments, scope)
    if not inside.all():
        ratings[~inside] = np.nan
    if "task" in judgments.columns:
        codes, labels = group_codes(judgments["task"])
        magnitude = np.array([label == "magnitude_estimation" for label in labels], dtype=bool)
        if magnitude.any():
            ratings[magnitude[codes] & (ratings <= 0)] = np.nan
    return ratings


def robust_z_by_participant(judgments: pd.DataFrame, *, scope: Sequence[str] = Z_SCOPE) -> pd.Series:
    """Give (x - median) / (1.4826 MAD) within each participant.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant`` and ``value``.
    scope : sequence of str
        Kinds of trial used.

    Returns
    -------
    Series of float, same index
        NaN where the median absolute deviation (MAD) is 0.

    References
    ----------
    Iglewicz & Hoaglin (1993), *How to Detect and Handle Outliers*.
    """
    require_columns(judgments, "participant", "value")
    ratings = pd.Series(rated(judgments, scope=scope), index=judgments.index)
    codes = group_codes(judgments["participant"])[0]
    distance = ratings - ratings.groupby(codes).transform("median")
    spread = distance.abs().groupby(codes).transform("median") * _MAD_TO_SD
    return (distance / spread.where(spread > 0)).rename("robust_z")


def outliers(judgments: pd.DataFrame, *, cut: float = OUTLIER_CUT) -> pd.Series:
    """Flag ratings far from their participant's median; nothing is trimmed.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant`` and ``value``.
    cut : float
        Flagged when the absolute robust z is above it.

    Returns
    -------
    Series of bool, same index
        Never true where the MAD is 0.

    References
    ----------
    Iglewicz & Hoaglin (1993), *How to Detect and Handle Outliers*: cut 3.5.
    """
    return (robust_z_by_participant(judgments).abs() > cut).rename("outlier")


def rank_normal_by_participant(judgments: pd.DataFrame, *, scope: Sequence[str] = Z_SCOPE) -> pd.Series:
    """Replace ratings by the normal quantiles of their ranks within each participant.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant`` and ``value``.
    scope : sequence of str
        Kinds of trial used.

    Returns
    -------
    Series of float, same index
        Equal ratings share their mean rank; a participant with one value throughout gets NaN.

    Notes
    -----
    Quantile of (rank - 3/8) / (n + 1/4), Blom's formula. Free of any monotone use of the scale.
    """
    require_columns(judgments, "participant", "value")
    ratings = pd.Series(rated(judgments, scope=scope), index=judgments.index)
    groups = ratings.groupby(group_codes(judgments["participant"])[0])
    varied = groups.transform("nunique") > 1
    share = (groups.rank() - 0.375) / (groups.transform("count") + 0.25)
    return pd.Series(scipy.stats.norm.ppf(share.where(varied)), index=judgments.index, name="rank_normal")
