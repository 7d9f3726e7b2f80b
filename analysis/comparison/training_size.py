"""Learning curves of a comparison: families of models trained on more and more text, by phenomenon."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.comparison.deltas import PairTable
from analysis.comparison.learning_curve import LearningCurve, learning_curve
from analysis.comparison.roster import FULL

ALL = "all"


def learning_curves(table: PairTable, models: pd.DataFrame, people: pd.Series) -> list[dict[str, Any]]:
    """Fit accuracy on log2 of training tokens for each family, over all pairs and by phenomenon.

    Parameters
    ----------
    table : PairTable
        The joined data.
    models : DataFrame
        From :func:`analysis.comparison.roster.roster`. Models of one ``family`` and ``method``, trained
        on the ``full`` corpus, with ``training_tokens`` of two sizes at least, make a curve; each
        seed is a point.
    people : Series of float
        How far people get each pair right; its mean in a group is the accuracy to be reached.

    Returns
    -------
    list of dict
        ``family``, ``method``, ``group`` (``all``, then phenomena), ``pairs``, ``points`` (``model``,
        ``tokens``, ``seed``, ``accuracy``, ``n``), ``slope_per_doubling`` with ``ci_low`` and ``ci_high`` (t
        interval, models as units), ``intercept``, ``r``, ``target`` (people's accuracy), ``log2_tokens`` at
        which the line reaches it with Fieller's ``log2_low`` and ``log2_high``, and ``status``: ``reached``,
        ``beyond_data``, ``not_rising``, ``not_estimable`` (the slope may be 0) or ``no_target``.

    Notes
    -----
    The overall value is the mean over pairs, a phenomenon's the unweighted mean of its paradigms.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8, section 6.3.
    """
    trained = models[(models["corpus"] == FULL) & models["training_tokens"].notna()]
    groups = _groups(table.pairs)
    curves = []
    for (family, method), members in trained.groupby(["family", "method"], sort=False):
        if members["training_tokens"].nunique() < 2:
            continue
        for group, inside in groups:
            curves.append({
                "family": str(family), "method": str(method), "group": group, "pairs": int(inside.sum()),
                **_curve(table, members, people, inside),
            })  # fmt: skip
    return curves


def group_accuracy(table: PairTable, right: pd.Series, inside: npt.NDArray[np.bool_]) -> tuple[float, int]:
    """Give the accuracy within a group of pairs: unweighted over paradigms, unless the group is all pairs.

    Parameters
    ----------
    table : PairTable
        The joined data.
    right : Series of float
        Whether, or how far, each pair is right; gaps are left out.
    inside : ndarray of bool
        The pairs of the group.

    Returns
    -------
    accuracy : float
        NaN where no pair counts.
    n : int
        Pairs that count.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8.
    """
    kept = right[inside].dropna()
    if "paradigm" in table.pairs.columns and not inside.all() and len(kept):
        return float(kept.groupby(table.pairs["paradigm"][kept.index]).mean().mean()), len(kept)
    return (float(kept.mean()) if len(kept) else math.nan), len(kept)


def _curve(
    table: PairTable, members: pd.DataFrame, people: pd.Series, inside: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    points: list[dict[str, Any]] = []
    for one in members.sort_values("training_tokens", kind="stable").to_dict("records"):
        accuracy, n = group_accuracy(table, table.prefers_good[one["model"]], inside)
        if n:
            points.append({
                "model": one["model"], "tokens": float(one["training_tokens"]),
                "seed": None if pd.isna(one["seed"]) else str(one["seed"]), "accuracy": accuracy, "n": n,
            })  # fmt: skip
    target, _ = group_accuracy(table, people, inside)
    nothing = dict.fromkeys((
        "slope_per_doubling", "ci_low", "ci_high", "intercept", "r", "log2_tokens", "log2_low", "log2_high"
    ))  # fmt: skip
    wanted = None if math.isnan(target) else target
    about: dict[str, Any] = {"points": points, "target": wanted, **nothing}
    if len({point["tokens"] for point in points}) < 2:
        return {**about, "status": "too_few"}
    line = learning_curve([one["tokens"] for one in points], [one["accuracy"] for one in points])
    ends = line.slope_interval()
    about |= {
        "slope_per_doubling": line.slope_per_doubling,
        "ci_low": ends[0] if ends else None,
        "ci_high": ends[1] if ends else None,
        "intercept": line.intercept,
        "r": None if math.isnan(line.r) else line.r,
    }
    return about | _reached(line, wanted, largest=max(one["tokens"] for one in points))


def _reached(line: LearningCurve, target: float | None, *, largest: float) -> dict[str, Any]:
    if target is None:
        return {"status": "no_target"}
    is_reached = line.intercept + line.slope_per_doubling * math.log2(largest) >= target
    log2, ends = line.log2_tokens_at(target), line.log2_tokens_interval(target)
    if log2 is None or ends is None:
        return {"status": "reached" if is_reached else "not_rising" if log2 is None else "not_estimable"}
    status = "reached" if is_reached else "beyond_data"
    return {"log2_tokens": log2, "log2_low": ends[0], "log2_high": ends[1], "status": status}


def _groups(pairs: pd.DataFrame) -> list[tuple[str, npt.NDArray[np.bool_]]]:
    every = [(ALL, np.ones(len(pairs), dtype=np.bool_))]
    unit = next((name for name in ("phenomenon", "paradigm") if name in pairs.columns), None)
    if unit is None:
        return every
    names = pairs[unit].fillna("").astype(str).to_numpy()
    return every + [(str(name), names == name) for name in np.unique(names) if name]
