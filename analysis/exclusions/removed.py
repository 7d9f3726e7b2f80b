"""Who is removed: counts by list, by native language and by what people said of themselves."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.aggregation.proportions import wilson_interval
from analysis.columns import require_columns
from analysis.rows import column_or_blank, none_if_nan

GROUPS = ("native", "list", "submission_status")
MOST_VALUES, FEWEST, RARE = 12, 3, "rare answers"


def removed_by_group(
    judgments: pd.DataFrame, kept: pd.DataFrame, *, background: pd.DataFrame | None = None
) -> list[dict[str, Any]]:
    """Count the participants of each group and those whom a plan removes altogether.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Before exclusion; needs ``participant`` and may have ``native``, ``list`` and ``submission_status``.
    kept : DataFrame
        What the plan keeps of it.
    background : DataFrame, optional
        ``participant`` and one column per question. Numbers of many values are cut at their quartiles; texts
        of more than 12 different values are left out, and answers of fewer than three people are put
        together.

    Returns
    -------
    list of dict
        ``group``, ``value``, ``participants``, ``removed``, ``share``, ``ci_low``, ``ci_high`` (Wilson,
        95 %). A participant in two lists counts in both. Groups of one value are
        left out; of more than 12 values only those that lost somebody are listed.

    Raises
    ------
    MissingColumns
        If ``participant`` is absent.

    Notes
    -----
    A criterion that compares people with each other removes speakers of a dialect more often than others:
    look at this table before trusting it. Overlapping intervals of small groups say little either way.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": list("abcd"), "list": ["1", "1", "2", "2"]})
    >>> found = removed_by_group(rows, rows[rows["participant"] != "d"])
    >>> [(row["value"], row["participants"], row["removed"]) for row in found]
    [('1', 2, 0), ('2', 2, 1)]
    """
    require_columns(judgments, "participant")
    person = judgments["participant"].astype(str)
    stays = set(kept["participant"].astype(str).unique())
    told = [
        pd.DataFrame(
            {"participant": person, "value": _words(column_or_blank(judgments, name)), "group": name}
        )
        for name in GROUPS
    ]
    if background is not None:
        known = background[background["participant"].astype(str).isin(set(person))]
        for name in [column for column in known.columns if column != "participant"]:
            values = _cut(known[name])
            if values is not None:
                columns = {"participant": known["participant"].astype(str), "value": values, "group": name}
                told.append(pd.DataFrame(columns))
    rows = []
    for group in told:
        rows += _counted(group.drop_duplicates(), stays)
    return rows


def _words(column: pd.Series) -> pd.Series:
    words = column.astype(object).where(column.notna(), "").astype(str)
    return words.where(words != "", "not said")


def _cut(column: pd.Series) -> pd.Series | None:
    """Give the answers as few groups, None where they are too many words."""
    words = _words(column)
    said = words[words != "not said"]
    counts = words.map(words.value_counts())
    if said.nunique() <= MOST_VALUES:
        return words.where(counts >= FEWEST, RARE)
    numbers = pd.to_numeric(said, errors="coerce")
    if numbers.isna().mean() > 0.1:
        return None
    quarters = pd.qcut(numbers, 4, duplicates="drop")
    lows = numbers.groupby(quarters, observed=True).transform("min")
    highs = numbers.groupby(quarters, observed=True).transform("max")
    ranges = lows.map("{:g}".format) + "–" + highs.map("{:g}".format)
    return ranges.where(numbers.notna(), "not said").reindex(words.index, fill_value="not said")


def _counted(people: pd.DataFrame, stays: set[str]) -> list[dict[str, Any]]:
    people = people.assign(removed=~people["participant"].isin(stays))
    table = people.groupby("value", sort=True)["removed"].agg(["size", "sum"])
    if len(table) < 2:
        return []
    n, k = table["size"].to_numpy(), table["sum"].to_numpy(dtype=np.int64)
    if len(table) > MOST_VALUES:
        whole = k == 0
        untouched = pd.DataFrame({"size": [n[whole].sum()], "sum": [0]}, index=[f"{whole.sum()} others"])
        table = pd.concat([table[~whole], untouched])
        n, k = table["size"].to_numpy(), table["sum"].to_numpy(dtype=np.int64)
    low, high = wilson_interval(k, n)
    return [
        {
            "group": str(people["group"].iloc[0]),
            "value": str(value),
            "participants": int(n[place]),
            "removed": int(k[place]),
            "share": float(k[place] / n[place]),
            "ci_low": none_if_nan(low[place]),
            "ci_high": none_if_nan(high[place]),
        }
        for place, value in enumerate(table.index)
    ]
