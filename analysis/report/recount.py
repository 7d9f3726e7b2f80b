"""The exclusions of a release counted again from which step removes which row."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.exclusions.criteria import analysed
from analysis.exclusions.headline import headline
from analysis.exclusions.removed import removed_by_group
from analysis.report.released import Released
from analysis.rows import Flags

UNITS = ("participants", "sessions", "judgments")


def kept_rows(released: Released) -> pd.DataFrame:
    """Give the rows that no step removes.

    Parameters
    ----------
    released : Released

    Returns
    -------
    DataFrame
        Unchanged and in order.
    """
    return released.judgments[_left(released, _names(released))]


def exclusions_again(released: Released, *, transform: str = "z") -> dict[str, Any]:
    """Count flow, margins, groups and sensitivity of a release's plan.

    Parameters
    ----------
    released : Released
    transform : str
        Of ratings, in the sensitivity panel.

    Returns
    -------
    dict
        ``flow``, ``marginal``, ``groups`` and ``sensitivity``, as
        :func:`analysis.exclusions.report.exclusion_report` gives them from the judgments themselves.

    Notes
    -----
    Some steps read what no release publishes (flags, what a browser noted). Their verdicts, row by row, are
    published in their place, so that every count can be made again.
    """
    rows, names = released.judgments, _names(released)
    verdicts = {name: _removed(released, name) for name in names}
    return {
        "flow": _flow(rows, verdicts),
        "marginal": [{"step": name, **_counts(rows, gone)} for name, gone in verdicts.items()],
        "groups": _groups(released),
        "sensitivity": [
            {"recipe": recipe, "step": step, **headline(rows[_left(released, used)], transform=transform)}
            for recipe, step, used in _recipes(names)
        ],
    }


def _names(released: Released) -> list[str]:
    return [str(step["name"]) for step in released.steps]


def _removed(released: Released, name: str) -> Flags:
    trials = released.removed.loc[released.removed["step"] == name, "trial"]
    return released.judgments["trial"].isin(trials).to_numpy(dtype=bool)


def _left(released: Released, names: Sequence[str]) -> Flags:
    gone = np.zeros(len(released.judgments), dtype=bool)
    for name in names:
        gone |= _removed(released, name)
    return ~gone


def _flow(rows: pd.DataFrame, verdicts: dict[str, Flags]) -> list[dict[str, Any]]:
    left = np.ones(len(rows), dtype=bool)
    before = _counts(rows, left)
    told: list[dict[str, Any]] = [_step("all", before, before)]
    for name, gone in verdicts.items():
        left = left & ~gone
        after = _counts(rows, left)
        told.append(_step(name, before, after))
        before = after
    return told


def _step(name: str, before: dict[str, int], after: dict[str, int]) -> dict[str, Any]:
    removed = {f"{unit}_removed": before[unit] - after[unit] for unit in UNITS}
    return {"step": name, **removed, **{f"{unit}_left": after[unit] for unit in UNITS}}


def _counts(rows: pd.DataFrame, chosen: Flags) -> dict[str, int]:
    part = rows[chosen]
    return {
        "participants": int(part["participant"].nunique()),
        "sessions": int(part["session"].nunique()),
        "judgments": int((analysed(rows) & chosen).sum()),
    }


def _groups(released: Released) -> list[dict[str, Any]]:
    if not released.steps:
        return []
    return removed_by_group(released.judgments, kept_rows(released), background=released.background)


def _recipes(names: Sequence[str]) -> Iterator[tuple[str, str, list[str]]]:
    yield "none", "", []
    if names:
        yield "plan", "", list(names)
    for left_out in names:
        yield "without", left_out, [name for name in names if name != left_out]
