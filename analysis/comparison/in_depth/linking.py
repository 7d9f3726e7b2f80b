"""Linking functions: human scores from log probability, length and unigram probability, fitted per model."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from ...columns import require_columns
from ...scoring.measures import mean_lp, pen_lp, slor
from ..correlation import pearson_r
from ..criteria import FloatArray
from ..intervals import (
    FEWEST_CLUSTERS,
    cluster_folds,
    cluster_sums,
    correlation_difference_interval,
    correlation_interval,
    pair_clusters,
)
from ..pairs import PairTable

COUNTS = ("logprob", "n_tokens", "unigram_logprob")
FITTED = "morcela"
NAMES = {
    "lp": "log probability",
    "meanlp": "mean log probability",
    "penlp": "PenLP",
    "slor": "SLOR",
    "morcela_length": "MORCELA with the length term alone",
    "morcela_unigram": "MORCELA with the unigram term alone",
    "morcela": "MORCELA",
}
FORMULAS = {
    "lp": "log p",
    "meanlp": "log p / tokens",
    "penlp": "log p / ((5 + tokens) / 6)^0.8",
    "slor": "(log p − log p_u) / tokens",
    "morcela_length": "(log p − log p_u + γ) / tokens",
    "morcela_unigram": "(log p − β log p_u) / tokens",
    "morcela": "(log p − β log p_u + γ) / tokens",
}
REASONS = {
    "no_logprob": "The scores of this model are no log probabilities.",
    "no_length": "The number of tokens is not known: score the model by meanlp too.",
    "no_unigram": "The unigram probabilities are not known: score the model by slor too.",
    "no_data": "No member of a pair has both a human score and a score of this model.",
    "no_variation": "Human scores, or the terms of a function, do not vary enough to fit it.",
    "too_few_items": "Too few items to predict some of them from the others.",
    "too_few": "Fewer than five clusters of pairs: no intervals.",
    "not_estimable": "The weight of log p may be 0, so that β and γ, divided by it, have no interval.",
}
"""What each status of a row means; ``ok`` needs no sentence."""


class Link(NamedTuple):
    """A linking function: the columns of its regression and the counts that they need."""

    columns: Callable[[pd.DataFrame], FloatArray]
    needs: tuple[str, ...]
    fits: tuple[str, ...] = ()
    """Which of β and γ are fitted; without any, r does not depend on a fit."""


def _per_token(rows: pd.DataFrame, *values: pd.Series | float) -> FloatArray:
    return np.column_stack([np.asarray(value / rows["n_tokens"], dtype=np.float64) for value in values])


LINKS: dict[str, Link] = {
    "lp": Link(lambda rows: rows[["logprob"]].to_numpy(dtype=np.float64), COUNTS[:1]),
    "meanlp": Link(lambda rows: mean_lp(rows["logprob"], rows["n_tokens"])[:, None], COUNTS[:2]),
    "penlp": Link(lambda rows: pen_lp(rows["logprob"], rows["n_tokens"])[:, None], COUNTS[:2]),
    "slor": Link(
        lambda rows: slor(rows["logprob"], rows["unigram_logprob"], rows["n_tokens"])[:, None], COUNTS
    ),
    "morcela_length": Link(
        lambda rows: _per_token(rows, rows["logprob"] - rows["unigram_logprob"], 1.0), COUNTS, ("gamma",)
    ),
    "morcela_unigram": Link(
        lambda rows: _per_token(rows, rows["logprob"], rows["unigram_logprob"]), COUNTS, ("beta",)
    ),
    FITTED: Link(
        lambda rows: _per_token(rows, rows["logprob"], rows["unigram_logprob"], 1.0),
        COUNTS,
        ("beta", "gamma"),
    ),
}  # fmt: skip


def linking_functions(
    table: PairTable, models: pd.DataFrame, counts: pd.DataFrame | None = None
) -> list[dict[str, Any]]:
    """Fit every linking function to the human scores of the members of pairs, for each model.

    ``models`` is of :func:`obelus.comparison.in_depth.models.roster`; ``counts``, where given, has ``model``
    (a column of the scores), ``sentence_id``, ``logprob``, ``n_tokens`` and ``unigram_logprob``. What it
    lacks follows from the scores of one model: tokens = lp / meanlp, log p_u = lp - slor · tokens.

    Notes
    -----
    One row per model and function: ``model``, ``function``, ``n`` (sentences), ``items``, ``r`` (Pearson's r
    of human scores with the function fitted to all), ``r_cross_validated`` with ``ci_low`` and ``ci_high``,
    ``beta``, ``gamma`` and their ``_low`` and ``_high``, ``gain`` over SLOR in cross-validated r with
    ``gain_low`` and ``gain_high``, and ``status``: ``ok``, ``no_logprob``, ``no_length``, ``no_unigram``,
    ``no_data``, ``no_variation``, ``too_few_items``, ``too_few`` (below five clusters: no intervals) or
    ``not_estimable`` (the weight of log p may be 0, so β and γ have no interval).

    MORCELA = (log p - β log p_u + γ) / tokens, fitted by least squares as a (log p / tokens) +
    b (log p_u / tokens) + c / tokens + d; β = -b / a, γ = c / a. SLOR has β = 1, γ = 0;
    ``morcela_length`` β = 1, ``morcela_unigram`` γ = 0. Cross-validated: the items are dealt out to 10 folds
    (sentences joined by pairs are one item), each is predicted by the fit on the others, and r is over all
    predictions. Measures without fitted weights need none: their r is the same. Intervals: jackknife over the
    clusters of pairs, t with C - 1 degrees of freedom; of β and γ by Fieller's theorem.

    References
    ----------
    Tjuatja, Neubig, Linzen & Hao (2025), NAACL, 2173-2186. Pauls & Klein (2012), ACL. Fieller (1954), JRSS B
    16.
    """
    sentences = _members(table)
    rows = []
    for name, columns in group_models(models).items():
        rows += _model_rows(name, sentences.join(sentence_counts(table, columns, counts)))
    return rows


def group_models(models: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the columns of scores of each model; columns of one name and method are models of their own."""
    groups: dict[str, pd.DataFrame] = {}
    for name, columns in models.groupby("name", sort=False):
        if columns["method"].is_unique:
            groups[str(name)] = columns
        else:
            groups |= {str(model): columns[columns["model"] == model] for model in columns["model"]}
    return groups


def sentence_counts(table: PairTable, columns: pd.DataFrame, counts: pd.DataFrame | None) -> pd.DataFrame:
    """Return the counts of one model by sentence: as given, else derived from its measures."""
    scores = {row["method"]: table.scores[row["model"]] for row in columns.to_dict("records")}
    own = pd.DataFrame(np.nan, index=table.scores.index, columns=list(COUNTS))
    if counts is not None:
        require_columns(counts, "model", "sentence_id", *COUNTS)
        of_model = counts[counts["model"].isin(columns["model"])]
        own = of_model.groupby("sentence_id")[list(COUNTS)].first().reindex(own.index).astype(float)
    nothing = pd.Series(np.nan, index=own.index)
    own["logprob"] = own["logprob"].fillna(scores.get("lp", nothing))
    if (own["logprob"] > 0).any():  # no logarithms of probabilities
        own["logprob"] = np.nan
    own["n_tokens"] = own["n_tokens"].fillna((own["logprob"] / scores.get("meanlp", nothing)).round())
    derived = own["logprob"] - scores.get("slor", nothing) * own["n_tokens"]
    own["unigram_logprob"] = own["unigram_logprob"].fillna(derived)
    return own.where(np.isfinite(own) & (own["n_tokens"].to_numpy()[:, None] != 0))


def _members(table: PairTable) -> pd.DataFrame:
    """Return the members of pairs with their human score, item and cluster."""
    items = pair_clusters(table.pairs[["good_id", "bad_id"]])
    sides = [
        pd.DataFrame({"sentence_id": table.pairs[side], "item": items, "cluster": table.clusters})
        for side in ("good_id", "bad_id")
    ]
    members = pd.concat(sides).drop_duplicates("sentence_id").set_index("sentence_id")
    return members.assign(human=members.index.to_series().map(table.human_scores))


def _model_rows(name: str, sentences: pd.DataFrame) -> list[dict[str, Any]]:
    predictions: dict[str, FloatArray] = {}
    rows = []
    for function, link in LINKS.items():
        row, predicted = _link_row(sentences, link)
        predictions[function] = predicted
        rows.append({"model": name, "function": function, **row})
    human = sentences["human"].to_numpy(dtype=np.float64)
    reference = next(row for row in rows if row["function"] == "slor")
    for row in rows:
        is_compared = row["function"].startswith(FITTED) and None not in (row["r"], reference["r"])
        low, high, gain = None, None, None
        if is_compared:
            gain = row["r_cross_validated"] - reference["r_cross_validated"]
            low, high = correlation_difference_interval(
                sentences["cluster"], human, predictions[row["function"]], predictions["slor"]
            )
        row |= {"gain": gain, "gain_low": low, "gain_high": high}
    return rows


NOTHING = dict.fromkeys((
    "r", "r_cross_validated", "ci_low", "ci_high", "beta", "beta_low", "beta_high", "gamma", "gamma_low",
    "gamma_high",
))  # fmt: skip
MISSING = {"logprob": "no_logprob", "n_tokens": "no_length", "unigram_logprob": "no_unigram"}


def _link_row(sentences: pd.DataFrame, link: Link) -> tuple[dict[str, Any], FloatArray]:
    """Fit one function; the row, and the cross-validated prediction of every sentence."""
    predicted = np.full(len(sentences), np.nan)
    complete = sentences[["human", *link.needs]].notna().all(axis=1).to_numpy()
    rows = sentences[complete]
    row = {"n": len(rows), "items": int(rows["item"].nunique()), **NOTHING}
    absent = [status for column, status in MISSING.items() if not sentences[column].notna().any()]
    if absent and any(MISSING[column] == absent[0] for column in link.needs):
        return row | {"status": absent[0]}, predicted
    if not len(rows):
        return row | {"status": "no_data"}, predicted
    design = np.column_stack([np.ones(len(rows)), link.columns(rows)])
    human = rows["human"].to_numpy(dtype=np.float64)
    if np.ptp(human) == 0 or not _has_full_rank(design):
        return row | {"status": "no_variation"}, predicted
    weights = np.linalg.lstsq(design, human)[0]
    if link.fits:
        predicted[complete] = held_out_predictions(design, human, rows["item"])
        r = pearson_r(human, design @ weights)
    else:
        predicted[complete] = design[:, 1]
        r = pearson_r(human, design[:, 1])
    is_predicted = ~np.isnan(predicted[complete])
    pairs = human[is_predicted], predicted[complete][is_predicted]
    if not is_predicted.any() or min(np.ptp(values) for values in pairs) == 0:
        return row | {"status": "too_few_items"}, np.full(len(sentences), np.nan)
    held_out = pearson_r(*pairs)
    low, high = correlation_interval(
        sentences["cluster"], sentences["human"].to_numpy(dtype=np.float64), predicted
    )
    row |= {"r": r, "r_cross_validated": held_out, "ci_low": low, "ci_high": high, "status": "ok"}
    if rows["cluster"].nunique() < FEWEST_CLUSTERS:
        row |= {"status": "too_few"}
    return row | _ratios(link, design, human, weights, rows["cluster"]), predicted


def _has_full_rank(design: FloatArray) -> bool:
    scaled = design / np.maximum(np.abs(design).max(axis=0), 1e-300)
    return bool(len(design) > design.shape[1] and np.linalg.matrix_rank(scaled, tol=1e-9) == design.shape[1])


def held_out_predictions(design: FloatArray, human: FloatArray, items: pd.Series) -> FloatArray:
    """Predict the sentences of each fold of items by least squares on the other folds.

    Examples
    --------
    >>> design = np.column_stack([np.ones(6), np.arange(6.0)])
    >>> held_out_predictions(design, 2.0 * np.arange(6), pd.Series(list("aabbcc"))).round(6).tolist()
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    fold = cluster_folds(items)
    predicted = np.full(len(human), np.nan)
    for part in np.unique(fold):
        is_fitted = fold != part
        if _has_full_rank(design[is_fitted]):
            weights = np.linalg.lstsq(design[is_fitted], human[is_fitted])[0]
            predicted[~is_fitted] = design[~is_fitted] @ weights
    return predicted


def _ratios(
    link: Link, design: FloatArray, human: FloatArray, weights: FloatArray, clusters: pd.Series
) -> dict[str, Any]:
    """Return β and γ with Fieller's intervals from the jackknife over clusters."""
    if not link.fits:
        return {}
    n_clusters = clusters.nunique()
    covariance = jackknife_covariance(design, human, clusters) if n_clusters >= FEWEST_CLUSTERS else None
    quantile = float(scipy.stats.t.ppf(0.975, max(n_clusters - 1, 1)))
    found: dict[str, Any] = {}
    for place, name in enumerate(link.fits, start=2):
        sign = -1.0 if name == "beta" else 1.0
        found[name] = float(sign * weights[place] / weights[1])
        ends = (
            None
            if covariance is None
            else ratio_interval(
                weights[place], weights[1], covariance[np.ix_([place, 1], [place, 1])], quantile
            )
        )
        low, high = ends or (None, None)
        if sign < 0 and low is not None and high is not None:
            low, high = -high, -low
        found |= {f"{name}_low": low, f"{name}_high": high}
        if covariance is not None and ends is None:
            found["status"] = "not_estimable"
    return found


def jackknife_covariance(design: FloatArray, human: FloatArray, clusters: pd.Series) -> FloatArray | None:
    """Return the covariance of least-squares weights by the jackknife over clusters; None if one fit fails.

    References
    ----------
    Efron & Tibshirani (1993), *An Introduction to the Bootstrap*, chapter 11.
    """
    p = design.shape[1]
    moments = np.column_stack([
        *(design[:, [row]] * design for row in range(p)), design * human[:, None]
    ])  # fmt: skip
    sums, _ = cluster_sums(clusters.reset_index(drop=True), moments)
    left = sums.sum(axis=0) - sums
    squares, products = left[:, : p * p].reshape(-1, p, p), left[:, p * p :]
    scale = np.sqrt(np.einsum("cii->ci", squares))
    scaled = squares / (scale[:, :, None] * scale[:, None, :])
    if np.linalg.cond(scaled).max() > 1e12:
        return None
    estimates = np.linalg.solve(scaled, (products / scale)[:, :, None])[:, :, 0] / scale
    deviations = estimates - estimates.mean(axis=0)
    n = len(estimates)
    covariance: npt.NDArray[np.float64] = (n - 1) / n * deviations.T @ deviations
    return covariance


def ratio_interval(
    numerator: float, denominator: float, covariance: FloatArray, quantile: float
) -> tuple[float, float] | None:
    """Return Fieller's interval of a ratio; None where the denominator may be 0.

    Examples
    --------
    >>> low, high = ratio_interval(2.0, 1.0, np.diag([0.01, 0.0]), 2.0)
    >>> round(low, 6), round(high, 6)
    (1.8, 2.2)
    """
    t2 = quantile**2
    a = denominator**2 - t2 * covariance[1, 1]
    b = numerator * denominator - t2 * covariance[0, 1]
    c = numerator**2 - t2 * covariance[0, 0]
    if a <= 0:
        return None
    half = float(np.sqrt(max(b * b - a * c, 0.0)))
    return float((b - half) / a), float((b + half) / a)
