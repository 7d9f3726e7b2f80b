"""Learning curves: accuracy of families of models on the amount of training text, by phenomenon."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from ...errors import NotEnoughData
from ..correlation import pearson_r
from ..criteria import as_floats
from ..pairs import PairTable
from .models import FULL


@dataclass(frozen=True)
class LearningCurve:
    """The line accuracy = intercept + slope · log2(tokens)."""

    slope_per_doubling: float
    intercept: float
    r: float
    n: int
    mean_log2: float = math.nan
    spread_log2: float = math.nan
    """Sum of squares of log2(tokens) about their mean."""
    residual_sd: float = math.nan
    """Of the points about the line, n - 2 degrees of freedom; NaN below three points."""

    def log2_tokens_at(self, accuracy: float) -> float | None:
        """Return log2 of the tokens at which the line reaches an accuracy; None when it never rises."""
        return (accuracy - self.intercept) / self.slope_per_doubling if self.slope_per_doubling > 0 else None

    def slope_interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """Return the t interval of the slope; None below three points."""
        if self.n < 3:
            return None
        t = float(scipy.stats.t.ppf((1 + level) / 2, self.n - 2))
        half = t * self.residual_sd / math.sqrt(self.spread_log2)
        return self.slope_per_doubling - half, self.slope_per_doubling + half

    def log2_tokens_interval(self, accuracy: float, level: float = 0.95) -> tuple[float, float] | None:
        """Return Fieller's interval of log2 of the tokens at which the line reaches an accuracy.

        None where the line never rises, below three points, or where the slope's own interval holds 0: then
        no number of tokens can be excluded.
        """
        interval, x = self.slope_interval(level), self.log2_tokens_at(accuracy)
        if interval is None or x is None or interval[0] <= 0:
            return None
        t, b = float(scipy.stats.t.ppf((1 + level) / 2, self.n - 2)), self.slope_per_doubling
        g = (t * self.residual_sd / b) ** 2 / self.spread_log2
        away = x - self.mean_log2
        half = t * self.residual_sd / b * math.sqrt((1 - g) / self.n + away**2 / self.spread_log2)
        return self.mean_log2 + (away - half) / (1 - g), self.mean_log2 + (away + half) / (1 - g)


def learning_curve(tokens: npt.ArrayLike, accuracy: npt.ArrayLike) -> LearningCurve:
    """Fit accuracy on the binary logarithm of the number of training tokens.

    Notes
    -----
    A line in log2 has no ceiling: it exceeds 1 at some size, so extrapolation is unreliable; the
    authors conjecture a sigmoid. Points are models: several seeds of one size are several points.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8, section 6.3. Fieller (1954), JRSS B 16.

    Examples
    --------
    >>> learning_curve([2e6, 4e6, 8e6], [0.6, 0.7, 0.8]).slope_per_doubling.__round__(6)
    0.1
    """
    sizes, reached = as_floats(tokens), as_floats(accuracy)
    complete = ~(np.isnan(sizes) | np.isnan(reached))
    sizes, reached = sizes[complete], reached[complete]
    if sizes.size < 2 or (sizes <= 0).any() or np.ptp(sizes) == 0:
        raise NotEnoughData("a learning curve needs at least two different positive corpus sizes.")
    x = np.log2(sizes)
    slope = float(np.cov(x, reached, ddof=0)[0, 1] / x.var())
    r = pearson_r(x, reached) if np.ptp(reached) > 0 else math.nan
    intercept = float(reached.mean() - slope * x.mean())
    n, off = int(x.size), reached - intercept - slope * x
    residual_sd = math.sqrt(float(off @ off) / (n - 2)) if n > 2 else math.nan
    spread = float(((x - x.mean()) ** 2).sum())
    return LearningCurve(slope, intercept, r, n, float(x.mean()), spread, residual_sd)


ALL = "all"


def learning_curves(table: PairTable, models: pd.DataFrame, people: pd.Series) -> list[dict[str, Any]]:
    """Fit accuracy on log2 of training tokens for each family, over all pairs and by phenomenon.

    The result has ``family``, ``method``, ``group`` (``all``, then phenomena), ``pairs``, ``points``
    (``model``, ``tokens``, ``seed``, ``accuracy``, ``n``), ``slope_per_doubling`` with ``ci_low`` and
    ``ci_high`` (t interval, models as units), ``intercept``, ``r``, ``target`` (human accuracy),
    ``log2_tokens`` at which the line reaches it with Fieller's ``log2_low`` and ``log2_high``, and
    ``status``: ``reached``, ``beyond_data``, ``not_rising``, ``not_estimable`` (the slope may be 0) or
    ``no_target``.

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
        for group, in_group in groups:
            curves.append({
                "family": str(family), "method": str(method), "group": group, "pairs": int(in_group.sum()),
                **_curve(table, members, people, in_group),
            })  # fmt: skip
    return curves


def group_accuracy(table: PairTable, right: pd.Series, in_group: npt.NDArray[np.bool_]) -> tuple[float, int]:
    """Return the accuracy within a group of pairs: unweighted over paradigms, unless the group is all pairs.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8.
    """
    counted_pairs = right[in_group].dropna()
    if "paradigm" in table.pairs.columns and not in_group.all() and len(counted_pairs):
        by_paradigm = counted_pairs.groupby(table.pairs["paradigm"][counted_pairs.index])
        return float(by_paradigm.mean().mean()), len(counted_pairs)
    return (float(counted_pairs.mean()) if len(counted_pairs) else math.nan), len(counted_pairs)


def _curve(
    table: PairTable, members: pd.DataFrame, people: pd.Series, in_group: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    points: list[dict[str, Any]] = []
    for model in members.sort_values("training_tokens", kind="stable").to_dict("records"):
        accuracy, n = group_accuracy(table, table.prefers_good[model["model"]], in_group)
        if n:
            points.append({
                "model": model["model"], "tokens": float(model["training_tokens"]),
                "seed": None if pd.isna(model["seed"]) else str(model["seed"]), "accuracy": accuracy, "n": n,
            })  # fmt: skip
    target, _ = group_accuracy(table, people, in_group)
    nothing = dict.fromkeys((
        "slope_per_doubling", "ci_low", "ci_high", "intercept", "r", "log2_tokens", "log2_low", "log2_high"
    ))  # fmt: skip
    goal = None if math.isnan(target) else target
    about: dict[str, Any] = {"points": points, "target": goal, **nothing}
    if len({point["tokens"] for point in points}) < 2:
        return {**about, "status": "too_few"}
    line = learning_curve([point["tokens"] for point in points], [point["accuracy"] for point in points])
    ends = line.slope_interval()
    about |= {
        "slope_per_doubling": line.slope_per_doubling,
        "ci_low": ends[0] if ends else None,
        "ci_high": ends[1] if ends else None,
        "intercept": line.intercept,
        "r": None if math.isnan(line.r) else line.r,
    }
    return about | _size_at_target(line, goal, largest=max(point["tokens"] for point in points))


def _size_at_target(line: LearningCurve, target: float | None, *, largest: float) -> dict[str, Any]:
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
