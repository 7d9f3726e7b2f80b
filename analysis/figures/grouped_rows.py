"""Rows under headings, within one view, so that a figure keeps the width of its page."""

import json
from typing import Any

import altair as alt
import pandas as pd


def headed_order(rows: pd.DataFrame, *, label: str, group: str) -> tuple[list[str], list[str]]:
    """Put the name of each group before its rows.

    Parameters
    ----------
    rows : DataFrame
        ``label`` and ``group`` columns; groups and rows keep their order of appearance.
    label, group : str
        Columns.

    Returns
    -------
    order : list of str
        Headings and labels from top to bottom; only labels where there are fewer than two groups, a group
        without a name, or fewer than two rows to a group.
    headings : list of str
        Those of them that are headings; written in capitals where a row has the same name.

    Examples
    --------
    >>> rows = pd.DataFrame({"p": ["a", "b", "c", "d"], "f": ["x", "x", "y", "y"]})
    >>> headed_order(rows, label="p", group="f")
    (['x', 'a', 'b', 'y', 'c', 'd'], ['x', 'y'])
    """
    labels = list(dict.fromkeys(rows[label].astype(str)))
    if group not in rows.columns:
        return labels, []
    groups = rows[group].fillna("").astype(str)
    names = list(dict.fromkeys(groups))
    if len(names) < 2 or "" in names or 2 * len(names) > len(labels):
        return labels, []
    order, headings = [], []
    for name in names:
        heading = name.upper() if name in labels else name
        headings.append(heading)
        order += [heading, *dict.fromkeys(rows.loc[(groups == name).to_numpy(), label].astype(str))]
    return order, headings


def row_axis(field: str, order: list[str], headings: list[str]) -> alt.Y:
    """Give the axis of such rows: headings are bold.

    Parameters
    ----------
    field : str
        Column of the labels.
    order, headings : list of str
        From :func:`headed_order`.

    Returns
    -------
    altair.Y
    """
    if not headings:
        return alt.Y(f"{field}:N", sort=order, title=None)
    weight: dict[str, Any] = {
        "condition": {"test": f"indexof({json.dumps(headings)}, datum.value) >= 0", "value": "bold"},
        "value": "normal",
    }
    axis = alt.Axis(labelFontWeight=weight)
    return alt.Y(f"{field}:N", sort=order, title=None, scale=alt.Scale(domain=order), axis=axis)
