"""Tests of proportions: exact sign test, exact McNemar test and sign flips of whole participants."""

from itertools import product
from typing import Literal

import numpy as np
import pandas as pd
import scipy

from ..errors import BadInput
from ..rows import Floats, group_codes

FLIPS = 10_000
Alternative = Literal["two-sided", "greater", "less"]
_EXACT = 14  # clusters up to which all 2^14 flips are enumerated
_BLOCK = 4_000_000  # random signs drawn at once


def sign_test(k: int, n: int, *, alternative: Alternative = "two-sided") -> float | None:
    """Compute the exact p value of k choices among n against one half.

    Notes
    -----
    Exact only where each participant chose once. With several choices of one participant the test is
    too liberal: test the participants' shares (:func:`sign_flip_test`). Two-tailed, five choices can never
    be significant: 5 of 5 has p = .0625.

    Examples
    --------
    >>> round(sign_test(12, 15), 6)
    0.035156
    """
    if n == 0:
        return None
    if not 0 <= k <= n:
        raise BadInput(f"{k} of {n} is no count.", remedy="k must be between 0 and n.")
    return float(scipy.stats.binomtest(int(k), int(n), alternative=alternative).pvalue)


def least_sign_p(n: int) -> float | None:
    """Return the least possible two-tailed p of n signs.

    Examples
    --------
    >>> least_sign_p(5), least_sign_p(6)
    (0.0625, 0.03125)
    """
    return float(2.0 ** (1 - n)) if n else None


def mcnemar_test(only_first: int, only_second: int) -> float | None:
    """Compute the exact McNemar p value of two sets of binary results on the same cases.

    Examples
    --------
    >>> round(mcnemar_test(12, 4), 6)
    0.076813
    """
    return sign_test(only_first, only_first + only_second)


def sign_flip_test(
    values: Floats, clusters: pd.Series | None = None, *, seed: int = 0, flips: int = FLIPS
) -> dict[str, float | int | str | None]:
    """Test a mean of 0 by flipping the signs of whole clusters.

    Notes
    -----
    T = Σ over clusters of their sums; p = share of flips with |T*| ≥ |T|, or (1 + #) / (1 + R) for R
    random flips. ``p_least`` is the least possible p of as many clusters with a sum other than 0: below six
    no result is significant at .05. Valid where the distribution of a cluster is symmetric about 0 under the
    null.

    References
    ----------
    Winkler et al. (2014), NeuroImage 92.
    """
    answered = ~np.isnan(values)
    scores = np.asarray(values, dtype=np.float64)[answered]
    codes = np.arange(len(scores)) if clusters is None else group_codes(clusters[answered])[0]
    sums = np.bincount(codes, weights=scores).astype(np.float64)
    result: dict[str, float | int | str | None] = {
        "mean": float(scores.mean()) if len(scores) else None, "p": None, "p_greater": None,
        "p_least": None,
        "n_clusters": len(sums), "flips": 0, "method": "none", "status": "no_data",
    }  # fmt: skip
    if len(sums) == 0:
        return result
    if not sums.any():
        return result | {"status": "no_variation"}
    exact = len(sums) <= _EXACT
    totals = _every_flip(sums) if exact else _random_flips(sums, seed=seed, flips=flips)
    slack, here, added = 1e-9 * float(np.abs(sums).sum()), float(sums.sum()), 0 if exact else 1
    as_far = (np.sum(np.abs(totals) >= abs(here) - slack) + added) / (len(totals) + added)
    as_high = (np.sum(totals >= here - slack) + added) / (len(totals) + added)
    method = "exact" if exact else "random"
    least = least_sign_p(int(np.count_nonzero(sums))) if exact else 1 / (1 + flips)
    numbers = {"p": float(as_far), "p_greater": float(as_high), "p_least": least, "flips": len(totals)}
    return result | numbers | {"method": method, "status": "ok"}


def _every_flip(sums: Floats) -> Floats:
    signs = np.array(list(product((1.0, -1.0), repeat=len(sums))))
    totals: Floats = signs @ sums
    return totals


def _random_flips(sums: Floats, *, seed: int, flips: int) -> Floats:
    rng = np.random.default_rng(seed)
    block = max(1, _BLOCK // len(sums))
    parts = [
        (rng.integers(0, 2, size=(min(block, flips - start), len(sums))) * 2.0 - 1.0) @ sums
        for start in range(0, flips, block)
    ]
    return np.concatenate(parts)
