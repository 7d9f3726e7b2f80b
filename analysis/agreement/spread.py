"""How far people lie apart on each rated item, also where nobody rated two of its sentences."""

import numpy as np
import pandas as pd

from analysis.aggregation.ratings import item_means
from analysis.aggregation.transforms import transformed
from analysis.rows import RATING_TASKS, tasks

KEYS = ["paradigm", "item"]


def item_spread(judgments: pd.DataFrame) -> pd.DataFrame:
    """Give the spread of people's ratings within the sentences of each item.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant``, ``item`` and ``value``; rows of tasks without ratings are left out.

    Returns
    -------
    DataFrame
        ``paradigm``, ``item``, ``n_rated`` (ratings of its sentences) and ``spread``: the SD of
        participants' z within sentences, pooled over the item's sentences; NaN where no sentence has
        two ratings.

    See Also
    --------
    analysis.aggregation.ratings.item_means : Mean and SD of each sentence.

    Notes
    -----
    √(Σ (n - 1) sd² / Σ (n - 1)) over the item's sentences, sd with ddof 1. Conditions of an item may
    differ as much as they like: only people who rated the same sentence are compared, so it holds in a
    Latin square. z takes out how each person uses the scale. Do not compare items by it that few rated.

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
    means = item_means(rows, transformed(rows))
    more = (means["n"] - 1).clip(lower=0)
    squares = more * means["sd"].fillna(0) ** 2
    keys = [means[name].astype(object) for name in KEYS]
    sums = pd.DataFrame({"n_rated": means["n"], "more": more, "squares": squares}).groupby(keys).sum()
    spread = np.sqrt(sums["squares"] / sums["more"].where(sums["more"] > 0))
    return sums[["n_rated"]].assign(spread=spread).reset_index()
