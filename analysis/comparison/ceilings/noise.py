"""The noise ceiling of a model's correlation with humans: reliability of differences and accuracies."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...columns import require_columns
from ...reliability.halves import (
    first_half,
    linked_components,
    list_strata,
    means_by_code,
    noise_ceiling,
    participant_slots,
    spearman_brown,
)
from ...rows import group_codes, is_kind, merge_answers, tasks
from ...scales import zscore_by_participant
from ..correlation import pearson_r
from ..criteria import FloatArray
from .responses import UNIT, counted_task, row_units

SPLITS = 200
LEAST = 3  # units of a correlation
PEOPLE = "people"


def correlation_ceilings(
    judgments: pd.DataFrame, pairs: pd.DataFrame, *, rng: np.random.Generator, splits: int = SPLITS
) -> dict[str, Any]:
    """Estimate split-half reliabilities of differences and accuracies, halves balanced within list.

    The result has ``deltas`` (of pairs) and ``paradigms`` (accuracies), each with ``reliability`` (mean
    over splits of 2r / (1 + r)), ``model`` (its root: the highest expected r of a model that predicts the
    true values), ``sample`` (another sample of as many participants), ``n``, ``splits``, ``participants``,
    ``status``.

    Notes
    -----
    Spearman-Brown corrects for the half size. The expected correlation between a model and observed human
    means does not exceed the root of their reliability. For forced choices the accuracy of a paradigm
    is the mean of its pairs' shares; else the share of its pairs whose better member humans score higher.

    References
    ----------
    Brown (1910), Spearman (1910), British Journal of Psychology 3.
    """
    require_columns(pairs, "pair_id", "good_id", "bad_id")
    task = counted_task(judgments)
    rows = _answers(judgments, pairs, task=task)
    people = int(rows["participant"].nunique())
    if people < 4:
        status = "no_data" if not people else "too_few"
        undefined = _summary([], n=0, splits=0, people=people, status=status)
        return {"deltas": undefined, "paradigms": dict(undefined)}
    participant, _ = group_codes(rows["participant"])
    strata = list_strata(rows, participant, unit="unit")
    sentence, names = pd.factorize(rows["sentence"].astype(str))
    slots = participant_slots(rows, participant, linked_components(pd.Index(names), pairs)[sentence])
    half_statistics = _statistic(rows, pairs, task=task)
    paradigm = pd.factorize(pairs["paradigm"].astype(str)) if "paradigm" in pairs.columns else None
    n_groups = 0 if paradigm is None else len(pd.Index(paradigm[1]))
    deltas: list[float] = []
    paradigms: list[float] = []
    n_pairs = 0
    for _ in range(splits):
        first = first_half(participant, strata, slots, rng=rng)
        halves = [half_statistics(first), half_statistics(~first)]
        n_pairs = max(n_pairs, _reliability([delta for delta, _ in halves], deltas))
        if paradigm is not None:
            _reliability([_group_means(right, paradigm[0], n_groups) for _, right in halves], paradigms)
    return {
        "deltas": _summary(deltas, n=n_pairs, splits=splits, people=people),
        "paradigms": _summary(paradigms, n=n_groups, splits=splits, people=people),
    }


def people_right(
    human_delta: npt.ArrayLike, pairs: pd.DataFrame, judgments: pd.DataFrame | None
) -> tuple[FloatArray, str]:
    """Return how far humans judge each pair as expected, and the measure used.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8.
    """
    human = np.asarray(human_delta, dtype=np.float64)
    aggregate = np.where(np.isnan(human), np.nan, (human > 0).astype(np.float64))
    if judgments is None or counted_task(judgments) != "forced_choice":
        return aggregate, "pairs whose acceptable member people score higher"
    rows = _answers(judgments, pairs, task="forced_choice")
    good = rows[rows["is_good"]]
    shares = good.groupby("unit")["value"].mean()
    return (
        pairs["pair_id"].astype(str).map(shares).to_numpy(dtype=np.float64),
        "mean of pairs' shares of choices of the acceptable member",
    )


def _answers(judgments: pd.DataFrame, pairs: pd.DataFrame, *, task: str) -> pd.DataFrame:
    """Return one row per answer about a sentence; a choice gives rows for both members."""
    kinds = ("target",) if task in UNIT else ("target", "filler")
    is_counted = is_kind(judgments, kinds)
    if "task" in judgments.columns:
        task_names = tasks(judgments).astype(str)
        is_counted &= ((task_names == task) if task in UNIT else ~task_names.isin(list(UNIT))).to_numpy()
    rows = judgments[is_counted].reset_index(drop=True)
    if task == "ratings":
        rows = rows.assign(value=zscore_by_participant(rows))
    if task != "forced_choice":
        rows = rows.assign(unit=rows["sentence_id"].astype(str), is_good=True).dropna(subset=["value"])
        rows, value = merge_answers(rows, rows["value"].to_numpy(dtype=np.float64), unit="sentence_id")
        return rows.assign(value=value, sentence=rows["unit"])
    rows = rows.assign(unit=row_units(rows, pairs, task=task)).dropna(subset=["unit", "value"])
    rows, value = merge_answers(rows, rows["value"].to_numpy(dtype=np.float64), unit="unit")
    rows = rows.assign(value=value)
    members = pairs.set_index(pairs["pair_id"].astype(str))[["good_id", "bad_id"]].astype(str)
    good = rows.assign(sentence=rows["unit"].map(members["good_id"]), is_good=True)
    bad = rows.assign(
        sentence=rows["unit"].map(members["bad_id"]), is_good=False, value=1 - rows["value"].astype(float)
    )
    return pd.concat([good, bad], ignore_index=True)


Halved = Callable[[npt.NDArray[np.bool_]], tuple[FloatArray, FloatArray]]


def _statistic(rows: pd.DataFrame, pairs: pd.DataFrame, *, task: str) -> Halved:
    """Return a function from a half to its differences and its accuracy by pair."""
    sentence, names = pd.factorize(rows["sentence"].astype(str))
    value = rows["value"].to_numpy(dtype=np.float64)
    index = pd.Index(names)
    good = index.get_indexer(pd.Index(pairs["good_id"].astype(str)))
    bad = index.get_indexer(pd.Index(pairs["bad_id"].astype(str)))
    chosen = rows["is_good"].to_numpy(dtype=np.bool_)
    pair = pd.Index(pairs["pair_id"].astype(str)).get_indexer(pd.Index(rows["unit"].astype(str)))

    def half_statistics(half: npt.NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
        means = means_by_code(sentence[half], value[half], size=len(index))
        padded = np.append(means, np.nan)
        delta = padded[good] - padded[bad]
        if task == "forced_choice":
            return delta, means_by_code(pair[half & chosen], value[half & chosen], size=len(pairs))
        return delta, np.where(np.isnan(delta), np.nan, (delta > 0).astype(np.float64))

    return half_statistics


def _group_means(values: FloatArray, groups: npt.NDArray[Any], size: int) -> FloatArray:
    complete = ~np.isnan(values)
    return means_by_code(groups[complete], values[complete], size=size)


def _reliability(halves: list[FloatArray], reliabilities: list[float]) -> int:
    """Append the Spearman-Brown value of two halves, if defined; return the number of units."""
    first, second = halves
    complete = ~(np.isnan(first) | np.isnan(second))
    x, y = first[complete], second[complete]
    if x.size >= LEAST and np.ptp(x) > 0 and np.ptp(y) > 0:
        r = pearson_r(x, y)
        if r > -1:
            reliabilities.append(spearman_brown(r))
    return int(complete.sum())


def _summary(values: list[float], *, n: int, splits: int, people: int, status: str = "") -> dict[str, Any]:
    reliability = float(np.mean(values)) if values else None
    ceiling = noise_ceiling(reliability)
    status = status or ("too_few" if n < LEAST else "no_variation" if reliability is None else "ok")
    if status == "ok" and ceiling.model is None:
        status = "not_positive"
    return {
        "reliability": reliability, "model": ceiling.model, "sample": ceiling.sample,
        "n": n, "splits": splits, "participants": people, "status": status,
    }  # fmt: skip
