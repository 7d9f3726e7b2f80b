"""Magnitude estimates: ratios to the reference sentence, and their logarithms.

Nothing is clipped and no constant is added; what cannot be used is flagged.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.columns import require_columns
from analysis.errors import BadInput
from analysis.rows import numbers, tasks


def magnitude_ratios(responses: pd.Series, *, modulus: pd.Series | float) -> pd.DataFrame:
    """Divide magnitude estimates by the modulus, and take logs.

    Parameters
    ----------
    responses : Series
        Answers as given: numbers or text.
    modulus : Series or float
        Number given to the reference sentence; where it is unknown or not positive there is no ratio.

    Returns
    -------
    DataFrame, same index
        ``number`` (parsed), ``ratio``, ``log10_ratio`` and ``flag``: ``ok``, ``nonpositive``,
        ``missing`` or ``not_a_number``. A zero keeps its ratio 0 but has no log; a negative number
        has neither.

    Notes
    -----
    Nothing is clipped and no constant is added. The modulus drops out of z(x) and of z(log x).

    References
    ----------
    Bard, Robertson & Sorace (1996), Language 72.

    Examples
    --------
    >>> magnitude_ratios(pd.Series(["50", "0", "abc"]), modulus=100)["flag"].tolist()
    ['ok', 'nonpositive', 'not_a_number']
    """
    blank = responses.isna() | (responses.astype(str).str.strip() == "")
    number = pd.to_numeric(responses, errors="coerce").astype(float)
    number = number.where(np.isfinite(number))
    flag = pd.Series("ok", index=responses.index, dtype=object)
    flag[number <= 0] = "nonpositive"
    flag[number.isna()] = "not_a_number"
    flag[blank] = "missing"
    reference = pd.Series(modulus, index=responses.index, dtype=float)
    ratio = (number / reference.where(reference > 0)).where(number >= 0)
    log_ratio = np.log10(ratio.where(ratio > 0))
    return pd.DataFrame({"number": number, "ratio": ratio, "log10_ratio": log_ratio, "flag": flag})


@dataclass(frozen=True)
class Proportionality:
    """How well estimates follow what they estimate; None where undefined."""

    r: float | None
    exponent: float | None


def proportionality(lengths: Sequence[float], estimates: Sequence[float]) -> Proportionality:
    """Correlate log estimates with log lengths: the training that precedes magnitude estimation.

    Parameters
    ----------
    lengths, estimates : sequences of float
        Positive numbers, one pair per line.

    Returns
    -------
    Proportionality
        ``r``: Pearson's r of the logarithms. ``exponent``: slope of log estimate on log length, 1 where
        twice the length gets twice the number. None with fewer than three lines or no variation.

    Raises
    ------
    BadInput
        If the sequences differ in length or hold numbers that are not positive.

    Notes
    -----
    r does not ask for an exponent of 1: people who compress all ratios alike are consistent, and their
    exponent is kept. The modulus drops out of both.

    References
    ----------
    Stevens (1975), *Psychophysics*, ch. 1; Bard, Robertson & Sorace (1996), Language 72, for the training
    with lines before sentences.

    Examples
    --------
    >>> found = proportionality([0.5, 1, 2], [50, 100, 200])
    >>> round(found.r, 6), round(found.exponent, 6)
    (1.0, 1.0)
    """
    x, y = (np.asarray(one, dtype=np.float64) for one in (lengths, estimates))
    if x.shape != y.shape or not ((x > 0).all() and (y > 0).all()):
        raise BadInput("lines and estimates do not fit.", remedy="Give one positive number for every line.")
    if len(x) < 3:
        return Proportionality(None, None)
    log_x, log_y = np.log(x), np.log(y)
    spread = float(log_x.std() * log_y.std())
    if spread < 1e-12:
        return Proportionality(None, None)
    covariance = float(((log_x - log_x.mean()) * (log_y - log_y.mean())).mean())
    return Proportionality(min(1.0, max(-1.0, covariance / spread)), covariance / float(log_x.var()))


def log_ratios(judgments: pd.DataFrame) -> pd.Series:
    """Give log10(value / modulus) of magnitude estimates, NaN where not positive or not answered.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``value``. Without ``modulus`` the plain log10 is given, which has the same z.

    Returns
    -------
    Series of float, same index

    Raises
    ------
    BadInput
        If the rows are of another task.

    Notes
    -----
    Ratios to the modulus are multiplicative, so their logarithms are averaged.

    References
    ----------
    Bard, Robertson & Sorace (1996), Language 72.

    Examples
    --------
    >>> rows = pd.DataFrame({"value": [100, 10, 0], "modulus": 10, "task": "magnitude_estimation"})
    >>> log_ratios(rows).tolist()
    [1.0, 0.0, nan]
    """
    require_columns(judgments, "value")
    others = sorted(set(tasks(judgments).dropna().unique()) - {"magnitude_estimation"})
    if others and "task" in judgments.columns:
        message = f"logarithms are for magnitude estimates, not for {', '.join(others)}."
        raise BadInput(message, column="task", remedy="Use the transform z or raw.")
    value = numbers(judgments)
    modulus = np.ones(len(value))
    if "modulus" in judgments.columns:
        given = judgments["modulus"].to_numpy(dtype=np.float64, na_value=np.nan)
        modulus = np.where(given > 0, given, 1.0)
    ratio = np.where(value > 0, value, np.nan) / modulus
    return pd.Series(np.log10(ratio), index=judgments.index, name="log10_ratio")
