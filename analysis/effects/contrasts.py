"""t tests of acceptable against unacceptable sentences, standardized effect sizes and their intervals."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from ..columns import require_columns
from ..errors import UnknownName
from ..rows import Floats, group_codes

ALTERNATIVES = ("two-sided", "greater", "less")


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
    statistic, df = _t(first, second, paired=True)
    half = float(scipy.stats.t.ppf(0.5 + confidence / 2, df)) * spread / np.sqrt(n)
    s_good, s_bad = float(first.std(ddof=1)), float(second.std(ddof=1))
    return Contrast(
        "ok",
        n=n,
        mean_difference=mean,
        statistic=statistic,
        df=df,
        p=float(2 * scipy.stats.t.sf(abs(statistic), df)),
        p_greater=float(scipy.stats.t.sf(statistic, df)),
        ci_low=mean - half,
        ci_high=mean + half,
        d_z=mean / spread,
        d_av=_ratio(mean, (s_good + s_bad) / 2),
        d_pooled=_ratio(mean, np.sqrt((s_good**2 + s_bad**2) / 2)),
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
    squares = first.var(ddof=1) / len(first), second.var(ddof=1) / len(second)
    if sum(squares) <= 0:
        return Contrast("no_variation", n, mean)
    statistic, df = _t(first, second, paired=False)
    half = float(scipy.stats.t.ppf(0.5 + confidence / 2, df) * np.sqrt(sum(squares)))
    return Contrast(
        "ok",
        n=n,
        mean_difference=mean,
        statistic=statistic,
        df=df,
        p=float(2 * scipy.stats.t.sf(abs(statistic), df)),
        p_greater=float(scipy.stats.t.sf(statistic, df)),
        ci_low=mean - half,
        ci_high=mean + half,
        d_pooled=_ratio(mean, np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)),
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


def p_of(result: Contrast, *, alternative: str = "two-sided") -> float | None:
    """Return the p value for one alternative hypothesis.

    Examples
    --------
    >>> found = paired_contrast(np.array([2.0, 3, 4]), np.array([1.0, 1, 1]))
    >>> round(p_of(found), 4), round(p_of(found, alternative="greater"), 4)
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
    The Mann-Whitney U over n_good · n_bad, from ranks. Needs no interval scale, so it
    suits raw Likert ratings.

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
    ranks = scipy.stats.rankdata(np.concatenate([first, second]))[: len(first)]
    above = ranks.sum() - len(first) * (len(first) + 1) / 2
    return float(above / (len(first) * len(second)))


def _t(first: Floats, second: Floats, *, paired: bool) -> tuple[float, float]:
    if paired:
        test = scipy.stats.ttest_rel(first, second)
    else:
        test = scipy.stats.ttest_ind(first, second, equal_var=False)
    return float(test.statistic), float(test.df)


def _ratio(mean: float, spread: float) -> float | None:
    return float(mean / spread) if spread > 0 else None


def d_z_interval(d_z: float, n: int, *, confidence: float = 0.95) -> tuple[float, float] | None:
    """Compute the confidence interval of d_z = mean(D) / sd(D) of n paired differences.

    Notes
    -----
    The two noncentralities λ at which t = d_z √n is the upper and the lower tail of a noncentral t with n - 1
    degrees of freedom, over √n. Assumes normal differences.

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
        return float(scipy.optimize.brentq(gap, t - reach, t + reach)) / float(np.sqrt(n))

    low, high = end(1 - tail), end(tail)
    return None if np.isnan(low) or np.isnan(high) else (low, high)
