"""How people went about each item: how often they chose what was shown first, and how fast they were."""

import numpy as np
import pandas as pd

from analysis.aggregation.proportions import wilson_interval
from analysis.agreement.clusters import chose_first
from analysis.agreement.decisions import decisions
from analysis.rows import column_or_blank, is_kind

KEYS = ["paradigm", "item"]
COLUMNS = ("n_sided", "first_share", "first_low", "first_high", "median_rt_ms")


def item_conduct(judgments: pd.DataFrame) -> pd.DataFrame:
    """Give position bias and response time of each item.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        As for :func:`analysis.agreement.decisions.decisions`; response times from ``rt_ms``.

    Returns
    -------
    DataFrame
        ``paradigm``, ``item`` (named as in the table of items), ``n_sided`` (answers whose sides are
        known), ``first_share`` (of these, the share that chose the sentence shown first) with
        ``first_low`` and ``first_high`` (Wilson, 95 %), and ``median_rt_ms``. NaN where undefined:
        sides outside forced choice, times of answers without one.

    See Also
    --------
    analysis.agreement.report.item_table : Agreement of the same items.

    Notes
    -----
    Where sides are balanced, an item's share of first choices is one half whatever people prefer; a
    share far from it with many answers says that people did not read, or that lists lost their balance.
    Medians of response times are over people and not standardized: compare items, not tasks.
    """
    sided = _sided(judgments)
    timed = _timed(judgments)
    return sided.join(timed, how="outer").reset_index()[[*KEYS, *COLUMNS]]


def _sided(judgments: pd.DataFrame) -> pd.DataFrame:
    decided = decisions(judgments)
    first, known = chose_first(
        *(decided[name].to_numpy(dtype=np.float64) for name in ("expected_first", "agrees"))
    )
    keys = [decided[name].astype(object) for name in KEYS]
    counts = pd.DataFrame({"k": first, "n": known}).groupby(keys, sort=True).sum()
    k, n = counts["k"].to_numpy(), counts["n"].to_numpy()
    low, high = wilson_interval(k, n)
    share = np.divide(k, n, out=np.full(len(n), np.nan), where=n > 0)
    columns = {"n_sided": n.astype(np.int64), "first_share": share, "first_low": low, "first_high": high}
    return pd.DataFrame(columns, index=counts.index)


def _timed(judgments: pd.DataFrame) -> pd.DataFrame:
    """Median time of each item that has a time."""
    if "rt_ms" not in judgments.columns:
        judgments = judgments.assign(rt_ms=np.nan)
    rows = judgments[is_kind(judgments, ("target",)) & pd.to_numeric(judgments["rt_ms"]).notna()]
    keys = {"paradigm": column_or_blank(rows, "paradigm").astype(object), "item": _named(rows)}
    times = pd.to_numeric(rows["rt_ms"]).groupby(list(keys.values()), sort=True).median()
    times.index.names = list(keys)
    return times.rename("median_rt_ms").to_frame()


def _named(rows: pd.DataFrame) -> pd.Series:
    """Items as the table of items names them: pairs, sentences of yes-no, items of ratings."""
    item = column_or_blank(rows, "item").astype(object)
    task = column_or_blank(rows, "task").astype(object)
    pair, sentence = (column_or_blank(rows, name).astype(object) for name in ("pair_id", "sentence_id"))
    named = item.where(pair.isna() | (pair == ""), pair)
    return named.where(task != "yes_no", sentence)
