"""Scores as yes-no decisions about single sentences: Matthews correlation at a threshold chosen elsewhere."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.comparison.answers import is_target_of
from analysis.comparison.criteria import FloatArray
from analysis.comparison.deltas import PairTable
from analysis.comparison.mcc import matthews_correlation

FOLDS = 10


def decision_rows(table: PairTable, judgments: pd.DataFrame | None) -> list[dict[str, Any]]:
    """Give each model's Matthews correlation with the expected labels and with people's majority.

    Parameters
    ----------
    table : PairTable
        The joined data; the members of pairs are the sentences.
    judgments : DataFrame or None
        Yes-no answers give the majority's labels; other tasks give none.

    Returns
    -------
    list of dict
        ``model``, ``labels`` (``expected`` or ``majority of yes-no answers``), ``n``, ``mcc``, ``status``,
        ``accuracy``, ``tp``, ``fp``, ``tn``, ``fn``, ``threshold_low``, ``threshold_high`` (over the folds).

    Notes
    -----
    The threshold of a family's sentences is the one with the highest coefficient on the other families, so
    that it is never chosen on the sentences it decides. Sentences good in one pair and bad in another have no
    expected label; a tie of answers is no label.

    References
    ----------
    Matthews (1975), Biochimica et Biophysica Acta 405; Warstadt et al. (2019), TACL 7, for its use on
    acceptability.
    """
    sentences = _sentences(table)
    labels = {"expected": sentences["expected"]}
    majority = _majority(judgments)
    if majority is not None:
        labels["majority of yes-no answers"] = sentences.index.to_series().map(majority)
    rows = []
    for model in table.models:
        score = sentences.index.to_series().map(table.scores[model])
        for name, label in labels.items():
            found = cross_validated_decisions(label, score, sentences["family"])
            rows.append({"model": model, "labels": name, **found})
    return rows


def cross_validated_decisions(
    labels: npt.ArrayLike, scores: npt.ArrayLike, families: pd.Series, *, folds: int = FOLDS
) -> dict[str, Any]:
    """Decide each family by a threshold chosen on the others.

    Parameters
    ----------
    labels : array-like of 0, 1 or gap
        What is right.
    scores : array-like of float
        Higher is better; gaps are left out.
    families : Series
        Of each sentence; dealt out to the folds in order of size.
    folds : int
        Number of parts.

    Returns
    -------
    dict
        As the rows of :func:`decision_rows`; ``status`` is ``too_few`` with a single family.

    Examples
    --------
    >>> families = pd.Series(list("aabbcc"))
    >>> found = cross_validated_decisions([0, 1] * 3, [-1.0, 1.0] * 3, families)
    >>> found["mcc"]
    1.0
    """
    label = np.asarray(labels, dtype=np.float64)
    score = np.asarray(scores, dtype=np.float64)
    known = ~(np.isnan(label) | np.isnan(score))
    sizes = families[known].value_counts()
    fold = families.map({name: place % folds for place, name in enumerate(sizes.index)}).to_numpy()
    decided = np.full(label.shape, np.nan)
    thresholds = []
    for part in range(min(folds, len(sizes))):
        outside, inside = known & (fold != part), known & (fold == part)
        threshold = best_threshold(label[outside], score[outside])
        if threshold is not None:
            thresholds.append(threshold)
            decided[inside] = score[inside] > threshold
    kept = known & ~np.isnan(decided)
    found = matthews_correlation(label[kept], decided[kept])
    right, said = label[kept] == 1, decided[kept] == 1
    return {
        "n": found.n,
        "mcc": found.mcc,
        "status": found.status if thresholds else "too_few" if known.any() else "no_data",
        "accuracy": float((right == said).mean()) if found.n else None,
        "tp": int((right & said).sum()), "fp": int((~right & said).sum()),
        "tn": int((~right & ~said).sum()), "fn": int((right & ~said).sum()),
        "threshold_low": min(thresholds, default=None), "threshold_high": max(thresholds, default=None),
    }  # fmt: skip


def best_threshold(labels: npt.ArrayLike, scores: npt.ArrayLike) -> float | None:
    """Find the cut with the highest Matthews correlation.

    Parameters
    ----------
    labels : array-like of 0 or 1
        What is right.
    scores : array-like of float
        Without gaps.

    Returns
    -------
    float or None
        Midway between two neighbouring scores, the lowest such cut among equals; None where labels or scores
        do not vary.

    Examples
    --------
    >>> best_threshold([0, 0, 1, 1], [-3.0, -2.0, -1.0, 0.0])
    -1.5
    """
    label, score = np.asarray(labels, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    if label.size < 2 or np.ptp(label) == 0 or np.ptp(score) == 0:
        return None
    order = np.argsort(score, kind="stable")
    label, score = label[order], score[order]
    last = np.flatnonzero(np.diff(score) > 0)  # cuts between different scores only
    below, below_good = (last + 1).astype(float), np.cumsum(label)[last]
    coefficient = _coefficients(below, below_good, total=float(label.size), good=float(label.sum()))
    place = int(last[int(np.argmax(np.round(coefficient, 12)))])
    return float((score[place] + score[place + 1]) / 2)


def _coefficients(below: FloatArray, below_good: FloatArray, *, total: float, good: float) -> FloatArray:
    tp, fn = good - below_good, below_good
    tn = below - below_good
    fp = (total - good) - tn
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return np.asarray((tp * tn - fp * fn) / np.sqrt(product), dtype=np.float64)


def _sentences(table: PairTable) -> pd.DataFrame:
    parts = [
        pd.DataFrame({"sentence": table.pairs[f"{side}_id"], "expected": value, "family": table.clusters})
        for side, value in (("good", 1.0), ("bad", 0.0))
    ]
    rows = pd.concat(parts)
    grouped = rows.groupby("sentence", sort=False)
    label = grouped["expected"].mean()
    return pd.DataFrame(
        {"expected": label.where(label.isin([0.0, 1.0])), "family": grouped["family"].first()}
    )


def _majority(judgments: pd.DataFrame | None) -> pd.Series | None:
    if judgments is None or "task" not in judgments.columns:
        return None
    rows = judgments[is_target_of(judgments, "yes_no") & judgments["value"].notna().to_numpy()]
    if not len(rows):
        return None
    share = rows.groupby(rows["sentence_id"].astype(str))["value"].mean()
    return (share > 0.5).astype(float).where(share != 0.5)
