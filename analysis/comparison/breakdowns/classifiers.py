"""Decisions of acceptability classifiers: restarts, their ensemble, and Matthews correlation by feature."""

from typing import Any

import pandas as pd

from ...columns import require_columns
from ...errors import BadInput, NotEnoughData
from ..criteria import matthews_correlation


def ensemble(decisions: pd.DataFrame) -> pd.Series:
    """Return the majority decision over restarts: 1 where more than half of them decided 1, else 0.

    Parameters
    ----------
    decisions : DataFrame, one row per sentence
        A column of 0 and 1 per restart.

    Examples
    --------
    >>> ensemble(pd.DataFrame({"a": [1, 0], "b": [1, 1], "c": [0, 0]})).tolist()
    [1, 0]
    """
    return (decisions.sum(axis=1) * 2 > decisions.shape[1]).astype(int)


def restart_summary(labels: pd.Series, decisions: pd.DataFrame) -> dict[str, Any]:
    """Summarize the restarts of one classifier on labelled sentences.

    Parameters
    ----------
    labels : Series of 0 and 1
        The label of each sentence: 1 acceptable, 0 not.
    decisions : DataFrame, same index
        A column of 0 and 1 per restart.

    Returns
    -------
    dict
        ``restarts``, ``n`` (sentences), ``mean``, ``sd`` (ddof 1; None for one restart), ``max`` and
        ``ensemble``: Matthews correlations; the last is of the majority decision (a tie decides 0).

    Raises
    ------
    BadInput
        If a decision is missing or neither 0 nor 1.

    References
    ----------
    Warstadt & Bowman (2019), "Linguistic analysis of pretrained sentence encoders"; Vázquez Martínez
    (2021), table 5.

    Examples
    --------
    >>> labels = pd.Series([1, 1, 0, 0])
    >>> restarts = pd.DataFrame({"1": [1, 1, 0, 1], "2": [1, 1, 0, 0], "3": [1, 0, 0, 0]})
    >>> summary = restart_summary(labels, restarts)
    >>> summary["max"], summary["ensemble"], round(summary["mean"], 3)
    (1.0, 1.0, 0.718)
    """
    if not decisions.shape[1]:
        raise NotEnoughData("there are no restarts.")
    for name in decisions.columns:
        if not decisions[name].isin([0, 1]).all():
            raise BadInput("decisions are 0 or 1 for every sentence.", column=str(name))
    values = [matthews_correlation(labels, decisions[name]).mcc or 0.0 for name in decisions.columns]
    series = pd.Series(values)
    return {
        "restarts": len(values),
        "n": len(labels),
        "mean": float(series.mean()),
        "sd": float(series.std(ddof=1)) if len(values) > 1 else None,
        "max": max(values),
        "ensemble": matthews_correlation(labels, ensemble(decisions)).mcc,
    }


def mcc_by_feature(labels: pd.Series, decisions: pd.DataFrame, features: pd.DataFrame) -> pd.DataFrame:
    """Correlate decisions with labels within the sentences that have a grammatical feature.

    Parameters
    ----------
    labels : Series of 0 and 1
        The label of each sentence.
    decisions : DataFrame, same index
        A column of 0 and 1 per restart.
    features : DataFrame, same index
        A column of 0 and 1 per feature, as in the grammatically annotated CoLA analysis set.

    Returns
    -------
    DataFrame, one row per feature
        ``feature``, ``n`` (sentences with it), ``mcc`` (mean over restarts), ``sd`` (ddof 1), ``status``
        (``degenerate`` where the sentences have one label only: the coefficient is undefined).

    References
    ----------
    Warstadt & Bowman (2019), "Linguistic analysis of pretrained sentence encoders", figures 2 and 3.

    Examples
    --------
    >>> features = pd.DataFrame({"passive": [1, 1, 0, 0], "question": [0, 0, 1, 0]})
    >>> table = mcc_by_feature(pd.Series([1, 0, 1, 0]), pd.DataFrame({"1": [1, 0, 1, 1]}), features)
    >>> table[["feature", "n", "status"]].to_numpy().tolist()
    [['passive', 2, 'ok'], ['question', 1, 'degenerate']]
    """
    rows = []
    for feature in features.columns:
        has_it = features[feature].eq(1)
        true, decided = labels[has_it], decisions[has_it]
        defined = true.nunique() == 2
        values = pd.Series(
            [matthews_correlation(true, decided[name]).mcc for name in decided.columns], dtype=float
        )
        rows.append({
            "feature": str(feature),
            "n": int(has_it.sum()),
            "mcc": float(values.mean()) if defined else None,
            "sd": float(values.std(ddof=1)) if defined and len(values) > 1 else None,
            "status": "ok" if defined else "degenerate" if has_it.any() else "no_data",
        })  # fmt: skip
    return pd.DataFrame(rows, columns=["feature", "n", "mcc", "sd", "status"])


def split_features(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Divide an annotated set of labelled sentences into sentences and features.

    The columns ``label`` and ``sentence`` (in any capitals) are required; every other column of 0 and 1 is a
    feature, further columns are left out.

    Examples
    --------
    >>> rows = pd.DataFrame({"Label": [1], "Sentence": ["It rained."], "Domain": ["in"], "Simple": [1]})
    >>> list(split_features(rows)[1].columns)
    ['Simple']
    """
    lower = {str(name).lower(): name for name in table.columns}
    renamed = table.rename(columns={lower[name]: name for name in ("label", "sentence") if name in lower})
    require_columns(renamed, "label", "sentence")
    columns = [name for name in renamed.columns if name not in ("label", "sentence")]
    numbers = renamed[columns].apply(pd.to_numeric, errors="coerce")
    names = [name for name in columns if numbers[name].isin([0, 1]).all()]
    return renamed[["sentence", "label"]], numbers[names].astype(int)
