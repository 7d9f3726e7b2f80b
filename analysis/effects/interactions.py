"""Differences of differences of every group of a factorial study, as rows for a page."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from analysis.comparison.differences import holm
from analysis.effects.contrasts import Contrast
from analysis.effects.factorial import difference_of_differences
from analysis.effects.factors import Cells, find_cells
from analysis.effects.mixed import CROSSED, Random
from analysis.errors import BadInput, UnknownName
from analysis.rows import column_or_blank


def interactions(
    scored: pd.DataFrame,
    *,
    by: str = "phenomenon",
    given: Sequence[str] = (),
    random: tuple[Random, ...] = CROSSED,
) -> list[dict[str, Any]]:
    """Estimate the two-by-two interaction of every group whose conditions make one.

    Parameters
    ----------
    scored : DataFrame, one row per judgment
        Needs ``participant``, ``item``, ``condition`` and ``score``; ``expected`` orients the factors.
    by : str
        Column of the groups.
    given : sequence of str
        The four conditions, as for :func:`analysis.effects.factors.find_cells`.
    random : tuple of Random
        Random terms of the mixed model; slopes are left out.

    Returns
    -------
    list of dict
        One per group: its factors, the four ``cells``, the difference of differences by participants, by
        items and in the mixed model, each with interval and p, and ``p_holm`` over the groups.

    Raises
    ------
    UnknownName
        If a given condition is in no group.

    See Also
    --------
    analysis.effects.factorial.difference_of_differences : One group, with the formula.

    Examples
    --------
    >>> rows = pd.DataFrame([(p, f"{s}.{d}", p % 3 - 2.0 * (s == "isl") * (d == "emb"))
    ...     for p in range(6) for s in ("non", "isl") for d in ("mat", "emb")],
    ...     columns=["participant", "condition", "score"]).assign(item="i", phenomenon="wh")
    >>> bad = rows["condition"] == "isl.emb"
    >>> rows["expected"] = bad.map({True: "unacceptable", False: "acceptable"})
    >>> interactions(rows)[0]["participants"]["estimate"]
    2.0
    """
    found = []
    for name, part in scored.groupby(column_or_blank(scored, by).astype(str), sort=True, observed=True):
        words = column_or_blank(part, "expected").astype(str)
        conditions = part["condition"].astype(str)
        expected = dict(zip(conditions, words, strict=True))
        cells = find_cells(expected, given=given)
        if cells is not None:
            found.append({by: str(name), **_one(part, cells, random=random)})
    if given and not found:
        known = sorted(set(scored["condition"].astype(str)))
        unknown = next((word for word in given if word not in known), given[0])
        raise UnknownName("condition", unknown, known)
    corrected = holm([row["mixed"]["p"] for row in found])
    return [{**row, "p_holm": p} for row, p in zip(found, corrected, strict=True)]


def _one(rows: pd.DataFrame, cells: Cells, *, random: tuple[Random, ...]) -> dict[str, Any]:
    names = rows["condition"].astype(str)
    coded = rows.assign(
        first_factor=names.map({name: pair[0] for name, pair in cells.levels.items()}),
        second_factor=names.map({name: pair[1] for name, pair in cells.levels.items()}),
    )
    told: dict[str, Any] = {
        "first": {"plain": cells.first.plain, "marked": cells.first.marked},
        "second": {"plain": cells.second.plain, "marked": cells.second.marked},
        "oriented_by": cells.oriented_by,
    }
    blank = dict.fromkeys(("estimate", "ci_low", "ci_high", "statistic", "df", "p"))
    try:
        intercepts = tuple(term for term in random if not term.slope)
        found = difference_of_differences(
            coded, first=cells.first, second=cells.second, value="score", random=intercepts
        )
    except BadInput as error:
        empty = {**blank, "status": "not_estimable", "method": ""}
        reason = {"status": "not_estimable", "reason": error.message}
        return told | {"cells": [], "participants": empty, "items": empty, "mixed": empty, **reason}
    mixed = found.estimate
    return told | {
        "cells": [
            {"first": row["first"], "second": row["second"], "n": int(row["n"]), "mean": float(row["mean"])}
            for row in found.cells.to_dict("records")
        ],
        "participants": _tested(found.by_participants, "paired t, participants"),
        "items": _tested(found.by_items, "paired t, items"),
        "mixed": {
            "estimate": mixed.estimate,
            "ci_low": mixed.ci_low,
            "ci_high": mixed.ci_high,
            "statistic": mixed.statistic,
            "df": mixed.df,
            "p": mixed.p,
            "status": found.mixed.status,
            "method": f"{found.mixed.formula}; {found.mixed.method}",
        },
        "status": "ok",
        "reason": "",
    }


def _tested(found: Contrast, method: str) -> dict[str, Any]:
    return {
        "estimate": found.mean_difference,
        "ci_low": _float(found.ci_low),
        "ci_high": _float(found.ci_high),
        "statistic": _float(found.statistic),
        "df": _float(found.df),
        "p": _float(found.p),
        "d_z": _float(found.d_z),
        "n": found.n,
        "status": found.status,
        "method": method,
    }


def _float(number: float | None) -> float | None:
    return None if number is None else float(number)
