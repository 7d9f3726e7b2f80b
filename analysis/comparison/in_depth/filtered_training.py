"""Effects of filtering a construction out of the training corpus (FiCT)."""

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from ...corpora.filters import filter_names, find_filter
from ...errors import NotEnoughData
from ..criteria import as_floats
from ..pairs import PairTable
from .learning_curves import ALL, group_accuracy
from .models import FULL

POINTS = 100.0  # percentage points of a share
SAME = 1e-9  # smaller ranges are rounding error
LIKE_SIZE = 0.5  # binary logarithms: between 0.71 and 1.41 times as many tokens


def accuracy_delta(filtered: float, full: Sequence[float]) -> float:
    """Return the accuracy of the filtered model minus the mean of models of the full corpus.

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
    """Return log P(good) - log P(bad) of each pair, in nats.

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
    """Compare models of filtered corpora with those of the full corpus, seeds as units.

    The result has ``deltas``: rows of ``family``, ``method``, ``filter``, ``group`` (``all``, then
    paradigms), ``targeted`` (the filter carries the name of the paradigm or its phenomenon, or is one of
    :func:`obelus.corpora.filter_names` and lists the paradigm), ``pairs``, ``seeds_full``,
    ``seeds_filtered``, ``accuracy_full``, ``accuracy_filtered``, ``accuracy_delta`` (points, equation 1)
    with ``ci_low`` and ``ci_high`` (Welch, seeds as units; None below two seeds of either), and for log
    probabilities ``probability_delta_full``, ``probability_delta_filtered`` (nats, equation 2, mean over
    pairs and seeds). ``families``: for every two families with two filters in common ``a``, ``b``,
    ``filters``, ``mean_a``, ``mean_b``, ``t`` and ``p`` (paired t over filters, all pairs).

    Notes
    -----
    Where training tokens are known, models of the full corpus count that were trained on 0.71 to 1.41 times
    as many as the filtered ones: a family may contain a learning curve.

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
    """Return the models of the full corpus that were trained on about as much text."""
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
            in_group = (names == name).to_numpy()
            own_names = {_plain(name), *map(_plain, above[in_group])}
            groups.append((name, in_group, _plain(corpus) in own_names or name in _paradigms(corpus)))
    rows = []
    for name, in_group, targeted in groups:
        accuracies = [_accuracies(table, models, in_group) for models in (full, filtered)]
        if not accuracies[0] or not accuracies[1]:
            continue
        low, high = _welch(accuracies[1], accuracies[0])
        differences = [accuracy_delta(accuracy, accuracies[0]) for accuracy in accuracies[1]]
        probability_models = (full, filtered) if is_probability else ([], [])
        margins = [_mean_probability_delta(table, models, in_group) for models in probability_models]
        rows.append({
            "group": name, "targeted": targeted, "pairs": int(in_group.sum()),
            "seeds_full": len(accuracies[0]), "seeds_filtered": len(accuracies[1]),
            "accuracy_full": float(np.mean(accuracies[0])),
            "accuracy_filtered": float(np.mean(accuracies[1])),
            "accuracy_delta": float(np.mean(differences)),
            "ci_low": low, "ci_high": high,
            "probability_delta_full": margins[0], "probability_delta_filtered": margins[1],
        })  # fmt: skip
    return rows


def _accuracies(table: PairTable, models: list[str], in_group: npt.NDArray[np.bool_]) -> list[float]:
    """Return the accuracy of each model with scores in the group, in percentage points."""
    results = (group_accuracy(table, table.prefers_good[model], in_group) for model in models)
    return [POINTS * accuracy for accuracy, n in results if n]


def _mean_probability_delta(
    table: PairTable, models: list[str], in_group: npt.NDArray[np.bool_]
) -> float | None:
    pairs = table.pairs[in_group]
    means = [
        probability_delta(
            pairs["good_id"].map(table.scores[model]).to_numpy(dtype=float),
            pairs["bad_id"].map(table.scores[model]).to_numpy(dtype=float),
        ).mean()
        for model in models
    ]
    defined = [float(value) for value in means if not math.isnan(value)]
    return float(np.mean(defined)) if defined else None


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
    tests = []
    for (a, first), (b, other) in combinations(overall.items(), 2):
        filters = [name for name in first if name in other]
        if a[1] != b[1] or len(filters) < 2:
            continue
        x, y = np.array([first[name] for name in filters]), np.array([other[name] for name in filters])
        test = scipy.stats.ttest_rel(x, y) if np.ptp(x - y) > SAME else None
        tests.append({
            "a": a[0], "b": b[0], "method": a[1], "filters": len(filters),
            "mean_a": float(x.mean()), "mean_b": float(y.mean()),
            "t": float(test.statistic) if test else None, "p": float(test.pvalue) if test else None,
        })  # fmt: skip
    return tests


@cache
def _paradigms(corpus: str) -> tuple[str, ...]:
    return find_filter(corpus).paradigms if corpus in filter_names() else ()


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
