"""Kinds of long work, and what the trail of a study notes, in words."""

from typing import Any

from django import template

register = template.Library()
WORDS = {
    "materials.import": "Intake of materials",
    "materials.preview": "Preview of materials",
    "judgments.preview": "Preview of judgments",
    "judgments.import": "Import of judgments",
    "judgments.quality": "Check of answers",
    "judgments.dry-run": "Dry run",
    "judgments.reconcile_campaign": "Reading of submissions",
    "judgments.send_to_platform": "Sending of decisions",
    "judgments.erase_all": "Deletion of everybody’s answers",
    "experiments.webhook": "Delivery of an event",
    "operation.backup": "Backup",
    "paradigms.draw": "Draw of pairs",
    "paradigms.materials": "Materials of drawn pairs",
    "releases.build": "Release",
    "releases.compare": "Comparison with people",
    "releases.demo": "Demo",
    "releases.publish": "Publication of a release",
    "releases.report": "Numbers of a page",
    "releases.reproduce": "Reproduction of a paper",
    "releases.score": "Scoring of sentences",
    "releases.scoring_cost": "Cost of scoring",
    "releases.study_report": "Report",
    "releases.surprisals": "Surprisals of tokens and words",
}


@register.filter
def work(kind: str) -> str:
    """Describe a kind of job; an unknown kind is returned unchanged.

    >>> work("releases.build"), work("lab.own")
    ('Release', 'lab.own')
    """
    return WORDS.get(kind, kind)


@register.filter
def labels(details: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and values of what was noted; empty values, and old and new values, are left out."""
    visible = {name: value for name, value in (details or {}).items() if name not in ("changes", "values")}
    pairs = [(str(name).replace("_", " "), in_words(value)) for name, value in visible.items()]
    pairs = [(name, text.replace("_", " ") if name == "fields" else text) for name, text in pairs]
    return [(name, text) for name, text in pairs if text]


def in_words(value: Any) -> str:
    """A value as a reader would say it.

    >>> in_words({"exclude": "attention", "rule": "", "seed": 0}), in_words(["lp", "slor"]), in_words(True)
    ('exclude attention, seed 0', 'lp, slor', 'yes')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {text}" for name, text in labels(value))
    if isinstance(value, list | tuple):
        return ", ".join(text for text in map(in_words, value) if text)
    if isinstance(value, float):
        return format(value, "g")
    return str(value)
