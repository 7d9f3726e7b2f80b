"""Within participants: intervals of condition means, tests of several conditions, correlations."""

from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..columns import require_columns
from ..pingouin_options import unrounded_pingouin
from ..rows import Floats, column_or_blank, group_codes, none_if_nan


def within_intervals(
    rows: pd.DataFrame,
    *,
    condition: str = "condition",
    unit: str = "participant",
    value: str = "value",
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Compute condition means with Cousineau–Morey within-participant intervals.

    Notes
    -----
    ``condition``, ``n`` (units), ``mean``, ``se``, ``ci_low``, ``ci_high`` and ``status``: ``ok``,
    ``too_few`` (one complete unit) or ``no_data``. Units that lack a condition are left out.

    y' = y - mean of the unit + grand mean, on the unit's condition means; variance times M / (M - 1) for M
    conditions; t with n - 1 degrees of freedom. For comparing conditions within participants:
    two conditions differ clearly if the intervals, divided by √2, do not overlap. Not an interval of the
    population mean of one condition.

    References
    ----------
    Cousineau (2005), TQMP 1; Morey (2008), TQMP 4.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": list("aabbcc"), "condition": ["x", "y"] * 3,
    ...     "value": [1.0, 2.0, 4.0, 5.5, 7.0, 8.0]})
    >>> within_intervals(rows)[["condition", "mean", "se"]].round(3).values.tolist()
    [['x', 4.0, 0.118], ['y', 5.167, 0.118]]
    """
    require_columns(rows, condition, unit, value)
    answered = rows[rows[value].notna()]
    codes, names = group_codes(answered[condition])
    people, labels = group_codes(answered[unit])
    m = len(names)
    cell = people * max(m, 1) + codes
    count = np.bincount(cell, minlength=len(labels) * m).reshape(len(labels), m)
    total = np.bincount(cell, weights=answered[value].to_numpy(dtype=float), minlength=count.size)
    complete = (count > 0).all(axis=1)
    means = total.reshape(count.shape)[complete] / count[complete]
    n = len(means)
    table = pd.DataFrame({"condition": names, "n": n})
    if n < 2 or m < 2:
        blank = dict.fromkeys(("se", "ci_low", "ci_high"), np.nan)
        centre = means.mean(axis=0) if n else np.full(m, np.nan)
        return table.assign(mean=centre, **blank, status="too_few" if n else "no_data")
    level = means - means.mean(axis=1, keepdims=True) + means.mean()
    se = np.sqrt(level.var(axis=0, ddof=1) * m / (m - 1) / n)
    half, centre = scipy.stats.t.ppf(0.5 + confidence / 2, n - 1) * se, means.mean(axis=0)
    return table.assign(mean=centre, se=se, ci_low=centre - half, ci_high=centre + half, status="ok")


def within_designs(scored: pd.DataFrame, *, by: str = "phenomenon") -> list[dict[str, Any]]:
    """Test the conditions of every group with more than two of them, with both assumptions of the test.

    Notes
    -----
    One row per group, by participants: ``levels``, ``n`` (participants who judged every condition), ``F``,
    ``df1``, ``df2`` and ``p`` of the analysis of variance with repeated measures, ``epsilon`` and
    ``p_corrected`` (Greenhouse-Geisser), ``mauchly_w`` and ``p_sphericity``, ``shapiro_w`` and
    ``p_normality`` (of the residuals), and ``status``. Undefined numbers are None.

    References
    ----------
    Greenhouse & Geisser (1959), Psychometrika 24; Mauchly (1940); Shapiro & Wilk (1965), Biometrika 52.

    Examples
    --------
    >>> rows = [(p, c, p * k % 3 + k) for p in range(6) for k, c in enumerate("abc")]
    >>> rows = pd.DataFrame(rows, columns=["participant", "condition", "score"]).assign(phenomenon="island")
    >>> [(row["levels"], row["n"], row["df1"], row["df2"]) for row in within_designs(rows)]
    [(3, 6, 2, 10)]
    """
    rows = scored[scored["condition"].astype(str).str.strip() != ""]
    designs = []
    for name, part in rows.groupby(column_or_blank(rows, by).astype(str), sort=True, observed=True):
        wide = part.pivot_table(index="participant", columns="condition", values="score", observed=True)
        if wide.shape[1] > 2:
            designs.append({by: str(name), **_within_test(wide.dropna())})
    return designs


WITHIN_NUMBERS = (
    "F", "df1", "df2", "p", "epsilon", "p_corrected", "mauchly_w", "p_sphericity", "shapiro_w", "p_normality",
)  # fmt: skip


def _within_test(wide: pd.DataFrame) -> dict[str, Any]:
    n, levels = wide.shape
    row: dict[str, Any] = {"levels": levels, "n": n, **dict.fromkeys(WITHIN_NUMBERS)}
    if n < 3:
        return {**row, "status": "too_few"}
    values = wide.to_numpy(dtype=np.float64)
    residuals = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    if np.abs(residuals).max() <= 1e-12 * max(1.0, float(np.abs(values).max())):
        return {**row, "status": "no_variation"}
    with unrounded_pingouin() as pingouin:
        test = pingouin.rm_anova(pd.DataFrame(values), correction=True).iloc[0]
        normality = pingouin.normality(residuals.ravel()).iloc[0]
    row |= {"F": test["F"], "df1": int(test["ddof1"]), "df2": int(test["ddof2"]), "p": test["p_unc"]}
    row |= {"epsilon": test["eps"], "p_corrected": test["p_GG_corr"]}
    if n >= levels:  # with fewer participants the covariances of the conditions are singular
        row |= {"mauchly_w": test["W_spher"], "p_sphericity": test["p_spher"]}
    row |= {"shapiro_w": normality["W"], "p_normality": normality["pval"]}
    numbers = {key: none_if_nan(value) if isinstance(value, float) else value for key, value in row.items()}
    return {**numbers, "status": "ok"}


MOST = 1 - 1e-12  # Fisher's z of 1 is infinite


def repeated_measures_correlation(x: Floats, y: Floats, participant: "pd.Series[Any]") -> dict[str, Any]:
    """Correlate two columns within participants: ``n``, ``participants``, ``r``, interval, ``df`` and ``p``.

    Notes
    -----
    r of the deviations from each participant's means; df = n - participants - 1; Fisher's z with df + 2
    for the interval. ``pingouin.rm_corr`` gives the same numbers from a regression with a column for each
    participant, whose time and memory grow with rows times participants. ``status``: ``ok``, ``too_few``
    (df below 2) or ``no_variation``.

    References
    ----------
    Bland & Altman (1995), BMJ 310; Bakdash & Marusich (2017), Frontiers in Psychology 8.

    Examples
    --------
    >>> x, y = np.array([1.0, 2, 3, 4, 6, 5]), np.array([2.0, 3, 5, 1, 2, 4])
    >>> result = repeated_measures_correlation(x, y, pd.Series(list("aaabbb")))
    >>> round(result["r"], 3), result["df"]
    (0.655, 3)
    """
    complete = ~(np.isnan(x) | np.isnan(y))
    rows = pd.DataFrame({"x": x, "y": y})[complete]
    groups = rows.groupby(participant.astype(str).to_numpy()[complete])
    n, n_groups = len(rows), groups.ngroups
    df = n - n_groups - 1
    result: dict[str, Any] = {"n": n, "participants": n_groups, "df": df}
    result |= dict.fromkeys(("r", "ci_low", "ci_high", "p"))
    if df < 2:
        return result | {"df": None, "status": "too_few"}
    within = rows - groups.transform("mean")
    if (within.abs().max() <= 1e-12 * rows.abs().max().clip(lower=1)).any():
        return result | {"df": None, "status": "no_variation"}
    with unrounded_pingouin() as pingouin:
        r = float(np.clip(pingouin.corr(within["x"], within["y"])["r"].iloc[0], -MOST, MOST))
        low, high = pingouin.compute_esci(r, nx=df + 2, eftype="pearson", decimals=15)
    p = 2 * float(scipy.stats.t.sf(abs(r) * np.sqrt(df / (1 - r**2)), df))
    return result | {"r": r, "ci_low": float(low), "ci_high": float(high), "p": p, "status": "ok"}
