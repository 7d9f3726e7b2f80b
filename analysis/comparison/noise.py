"""How reliable people's differences and accuracies are: the ceiling of a model's correlation with them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.agreement.noise_ceiling import noise_ceiling, spearman_brown
from analysis.agreement.seats import seats_of
from analysis.columns import require_columns
from analysis.comparison.answers import UNIT, task_of, units_of
from analysis.comparison.correlation import pearson_r
from analysis.comparison.criteria import FloatArray
from analysis.comparison.halves import first_half, linked, means_by_code, strata_of
from analysis.rows import is_kind, tasks
from analysis.scales import zscore_by_participant

SPLITS = 200
LEAST = 3
PEOPLE = "people"


def correlation_ceilings(
    judgments: pd.DataFrame, pairs: pd.DataFrame, *, rng: np.random.Generator, splits: int = SPLITS
) -> dict[str, Any]:
    """Split the participants of each list in halves and correlate what the halves give.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        As :func:`analysis.comparison.ceiling.human_ceiling` takes them.
    pairs : DataFrame
        ``pair_id``, ``good_id``, ``bad_id``, perhaps ``paradigm``.
    rng : Generator
        Source of randomness.
    splits : int
        Number of random halvings.

    Returns
    -------
    dict
        ``deltas`` (of pairs) and ``paradigms`` (accuracies), each with ``reliability`` (mean over splits of
        2r / (1 + r)), ``model`` (its root: the most that a model which knows the truth can reach),
        ``sample`` (another sample of as many people), ``n``, ``splits``, ``participants``, ``status``.

    Raises
    ------
    MissingColumns
        If a column is absent.

    Notes
    -----
    Halves are half-sized, hence Spearman-Brown. A correlation between a model and people's observed means
    cannot be expected to exceed the root of their reliability. For forced choices the accuracy of a paradigm
    is the mean of its pairs' shares; else the share of its pairs whose better member people score higher.

    References
    ----------
    Brown (1910), Spearman (1910), British Journal of Psychology 3.
    """
    require_columns(pairs, "pair_id", "good_id", "bad_id")
    task = task_of(judgments)
    rows = _answers(judgments, pairs, task=task)
    people = int(rows["participant"].nunique())
    if people < 4:
        status = "no_data" if not people else "too_few"
        nothing = _found([], n=0, splits=0, people=people, status=status)
        return {"deltas": nothing, "paradigms": dict(nothing)}
    participant = pd.factorize(rows["participant"])[0].astype(np.int64)
    strata = strata_of(rows, participant, unit="unit")
    sentence, names = pd.factorize(rows["sentence"].astype(str))
    seats = seats_of(rows, participant, linked(pd.Index(names), pairs)[sentence])
    gives = _statistic(rows, pairs, task=task)
    named = pd.factorize(pairs["paradigm"].astype(str)) if "paradigm" in pairs.columns else None
    n_groups = 0 if named is None else len(pd.Index(named[1]))
    deltas: list[float] = []
    paradigms: list[float] = []
    n_pairs = 0
    for _ in range(splits):
        first = first_half(participant, strata, seats, rng=rng)
        halves = [gives(first), gives(~first)]
        n_pairs = max(n_pairs, _reliability([delta for delta, _ in halves], deltas))
        if named is not None:
            _reliability([_group_means(right, named[0], n_groups) for _, right in halves], paradigms)
    return {
        "deltas": _found(deltas, n=n_pairs, splits=splits, people=people),
        "paradigms": _found(paradigms, n=n_groups, splits=splits, people=people),
    }


def people_right(
    human_delta: npt.ArrayLike, pairs: pd.DataFrame, judgments: pd.DataFrame | None
) -> tuple[FloatArray, str]:
    """Say how far people get each pair right, and by what measure.

    Parameters
    ----------
    human_delta : array-like of float
        People's differences, one per pair.
    pairs : DataFrame
        ``pair_id``, ``good_id``, ``bad_id``.
    judgments : DataFrame or None
        Choices by participant, where there are any.

    Returns
    -------
    right : ndarray of float
        Forced choices: the share of choices of the acceptable member; else 1 where Δh > 0 and 0 where not.
    basis : str
        The measure in words.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8.
    """
    human = np.asarray(human_delta, dtype=np.float64)
    aggregate = np.where(np.isnan(human), np.nan, (human > 0).astype(np.float64))
    if judgments is None or task_of(judgments) != "forced_choice":
        return aggregate, "pairs whose acceptable member people score higher"
    rows = _answers(judgments, pairs, task="forced_choice")
    good = rows[rows["is_good"]]
    shares = good.groupby("unit")["value"].mean()
    return (
        pairs["pair_id"].astype(str).map(shares).to_numpy(dtype=np.float64),
        "mean of pairs' shares of choices of the acceptable member",
    )


def _answers(judgments: pd.DataFrame, pairs: pd.DataFrame, *, task: str) -> pd.DataFrame:
    """Give one row per answer about a sentence; a choice says something about both members."""
    kinds = ("target",) if task in UNIT else ("target", "filler")
    asked = is_kind(judgments, kinds)
    if "task" in judgments.columns:
        mine = tasks(judgments).astype(str)
        asked &= ((mine == task) if task in UNIT else ~mine.isin(list(UNIT))).to_numpy()
    rows = judgments[asked].reset_index(drop=True)
    if task == "ratings":
        rows = rows.assign(value=zscore_by_participant(rows))
    if task != "forced_choice":
        rows = rows.assign(unit=rows["sentence_id"].astype(str), is_good=True)
        return rows.assign(sentence=rows["unit"]).dropna(subset=["value"])
    rows = rows.assign(unit=units_of(rows, pairs, task=task)).dropna(subset=["unit", "value"])
    members = pairs.set_index(pairs["pair_id"].astype(str))[["good_id", "bad_id"]].astype(str)
    good = rows.assign(sentence=rows["unit"].map(members["good_id"]), is_good=True)
    bad = rows.assign(
        sentence=rows["unit"].map(members["bad_id"]), is_good=False, value=1 - rows["value"].astype(float)
    )
    return pd.concat([good, bad], ignore_index=True)


Halved = Callable[[npt.NDArray[np.bool_]], tuple[FloatArray, FloatArray]]


def _statistic(rows: pd.DataFrame, pairs: pd.DataFrame, *, task: str) -> Halved:
    """Make the function that gives a half's differences and how far it gets each pair right."""
    sentence, names = pd.factorize(rows["sentence"].astype(str))
    value = rows["value"].to_numpy(dtype=np.float64)
    index = pd.Index(names)
    good = index.get_indexer(pd.Index(pairs["good_id"].astype(str)))
    bad = index.get_indexer(pd.Index(pairs["bad_id"].astype(str)))
    chosen = rows["is_good"].to_numpy(dtype=np.bool_)
    pair = pd.Index(pairs["pair_id"].astype(str)).get_indexer(pd.Index(rows["unit"].astype(str)))

    def give(half: npt.NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
        means = means_by_code(sentence[half], value[half], size=len(index))
        padded = np.append(means, np.nan)
        delta = padded[good] - padded[bad]
        if task == "forced_choice":
            return delta, means_by_code(pair[half & chosen], value[half & chosen], size=len(pairs))
        return delta, np.where(np.isnan(delta), np.nan, (delta > 0).astype(np.float64))

    return give


def _group_means(values: FloatArray, groups: npt.NDArray[Any], size: int) -> FloatArray:
    known = ~np.isnan(values)
    return means_by_code(groups[known], values[known], size=size)


def _reliability(halves: list[FloatArray], found: list[float]) -> int:
    """Add the Spearman-Brown value of two halves, where there is one; give the number of units."""
    first, second = halves
    known = ~(np.isnan(first) | np.isnan(second))
    x, y = first[known], second[known]
    if x.size >= LEAST and np.ptp(x) > 0 and np.ptp(y) > 0:
        r = pearson_r(x, y)
        if r > -1:
            found.append(spearman_brown(r))
    return int(known.sum())


def _found(values: list[float], *, n: int, splits: int, people: int, status: str = "") -> dict[str, Any]:
    reliability = float(np.mean(values)) if values else None
    ceiling = noise_ceiling(reliability)
    word = status or ("too_few" if n < LEAST else "no_variation" if reliability is None else "ok")
    if word == "ok" and ceiling.model is None:
        word = "not_positive"
    return {
        "reliability": reliability, "model": ceiling.model, "sample": ceiling.sample,
        "n": n, "splits": splits, "participants": people, "status": word,
    }  # fmt: skip
