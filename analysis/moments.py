"""Mean and spread of integer-coded groups, and values standardized by them; exact for constant groups."""

import numpy as np

from analysis.errors import BadInput
from analysis.rows import Codes, Floats, chunks

MIN_RATINGS = 4


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
