"""Sequential Bayes factors: the evidence for every contrast after each participant, and a stopping rule."""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..choices import STOPPING_PARTICIPANTS, STOPPING_THRESHOLD
from ..columns import require_columns
from ..effects.bayes import SCALE, BayesFactor, jzs_bayes_factor, share_bayes_factor
from ..effects.contrasts import paired_means
from ..effects.five_analyses import contrast_rows
from ..errors import BadInput
from ..rows import Floats

MAX_THRESHOLD = 1e6
MAX_LOOKS = 300
"""Most Bayes factors of a contrast; of more participants, several arrive between two looks."""
REASONS = {
    "too_few": "fewer than two participants can be counted",
    "not_paired": "fewer than half of the participants judged both sides of the contrast",
    "no_variation": "all participants have the same difference, so that no t test exists",
}
CONVENTIONS = {
    "bayes_factor": "JZS for a t test of participants' differences (choices: shares against 1/2), two-sided; "
    "one choice per participant: proportion with a uniform prior",
    "order": "participants in the order of their first row, which in a study is that of their arrival",
    "rule": "stop at the first look, from the least number of participants on, at which the Bayes factor is "
    "at least the threshold or at most its reciprocal; after the largest number without a decision",
}


@dataclass(frozen=True)
class StoppingRule:
    """Threshold of the Bayes factor, and the least and the largest number of participants."""

    threshold: float = STOPPING_THRESHOLD
    least: int = STOPPING_PARTICIPANTS
    largest: int | None = None

    def __post_init__(self) -> None:
        if not 1 < self.threshold <= MAX_THRESHOLD:
            raise BadInput(
                f"the threshold is {self.threshold:g}.",
                column="threshold",
                remedy=f"Give more than 1, at most {MAX_THRESHOLD:,.0f}.",
            )
        if self.least < 2 or (self.largest is not None and self.largest < self.least):
            raise BadInput(
                "the numbers of participants are not in order.",
                column="largest",
                remedy="Give a least number of at least 2, and a larger one.",
            )

    def decide(self, looks: list[dict[str, Any]]) -> dict[str, Any]:
        """Return where the rule stops: ``n``, ``factor`` and ``decision``."""
        for look in looks:
            if self.largest is not None and look["n"] > self.largest:
                break
            if look["n"] < self.least or look["factor"] is None:
                continue
            if look["factor"] >= self.threshold:
                return {"n": look["n"], "factor": look["factor"], "decision": "difference"}
            if look["factor"] <= 1 / self.threshold:
                return {"n": look["n"], "factor": look["factor"], "decision": "no_difference"}
        reached = self.largest is not None and looks and looks[-1]["n"] >= self.largest
        return {"n": None, "factor": None, "decision": "largest_reached" if reached else "go_on"}


def sequential_report(
    judgments: pd.DataFrame,
    *,
    by: str = "phenomenon",
    transform: str = "z",
    threshold: float = STOPPING_THRESHOLD,
    least: int = STOPPING_PARTICIPANTS,
    largest: int | None = None,
    scale: float = SCALE,
    experiment: str = "",
) -> dict[str, Any]:
    """Compute the Bayes factor of every contrast after each participant, and where a stopping rule ends.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant``, ``item`` and ``value``, and ``expected`` for ratings and yes-no. The first row
        of each participant sets the order.
    by : {"phenomenon", "paradigm"}
        Column that defines the contrasts.
    transform : {"z", "z-log", "raw", "robust-z", "rank-normal"}
        Scale of ratings.
    threshold : float
        Bayes factor at which, or at whose reciprocal, the rule stops.
    least, largest : int
        Fewest participants before a decision, and most; ``largest`` by default unlimited.
    scale : float
        Width r of the Cauchy prior of the effect size.
    experiment : str
        Name of the study, copied into the document.

    Returns
    -------
    dict
        JSON-ready: ``contrasts`` (``n``, ``looks`` of ``n``, ``factor``, ``log10`` and ``statistic``;
        ``final``; ``stop`` with ``decision``: difference, no_difference, go_on, largest_reached;
        ``status`` and ``reason``), ``rule`` (with ``none_from``, the number of participants from which it
        can decide for no difference), ``scale``, ``conventions``.

    Raises
    ------
    MissingColumns, BadInput
        If a column is absent, or the rule cannot be met.

    Notes
    -----
    The Bayes factor at each look is that of all participants so far, so the last one is that of *Effects*.
    A rule is valid as a design if it was fixed before the data were seen; on data that are complete it says
    only where it would have stopped. Effects that are estimated at the stop are too large on average.

    References
    ----------
    Schönbrodt, Wagenmakers, Zehetleitner & Perugini (2017), Psychological Methods 22; Schönbrodt &
    Wagenmakers (2018), Psychonomic Bulletin & Review 25; Rouder et al. (2009), Psychonomic Bulletin &
    Review 16.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> rows = pd.DataFrame([(p, i, side, 4 + (side == "acceptable") + rng.normal())
    ...     for p in range(30) for i in range(4) for side in ("acceptable", "unacceptable")],
    ...     columns=["participant", "item", "expected", "value"]).assign(task="likert")
    >>> report = sequential_report(rows, transform="raw")
    >>> report["contrasts"][0]["stop"]["n"], report["contrasts"][0]["stop"]["decision"]
    (20, 'difference')
    """
    require_columns(judgments, "participant", "value")
    rule = StoppingRule(threshold, least, largest)
    arrival = judgments["participant"].astype(str).drop_duplicates().tolist()
    choices = {"threshold": rule.threshold, "least": rule.least, "largest": rule.largest}
    return {
        "experiment": experiment,
        "by": by,
        "transform": transform,
        "rule": {**choices, "none_from": least_for_none(rule.threshold, scale=scale)},
        "scale": scale,
        "contrasts": [
            {by: name, "task": task, **_contrast(part, arrival, rule, task=task, scale=scale)}
            for name, task, part in contrast_rows(judgments, by=by, transform=transform)
        ],
        "conventions": CONVENTIONS,
    }


def least_for_none(threshold: float, *, scale: float = SCALE) -> int:
    """Return the number of participants from which the rule can decide for no difference.

    Notes
    -----
    The factor of a t test is smallest at t = 0, where it decreases with n.

    Examples
    --------
    >>> least_for_none(3), least_for_none(10)
    (9, 124)
    """
    largest = 2
    while (jzs_bayes_factor(0.0, largest, scale=scale).value or 0.0) > 1 / threshold:
        largest *= 2
    sizes = range(2, largest + 1)
    place = bisect_left(
        sizes, -1 / threshold, key=lambda n: -(jzs_bayes_factor(0.0, n, scale=scale).value or 0.0)
    )
    return sizes[place]


def _contrast(
    rows: pd.DataFrame, arrival: list[str], rule: StoppingRule, *, task: str, scale: float
) -> dict[str, Any]:
    differences = _differences(rows, task=task)
    judged = rows["participant"].nunique()
    ordered = differences.reindex([name for name in arrival if name in differences.index])
    values: Floats = np.asarray(ordered, dtype=np.float64)
    status = "ok"
    if task != "forced_choice" and 2 * len(values) < judged:
        status = "not_paired"
    elif len(values) < 2:
        status = "too_few"
    is_single = task == "forced_choice" and len(rows) == judged
    looks = _looks(values, is_single=is_single, scale=scale) if status == "ok" else []
    if status == "ok" and all(look["factor"] is None for look in looks):
        status, looks = "no_variation", []
    return {
        "n": len(values),
        "looks": looks,
        "final": looks[-1] if looks else None,
        "stop": rule.decide(looks) if looks else {"n": None, "factor": None, "decision": "not_estimable"},
        "status": status,
        "reason": REASONS.get(status, ""),
    }


def _differences(rows: pd.DataFrame, *, task: str) -> "pd.Series[float]":
    """Return the difference of each participant with both sides; of choices, the share minus one half."""
    if task == "forced_choice":
        shares = rows.groupby(rows["participant"].astype(str))["score"].mean()
        return shares.astype(float) - 0.5
    means = paired_means(rows, value="score")
    return means.set_index(means["unit"].astype(str))["difference"].astype(float)


def _looks(values: Floats, *, is_single: bool, scale: float) -> list[dict[str, Any]]:
    n = len(values)
    counts = (
        range(2, n + 1) if n <= MAX_LOOKS else np.unique(np.linspace(2, n, MAX_LOOKS).round().astype(int))
    )
    looks = []
    for count in map(int, counts):
        part = values[:count]
        spread = float(part.std(ddof=1))
        t = float(part.mean() / (spread / np.sqrt(count))) if spread > 1e-12 else None
        if is_single:
            factor = share_bayes_factor(int((part > 0).sum()), int((part != 0).sum()))
        else:
            factor = jzs_bayes_factor(t, count, scale=scale) if t is not None else BayesFactor(None, None)
        value = factor.value
        looks.append(
            {
                "n": count,
                "factor": None if value is None else min(value, float(np.finfo(np.float64).max)),
                "log10": factor.log10,
                "statistic": t,
            }
        )
    return looks
