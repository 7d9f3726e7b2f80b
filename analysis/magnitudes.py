"""Magnitude estimates: ratios to the reference sentence, and their logarithms.

Nothing is clipped and no constant is added; what cannot be used is flagged.
"""

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
