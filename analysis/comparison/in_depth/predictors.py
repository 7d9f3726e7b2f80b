"""Accuracy by length, perplexity, probability, confidence, dependency length and attractor."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...aggregation.proportions import wilson_interval
from ..ceilings.noise import PEOPLE
from ..correlation import association
from ..criteria import FloatArray
from ..intervals import correlation_interval
from ..pairs import PairTable

BINS = 5
FEW_VALUES = 8  # with at most so many different values, each value is a bin
MOST_NATS = 700.0  # exp() of more overflows
ATTRACTOR = ("attractor", "attractors", "n_attractors", "attractor_count", "distractor", "n_distractors")
LENGTHS = ("dependency_length", "dependency-length", "dep_length")
TEXT = "sentence_good"


def shallow_predictors(table: PairTable, models: pd.DataFrame) -> list[dict[str, Any]]:
    """Relate accuracy to predictors that have little to do with grammar.

    The result has ``predictor``, ``judge``, ``n``, ``r`` (point-biserial, of predictor and right or wrong)
    with ``ci_low`` and ``ci_high`` (families drawn whole), ``status`` and ``bins``: ``label``, ``n``,
    ``right``, ``accuracy``, ``ci_low``, ``ci_high`` (Wilson).

    Notes
    -----
    Length: white-space words of the acceptable member. Perplexity: exp(-log p / words) of that member, so
    that length does not enter; probability: its log p, where it does. Confidence: |score(good) - score(bad)|
    in the model's own units, for humans |Δh|. Up to eight different values are bins of
    their own, else five parts of equal size. Wilson intervals treat pairs as independent, the
    interval of r does not. For humans a pair is right where Δh > 0.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8, section 5.2 and figure 2.
    """
    shared = _of_pairs(table.pairs)
    words = shared.get("length")
    rows = []
    methods = dict(zip(models["model"], models["method"], strict=True))
    for name in table.models:
        predictors = {**shared, **_of_model(table, name, words, is_probability=methods.get(name) == "lp")}
        right = table.prefers_good[name].to_numpy(dtype=np.float64)
        rows += [_row(label, name, values, right, table) for label, values in predictors.items()]
    if table.is_labeled.any():
        human = table.human_delta
        prefers_good = np.asarray((human > 0).astype(float).where(human.notna()), dtype=np.float64)
        for predictor, values in {**shared, "confidence": human.abs()}.items():
            rows.append(_row(predictor, PEOPLE, values, prefers_good, table))
    return rows


def control_columns(table: PairTable) -> pd.DataFrame:
    """Return what partial correlations hold constant: length, and numeric predictors given for every pair.

    Constant columns are left out.
    """
    numeric = {name: _numeric(values) for name, values in _of_pairs(table.pairs).items()}
    given = {
        name: values
        for name, values in numeric.items()
        if values is not None and (name == "length" or values[table.is_labeled].notna().all())
    }
    controls = pd.DataFrame(given, index=table.pairs.index)
    return controls.loc[:, controls.nunique() > 1]


def bin_accuracy(values: pd.Series, right: npt.ArrayLike) -> list[dict[str, Any]]:
    """Return the accuracy within bins of a predictor.

    In rising order: ``label``, ``low``, ``high`` (None for categories), ``n``, ``right``, ``accuracy``,
    ``ci_low``, ``ci_high``.

    Examples
    --------
    >>> [(row["label"], row["n"], row["accuracy"]) for row in bin_accuracy(pd.Series([3, 3, 4]), [1, 0, 1])]
    [('3', 2, 0.5), ('4', 1, 1.0)]
    """
    outcome = np.asarray(right, dtype=np.float64)
    complete = values.notna().to_numpy() & ~np.isnan(outcome) & (values.astype(str) != "").to_numpy()
    counted_values, outcome = values[complete], outcome[complete]
    if not len(counted_values):
        return []
    numeric = _numeric(counted_values)
    if numeric is None:
        labels = counted_values.astype(str).to_numpy()
        return [_bin(label, None, None, outcome[labels == label]) for label in sorted(set(labels))]
    number = numeric.to_numpy(dtype=np.float64)
    different = np.unique(number)
    if different.size <= FEW_VALUES:
        return [
            _bin(f"{value:g}", float(value), float(value), outcome[number == value]) for value in different
        ]
    edges = np.unique(np.quantile(number, np.linspace(0, 1, BINS + 1)))
    place = np.clip(np.searchsorted(edges, number, side="right") - 1, 0, len(edges) - 2)
    rows = []
    for part in range(len(edges) - 1):
        in_bin = place == part
        if in_bin.any():
            low, high = float(number[in_bin].min()), float(number[in_bin].max())
            label = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
            rows.append(_bin(label, low, high, outcome[in_bin]))
    return rows


def _row(
    predictor: str,
    judge: str,
    values: pd.Series,
    right: FloatArray,
    table: PairTable,
) -> dict[str, Any]:
    bins = bin_accuracy(values, right)
    row: dict[str, Any] = {
        "predictor": predictor, "judge": judge, "n": sum(part["n"] for part in bins),
        "r": None, "ci_low": None, "ci_high": None, "status": "ok", "bins": bins,
    }  # fmt: skip
    numeric = _numeric(values)
    if numeric is None:
        return row | {"status": "categories" if bins else "no_data"}
    number = numeric.to_numpy(dtype=np.float64)
    correlation = association(right, number)
    if correlation["status"] != "ok":
        return row | {"status": correlation["status"]}
    low, high = correlation_interval(table.clusters, right, number)
    return row | {"r": correlation["pearson_r"], "ci_low": low, "ci_high": high}


def _of_pairs(pairs: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the predictors that are the same for every judge."""
    shared: dict[str, pd.Series] = {}
    words = _words(pairs)
    if words is not None:
        shared["length"] = words
    dependency_length = _column(pairs, LENGTHS)
    if dependency_length is not None:
        shared["dependency_length"] = pd.to_numeric(pairs[dependency_length], errors="coerce")
    attractor = _column(pairs, ATTRACTOR)
    if attractor is not None:
        shared["attractor"] = pairs[attractor]
    return shared


def _of_model(
    table: PairTable, name: str, words: pd.Series | None, *, is_probability: bool
) -> dict[str, pd.Series]:
    scores = table.scores[name]
    good = table.pairs["good_id"].map(scores)
    bad = table.pairs["bad_id"].map(scores)
    predictors = {"confidence": (good - bad).abs()}
    if is_probability and not (good.dropna() > 0).any():
        predictors["probability"] = good
        if words is not None:
            predictors["perplexity"] = (-good / words).clip(upper=MOST_NATS).map(math.exp)
    return predictors


def _words(pairs: pd.DataFrame) -> pd.Series | None:
    if TEXT not in pairs.columns:
        return None
    words = pairs[TEXT].fillna("").astype(str).map(lambda text: len(text.split())).astype(float)
    return words.where(words > 0)


def _column(pairs: pd.DataFrame, names: tuple[str, ...]) -> str | None:
    for name in names:
        if name in pairs.columns and pairs[name].notna().any() and (pairs[name].astype(str) != "").any():
            return name
    return None


def _numeric(values: pd.Series) -> pd.Series | None:
    """Convert values to numbers; None where one of them is text."""
    filled = values[values.notna() & (values.astype(str) != "")]
    if filled.map(lambda value: isinstance(value, bool | np.bool_)).any():
        return None
    numbers = pd.to_numeric(filled, errors="coerce")
    return None if numbers.isna().any() else numbers.reindex(values.index).astype(float)


def _bin(label: str, low: float | None, high: float | None, outcome: FloatArray) -> dict[str, Any]:
    right, n = int(outcome.sum()), int(outcome.size)
    ends = wilson_interval(np.array([right]), np.array([n]))
    return {
        "label": label, "low": low, "high": high, "n": n, "right": right, "accuracy": right / n,
        "ci_low": float(ends[0][0]), "ci_high": float(ends[1][0]),
    }  # fmt: skip
