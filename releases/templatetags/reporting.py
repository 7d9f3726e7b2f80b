"""Template filters and tags of reports."""

from typing import Any

from django import template

from analysis.report.sections.results import MEASURES
from analysis.report.wording import SENTENCES

register = template.Library()


@register.filter
def coefficient(measure: str) -> str:
    """The published name of a coefficient of agreement.

    >>> coefficient("gwet_ac1")
    "Gwet's AC1"
    """
    return MEASURES.get(measure, measure.replace("_", " "))


@register.simple_tag
def sentence(name: str) -> str:
    """One of the sentences that pages, commands and reports share."""
    return SENTENCES[name]


@register.filter
def at(mapping: dict[str, Any], key: str) -> Any:
    """The value under a key that is itself a variable."""
    return mapping[key]
