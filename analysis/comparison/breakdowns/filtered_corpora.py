"""Filtered corpora across architectures: paired tests, perplexity by tokens, changes by pair."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import scipy

from ...columns import require_columns
from ...corpora.conllu import Sentence
from ...corpora.filtering import survey
from ...corpora.filters import Filter
from ...errors import NotEnoughData
from ..correlation import association
from ..in_depth.filtered_training import probability_delta
from ..in_depth.learning_curves import ALL
from ..in_depth.models import FULL
from ..pairs import PairTable

MEASURES = ("accuracy_filtered", "accuracy_delta")
SAME = 1e-9  # smaller ranges are rounding error


def share_targeted(sentences: Iterable[Sentence], rule: Filter) -> float:
    """Return the share of parsed sentences that a filter would remove, as of the items of a benchmark.

    Parameters
    ----------
    sentences : iterable of Sentence
        Acceptable members of the pairs, parsed; from :func:`obelus.corpora.conllu.read_conllu`.
    rule : Filter
        From :func:`obelus.corpora.filters.find_filter`.

    Raises
    ------
    NotEnoughData
        If there are no sentences.

    References
    ----------
    Patil, Jumelet et al. (2024), "Filtered Corpus Training (FiCT)", TACL, table 1.
    """
    reasons = survey(sentences, [rule]).reasons[rule.name]
    return float(np.mean(reasons >= 0))


def by_corpus(deltas: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Average accuracies and deltas over benchmarks by corpus: over all, and over those of its filter.

    Parameters
    ----------
    deltas : sequence of mapping
        ``deltas`` of :func:`obelus.comparison.in_depth.filtered_training.filtered_training`.

    Returns
    -------
    DataFrame, one row per family and filter and ``benchmarks`` (``all``, ``targeted``)
        ``accuracy_filtered``, ``accuracy_delta`` (points): unweighted means of paradigms. The corpus ``full``
        has one row, without a delta.

    Examples
    --------
    >>> row = {"family": "lstm", "filter": "passive", "group": "passive_1", "targeted": True,
    ...        "accuracy_full": 75.0, "accuracy_filtered": 70.0, "accuracy_delta": -5.0}
    >>> by_corpus([row])[["filter", "benchmarks"]].to_numpy().tolist()
    [['passive', 'all'], ['passive', 'targeted'], ['full', 'all']]
    """
    rows = pd.DataFrame([row for row in deltas if row["group"] != ALL])
    if rows.empty:
        return pd.DataFrame(columns=["family", "filter", "benchmarks", *MEASURES])
    parts = [(ALL, rows), ("targeted", rows[rows["targeted"].astype(bool)])]
    tables = [
        part.groupby(["family", "filter"], sort=False)[list(MEASURES)]
        .mean()
        .reset_index()
        .assign(benchmarks=name)
        for name, part in parts
    ]
    full = (
        rows.groupby("family", sort=False)["accuracy_full"].mean().rename("accuracy_filtered").reset_index()
    )
    tables.append(full.assign(filter=FULL, benchmarks=ALL, accuracy_delta=np.nan))
    table = pd.concat(tables, ignore_index=True)
    return table[["family", "filter", "benchmarks", *MEASURES]]


def paired_test(first: pd.Series, other: pd.Series) -> dict[str, Any]:
    """Compare two architectures by a paired t test with corpora as units.

    ``n``, ``mean_a``, ``mean_b``, ``difference`` (a - b), ``t``, ``df`` and ``p`` over the corpora of both;
    t and p are None below two corpora or where all differences are equal.

    Examples
    --------
    >>> corpora = ["passive", "npi-only", "det-noun"]
    >>> a, b = (pd.Series(values, index=corpora) for values in ([1.0, 2.0, 4.0], [2.0, 2.5, 6.0]))
    >>> test = paired_test(a, b)
    >>> test["n"], round(test["t"], 3), round(test["p"], 3)
    (3, -2.646, 0.118)
    """
    both = pd.DataFrame({"a": first, "b": other}).dropna()
    differences = both["a"] - both["b"]
    is_defined = len(both) > 1 and float(np.ptp(differences)) > SAME
    test = scipy.stats.ttest_rel(both["a"], both["b"]) if is_defined else None
    return {
        "n": len(both),
        "mean_a": float(both["a"].mean()) if len(both) else None,
        "mean_b": float(both["b"].mean()) if len(both) else None,
        "difference": float(differences.mean()) if len(both) else None,
        "t": float(test.statistic) if test else None,
        "df": len(both) - 1 if test else None,
        "p": float(test.pvalue) if test else None,
    }


def architecture_tests(
    deltas: Sequence[Mapping[str, Any]], models: pd.DataFrame | None = None
) -> list[dict[str, Any]]:
    """Compare every two architectures by paired t tests over corpora.

    Parameters
    ----------
    deltas : sequence of mapping
        ``deltas`` of :func:`obelus.comparison.in_depth.filtered_training.filtered_training`.
    models : DataFrame, optional
        ``family``, ``corpus`` and ``perplexity`` of every model; its mean over seeds is tested too.

    Returns
    -------
    list of dict
        ``measure`` (``accuracy``, ``delta``, ``perplexity``), ``benchmarks`` (``all`` or ``targeted``, F =
        F(B); empty for perplexity), ``a``, ``b`` and the numbers of :func:`paired_test`. Accuracy is of
        all corpora (all benchmarks: with the full one), delta of the filtered ones.

    References
    ----------
    Patil, Jumelet et al. (2024), "Filtered Corpus Training (FiCT)", TACL, sections 5.1 to 5.3.
    """
    table = by_corpus(deltas)
    tests = []
    families = list(dict.fromkeys(table["family"]))
    for measure, column in (("accuracy", MEASURES[0]), ("delta", MEASURES[1])):
        for benchmarks in (ALL, "targeted"):
            part = table[table["benchmarks"] == benchmarks]
            wide = part.pivot(index="filter", columns="family", values=column)
            tests += [
                {
                    "measure": measure,
                    "benchmarks": benchmarks,
                    "a": a,
                    "b": b,
                    **paired_test(wide[a], wide[b]),
                }
                for a, b in combinations(families, 2)
                if a in wide and b in wide
            ]
    if models is not None and "perplexity" in models.columns:
        wide = perplexity_by_corpus(models).pivot(index="corpus", columns="family", values="perplexity")
        tests += [
            {"measure": "perplexity", "benchmarks": "", "a": a, "b": b, **paired_test(wide[a], wide[b])}
            for a, b in combinations(families, 2)
            if a in wide and b in wide
        ]
    return tests


def perplexity_by_corpus(models: pd.DataFrame) -> pd.DataFrame:
    """Average perplexity and training tokens over seeds, by family and corpus.

    Examples
    --------
    >>> models = pd.DataFrame({"family": "lstm", "corpus": "full", "perplexity": [50.0, 54.0],
    ...                        "training_tokens": 100})
    >>> perplexity_by_corpus(models)["perplexity"].tolist()
    [52.0]
    """
    require_columns(models, "family", "corpus", "perplexity")
    columns = [name for name in ("perplexity", "training_tokens") if name in models.columns]
    rows = models.assign(**{name: pd.to_numeric(models[name]) for name in columns})
    return rows.groupby(["family", "corpus"], sort=False)[columns].mean().reset_index()


def tokens_and_perplexity(models: pd.DataFrame) -> list[dict[str, Any]]:
    """Correlate training tokens with perplexity over the corpora of each architecture.

    ``family``, ``n``, ``pearson_r``; the numbers are means over seeds.
    """
    rows = []
    for family, part in perplexity_by_corpus(models).groupby("family", sort=False):
        line = association(part["training_tokens"].to_numpy(float), part["perplexity"].to_numpy(float))
        rows.append({"family": str(family), "n": line["n"], "pearson_r": line["pearson_r"]})
    return rows


def item_deltas(table: PairTable, models: pd.DataFrame) -> pd.DataFrame:
    """Return log P(good) - log P(bad) of every pair by architecture and corpus, averaged over seeds.

    Parameters
    ----------
    table : PairTable
        Log probabilities of the members of pairs.
    models : DataFrame
        ``model``, ``family`` and ``corpus`` (``full`` or the name of a filter), as from
        :func:`obelus.comparison.in_depth.models.roster`.

    Returns
    -------
    DataFrame, one row per pair, family and corpus
        ``pair_id``, ``paradigm``, ``family``, ``corpus``, ``probability_delta`` (nats, equation 2).

    References
    ----------
    Patil, Jumelet et al. (2024), "Filtered Corpus Training (FiCT)", TACL, section 5.4, figures 4 and 5.
    """
    if "paradigm" not in table.pairs.columns:
        raise NotEnoughData("the pairs belong to no paradigms.")
    parts = []
    for (family, corpus), members in models.groupby(["family", "corpus"], sort=False):
        columns = [
            probability_delta(
                table.pairs["good_id"].map(table.scores[model]),
                table.pairs["bad_id"].map(table.scores[model]),
            )
            for model in members["model"]
        ]
        part = table.pairs[["pair_id", "paradigm"]].assign(
            family=str(family), corpus=str(corpus), probability_delta=pd.concat(columns, axis=1).mean(axis=1)
        )
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def robustness(items: pd.DataFrame, targets: Mapping[str, str]) -> pd.DataFrame:
    """Correlate probability deltas before and after filtering, item by item, for each targeted paradigm.

    Parameters
    ----------
    items : DataFrame
        From :func:`item_deltas`.
    targets : mapping of str to str
        Filter that targets each paradigm.

    Returns
    -------
    DataFrame, one row per family and paradigm
        ``family``, ``paradigm``, ``filter``, ``n``, ``full`` and ``filtered`` (mean probability delta, nats),
        ``change`` (filtered - full), ``pearson_r`` of both over pairs.
    """
    rows = []
    for paradigm, corpus in targets.items():
        part = items[(items["paradigm"] == paradigm) & items["corpus"].isin([FULL, corpus])]
        for family, members in part.groupby("family", sort=False):
            wide = members.pivot(index="pair_id", columns="corpus", values="probability_delta")
            if not {FULL, corpus} <= set(wide.columns):
                continue
            before, after = wide[FULL], wide[corpus]
            line = association(before.to_numpy(float), after.to_numpy(float))
            rows.append({
                "family": str(family), "paradigm": paradigm, "filter": corpus, "n": line["n"],
                "full": float(before.mean()), "filtered": float(after.mean()),
                "change": float((after - before).mean()), "pearson_r": line["pearson_r"],
            })  # fmt: skip
    columns = ["family", "paradigm", "filter", "n", "full", "filtered", "change", "pearson_r"]
    return pd.DataFrame(rows, columns=columns)
