"""Agreement between annotators, corrected for chance; closed forms on long data.

In forced choice the coding is ours to choose, and chance correction depends on it: see
:func:`label_blind`.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.agreement.distances import disagreements
from analysis.agreement.tally import tally
from analysis.columns import require_columns
from analysis.errors import BadInput, UnknownName
from analysis.joint_groups import joint_counts
from analysis.rows import Codes, Floats, group_codes

LEVELS = ("nominal", "ordinal", "interval", "ratio")


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement, or None with the reason in ``status``."""

    value: float | None
    status: str = "ok"


@dataclass(frozen=True)
class CategoryCounts:
    """How often each category was used for each unit, as a long table of non-zero cells."""

    unit: Codes
    category: Codes
    count: Floats
    n: Floats
    """Answers of each unit."""
    n_categories: int

    def pairwise(self) -> Floats:
        """Give the share of agreeing pairs of answers of each unit, NaN below two answers."""
        agreeing = np.bincount(self.unit, weights=self.count * (self.count - 1), minlength=len(self.n))
        pairs = self.n * (self.n - 1)
        shares: Floats = np.divide(agreeing, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)
        return shares


def category_counts(answers: pd.DataFrame) -> CategoryCounts:
    """Count the categories of each unit.

    Parameters
    ----------
    answers : DataFrame, one row per answer
        Needs ``unit`` and ``value``; rows without a value are left out.

    Returns
    -------
    CategoryCounts

    See Also
    --------
    binary_counts : Two categories from counts.
    """
    require_columns(answers, "unit", "value")
    known = answers[answers["value"].notna()]
    unit, units = group_codes(known["unit"])
    category, categories = group_codes(known["value"])
    count, unit_of, category_of = joint_counts(unit, category)
    n = np.bincount(unit, minlength=len(units)).astype(np.float64)
    return CategoryCounts(unit_of, category_of, count, n, len(categories))


def binary_counts(k: Codes, n: Codes) -> CategoryCounts:
    """Count two categories from k of n answers of each unit; units without answers are left out.

    Parameters
    ----------
    k, n : arrays of counts

    Returns
    -------
    CategoryCounts

    Examples
    --------
    >>> binary_counts(np.array([3, 0]), np.array([4, 0])).count.tolist()
    [1.0, 3.0]
    """
    chosen, total = np.asarray(k)[n > 0].astype(np.float64), np.asarray(n)[n > 0].astype(np.float64)
    unit = np.arange(len(total))
    used = int(chosen.sum() > 0) + int((total - chosen).sum() > 0)
    return CategoryCounts(
        unit=np.concatenate([unit, unit]),
        category=np.repeat([0, 1], len(total)),
        count=np.concatenate([total - chosen, chosen]),
        n=total,
        n_categories=used,
    )


def percent_agreement(answers: pd.DataFrame | CategoryCounts) -> Coefficient:
    """Give the mean over units of the share of agreeing pairs of answers.

    Parameters
    ----------
    answers : DataFrame, one row per answer, or CategoryCounts
        A frame needs ``unit`` and ``value``.

    Returns
    -------
    Coefficient
        ``no_data`` where no unit has two answers.

    Notes
    -----
    P = mean_i Σ_v n_iv (n_iv - 1) / (n_i (n_i - 1)).
    """
    return _mean(_counted(answers).pairwise())


def fleiss_kappa(answers: pd.DataFrame | CategoryCounts) -> Coefficient:
    """Give Fleiss' kappa, for the same number of answers on each unit.

    Parameters
    ----------
    answers : DataFrame, one row per answer, or CategoryCounts
        A frame needs ``unit`` and ``value``.

    Returns
    -------
    Coefficient
        ``unequal_n`` where units differ in their number of answers, ``no_variation`` where one
        category was used throughout, ``no_data`` without pairs.

    References
    ----------
    Fleiss (1971), Psychological Bulletin 76.
    """
    counts = _counted(answers)
    observed = _mean(counts.pairwise())
    if observed.value is None:
        return observed
    if len(np.unique(counts.n)) > 1:
        return Coefficient(None, "unequal_n")
    share = np.bincount(counts.category, weights=counts.count) / counts.n.sum()
    expected = float((share**2).sum())
    if counts.n_categories < 2:
        return Coefficient(None, "no_variation")
    return Coefficient((observed.value - expected) / (1 - expected))


def gwet_ac1(answers: pd.DataFrame | CategoryCounts) -> Coefficient:
    """Give Gwet's AC1, which stays near percent agreement where one category prevails.

    Parameters
    ----------
    answers : DataFrame, one row per answer, or CategoryCounts
        A frame needs ``unit`` and ``value``.

    Returns
    -------
    Coefficient
        1 where one category was used throughout; ``no_data`` without pairs.

    Notes
    -----
    P_e = Σ_v π_v (1 - π_v) / (q - 1) with π_v the mean over all units of n_iv / n_i and q the
    number of categories used; the observed P is over units with at least two answers.

    References
    ----------
    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61.
    """
    counts = _counted(answers)
    observed = _mean(counts.pairwise())
    if observed.value is None:
        return observed
    share = np.bincount(counts.category, weights=counts.count / counts.n[counts.unit]) / len(counts.n)
    chance = float((share * (1 - share)).sum()) / max(counts.n_categories - 1, 1)
    return Coefficient((observed.value - chance) / (1 - chance))


def krippendorff_alpha(answers: pd.DataFrame | CategoryCounts, *, level: str = "nominal") -> Coefficient:
    """Give Krippendorff's alpha = 1 - D_o / D_e in one pass over long data.

    Parameters
    ----------
    answers : DataFrame, one row per answer, or CategoryCounts
        A frame needs ``unit`` and ``value``; levels other than nominal need a frame of numbers. Units
        with one answer drop out.
    level : {"nominal", "ordinal", "interval", "ratio"}

    Returns
    -------
    Coefficient
        ``no_data`` where no unit has two answers, ``no_variation`` where all answers are equal.

    Raises
    ------
    UnknownName
        If the level is another word.
    BadInput
        If the ratio level meets a negative number, or a level with distances meets counts.

    Notes
    -----
    Nominal: D_o = Σ_i (n_i² - Σ_v n_iv²) / (n_i - 1) / N, D_e = (N² - Σ n_v²) / (N (N - 1)).
    Interval: D_o = 2 Σ_i (n_i Q_i - S_i²) / (n_i - 1) / N, D_e = 2 (N Q - S²) / (N (N - 1)). Ordinal: the
    interval level of mid-ranks. Ratio: d² = ((v - w) / (v + w))²; its cost grows with the square of the
    number of different values. Whole numbers of a short scale are counted first, in a table of units by
    points (:mod:`analysis.agreement.tally`).

    References
    ----------
    Krippendorff (2019), *Content Analysis*, 4th edition.

    Examples
    --------
    >>> krippendorff_alpha(pd.DataFrame({"unit": [1, 1, 2, 2], "value": [0, 0, 1, 1]})).value
    1.0
    """
    if level not in LEVELS:
        raise UnknownName("level of measurement", level, LEVELS)
    if level != "nominal" and isinstance(answers, CategoryCounts):
        raise BadInput("counts have no distances.", remedy="Give the answers themselves.")
    if isinstance(answers, pd.DataFrame):
        require_columns(answers, "unit", "value")
        tallied = tally(answers)
        if tallied is not None or level != "nominal":
            parts = disagreements(answers, tallied, level=level)
            return Coefficient(None, "no_data") if parts is None else _one_less(*parts)
    counts = _counted(answers)
    paired = counts.n >= 2
    total = counts.n[paired].sum()
    if total == 0:
        return Coefficient(None, "no_data")
    used = paired[counts.unit]
    squares = np.bincount(counts.unit[used], weights=counts.count[used] ** 2, minlength=len(counts.n))
    observed = ((counts.n**2 - squares)[paired] / (counts.n[paired] - 1)).sum() / total
    by_category = np.bincount(counts.category[used], weights=counts.count[used])
    expected = (total**2 - (by_category**2).sum()) / (total * (total - 1))
    return _one_less(observed, expected)


def _one_less(observed: float, expected: float) -> Coefficient:
    return Coefficient(float(1 - observed / expected)) if expected else Coefficient(None, "no_variation")


def label_blind(k: Codes, n: Codes, *, names: Sequence[str]) -> Codes:
    """Recode forced choices without regard to the expected label.

    Parameters
    ----------
    k, n : arrays of counts
        Choices of the expected member of each pair, and all choices.
    names : sequence of str
        The pairs' names.

    Returns
    -------
    array of counts
        Choices of one member, the other one for about half of the pairs: drawn by a hash of the
        pair's name and so fixed, and blind to which is expected.

    Notes
    -----
    Coded by *expected*, everybody uses one category and alpha collapses (the prevalence paradox):
    .135 on BLiMP's batch, against .649 coded label-blind. Percent agreement is the same.
    """
    turned = [hashlib.sha256(name.encode()).digest()[0] % 2 == 1 for name in names]
    recoded: Codes = np.where(np.array(turned, dtype=bool), n - k, k)
    return recoded


def _counted(answers: pd.DataFrame | CategoryCounts) -> CategoryCounts:
    return answers if isinstance(answers, CategoryCounts) else category_counts(answers)


def _mean(pairwise: Floats) -> Coefficient:
    known = pairwise[~np.isnan(pairwise)]
    return Coefficient(float(known.mean())) if len(known) else Coefficient(None, "no_data")
