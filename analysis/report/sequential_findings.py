"""Sentences of sequential Bayes factors."""

from typing import Any

from ..text import plural
from .wording import bayes

DECISIONS = {
    "difference": "stop: a difference",
    "no_difference": "stop: no difference",
    "go_on": "no decision yet",
    "largest_reached": "largest number reached without a decision",
    "not_estimable": "not estimable",
}


def sequential_finding(report: dict[str, Any]) -> str:
    """Say for how many contrasts the rule stops.

    Examples
    --------
    >>> stop = {"n": 24, "factor": 12.0, "decision": "difference"}
    >>> sequential_finding({"contrasts": [{"stop": stop, "status": "ok"}],
    ...     "rule": {"threshold": 10.0, "least": 20, "largest": None}})
    'The rule (a Bayes factor of 10 or 1/10 from 20 participants on) stops in 1 of 1 contrast: 1 for a \
difference, 0 for none.'
    """
    rows = [row for row in report["contrasts"] if row["status"] == "ok"]
    if not rows:
        return ""
    rule = report["rule"]
    n_for, n_against = (
        sum(row["stop"]["decision"] == name for row in rows) for name in ("difference", "no_difference")
    )
    largest = f", at most {rule['largest']}" if rule["largest"] else ""
    threshold = f"{rule['threshold']:g}"
    return (
        f"The rule (a Bayes factor of {threshold} or 1/{threshold} from {rule['least']} participants "
        f"on{largest}) stops in {n_for + n_against} of {plural(len(rows), 'contrast')}: "
        f"{n_for} for a difference, {n_against} for none."
    )


def describe_stop(row: dict[str, Any]) -> str:
    """Say what the rule decides for one contrast.

    Examples
    --------
    >>> describe_stop({"stop": {"n": 24, "factor": 12.0, "decision": "difference"}})
    'stop: a difference, after 24 participants (Bayes factor 12)'
    """
    stop = row["stop"]
    text = DECISIONS[stop["decision"]]
    return (
        f"{text}, after {stop['n']} participants (Bayes factor {bayes(stop['factor'])})"
        if stop["n"]
        else text
    )
