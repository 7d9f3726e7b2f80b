"""Would the conclusion stand under another plan? The headline numbers under each, side by side."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from analysis.exclusions.apply import apply_plan
from analysis.exclusions.headline import headline
from analysis.exclusions.plan import Plan


def sensitivity(judgments: pd.DataFrame, plan: Plan, *, transform: str = "z") -> list[dict[str, Any]]:
    """Give the headline numbers without exclusion, under the plan, and under the plan less each step.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Before exclusion; as for :func:`analysis.exclusions.headline.headline`, with the plan's columns.
    plan : Plan
    transform : str
        Of ratings.

    Returns
    -------
    list of dict
        ``recipe`` (``none``, ``plan`` or ``without``), ``step`` (the one left out, else empty) and the
        headline numbers; without steps ``none`` alone.

    Raises
    ------
    MissingColumns
        If a needed column is absent.

    Notes
    -----
    A conclusion that holds in every row does not hang on the plan. The panel is descriptive: choosing the
    plan by its result would make every interval false. A plan of one step gives the same rows for
    ``none`` and for ``without``.

    References
    ----------
    Steegen, Tuerlinckx, Gelman & Vanpaemel (2016), Perspectives on Psychological Science 11.

    Examples
    --------
    >>> from analysis.exclusions.plan import parse_plan
    >>> rows = pd.DataFrame({"participant": list("aabbcc"), "item": [1, 2] * 3, "value": [1, 1, 0, 0, 1, 1],
    ...     "task": "forced_choice", "flagged": [False, False, True, True, False, False]})
    >>> [(row["recipe"], row["participants"]) for row in sensitivity(rows, parse_plan("flagged"))]
    [('none', 3), ('plan', 2), ('without', 3)]
    """
    return [
        {"recipe": recipe, "step": step, **headline(apply_plan(judgments, one).kept, transform=transform)}
        for recipe, step, one in _recipes(plan)
    ]


def _recipes(plan: Plan) -> Iterator[tuple[str, str, Plan]]:
    yield "none", "", Plan("none")
    if not plan.steps:
        return
    yield "plan", "", plan
    for left_out in plan.steps:
        kept = [step for step in plan.steps if step.name != left_out.name]
        yield "without", left_out.name, Plan(plan.name, kept)
