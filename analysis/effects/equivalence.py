"""Equivalence of two conditions within a smallest effect of interest: two one-sided tests (TOST)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..errors import BadInput
from ..multiple_tests import with_adjusted
from ..rows import Floats
from .contrasts import Contrast, paired_contrast, t_test
from .five_analyses import ALPHA, contrast_rows, rating_contrast
from .sign_tests import sign_test

VERDICTS = ("equivalent", "different", "both", "undecided", "not_estimable")
CONFIDENCE = 1 - 2 * ALPHA
"""Of the interval that lies within the bounds where both one-sided tests are significant: 90 %."""


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests of a difference against the bounds of a smallest effect of interest."""

    status: str
    n: int = 0
    """Units, as in the test of the difference."""
    estimate: float | None = None
    ci_low: float | None = None
    """Ends of the 90 % interval."""
    ci_high: float | None = None
    p_lower: float | None = None
    """One-tailed, of a difference above the lower bound."""
    p_upper: float | None = None
    """One-tailed, of a difference below the upper bound."""
    p_difference: float | None = None
    """Two-tailed, of a difference from zero."""
    method: str = ""

    @property
    def p(self) -> float | None:
        """The larger of both: equivalence needs both tests."""
        if self.p_lower is None or self.p_upper is None:
            return None
        return max(self.p_lower, self.p_upper)

    @property
    def verdict(self) -> str:
        """``equivalent``, ``different``, ``both``, ``undecided``, or ``not_estimable``."""
        if self.p is None or self.p_difference is None:
            return "not_estimable"
        is_equivalent, is_different = self.p < ALPHA, self.p_difference < ALPHA
        if is_equivalent and is_different:
            return "both"
        return "equivalent" if is_equivalent else "different" if is_different else "undecided"


def tost(tested: Contrast, bound: float, *, method: str = "TOST") -> Equivalence:
    """Test whether a difference of means lies within ±``bound``, from its t test.

    Notes
    -----
    ``pingouin.ttest``, paired or Welch's, against each bound; ``pingouin.tost`` returns the larger p only.

    References
    ----------
    Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15; Lakens (2017), SPPS 8.

    Examples
    --------
    >>> found = tost(paired_contrast(np.array([2.0, 3, 4, 3]), np.array([2.0, 3.1, 3.9, 3.1])), 0.5)
    >>> found.verdict, round(found.ci_low, 3), round(found.ci_high, 3)
    ('equivalent', -0.138, 0.088)
    """
    if tested.status != "ok":
        return Equivalence(tested.status, tested.n, tested.mean_difference, method=method)
    assert tested.samples is not None
    good, bad = tested.samples
    interval = t_test(good, bad, paired=tested.is_paired, confidence=CONFIDENCE)
    return Equivalence(
        "ok",
        n=tested.n,
        estimate=tested.mean_difference,
        ci_low=interval["ci_low"],
        ci_high=interval["ci_high"],
        p_lower=t_test(good + bound, bad, paired=tested.is_paired)["p_greater"],
        p_upper=t_test(bad + bound, good, paired=tested.is_paired)["p_greater"],
        p_difference=tested.p,
        method=method,
    )


def binomial_tost(k: int, n: int, bound: float) -> Equivalence:
    """Test exactly whether a share lies within ½ ± ``bound``, from k of n independent choices.

    Notes
    -----
    Two exact binomial tests, against ½ - bound and ½ + bound; the interval is that of Clopper and Pearson.
    Estimate and interval are of the share less ½.

    Examples
    --------
    >>> found = binomial_tost(101, 200, 0.1)
    >>> found.verdict, round(found.p, 4)
    ('equivalent', 0.004)
    """
    method = "exact binomial TOST, participants"
    if n == 0:
        return Equivalence("no_data", method=method)
    lower = scipy.stats.binomtest(k, n, 0.5 - bound, alternative="greater")
    upper = scipy.stats.binomtest(k, n, 0.5 + bound, alternative="less")
    ends = scipy.stats.binomtest(k, n).proportion_ci(confidence_level=CONFIDENCE, method="exact")
    return Equivalence(
        "ok",
        n=n,
        estimate=k / n - 0.5,
        ci_low=float(ends.low) - 0.5,
        ci_high=float(ends.high) - 0.5,
        p_lower=float(lower.pvalue),
        p_upper=float(upper.pvalue),
        p_difference=sign_test(k, n),
        method=method,
    )


def choice_equivalence(rows: pd.DataFrame, bound: float) -> Equivalence:
    """Test choices against one half: exactly where each participant counts as one choice, else by t.

    Notes
    -----
    Exact with one choice each, where undecided ones are left out as in the sign test, and where each
    participant chose the same in all of theirs. The t test is of the participants' shares.
    """
    shares: Floats = rows.groupby("participant")["score"].mean().to_numpy(dtype=np.float64)
    decided = shares[shares != 0.5] if len(shares) == len(rows) else shares
    if np.isin(decided, (0.0, 1.0)).all():
        return binomial_tost(int(decided.sum()), len(decided), bound)
    tested = paired_contrast(shares, np.full(len(shares), 0.5))
    return tost(tested, bound, method="TOST, t of participants' shares against 1/2")


def equivalence_tests(
    judgments: pd.DataFrame, *, sesoi: float, by: str = "phenomenon", transform: str = "z"
) -> list[dict[str, Any]]:
    """Test the equivalence of every contrast within a smallest effect of interest.

    Notes
    -----
    Contrasts, scale and tests are those of the five analyses: paired t on participant means of ratings
    (Welch's where fewer than half judged both sides), shares of choices less ½, shares of yes. One row for
    each contrast: ``n``, ``estimate``, ``ci_low`` and ``ci_high`` (90 %), ``low`` and ``high`` (the bounds),
    ``p_lower``, ``p_upper``, ``p`` (the larger), ``p_difference`` (two-tailed, of no difference),
    ``verdict``, ``method``, ``status``, and p corrected over the contrasts of one task. Verdicts go by
    uncorrected p. The bound must be chosen before the data are seen.

    References
    ----------
    Lakens, Scheel & Isager (2018), Advances in Methods and Practices in Psychological Science 1.
    """
    rows: list[dict[str, Any]] = []
    for name, task, part in contrast_rows(judgments, by=by, transform=transform):
        check_sesoi(sesoi, task)
        if task == "forced_choice":
            equivalence = choice_equivalence(part, sesoi)
        else:
            tested, is_paired = rating_contrast(part)
            how = "paired t, participants" if is_paired else "Welch t, participants"
            equivalence = tost(tested, sesoi, method=f"TOST, {how}")
        rows.append({by: name, "task": task, **_row(equivalence, sesoi)})
    return [
        row
        for task in dict.fromkeys(row["task"] for row in rows)
        for row in _with_adjusted([row for row in rows if row["task"] == task])
    ]


def check_sesoi(sesoi: float, task: str) -> None:
    """Refuse a smallest effect of interest that no effect of the task can exceed."""
    most = {"forced_choice": 0.5, "yes_no": 1.0}.get(task, np.inf)
    if 0 < sesoi < most:
        return
    remedy = {
        "forced_choice": "Give a distance of the share of choices from one half, such as 0.1 for 40 to 60 %.",
        "yes_no": "Give a difference between shares of yes, such as 0.1.",
    }.get(task, "Give a difference above 0 on the scale of the transform, such as 0.2 z.")
    message = f"{sesoi:g} is no smallest effect of interest for {task.replace('_', ' ')}."
    raise BadInput(message, column="sesoi", remedy=remedy)


def _row(equivalence: Equivalence, sesoi: float) -> dict[str, Any]:
    return {
        "n": equivalence.n,
        "estimate": equivalence.estimate,
        "ci_low": equivalence.ci_low,
        "ci_high": equivalence.ci_high,
        "low": -sesoi,
        "high": sesoi,
        "p_lower": equivalence.p_lower,
        "p_upper": equivalence.p_upper,
        "p": equivalence.p,
        "p_difference": equivalence.p_difference,
        "verdict": equivalence.verdict,
        "method": equivalence.method,
        "status": equivalence.status,
    }


def _with_adjusted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return with_adjusted(rows, [row["p"] for row in rows])
