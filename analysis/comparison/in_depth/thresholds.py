"""Yes-no decisions about single sentences: Matthews correlation at a cross-validated threshold."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..ceilings.responses import target_mask
from ..criteria import FloatArray, matthews_correlation
from ..intervals import FOLDS, cluster_folds
from ..pairs import PairTable


def decision_rows(table: PairTable, judgments: pd.DataFrame | None) -> list[dict[str, Any]]:
    """Return each model's Matthews correlation with the expected labels and with the majority of humans.

    The result has ``model``, ``labels`` (``expected`` or ``majority of yes-no answers``), ``n``, ``mcc``,
    ``status``, ``accuracy``, ``tp``, ``fp``, ``tn``, ``fn``, ``threshold_low``, ``threshold_high`` (over
    the folds).

    Notes
    -----
    The threshold of a family's sentences is the one with the highest coefficient on the other families, so
    that it is never fitted on the sentences it decides. Sentences good in one pair and bad in another have no
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
            decision = cross_validated_decisions(label, score, sentences["family"])
            rows.append({"model": model, "labels": name, **decision})
    return rows


def cross_validated_decisions(
    labels: npt.ArrayLike, scores: npt.ArrayLike, families: pd.Series, *, folds: int = FOLDS
) -> dict[str, Any]:
    """Decide each cluster by a threshold fitted on the others.

    The result is as of :func:`decision_rows`; ``status`` is ``too_few`` with a single family.

    Examples
    --------
    >>> families = pd.Series(list("aabbcc"))
    >>> found = cross_validated_decisions([0, 1] * 3, [-1.0, 1.0] * 3, families)
    >>> found["mcc"]
    1.0
    """
    label = np.asarray(labels, dtype=np.float64)
    score = np.asarray(scores, dtype=np.float64)
    complete = ~(np.isnan(label) | np.isnan(score))
    fold = cluster_folds(families.where(complete), folds=folds)
    decided = np.full(label.shape, np.nan)
    thresholds = []
    for part in np.unique(fold[complete]):
        is_fitted, is_held_out = complete & (fold != part), complete & (fold == part)
        threshold = best_threshold(label[is_fitted], score[is_fitted])
        if threshold is not None:
            thresholds.append(threshold)
            decided[is_held_out] = score[is_held_out] > threshold
    is_decided = complete & ~np.isnan(decided)
    correlation = matthews_correlation(label[is_decided], decided[is_decided])
    right, accepted = label[is_decided] == 1, decided[is_decided] == 1
    return {
        "n": correlation.n,
        "mcc": correlation.mcc,
        "status": correlation.status if thresholds else "too_few" if complete.any() else "no_data",
        "accuracy": float((right == accepted).mean()) if correlation.n else None,
        "tp": int((right & accepted).sum()), "fp": int((~right & accepted).sum()),
        "tn": int((~right & ~accepted).sum()), "fn": int((right & ~accepted).sum()),
        "threshold_low": min(thresholds, default=None), "threshold_high": max(thresholds, default=None),
    }  # fmt: skip


def best_threshold(labels: npt.ArrayLike, scores: npt.ArrayLike) -> float | None:
    """Find the cut with the highest Matthews correlation.

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
    # Rounded, so that the lowest of equally good thresholds is taken on every machine.
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
    rows = judgments[target_mask(judgments, "yes_no") & judgments["value"].notna().to_numpy()]
    if not len(rows):
        return None
    share = rows.groupby(rows["sentence_id"].astype(str))["value"].mean()
    return (share > 0.5).astype(float).where(share != 0.5)
