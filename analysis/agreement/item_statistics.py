"""Item statistics: position bias, response time and the spread of ratings."""

import numpy as np
import pandas as pd

from ..aggregation.decisions import decisions
from ..aggregation.proportions import wilson_interval
from ..aggregation.ratings import item_means, transform_ratings
from ..rows import RATING_TASKS, column_or_blank, is_kind, tasks
from .clusters import first_choices
from .report import item_table

KEYS = ["paradigm", "item"]
COLUMNS = ("n_sided", "first_share", "first_low", "first_high", "median_rt_ms")


def item_statistics_table(judgments: pd.DataFrame, *, before: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the table of items with position bias, response time and spread of ratings of each.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": ["a", "b"], "item": ["x", "x"], "value": [1, 0]})
    >>> rows["rt_ms"] = [700, 900]
    >>> item_statistics_table(rows)[["item", "k", "n", "median_rt_ms"]].to_dict("records")
    [{'item': 'x', 'k': 1, 'n': 2, 'median_rt_ms': 800.0}]
    """
    # Keys become plain objects, because pandas refuses to merge categories that differ.
    table = item_table(judgments, before=before)
    table[KEYS] = table[KEYS].astype(object)
    spread = item_spread(judgments)
    spread[KEYS] = spread[KEYS].astype(object)
    table = table.merge(item_position_and_time(judgments), on=KEYS, how="left")
    return table.merge(spread, on=KEYS, how="left")


def item_position_and_time(judgments: pd.DataFrame) -> pd.DataFrame:
    """Compute position bias and response time of each item.

    Notes
    -----
    ``paradigm``, ``item`` (named as in the table of items), ``n_sided`` (answers with known
    positions), ``first_share`` (of these, the share that chose the sentence shown first) with
    ``first_low`` and ``first_high`` (Wilson, 95 %), and ``median_rt_ms``. NaN where undefined:
    positions outside forced choice, response times that were not recorded.

    With balanced positions, an item's share of first choices is one half for any preference; a
    different share with many answers indicates careless answers or unbalanced lists.
    Medians of response times are over participants and not standardized: compare items, not tasks.
    """
    sided = _first_choice_shares(judgments)
    timed = _median_times(judgments)
    return sided.join(timed, how="outer").reset_index()[[*KEYS, *COLUMNS]]


def _first_choice_shares(judgments: pd.DataFrame) -> pd.DataFrame:
    decided = decisions(judgments)
    first, sided = first_choices(
        *(decided[name].to_numpy(dtype=np.float64) for name in ("expected_first", "agrees"))
    )
    keys = [decided[name].astype(object) for name in KEYS]
    counts = pd.DataFrame({"k": first, "n": sided}).groupby(keys, sort=True).sum()
    k, n = counts["k"].to_numpy(), counts["n"].to_numpy()
    low, high = wilson_interval(k, n)
    share = np.divide(k, n, out=np.full(len(n), np.nan), where=n > 0)
    columns = {"n_sided": n.astype(np.int64), "first_share": share, "first_low": low, "first_high": high}
    return pd.DataFrame(columns, index=counts.index)


def _median_times(judgments: pd.DataFrame) -> pd.DataFrame:
    """Compute the median response time of each item with recorded times."""
    if "rt_ms" not in judgments.columns:
        judgments = judgments.assign(rt_ms=np.nan)
    rows = judgments[is_kind(judgments, ("target",)) & pd.to_numeric(judgments["rt_ms"]).notna()]
    keys = {"paradigm": column_or_blank(rows, "paradigm").astype(object), "item": _item_names(rows)}
    times = pd.to_numeric(rows["rt_ms"]).groupby(list(keys.values()), sort=True).median()
    times.index.names = list(keys)
    return times.rename("median_rt_ms").to_frame()


def _item_names(rows: pd.DataFrame) -> pd.Series:
    """Return the item of each row as in the table of items: pair, sentence of yes-no, or item of ratings."""
    item = column_or_blank(rows, "item").astype(object)
    task = column_or_blank(rows, "task").astype(object)
    pair, sentence = (column_or_blank(rows, name).astype(object) for name in ("pair_id", "sentence_id"))
    names = item.where(pair.isna() | (pair == ""), pair)
    return names.where(task != "yes_no", sentence)


def item_spread(judgments: pd.DataFrame) -> pd.DataFrame:
    """Compute the spread of ratings within the sentences of each item.

    Notes
    -----
    ``paradigm``, ``item``, ``n_rated`` (ratings of its sentences) and ``spread``: the SD of
    participants' z within sentences, pooled over the item's sentences; NaN where no sentence has
    two ratings.

    √(Σ (n - 1) sd² / Σ (n - 1)) over the item's sentences, sd with ddof 1. Differences between
    conditions do not count: only ratings of the same sentence are compared, as a Latin square requires.
    z-scores remove individual use of the scale. Not reliable for items with few ratings.

    Examples
    --------
    >>> rows = [(p, s, p + 2.0 * s) for p in range(2) for s in range(4)]
    >>> frame = pd.DataFrame(rows, columns=["participant", "sentence_id", "value"])
    >>> item_spread(frame.assign(item="i"))[["n_rated", "spread"]].to_dict("records")
    [{'n_rated': 8, 'spread': 0.0}]
    """
    rows = judgments[tasks(judgments).isin(RATING_TASKS).to_numpy()]
    if rows.empty:
        return pd.DataFrame({"paradigm": [], "item": [], "n_rated": [], "spread": []})
    means = item_means(rows, transform_ratings(rows))
    more = (means["n"] - 1).clip(lower=0)
    squares = more * means["sd"].fillna(0) ** 2
    keys = [means[name].astype(object) for name in KEYS]
    sums = pd.DataFrame({"n_rated": means["n"], "more": more, "squares": squares}).groupby(keys).sum()
    spread = np.sqrt(sums["squares"] / sums["more"].where(sums["more"] > 0))
    return sums[["n_rated"]].assign(spread=spread).reset_index()
