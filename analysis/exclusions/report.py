"""Everything the exclusions page shows, as one document."""

from typing import Any

import pandas as pd

from analysis.exclusions.apply import Excluded, apply_plan
from analysis.exclusions.criteria import CRITERIA
from analysis.exclusions.headline import CONVENTIONS
from analysis.exclusions.plan import Plan
from analysis.exclusions.removed import removed_by_group
from analysis.exclusions.sensitivity import sensitivity


def exclusion_report(
    judgments: pd.DataFrame,
    plan: Plan,
    *,
    background: pd.DataFrame | None = None,
    experiment: str = "",
    transform: str = "z",
    has_sensitivity: bool = True,
) -> dict[str, Any]:
    """Report what a plan removes, of whom, and what the headline numbers are with and without it.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Before exclusion.
    plan : Plan
    background : DataFrame, optional
        What participants said of themselves; see :func:`analysis.exclusions.removed.removed_by_group`.
    experiment : str
        Copied into the document.
    transform : str
        Of ratings, in the sensitivity panel.
    has_sensitivity : bool
        False leaves the panel out.

    Returns
    -------
    dict
        JSON-ready: ``plan`` (with its hash and whether it was fixed before the first answer), ``flow``,
        ``marginal``, ``overlap``, ``groups``, ``sensitivity`` and ``conventions``.

    Raises
    ------
    MissingColumns
        If a needed column is absent.

    Examples
    --------
    >>> from analysis.exclusions.plan import parse_plan
    >>> rows = pd.DataFrame({"participant": list("aabb"), "item": [1, 2] * 2, "value": [1, 1, 0, 0],
    ...     "task": "forced_choice", "flagged": [False, False, True, True]})
    >>> report = exclusion_report(rows, parse_plan("flagged"))
    >>> report["flow"][-1]["participants_left"], report["marginal"][0]["judgments"]
    (1, 2)
    """
    excluded = apply_plan(judgments, plan)
    return {
        "experiment": experiment,
        "plan": _plan(plan),
        "flow": excluded.flow_rows(),
        "marginal": _plain(excluded.marginal),
        "overlap": overlap(excluded),
        "groups": removed_by_group(judgments, excluded.kept, background=background) if plan.steps else [],
        "sensitivity": sensitivity(judgments, plan, transform=transform) if has_sensitivity else [],
        "conventions": {
            "flow": "a row is counted under the first step that removes it; every step looks at all rows",
            "marginal": "what each step removes alone, whatever the others do",
            "overlap": "judgments that both steps remove",
            "groups": "participants with no row left; shares with Wilson intervals, 95 %",
            "sensitivity": "the numbers of the kept rows; descriptive, no ground for choosing a plan",
            "no_evidence": "units a step has nothing to judge by; kept unless the step says drop",
            **CONVENTIONS,
        },
    }


def overlap(excluded: Excluded) -> list[dict[str, Any]]:
    """Give the judgments that two steps would both remove, one row per pair of steps.

    Parameters
    ----------
    excluded : Excluded

    Returns
    -------
    list of dict
        ``step``, ``other`` and ``judgments``; the diagonal is what a step removes alone.

    See Also
    --------
    exclusion_report : The flow table and the margins beside it.
    """
    names = list(excluded.overlap.index)
    return [
        {"step": str(one), "other": str(other), "judgments": int(excluded.overlap.loc[one, other])}
        for one in names
        for other in names
    ]


def _plan(plan: Plan) -> dict[str, Any]:
    told = plan.as_dict()
    steps = [{**step, "reason": CRITERIA[step["rule"]].reason} for step in told["steps"]]
    return told | {"steps": [{**one, "parameters": _values(one["parameters"])} for one in steps]}


def _values(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in parameters.items()}


def _plain(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {str(name): value if isinstance(value, str) else int(value) for name, value in row.items()}
        for row in table.to_dict("records")
    ]
