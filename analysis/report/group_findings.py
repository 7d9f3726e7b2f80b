"""Sentences of groups of participants: what differs between them, and who is left out."""

from typing import Any

from ..choices import CORRECTION_NAMES
from ..text import plural
from .wording import join_list


def groups_finding(report: dict[str, Any]) -> str:
    """Say how many effects and items differ between the groups.

    Examples
    --------
    >>> summary = {"effects_tested": 3, "effects_differ": 1, "items": 8, "items_tested": 6,
    ...     "items_flagged": 0, "classes": {"A": 6, "B": 0, "C": 0}}
    >>> groups_finding({"group": "dialect", "correction": "holm", "summary": summary, "items_refused": "",
    ...     "reason": ""})
    'The effect differs by dialect in 1 of 3 comparisons (Holm, p < .05); 0 of 6 tests of items do.'
    """
    if report["reason"]:
        return str(report["reason"])
    summary, items = report["summary"], report["summary"]["items_tested"]
    effects = f"The effect differs by {report['group']} in {summary['effects_differ']} of "
    effects += plural(summary["effects_tested"], "comparison")
    effects += f" ({CORRECTION_NAMES[report['correction']]}, p < .05)"
    if not summary["effects_tested"]:
        effects = f"No effect can be compared by {report['group']}"
    if items:
        text = f"{summary['items_flagged']} of {plural(items, 'test')} of items do"
    elif report["items_refused"]:
        text = f"items are not tested: {report['items_refused'].rstrip('.')}"
    else:
        text = "no item has enough answers of both groups to be tested"
    return f"{effects}; {text}."


def left_out_groups(report: dict[str, Any]) -> str:
    """Say which participants are in no group.

    Examples
    --------
    >>> row = {"value": "west", "participants": 2, "reason": "fewer than 5 participants"}
    >>> left_out_groups({"left_out": [row]})
    'Left out: west (2 participants, fewer than 5 participants).'
    """
    texts = [
        f"{row['value']} ({plural(row['participants'], 'participant')}"
        + (f", {row['reason']})" if row["reason"] != row["value"] else ")")
        for row in report["left_out"]
    ]
    return f"Left out: {join_list(texts)}." if texts else ""
