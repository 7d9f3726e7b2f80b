"""Acceptable against unacceptable: t tests by participants and by items, effect sizes by name."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from analysis.columns import require_columns
from analysis.errors import UnknownName
from analysis.rows import Floats, group_codes

ALTERNATIVES = ("two-sided", "greater", "less")


@dataclass(frozen=True)
class Contrast:
    """A difference of two means with its t test and its effect sizes, each under its own name."""

    status: str
    n: int = 0
    """Units with both means; for independent samples, the values of both."""
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
    """mean(D) / sd(D): what the power of a paired test needs."""
    d_av: float | None = None
    """mean(D) / ((s_good + s_bad) / 2)."""
    d_pooled: float | None = None
    """mean(D) / √((s_good² + s_bad²) / 2): what pingouin calls cohen_d of a paired test."""


def paired_means(rows: pd.DataFrame, *, unit: str = "participant", value: str = "value") -> pd.DataFrame:
    """Average the acceptable and the unacceptable sentences of each participant or item.

    Parameters
    ----------
    rows : DataFrame, one row per judgment
        Needs ``expected`` (``acceptable`` or ``unacceptable``), the unit and the value.
    unit : str
        ``participant`` for the analysis by participants (F1), ``item`` for that by items (F2).
    value : str
        Column of scores, for example z.

    Returns
    -------
    DataFrame
        ``unit``, ``good``, ``bad`` and ``difference`` of the units that have both.

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
    both = ~np.isnan(sides[0]) & ~np.isnan(sides[1])
    found = pd.DataFrame({"unit": np.array(names, dtype=object), "good": sides[0], "bad": sides[1]})[both]
    return found.assign(difference=found["good"] - found["bad"]).reset_index(drop=True)


def _means(scores: Floats, codes: np.ndarray, chosen: np.ndarray, *, n: int) -> Floats:
    used = chosen & ~np.isnan(scores)
    count = np.bincount(codes[used], minlength=n)
    total = np.bincount(codes[used], weights=scores[used], minlength=n)
    means: Floats = np.divide(total, count, out=np.full(n, np.nan), where=count > 0)
    return means


def paired_contrast(good: Floats, bad: Floats, *, confidence: float = 0.95) -> Contrast:
    """Test the mean difference of paired values by t.

    Parameters
    ----------
    good, bad : arrays of float of equal length
        One value of each per participant (or item).
    confidence : float

    Returns
    -------
    Contrast
        ``status``: ``ok``, ``too_few`` (fewer than two pairs) or ``no_variation`` (all differences
        equal: there is a mean difference but no test).

    Notes
    -----
    t = mean(D) / (sd(D) / √n) with n - 1 degrees of freedom, through pingouin; its interval is rounded, so
    ours is computed again. Effect sizes differ: on the same rows d_z may be 2.95 and d_pooled 2.26.

    References
    ----------
    Sprouse, Schütze & Almeida (2013), Lingua 134; Lakens (2013), Frontiers in Psychology 4:863.

    Examples
    --------
    >>> found = paired_contrast(np.array([5.0, 6, 7, 7]), np.array([3.0, 5, 4, 6]))
    >>> found.mean_difference, round(found.statistic, 3), found.df, round(found.d_z, 3)
    (1.75, 3.656, 3.0, 1.828)
    """
    one, other = np.asarray(good, dtype=np.float64), np.asarray(bad, dtype=np.float64)
    known = ~(np.isnan(one) | np.isnan(other))
    one, other = one[known], other[known]
    difference = one - other
    n = len(difference)
    if n < 2:
        return Contrast("too_few", n, float(difference.mean()) if n else None)
    mean, spread = float(difference.mean()), float(difference.std(ddof=1))
    if spread <= 1e-12 * max(1.0, float(np.abs(difference).max())):
        return Contrast("no_variation", n, mean)
    statistic, df = _t(one, other, paired=True)
    half = float(scipy.stats.t.ppf(0.5 + confidence / 2, df)) * spread / np.sqrt(n)
    s_good, s_bad = float(one.std(ddof=1)), float(other.std(ddof=1))
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

    Parameters
    ----------
    good, bad : arrays of float
        Values of different participants, in any number.
    confidence : float

    Returns
    -------
    Contrast
        ``d_pooled`` is Cohen's d; ``d_z`` and ``d_av`` belong to pairs and are None.

    Notes
    -----
    For conditions judged by different people. Where the same people judged both, the paired test uses that.

    References
    ----------
    Welch (1947), Biometrika 34.
    """
    one, other = (np.asarray(side, dtype=np.float64) for side in (good, bad))
    one, other = one[~np.isnan(one)], other[~np.isnan(other)]
    n = len(one) + len(other)
    if len(one) < 2 or len(other) < 2:
        return Contrast("too_few", n)
    mean = float(one.mean() - other.mean())
    squares = one.var(ddof=1) / len(one), other.var(ddof=1) / len(other)
    if sum(squares) <= 0:
        return Contrast("no_variation", n, mean)
    statistic, df = _t(one, other, paired=False)
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
        d_pooled=_ratio(mean, np.sqrt((one.var(ddof=1) + other.var(ddof=1)) / 2)),
    )


def contrast(rows: pd.DataFrame, *, unit: str = "participant", value: str = "value") -> Contrast:
    """Test acceptable against unacceptable by participants (F1) or by items (F2).

    Parameters
    ----------
    rows, unit, value
        As in :func:`paired_means`.

    Returns
    -------
    Contrast

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


def p_of(found: Contrast, *, alternative: str = "two-sided") -> float | None:
    """Give the p value of one alternative.

    Parameters
    ----------
    found : Contrast
    alternative : {"two-sided", "greater", "less"}
        ``greater``: the acceptable sentences are better.

    Returns
    -------
    float or None

    Raises
    ------
    UnknownName
        If the alternative is another word.

    Examples
    --------
    >>> found = paired_contrast(np.array([2.0, 3, 4]), np.array([1.0, 1, 1]))
    >>> round(p_of(found), 4), round(p_of(found, alternative="greater"), 4)
    (0.0742, 0.0371)
    """
    if alternative not in ALTERNATIVES:
        raise UnknownName("alternative", alternative, ALTERNATIVES)
    if alternative == "two-sided":
        return found.p
    if found.statistic is None or found.df is None:
        return None
    if alternative == "greater":
        return found.p_greater
    return float(scipy.stats.t.cdf(found.statistic, found.df))


def common_language(good: Floats, bad: Floats) -> float | None:
    """Give P(good > bad) + ½ P(equal) over all pairs of one value of each (CLES).

    Parameters
    ----------
    good, bad : arrays of float
        Ratings of acceptable and of unacceptable sentences, raw or z.

    Returns
    -------
    float or None
        None where one side is empty.

    Notes
    -----
    The Mann-Whitney U over n_good · n_bad, from ranks. Needs no interval scale: fit for raw Likert points.

    References
    ----------
    McGraw & Wong (1992), Psychological Bulletin 111; Vargha & Delaney (2000), JEBS 25.

    Examples
    --------
    >>> common_language(np.array([5.0, 6, 7]), np.array([4.0, 5, 5]))
    0.8888888888888888
    """
    one, other = (np.asarray(side, dtype=np.float64) for side in (good, bad))
    one, other = one[~np.isnan(one)], other[~np.isnan(other)]
    if not len(one) or not len(other):
        return None
    ranks = scipy.stats.rankdata(np.concatenate([one, other]))[: len(one)]
    above = ranks.sum() - len(one) * (len(one) + 1) / 2
    return float(above / (len(one) * len(other)))


def _t(one: Floats, other: Floats, *, paired: bool) -> tuple[float, float]:
    import pingouin  # slow to import

    row = pingouin.ttest(one, other, paired=paired, correction=not paired).iloc[0]
    return float(row["T"]), float(row["dof"])


def _ratio(mean: float, spread: float) -> float | None:
    return float(mean / spread) if spread > 0 else None
