"""Put ratings of different people on one scale: participant z, robust z, ranks.

The raw value is never changed; every function gives a new Series or frame with the same index.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy

from analysis.columns import require_columns
from analysis.errors import BadInput
from analysis.rows import Codes, Floats, chunks, group_codes, is_kind, numbers

Z_SCOPE = ("target", "filler")
MIN_RATINGS = 4
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


def moments(
    values: Floats, codes: Codes, *, n_groups: int, ddof: int
) -> tuple[Codes, Floats, Floats, np.ndarray]:
    """Compute n, mean, standard deviation and constancy of each group, in two passes.

    Parameters
    ----------
    values : array of float
        NaN is left out.
    codes : array of int
        Group of each value, from 0.
    n_groups : int
    ddof : 0 or 1

    Returns
    -------
    n, mean, sd, constant : arrays, one entry per group
        The mean of nothing and the sd of n <= ddof values are NaN.

    Raises
    ------
    BadInput
        If ddof is neither 0 nor 1.

    Notes
    -----
    Values are first shifted by one value of their group, so that a constant group has residuals of
    exactly 0 and large offsets cost no digits.
    """
    if ddof not in (0, 1):
        raise BadInput(f"ddof is {ddof!r}.", remedy="It is 0 or 1.")
    kept = ~np.isnan(values)
    group, value = (codes, values) if kept.all() else (codes[kept], values[kept])
    shift, sums, squares = np.zeros(n_groups), np.zeros(n_groups), np.zeros(n_groups)
    shift[group] = value
    n = np.bincount(group, minlength=n_groups)
    for rows in chunks(len(group)):
        shifted = value[rows] - shift[group[rows]]
        sums += np.bincount(group[rows], weights=shifted, minlength=n_groups)
    centre = np.divide(sums, n, out=np.full(n_groups, np.nan), where=n > 0)
    for rows in chunks(len(group)):
        residual = value[rows] - shift[group[rows]] - centre[group[rows]]
        squares += np.bincount(group[rows], weights=residual**2, minlength=n_groups)
    constant = (squares == 0) & (n > 0)
    if constant.any():  # squares of very small numbers vanish: look at the numbers themselves
        alike = np.flatnonzero(constant[group])
        constant[group[alike[value[alike] != shift[group[alike]]]]] = False
    variance = np.divide(squares, n - ddof, out=np.full(n_groups, np.nan), where=n > ddof)
    return n, centre + shift, np.sqrt(variance), constant


def scale_status(n: Codes, constant: np.ndarray, *, ddof: int, min_ratings: int) -> np.ndarray:
    """Name why a group can or cannot be standardized: ok, no_data, too_few or constant.

    Parameters
    ----------
    n : array of counts
        Ratings of each group.
    constant : array of bool
        Whether all of them are equal.
    ddof, min_ratings : int
        As in :func:`standardize`.

    Returns
    -------
    array of str

    Examples
    --------
    >>> constant = np.array([False, True, False, False])
    >>> scale_status(np.array([9, 9, 2, 0]), constant, ddof=1, min_ratings=4).tolist()
    ['ok', 'constant', 'too_few', 'no_data']
    """
    status = np.full(len(n), "ok", dtype=object)
    status[constant] = "constant"
    status[n < max(min_ratings, ddof + 1, 2)] = "too_few"
    status[n == 0] = "no_data"
    return status


def standardize(
    values: Floats, codes: Codes, *, n_groups: int, ddof: int = 1, min_ratings: int = MIN_RATINGS
) -> Floats:
    """Standardize values within integer-coded groups.

    Parameters
    ----------
    values, codes, n_groups, ddof
        As in :func:`moments`.
    min_ratings : int
        Smaller groups become NaN, as do constant ones.

    Returns
    -------
    array of float

    Notes
    -----
    (x - mean) / SD of the group, SD with ``ddof``.

    Examples
    --------
    >>> codes = np.zeros(4, dtype=np.int64)
    >>> standardize(np.array([1.0, 3, 5, 7]), codes, n_groups=1).round(3).tolist()
    [-1.162, -0.387, 0.387, 1.162]
    """
    n, mean, sd, constant = moments(values, codes, n_groups=n_groups, ddof=ddof)
    usable = scale_status(n, constant, ddof=ddof, min_ratings=min_ratings) == "ok"
    spread = np.where(usable, sd, np.nan)
    z: Floats = np.empty(len(values))
    for rows in chunks(len(values)):
        group = codes[rows]
        np.divide(values[rows] - mean[group], spread[group], out=z[rows])
    return z


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
