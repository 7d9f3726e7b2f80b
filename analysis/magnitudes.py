"""Magnitude estimates: ratios to the reference sentence, and their logarithms.

Values are not clipped and no constant is added; unusable values are flagged.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .columns import require_columns
from .errors import BadInput
from .rows import numbers, tasks


def magnitude_ratios(responses: pd.Series, *, modulus: pd.Series | float) -> pd.DataFrame:
    """Divide magnitude estimates by the modulus, and take logs.

    Notes
    -----
    ``number`` (parsed), ``ratio``, ``log10_ratio`` and ``flag``: ``ok``, ``nonpositive``,
    ``missing`` or ``not_a_number``. A zero keeps its ratio 0 but has no log; a negative number
    has neither.

    Values are not clipped and no constant is added. The modulus cancels in z(x) and in z(log x).

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


def is_zero_estimate(judgments: pd.DataFrame) -> np.ndarray:
    """Return which rows are magnitude estimates of zero."""
    require_columns(judgments, "value")
    is_magnitude = (tasks(judgments) == "magnitude_estimation").to_numpy(dtype=bool)
    return np.asarray(is_magnitude & (numbers(judgments) == 0))


def without_zeros(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the judgments with estimates of zero as missing values."""
    zero = is_zero_estimate(judgments)
    return judgments.assign(value=judgments["value"].mask(zero)) if zero.any() else judgments


def unusable_estimates(judgments: pd.DataFrame) -> dict[str, int]:
    """Count estimates without a logarithm: zeros with their participants, and negative numbers.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": ["a", "a", "b"], "value": [0, 5, 0]})
    >>> unusable_estimates(rows.assign(task="magnitude_estimation"))
    {'zeros': 2, 'zero_participants': 2, 'negative': 0}
    """
    zero = is_zero_estimate(judgments)
    is_magnitude = (tasks(judgments) == "magnitude_estimation").to_numpy(dtype=bool)
    people = judgments["participant"][zero].nunique() if "participant" in judgments else 0
    return {
        "zeros": int(zero.sum()),
        "zero_participants": int(people),
        "negative": int((is_magnitude & (numbers(judgments) < 0)).sum()),
    }


@dataclass(frozen=True)
class Proportionality:
    """Correlation of estimates with the estimated lengths; None if undefined."""

    r: float | None
    exponent: float | None


def proportionality(lengths: Sequence[float], estimates: Sequence[float]) -> Proportionality:
    """Correlate log estimates with log lengths: the training that precedes magnitude estimation.

    Notes
    -----
    ``r``: Pearson's r of the logarithms. ``exponent``: slope of log estimate on log length, 1 where
    twice the length gets twice the number. None with fewer than three lines or no variation.

    r does not require an exponent of 1: participants who compress all ratios equally are consistent. The
    modulus cancels in both.

    References
    ----------
    Stevens (1975), *Psychophysics*, ch. 1; Bard, Robertson & Sorace (1996), Language 72, for the training
    with lines before sentences.

    Examples
    --------
    >>> fit = proportionality([0.5, 1, 2], [50, 100, 200])
    >>> round(fit.r, 6), round(fit.exponent, 6)
    (1.0, 1.0)
    """
    x, y = (np.asarray(sequence, dtype=np.float64) for sequence in (lengths, estimates))
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
    """Compute log10(value / modulus) of magnitude estimates; NaN if not positive or not answered.

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
    other_tasks = sorted(set(tasks(judgments).dropna().unique()) - {"magnitude_estimation"})
    if other_tasks and "task" in judgments.columns:
        message = f"logarithms are for magnitude estimates, not for {', '.join(other_tasks)}."
        raise BadInput(message, column="task", remedy="Use the transform z or raw.")
    value = numbers(judgments)
    modulus = np.ones(len(value))
    if "modulus" in judgments.columns:
        moduli = judgments["modulus"].to_numpy(dtype=np.float64, na_value=np.nan)
        modulus = np.where(moduli > 0, moduli, 1.0)
    ratio = np.where(value > 0, value, np.nan) / modulus
    return pd.Series(np.log10(ratio), index=judgments.index, name="log10_ratio")
