"""Adjustment of p values for several tests: Holm and Benjamini-Hochberg."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from .pingouin_options import unrounded_pingouin

PValues = list[float | None]


def holm(p_values: Sequence[float | None]) -> PValues:
    """Adjust p values for multiple tests by Holm's step-down rule, which controls any false rejection.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6.

    Examples
    --------
    >>> holm([0.01, None, 0.04])
    [0.02, None, 0.04]
    """
    return _correct(p_values, "holm")


def benjamini_hochberg(p_values: Sequence[float | None]) -> PValues:
    """Adjust p values by the step-up rule of Benjamini and Hochberg, which controls the false discovery rate.

    Notes
    -----
    q of the i-th smallest of m p values: the smallest m p / rank from rank i on. Holds for independent and
    positively dependent tests.

    References
    ----------
    Benjamini & Hochberg (1995), Journal of the Royal Statistical Society B 57.

    Examples
    --------
    >>> benjamini_hochberg([0.01, None, 0.04, 0.03])
    [0.03, None, 0.04, 0.04]
    """
    return _correct(p_values, "fdr_bh")


def _correct(p_values: Sequence[float | None], method: str) -> PValues:
    """Return the corrected p values of ``pingouin.multicomp``; undefined ones are no tests."""
    if all(p is None for p in p_values):
        return [None] * len(p_values)
    with unrounded_pingouin() as pingouin:
        _, corrected = pingouin.multicomp(np.array(p_values, dtype=np.float64), method=method)
    return [None if p is None else float(q) for p, q in zip(p_values, corrected, strict=True)]


def simultaneous_level(n: int, *, confidence: float = 0.95) -> float:
    """Return the level at which n intervals hold together, so that the one chosen afterwards holds, too.

    References
    ----------
    Dunn (1961), Journal of the American Statistical Association 56 (Bonferroni's inequality).

    Examples
    --------
    >>> simultaneous_level(5)
    0.99
    """
    return 1 - (1 - confidence) / max(n, 1)


def widen_interval(estimate: float, low: float, high: float, *, df: float, n: int) -> tuple[float, float]:
    """Widen a 95 % t interval so that n of them hold together.

    Examples
    --------
    >>> [round(end, 3) for end in widen_interval(0.0, -1.0, 1.0, df=10, n=1)]
    [-1.0, 1.0]
    >>> [round(end, 3) for end in widen_interval(0.0, -1.0, 1.0, df=10, n=5)]
    [-1.422, 1.422]
    """
    factor = float(scipy.stats.t.ppf(0.5 + simultaneous_level(n) / 2, df) / scipy.stats.t.ppf(0.975, df))
    return estimate + factor * (low - estimate), estimate + factor * (high - estimate)


CORRECTIONS = {"holm": holm, "bh": benjamini_hochberg}
"""Options of a report; the adjusted p value has the column ``p_`` and this name."""


def with_adjusted(rows: Sequence[dict[str, Any]], p_values: Sequence[float | None]) -> list[dict[str, Any]]:
    """Return the rows with the p values of their tests by every correction, as ``p_holm`` and ``p_bh``.

    Examples
    --------
    >>> with_adjusted([{"test": "a"}, {"test": "b"}], [0.01, 0.04])[1]
    {'test': 'b', 'p_holm': 0.04, 'p_bh': 0.04}
    """
    columns = {f"p_{name}": correct(p_values) for name, correct in CORRECTIONS.items()}
    return [
        {**row, **{name: column[place] for name, column in columns.items()}} for place, row in enumerate(rows)
    ]
