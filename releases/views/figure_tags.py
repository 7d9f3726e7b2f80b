"""Figures of a study in the templates of any package."""

from dataclasses import replace
from typing import Any

from django import template

from analysis.report.page_findings import participants_finding as write_finding
from experiments.models import Experiment
from releases.reports.judgment_cache import n_judgments
from releases.reports.study_figures import has_participants_by_agreement, participants_by_agreement
from releases.views import large_studies
from releases.views.figures import registered_figure

register = template.Library()


@register.inclusion_tag("releases/_figure.html")
def study_figure(study: Experiment, name: str, query: str = "", is_half: bool = False) -> dict[str, Any]:
    """A figure of the registry with its own description; ``is_half`` draws it for half of a wide page."""
    return {"figure": replace(registered_figure(study, name, query=query), is_half=is_half)}


@register.inclusion_tag("releases/_finding.html")
def participants_finding(study: Experiment) -> dict[str, Any]:
    """Count the participants with a quality signal or a flag in the figure of agreement and time.

    On the first visit of a large study the sentence is left out: the figure below computes the numbers.
    """
    if n_judgments(study) > large_studies.MAX_JUDGMENTS and not has_participants_by_agreement(study):
        return {"finding": ""}
    people, measure = participants_by_agreement(study)
    return {"finding": write_finding(people, measure)}
