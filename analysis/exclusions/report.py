"""The exclusion report: flow, marginal effects, overlap, groups of participants and sensitivity."""

from typing import Any

import numpy as np
import pandas as pd

from ..aggregation.proportions import wilson_interval
from ..columns import require_columns
from ..rows import column_or_blank, none_if_nan
from .apply import Excluded, apply_plan
from .criteria import CRITERIA
from .plan import Plan
from .sensitivity import CONVENTIONS, sensitivity

GROUPS = ("native", "list", "submission_status")
MAX_VALUES, MIN_GROUP, RARE_ANSWERS = 12, 3, "rare answers"


def exclusion_report(
    judgments: pd.DataFrame,
    plan: Plan,
    *,
    background: pd.DataFrame | None = None,
    experiment: str = "",
    transform: str = "z",
    has_sensitivity: bool = True,
) -> dict[str, Any]:
    """Report what a plan removes, by group of participants, and how it changes the main results.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Before exclusion; needs ``participant`` and ``value``, and the columns that the steps of the plan
        read.
    plan : Plan
        Plan to report on.
    background : DataFrame, optional
        ``participant`` and one column per question of the questionnaire; counted in ``groups``. Without
        it only list, native language and platform decision are counted.
    experiment : str
        Name of the study, copied into the document.
    transform : {"z", "z-log", "raw", "robust-z", "rank-normal"}
        Scale of ratings in the sensitivity panel; forced choices ignore it.
    has_sensitivity : bool
        Whether to compute the main results with and without the plan (``sensitivity``, the slowest part).

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
    >>> from obelus.exclusions.plan import parse_plan
    >>> rows = pd.DataFrame({"participant": list("aabb"), "item": [1, 2] * 2, "value": [1, 1, 0, 0],
    ...     "task": "forced_choice", "flagged": [False, False, True, True]})
    >>> report = exclusion_report(rows, parse_plan("flagged"))
    >>> report["flow"][-1]["participants_left"], report["marginal"][0]["judgments"]
    (1, 2)
    """
    excluded = apply_plan(judgments, plan)
    return {
        "experiment": experiment,
        "plan": _plan_document(plan),
        "flow": excluded.flow_rows(),
        "marginal": _records(excluded.marginal),
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
    """Return the number of judgments removed by both of two steps, one row per pair of steps."""
    names = list(excluded.overlap.index)
    return [
        {"step": str(name), "other": str(other), "judgments": int(excluded.overlap.loc[name, other])}
        for name in names
        for other in names
    ]


def _plan_document(plan: Plan) -> dict[str, Any]:
    document = plan.as_dict()
    steps = [{**step, "reason": CRITERIA[step["rule"]].reason} for step in document["steps"]]
    return document | {"steps": [{**step, "parameters": _values(step["parameters"])} for step in steps]}


def _values(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in parameters.items()}


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {str(name): value if isinstance(value, str) else int(value) for name, value in row.items()}
        for row in table.to_dict("records")
    ]


def removed_by_group(
    judgments: pd.DataFrame, remaining: pd.DataFrame, *, background: pd.DataFrame | None = None
) -> list[dict[str, Any]]:
    """Count the participants of each group, and those that a plan removes completely.

    Notes
    -----
    ``group``, ``value``, ``participants``, ``removed``, ``share``, ``ci_low``, ``ci_high`` (Wilson,
    95 %). A participant in two lists counts in both. Groups of one value are
    left out; of more than 12 values only those with removed participants are listed.

    A criterion that compares participants with each other removes speakers of a dialect more often than
    others, which this table shows. Overlapping intervals of small groups are inconclusive.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": list("abcd"), "list": ["1", "1", "2", "2"]})
    >>> found = removed_by_group(rows, rows[rows["participant"] != "d"])
    >>> [(row["value"], row["participants"], row["removed"]) for row in found]
    [('1', 2, 0), ('2', 2, 1)]
    """
    require_columns(judgments, "participant")
    person = judgments["participant"].astype(str)
    stays = set(remaining["participant"].astype(str).unique())
    groups = [
        pd.DataFrame(
            {"participant": person, "value": _as_text(column_or_blank(judgments, name)), "group": name}
        )
        for name in GROUPS
    ]
    if background is not None:
        respondents = background[background["participant"].astype(str).isin(set(person))]
        for name in [column for column in respondents.columns if column != "participant"]:
            values = _answer_groups(respondents[name])
            if values is not None:
                answers = {"participant": respondents["participant"].astype(str), "value": values}
                groups.append(pd.DataFrame({**answers, "group": name}))
    rows = []
    for group in groups:
        rows += _count_removed(group.drop_duplicates(), stays)
    return rows


def _as_text(column: pd.Series) -> pd.Series:
    words = column.astype(object).where(column.notna(), "").astype(str)
    return words.where(words != "", "not said")


def _answer_groups(column: pd.Series) -> pd.Series | None:
    """Group answers: rare values together, numbers by quartiles; None if there are too many texts."""
    words = _as_text(column)
    stated = words[words != "not said"]
    counts = words.map(words.value_counts())
    if stated.nunique() <= MAX_VALUES:
        return words.where(counts >= MIN_GROUP, RARE_ANSWERS)
    numbers = pd.to_numeric(stated, errors="coerce")
    if numbers.isna().mean() > 0.1:
        return None
    quarters = pd.qcut(numbers, 4, duplicates="drop")
    lows = numbers.groupby(quarters, observed=True).transform("min")
    highs = numbers.groupby(quarters, observed=True).transform("max")
    ranges = lows.map("{:g}".format) + "–" + highs.map("{:g}".format)
    return ranges.where(numbers.notna(), "not said").reindex(words.index, fill_value="not said")


def _count_removed(people: pd.DataFrame, stays: set[str]) -> list[dict[str, Any]]:
    people = people.assign(removed=~people["participant"].isin(stays))
    table = people.groupby("value", sort=True)["removed"].agg(["size", "sum"])
    if len(table) < 2:
        return []
    n, k = table["size"].to_numpy(), table["sum"].to_numpy(dtype=np.int64)
    if len(table) > MAX_VALUES:
        unaffected = k == 0
        rest_row = pd.DataFrame(
            {"size": [n[unaffected].sum()], "sum": [0]}, index=[f"{unaffected.sum()} others"]
        )
        table = pd.concat([table[~unaffected], rest_row])
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
