"""Differential item functioning: items that groups judge differently at equal overall judgment."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..errors import BadInput
from ..multiple_tests import with_adjusted
from ..reliability.coding import code_answers
from ..rows import Codes, Flags, Floats, column_or_blank
from ..scales import rating_scales
from .grouping import Grouping

MIN_ANSWERS = 10
"""Fewest answers of each group to an item that is tested."""
MAX_STRATA = 5
"""Most levels of overall judgment at which groups are compared."""
ETS = -2.35  # ETS's delta: log odds on the scale of item difficulties
REASONS = {
    "too_few": f"fewer than {MIN_ANSWERS} answers of a group",
    "no_variation": "all participants gave the same answer, or groups share no level",
    "separated": "all answers of a group are alike at every level, so that the odds ratio is infinite",
}


@dataclass(frozen=True)
class ItemTest:
    """Association of the answers to one item with the group, over levels of overall judgment."""

    statistic: float | None = None
    """Chi-square with one degree of freedom."""
    p: float | None = None
    odds_ratio: float | None = None
    """Odds of the reference over those of the group (two answers)."""
    ci_low: float | None = None
    ci_high: float | None = None
    delta: float | None = None
    """-2.35 log(odds ratio): above 0, the group gives the answer more often."""
    smd: float | None = None
    """Standardized mean difference: group minus reference at equal levels (ratings)."""
    effect_size: float | None = None
    """``smd`` over the standard deviation of the item."""
    effect_class: str = ""
    """ETS: A negligible, B moderate, C large."""
    status: str = "ok"


def mantel_haenszel(value: Floats, is_focal: Flags, stratum: Codes) -> ItemTest:
    """Test answers 0 and 1 of two groups over strata, and class the common odds ratio.

    Notes
    -----
    As R's ``mantelhaen.test``: continuity-corrected chi-square, common odds ratio Σ(AD/T) / Σ(BC/T), interval
    with the variance of Robins, Breslow and Greenland. Classes of ETS on delta = -2.35 log(odds ratio):
    A if |delta| < 1 or p of the test ≥ .05; C if |delta| ≥ 1.5 and significantly above 1 (one-tailed .05);
    else B.

    References
    ----------
    Mantel & Haenszel (1959), JNCI 22; Holland & Thayer (1988), in Wainer & Braun, *Test Validity*; Robins,
    Breslow & Greenland (1986), Biometrics 42; Zieky (1993), in Holland & Wainer, *Differential Item
    Functioning*.

    Examples
    --------
    >>> value = np.array([1.0] * 8 + [0.0] * 2 + [1.0] * 4 + [0.0] * 6)
    >>> found = mantel_haenszel(value, np.arange(20) >= 10, np.zeros(20, dtype=np.int64))
    >>> round(found.odds_ratio, 3), round(found.delta, 3), round(found.p, 3), found.effect_class
    (6.0, -4.211, 0.182, 'A')
    """
    a, b, c, d = (
        np.bincount(stratum, weights=side & answer)
        for side in (~is_focal, is_focal)
        for answer in (value == 1, value == 0)
    )
    total = a + b + c + d
    usable = (a + b > 0) & (c + d > 0)
    a, b, c, d, total = (part[usable] for part in (a, b, c, d, total))
    expected = (a + b) * (a + c) / total
    variance = (a + b) * (c + d) * (a + c) * (b + d) / (total**2 * np.maximum(total - 1, 1))
    if not variance.sum() > 0:
        return ItemTest(status="no_variation")
    gap = abs(float((a - expected).sum()))
    statistic = (gap - (0.5 if gap >= 0.5 else 0.0)) ** 2 / float(variance.sum())
    p = float(scipy.stats.chi2.sf(statistic, 1))
    r, s = a * d / total, b * c / total
    if not (r.sum() > 0 and s.sum() > 0):
        return ItemTest(statistic, p, status="separated")
    odds_ratio = float(r.sum() / s.sum())
    first, second = (a + d) / total, (b + c) / total
    spread = float(
        np.sqrt(
            (first * r).sum() / (2 * r.sum() ** 2)
            + (first * s + second * r).sum() / (2 * r.sum() * s.sum())
            + (second * s).sum() / (2 * s.sum() ** 2)
        )
    )
    delta, half = ETS * np.log(odds_ratio), scipy.stats.norm.ppf(0.975) * spread
    is_large = abs(delta) >= 1.5 and (abs(delta) - 1) / (-ETS * spread) > scipy.stats.norm.ppf(0.95)
    return ItemTest(
        statistic,
        p,
        odds_ratio,
        ci_low=float(odds_ratio * np.exp(-half)),
        ci_high=float(odds_ratio * np.exp(half)),
        delta=float(delta),
        effect_class="A" if abs(delta) < 1 or p >= 0.05 else "C" if is_large else "B",
    )


def mantel(value: Floats, is_focal: Flags, stratum: Codes) -> ItemTest:
    """Test ordered ratings of two groups over strata, and class the standardized mean difference.

    Notes
    -----
    Mantel's chi-square of the sum of the group's ratings given the margins of each stratum, without
    continuity correction. SMD: mean of the group minus that of the reference in each stratum, weighted by
    the group's numbers. Classes on SMD over the SD of the item: A up to .17 or p ≥ .05, B up to .25, C above.

    References
    ----------
    Mantel (1963), JASA 58; Dorans & Schmitt (1991), ETS RR-91-47; Zwick, Thayer & Mazzeo (1997), Applied
    Measurement in Education 10.

    Examples
    --------
    >>> value = np.array([5.0, 4, 5, 4, 5, 2, 1, 3, 2, 2])
    >>> found = mantel(value, np.arange(10) >= 5, np.zeros(10, dtype=np.int64))
    >>> round(found.statistic, 3), round(found.smd, 3), found.effect_class
    (7.567, -2.6, 'C')
    """
    weights = np.stack([np.ones(len(value)), is_focal, value, value * is_focal, value**2])
    n, n_focal, sums, focal, squares = (np.bincount(stratum, weights=row) for row in weights)
    usable = (n_focal > 0) & (n_focal < n)
    n, n_focal, sums, focal, squares = (part[usable] for part in (n, n_focal, sums, focal, squares))
    n_reference = n - n_focal
    variance = n_focal * n_reference * (n * squares - sums**2) / (n**2 * np.maximum(n - 1, 1))
    if not variance.sum() > 1e-12:
        return ItemTest(status="no_variation")
    gap = float((focal - n_focal * sums / n).sum())
    statistic = gap**2 / float(variance.sum())
    p = float(scipy.stats.chi2.sf(statistic, 1))
    differences = focal / n_focal - (sums - focal) / n_reference
    smd = float((n_focal * differences).sum() / n_focal.sum())
    size = smd / float(value.std(ddof=1))
    is_small = abs(size) <= 0.17 or p >= 0.05
    return ItemTest(
        statistic,
        p,
        smd=smd,
        effect_size=size,
        effect_class="A" if is_small else "C" if abs(size) > 0.25 else "B",
    )


def item_functioning(judgments: pd.DataFrame, grouping: Grouping) -> list[dict[str, Any]]:
    """Test every item for answers that differ between groups at equal overall judgment.

    Notes
    -----
    An item is a sentence, or a pair in choices. Choices and yes-no (coded as expected: no to a sentence
    expected unacceptable) by :func:`mantel_haenszel`, ratings as given by :func:`mantel`. Participants are
    compared at equal levels of their share of expected answers, or of their mean rating, over all targets: up
    to five levels of equal size, one for every five answers of the smaller group. ``p_holm`` and ``p_bh`` are
    over all items and groups.

    Raises
    ------
    BadInput
        If the judgments are of several tasks or scales, or of a task without a common unit.
    """
    answers = code_answers(judgments, transform="raw", coding="expected")
    if answers.task in ("magnitude_estimation", "best_worst"):
        raise BadInput(f"answers of {answers.task.replace('_', ' ')} have no unit that participants share.")
    if len(rating_scales(judgments)) > 1:
        raise BadInput("the ratings are on several scales.")
    table = answers.table.assign(
        person=answers.table["participant"].astype(str),
        answer=_as_expected(judgments, answers.table) if answers.task == "yes_no" else answers.table["value"],
    )
    table = table.assign(
        level=table.groupby("person")["answer"].transform("mean"),
        group=table["person"].map(grouping.of_participant),
    )
    test = mantel if answers.is_rating else mantel_haenszel
    if not answers.is_rating:
        table = table[table["answer"].isin([0.0, 1.0])]
    rows = []
    for (paradigm, unit), part in table.groupby(["paradigm", "unit"], sort=True):
        for value in grouping.others:
            pair = part[part["group"].isin([grouping.reference, value])]
            is_focal = (pair["group"] == value).to_numpy()
            rows.append(
                {
                    "item": str(unit),
                    "paradigm": str(paradigm),
                    "group": value,
                    "reference": grouping.reference,
                }
                | _item_row(pair, is_focal, test)
            )
    return with_adjusted(rows, [row["p"] for row in rows])


def _as_expected(judgments: pd.DataFrame, table: pd.DataFrame) -> "pd.Series[float]":
    """Turn the answers to sentences that are expected to be unacceptable."""
    name = "sentence_id" if (column_or_blank(judgments, "sentence_id").astype(str) != "").any() else "item"
    expected = pd.Series(
        column_or_blank(judgments, "expected").astype(object).to_numpy(),
        index=judgments[name].astype(object).to_numpy(),
    )
    expected = expected[~expected.index.duplicated()]
    is_turned = table["unit"].map(expected) == "unacceptable"
    return table["value"].where(~is_turned, 1 - table["value"])


def _item_row(pair: pd.DataFrame, is_focal: Flags, test: Any) -> dict[str, Any]:
    value = pair["answer"].to_numpy(dtype=np.float64)
    n_focal, n_reference = int(is_focal.sum()), int((~is_focal).sum())
    n_smaller = min(n_focal, n_reference)
    n_strata = int(np.clip(n_smaller // 5, 1, MAX_STRATA))
    if n_smaller < MIN_ANSWERS:
        result = ItemTest(status="too_few")
    else:
        result = test(value, is_focal, _strata(pair["level"], n_strata))
    return {
        "n_reference": n_reference,
        "n_group": n_focal,
        "mean_reference": float(value[~is_focal].mean()) if n_reference else None,
        "mean_group": float(value[is_focal].mean()) if n_focal else None,
        "levels": n_strata,
        **vars(result),
        "reason": REASONS.get(result.status, ""),
    }


def _strata(level: "pd.Series[float]", n: int) -> Codes:
    """Divide the participants of an item into levels of about equal size; equal levels stay together."""
    if n == 1:
        return np.zeros(len(level), dtype=np.int64)
    codes: Codes = pd.qcut(level, n, labels=False, duplicates="drop").to_numpy(dtype=np.int64)
    return codes
