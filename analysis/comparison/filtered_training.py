"""What a model loses when a construction is filtered out of its training corpus (FiCT)."""

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from analysis.comparison.criteria import as_floats
from analysis.comparison.deltas import PairTable
from analysis.comparison.roster import FULL
from analysis.comparison.training_size import ALL, group_accuracy
from analysis.corpora.filters import find_filter, shipped
from analysis.errors import NotEnoughData

POINTS, SAME = 100.0, 1e-9
LIKE_SIZE = 0.5  # binary logarithms: between 0.71 and 1.41 times as many tokens


def accuracy_delta(filtered: float, full: Sequence[float]) -> float:
    """Give the accuracy of the filtered model minus the mean of models of the full corpus.

    Parameters
    ----------
    filtered : float
        Accuracy of the model trained without the construction.
    full : sequence of float
        Accuracy of the models trained on everything, one per seed.

    Returns
    -------
    float
        Difference in the unit given (points or shares); negative when filtering hurts.

    Raises
    ------
    NotEnoughData
        Without any full-corpus model.

    References
    ----------
    Patil, Jumelet et al. (2024), "Filtered Corpus Training (FiCT)", TACL, equation 1.

    Examples
    --------
    >>> accuracy_delta(70.0, [74.0, 76.0, 75.0, 73.0, 77.0])
    -5.0
    """
    if not len(full):
        raise NotEnoughData("an accuracy delta needs at least one model of the full corpus.")
    return float(filtered - np.mean(np.asarray(full, dtype=float)))


def probability_delta(logprob_good: npt.ArrayLike, logprob_bad: npt.ArrayLike) -> pd.Series:
    """Give log P(good) - log P(bad) of each pair, in nats.

    Parameters
    ----------
    logprob_good, logprob_bad : array-like of float
        Natural log probabilities of the two members.

    Returns
    -------
    Series of float
        Positive when the model prefers the acceptable member; NaN where one is missing.

    References
    ----------
    Patil, Jumelet et al. (2024), "Filtered Corpus Training (FiCT)", TACL, equation 2.

    Examples
    --------
    >>> probability_delta([-20.5], [-23.0]).tolist()
    [2.5]
    """
    return pd.Series(as_floats(logprob_good) - as_floats(logprob_bad))


def filtered_training(table: PairTable, models: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Set models of filtered corpora against those of the full corpus, seeds as units.

    Parameters
    ----------
    table : PairTable
        The joined data.
    models : DataFrame
        From :func:`analysis.comparison.roster.roster`: ``corpus`` is ``full`` or names the filter; models of
        one ``family``, ``method`` and ``corpus`` are seeds of each other.

    Returns
    -------
    dict
        ``deltas``: rows of ``family``, ``method``, ``filter``, ``group`` (``all``, then paradigms),
        ``targeted`` (the filter carries the name of the paradigm or its phenomenon, or is one of
        :func:`analysis.corpora.shipped` and bears on the paradigm), ``pairs``,
        ``seeds_full``, ``seeds_filtered``, ``accuracy_full``, ``accuracy_filtered``, ``accuracy_delta``
        (points, equation 1) with ``ci_low`` and ``ci_high`` (Welch, seeds as units; None below two seeds of
        either), and for log probabilities ``probability_delta_full``,
        ``probability_delta_filtered`` (nats, equation 2, mean over pairs and seeds). ``families``: for every
        two families with two filters in common ``a``, ``b``, ``filters``, ``mean_a``, ``mean_b``, ``t`` and
        ``p`` (paired t over filters, all pairs).

    Notes
    -----
    Where training tokens are known, models of the full corpus count that were trained on 0.71 to 1.41 times
    as many as the filtered ones: a learning curve may stand in the same family.

    References
    ----------
    Patil, Jumelet et al. (2024), "Filtered Corpus Training (FiCT)", TACL, equations 1 and 2, section 5.3.
    """
    rows: list[dict[str, Any]] = []
    for (family, method), members in models.groupby(["family", "method"], sort=False):
        for corpus, filtered in members[members["corpus"] != FULL].groupby("corpus", sort=False):
            full = _of_like_size(members, corpus)
            if not full:
                continue
            about = {"family": str(family), "method": str(method), "filter": str(corpus)}
            rows += [
                {**about, **row}
                for row in _by_group(
                    table, str(corpus), full, filtered["model"].tolist(), is_probability=method == "lp"
                )
            ]
    return {"deltas": rows, "families": _families(rows)}


def _of_like_size(members: pd.DataFrame, corpus: Any) -> list[str]:
    """Name the models of the full corpus to compare with: those trained on about as much text."""
    full = members[members["corpus"] == FULL]
    sizes = members.loc[members["corpus"] == corpus, "training_tokens"].dropna()
    if sizes.empty or full["training_tokens"].isna().all():
        return [str(model) for model in full["model"]]
    near = (np.log2(full["training_tokens"] / sizes.mean())).abs() <= LIKE_SIZE
    return [str(model) for model in full.loc[near, "model"]]


def _by_group(
    table: PairTable, corpus: str, full: list[str], filtered: list[str], *, is_probability: bool
) -> list[dict[str, Any]]:
    pairs = table.pairs
    groups = [(ALL, np.ones(len(pairs), dtype=np.bool_), False)]
    if "paradigm" in pairs.columns:
        names = pairs["paradigm"].fillna("").astype(str)
        above = pairs["phenomenon"].fillna("").astype(str) if "phenomenon" in pairs.columns else names
        for name in sorted(set(names) - {""}):
            inside = (names == name).to_numpy()
            named = {_plain(name), *map(_plain, above[inside])}
            groups.append((name, inside, _plain(corpus) in named or name in _paradigms(corpus)))
    rows = []
    for name, inside, targeted in groups:
        known = [
            [
                POINTS * value
                for value, n in (group_accuracy(table, table.prefers_good[one], inside) for one in some)
                if n
            ]
            for some in (full, filtered)
        ]
        if not known[0] or not known[1]:
            continue
        low, high = _welch(known[1], known[0])
        wanted = (full, filtered) if is_probability else ([], [])
        margins = [_mean_probability_delta(table, some, inside) for some in wanted]
        rows.append({
            "group": name, "targeted": targeted, "pairs": int(inside.sum()),
            "seeds_full": len(known[0]), "seeds_filtered": len(known[1]),
            "accuracy_full": float(np.mean(known[0])), "accuracy_filtered": float(np.mean(known[1])),
            "accuracy_delta": float(np.mean([accuracy_delta(one, known[0]) for one in known[1]])),
            "ci_low": low, "ci_high": high,
            "probability_delta_full": margins[0], "probability_delta_filtered": margins[1],
        })  # fmt: skip
    return rows


def _mean_probability_delta(
    table: PairTable, models: list[str], inside: npt.NDArray[np.bool_]
) -> float | None:
    pairs = table.pairs[inside]
    found = [
        probability_delta(
            pairs["good_id"].map(table.scores[model]).to_numpy(dtype=float),
            pairs["bad_id"].map(table.scores[model]).to_numpy(dtype=float),
        ).mean()
        for model in models
    ]
    known = [float(value) for value in found if not math.isnan(value)]
    return float(np.mean(known)) if known else None


def _welch(first: list[float], other: list[float]) -> tuple[float | None, float | None]:
    if min(len(first), len(other)) < 2 or np.ptp(first) + np.ptp(other) < SAME:
        return None, None
    errors = [float(np.var(some, ddof=1)) / len(some) for some in (first, other)]
    freedom = sum(errors) ** 2 / sum(
        error**2 / (len(some) - 1) for error, some in zip(errors, (first, other), strict=True)
    )
    half = float(scipy.stats.t.ppf(0.975, freedom)) * math.sqrt(sum(errors))
    difference = float(np.mean(first) - np.mean(other))
    return difference - half, difference + half


def _families(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    overall: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        if row["group"] == ALL:
            overall.setdefault((row["family"], row["method"]), {})[row["filter"]] = row["accuracy_delta"]
    found = []
    for (a, first), (b, other) in combinations(overall.items(), 2):
        shared = [name for name in first if name in other]
        if a[1] != b[1] or len(shared) < 2:
            continue
        x, y = np.array([first[name] for name in shared]), np.array([other[name] for name in shared])
        test = scipy.stats.ttest_rel(x, y) if np.ptp(x - y) > SAME else None
        found.append({
            "a": a[0], "b": b[0], "method": a[1], "filters": len(shared),
            "mean_a": float(x.mean()), "mean_b": float(y.mean()),
            "t": float(test.statistic) if test else None, "p": float(test.pvalue) if test else None,
        })  # fmt: skip
    return found


@cache
def _paradigms(corpus: str) -> tuple[str, ...]:
    return find_filter(corpus).paradigms if corpus in shipped() else ()


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
