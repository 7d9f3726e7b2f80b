"""t tests of acceptable against unacceptable sentences, standardized effect sizes and their intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

import numpy as np
import pandas as pd
import scipy

from ..columns import require_columns
from ..errors import BadInput, UnknownName
from ..pingouin_options import unrounded_pingouin
from ..rows import Floats, column_or_blank, group_codes, tasks

ALTERNATIVES = ("two-sided", "greater", "less")


class TTest(TypedDict):
    """A t test of a difference of means."""

    statistic: float
    df: float
    p: float
    p_greater: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True)
class Contrast:
    """A difference of two means with its t test and its effect sizes, each under its own name."""

    status: str
    n: int = 0
    """Units with both means; for independent samples, the number of values of both."""
    mean_difference: float | None = None
    statistic: float | None = None
    df: float | None = None
    p: float | None = None
    """Two-tailed."""
    p_greater: float | None = None
    """One-tailed, for a positive difference."""
    ci_low: float | None = None
    ci_high: float | None = None
    d_z: float | None = None
    """mean(D) / sd(D): determines the power of a paired test."""
    d_av: float | None = None
    """mean(D) / ((s_good + s_bad) / 2)."""
    d_pooled: float | None = None
    """mean(D) / √((s_good² + s_bad²) / 2): ``cohen_d`` of a paired test in pingouin."""
    samples: tuple[Floats, Floats] | None = field(default=None, repr=False, compare=False)
    """The values that were tested, without missing ones."""
    is_paired: bool = False


def contrast_of_conditions(
    judgments: pd.DataFrame, conditions: str, *, factors: Mapping[str, Sequence[str]] | None = None
) -> pd.DataFrame:
    """Return judgments in which the first of two conditions is expected to be the higher, and others nothing.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``condition``, or the columns of the factors.
    conditions : str
        Two conditions, or two levels of a factor, separated by a comma.
    factors : Mapping of str to sequence of str, optional
        Columns of the factors with their levels.

    Raises
    ------
    BadInput, UnknownName
        If there are not two names, a name is no condition or level, or the judgments are choices.

    Examples
    --------
    >>> rows = pd.DataFrame({"condition": ["plausible", "odd", "other"], "task": "likert"})
    >>> contrast_of_conditions(rows, "plausible, odd")["expected"].tolist()
    ['acceptable', 'unacceptable', '']
    """
    names = [name.strip() for name in conditions.split(",")]
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise BadInput(
            f"{conditions!r} are no two conditions.",
            remedy="Give two conditions or levels, such as plausible,implausible.",
        )
    if (tasks(judgments) == "forced_choice").any():
        raise BadInput(
            "choices between the members of pairs have no conditions to contrast.",
            remedy="Leave the conditions out.",
        )
    columns = ["condition", *(name for name in factors or {} if name in judgments.columns)]
    raw = {name: column_or_blank(judgments, name).astype(object) for name in columns}
    levels = {name: cells.where(cells.notna(), "").map(str) for name, cells in raw.items()}
    existing = {name: set(cells) - {""} for name, cells in levels.items()}
    fitting = [name for name in columns if set(names) <= existing[name]]
    if not fitting:
        listed = list(dict.fromkeys(level for name in columns for level in sorted(existing[name])))
        unknown = next((name for name in names if name not in listed), names[1])
        raise UnknownName("condition or level", unknown, listed)
    cells = levels[fitting[0]].to_numpy()
    expected = np.where(cells == names[0], "acceptable", np.where(cells == names[1], "unacceptable", ""))
    return judgments.assign(expected=expected)


def paired_means(rows: pd.DataFrame, *, unit: str = "participant", value: str = "value") -> pd.DataFrame:
    """Average the acceptable and the unacceptable sentences of each participant or item.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": ["a", "a", "b"], "condition": ["good", "bad", "good"],
    ...     "value": [2.0, 1.0, 3.0]})
    >>> paired_means(rows.assign(expected=["acceptable", "unacceptable", "acceptable"]))
      unit  good  bad  difference
    0    a   2.0  1.0         1.0
    """
    require_columns(rows, "expected", unit, value)
    status = rows["expected"].astype(object).to_numpy()
    scores = rows[value].to_numpy(dtype=np.float64)
    codes, names = group_codes(rows[unit])
    sides = [_means(scores, codes, status == word, n=len(names)) for word in ("acceptable", "unacceptable")]
    has_both = ~np.isnan(sides[0]) & ~np.isnan(sides[1])
    pairs = pd.DataFrame({"unit": np.array(names, dtype=object), "good": sides[0], "bad": sides[1]})[has_both]
    return pairs.assign(difference=pairs["good"] - pairs["bad"]).reset_index(drop=True)


def _means(scores: Floats, codes: np.ndarray, chosen: np.ndarray, *, n: int) -> Floats:
    counted_rows = chosen & ~np.isnan(scores)
    count = np.bincount(codes[counted_rows], minlength=n)
    total = np.bincount(codes[counted_rows], weights=scores[counted_rows], minlength=n)
    means: Floats = np.divide(total, count, out=np.full(n, np.nan), where=count > 0)
    return means


def paired_contrast(good: Floats, bad: Floats, *, confidence: float = 0.95) -> Contrast:
    """Test the mean difference of paired values by t.

    Notes
    -----
    t = mean(D) / (sd(D) / √n) with n - 1 degrees of freedom. The effect sizes differ: the same rows may give
    d_z = 2.95 and d_pooled = 2.26.

    References
    ----------
    Sprouse, Schütze & Almeida (2013), Lingua 134; Lakens (2013), Frontiers in Psychology 4:863.

    Examples
    --------
    >>> found = paired_contrast(np.array([5.0, 6, 7, 7]), np.array([3.0, 5, 4, 6]))
    >>> found.mean_difference, round(found.statistic, 3), found.df, round(found.d_z, 3)
    (1.75, 3.656, 3.0, 1.828)
    """
    first, second = np.asarray(good, dtype=np.float64), np.asarray(bad, dtype=np.float64)
    is_complete = ~(np.isnan(first) | np.isnan(second))
    first, second = first[is_complete], second[is_complete]
    difference = first - second
    n = len(difference)
    if n < 2:
        return Contrast("too_few", n, float(difference.mean()) if n else None)
    mean, spread = float(difference.mean()), float(difference.std(ddof=1))
    if spread <= 1e-12 * max(1.0, float(np.abs(difference).max())):
        return Contrast("no_variation", n, mean)
    with unrounded_pingouin() as pingouin:
        d_z, d_pooled = (
            float(pingouin.compute_effsize(first, second, paired=True, eftype=name))
            for name in ("cohen_dz", "cohen")
        )
    spreads = first.std(ddof=1) + second.std(ddof=1)
    return Contrast(
        "ok",
        n=n,
        mean_difference=mean,
        **t_test(first, second, paired=True, confidence=confidence),
        d_z=d_z,
        d_av=_ratio(mean, spreads / 2),
        d_pooled=d_pooled,
        samples=(first, second),
        is_paired=True,
    )


def welch_contrast(good: Floats, bad: Floats, *, confidence: float = 0.95) -> Contrast:
    """Test the difference of two independent means by Welch's t.

    Notes
    -----
    For conditions judged by different participants; the paired test is more powerful if the same
    participants judged both.

    References
    ----------
    Welch (1947), Biometrika 34.
    """
    first, second = (np.asarray(side, dtype=np.float64) for side in (good, bad))
    first, second = first[~np.isnan(first)], second[~np.isnan(second)]
    n = len(first) + len(second)
    if len(first) < 2 or len(second) < 2:
        return Contrast("too_few", n)
    mean = float(first.mean() - second.mean())
    if first.var() + second.var() <= 0:
        return Contrast("no_variation", n, mean)
    return Contrast(
        "ok",
        n=n,
        mean_difference=mean,
        **t_test(first, second, paired=False, confidence=confidence),
        # pingouin weights both variances by their degrees of freedom, which Welch's test does not assume
        d_pooled=_ratio(mean, np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)),
        samples=(first, second),
    )


def contrast(rows: pd.DataFrame, *, unit: str = "participant", value: str = "value") -> Contrast:
    """Test acceptable against unacceptable by participants (F1) or by items (F2).

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": list("aabbcc"), "expected": ["acceptable", "unacceptable"] * 3,
    ...     "value": [2.0, 1, 3, 1, 4, 1]})
    >>> found = contrast(rows)
    >>> round(found.statistic, 3), found.df, round(found.p, 3)
    (3.464, 2.0, 0.074)
    """
    means = paired_means(rows, unit=unit, value=value)
    return paired_contrast(means["good"].to_numpy(), means["bad"].to_numpy())


def p_value(result: Contrast, *, alternative: str = "two-sided") -> float | None:
    """Return the p value for one alternative hypothesis.

    Examples
    --------
    >>> found = paired_contrast(np.array([2.0, 3, 4]), np.array([1.0, 1, 1]))
    >>> round(p_value(found), 4), round(p_value(found, alternative="greater"), 4)
    (0.0742, 0.0371)
    """
    if alternative not in ALTERNATIVES:
        raise UnknownName("alternative", alternative, ALTERNATIVES)
    if alternative == "two-sided":
        return result.p
    if result.statistic is None or result.df is None:
        return None
    if alternative == "greater":
        return result.p_greater
    return float(scipy.stats.t.cdf(result.statistic, result.df))


def common_language(good: Floats, bad: Floats) -> float | None:
    """Compute the common-language effect size (CLES): P(good > bad) + ½ P(equal) over all pairs of values.

    Notes
    -----
    The Mann-Whitney U over n_good · n_bad. Needs no interval scale, so it suits raw Likert ratings.

    References
    ----------
    McGraw & Wong (1992), Psychological Bulletin 111; Vargha & Delaney (2000), JEBS 25.

    Examples
    --------
    >>> common_language(np.array([5.0, 6, 7]), np.array([4.0, 5, 5]))
    0.8888888888888888
    """
    first, second = (np.asarray(side, dtype=np.float64) for side in (good, bad))
    first, second = first[~np.isnan(first)], second[~np.isnan(second)]
    if not len(first) or not len(second):
        return None
    with unrounded_pingouin() as pingouin:
        return float(pingouin.compute_effsize(first, second, eftype="CLES"))


def t_test(good: Floats, bad: Floats, *, paired: bool, confidence: float = 0.95) -> TTest:
    """Return the paired t test or Welch's by ``pingouin.ttest``: statistic, df, both p and the interval."""
    with unrounded_pingouin() as pingouin:
        test = pingouin.ttest(good, bad, paired=paired, correction=True, confidence=confidence).iloc[0]
    statistic, p = float(test["T"]), float(test["p_val"])
    low, high = test[f"CI{100 * confidence:.0f}"]
    return {
        "statistic": statistic,
        "df": float(test["dof"]),
        "p": p,
        "p_greater": p / 2 if statistic > 0 else 1 - p / 2,
        "ci_low": float(low),
        "ci_high": float(high),
    }


def _ratio(mean: float, spread: float) -> float | None:
    return float(mean / spread) if spread > 0 else None


def d_z_interval(d_z: float, n: int, *, confidence: float = 0.95) -> tuple[float, float] | None:
    """Compute the confidence interval of d_z = mean(D) / sd(D) of n paired differences.

    Notes
    -----
    The two noncentralities λ at which t = d_z √n is the upper and the lower tail of a noncentral t with n - 1
    degrees of freedom, over √n. Assumes normal differences. ``pingouin.compute_esci`` takes a symmetric
    interval that covers too much with few participants (99 % with five and d_z = 0, for 95).

    References
    ----------
    Cumming & Finch (2001), Educational and Psychological Measurement 61; Steiger & Fouladi (1997).

    Examples
    --------
    >>> [round(end, 3) for end in d_z_interval(0.5, 30)]
    [0.116, 0.876]
    """
    if n < 2 or not np.isfinite(d_z):
        return None
    t, df, tail = d_z * np.sqrt(n), n - 1, (1 - confidence) / 2
    reach = 5 * np.sqrt(1 + t**2 / (2 * df))  # five standard errors of t

    def end(share: float) -> float:
        def gap(centre: float) -> float:
            return float(scipy.stats.nct.cdf(t, df, centre)) - share

        if not (gap(t - reach) > 0 > gap(t + reach)):
            return float("nan")
        try:
            return float(scipy.optimize.brentq(gap, t - reach, t + reach)) / float(np.sqrt(n))
        except ValueError:  # scipy's noncentral t is NaN between the ends
            return float("nan")

    low, high = end(1 - tail), end(tail)
    return None if np.isnan(low) or np.isnan(high) else (low, high)
