"""Kinds of long work, in words."""

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
    "releases.publish": "Publication of a release",
    "releases.report": "Numbers of a page",
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
