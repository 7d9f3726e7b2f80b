"""Best–worst scaling: difference between best and worst choices of each sentence."""

import pandas as pd

from ..columns import require_columns
from ..rows import column_or_blank, is_kind, numbers


def best_worst_scores(judgments: pd.DataFrame) -> pd.DataFrame:
    """Count best and worst choices of each sentence.

    Notes
    -----
    score = (best − worst) / n, from −1 (always the worst) to 1 (always the best). It is the mean of
    ``value``, so the rating statistics (item means, agreement) read the same rows. Scores
    come from comparisons within sets: they rank the sentences of one study and are not comparable
    between studies.

    References
    ----------
    Louviere, Flynn & Marley (2015), *Best-Worst Scaling*, CUP, ch. 2. Kiritchenko & Mohammad (2017), ACL.

    Examples
    --------
    >>> rows = pd.DataFrame({"sentence_id": ["a", "b", "c", "a", "b", "c"], "value": [1, 0, -1, 1, -1, 0]})
    >>> best_worst_scores(rows)[["sentence_id", "n", "score"]].values.tolist()
    [['a', 2, 1.0], ['b', 2, -0.5], ['c', 2, -0.5]]
    """
    require_columns(judgments, "sentence_id", "value")
    rows = judgments[is_kind(judgments, ("target",))]
    table = pd.DataFrame(
        {
            "sentence_id": rows["sentence_id"].astype(str).to_numpy(),
            "item": column_or_blank(rows, "item").astype(str).to_numpy(),
            "condition": column_or_blank(rows, "condition").astype(str).to_numpy(),
            "value": numbers(rows),
        }
    ).dropna(subset=["value"])
    table = table.assign(best=table["value"] == 1, worst=table["value"] == -1)
    counts = (
        table.groupby("sentence_id", sort=True)
        .agg(
            item=("item", "first"),
            condition=("condition", "first"),
            n=("value", "size"),
            best=("best", "sum"),
            worst=("worst", "sum"),
        )
        .reset_index()
    )
    return counts.assign(score=(counts["best"] - counts["worst"]) / counts["n"])
