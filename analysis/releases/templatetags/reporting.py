"""What a report's templates need beyond Django's."""

from typing import Any

from django import template

from analysis.report.result_sections import MEASURES

register = template.Library()


@register.filter
def coefficient(measure: str) -> str:
    """A coefficient of agreement under the name that papers give it.

    >>> coefficient("gwet_ac1")
    "Gwet's AC1"
    """
    return MEASURES.get(measure, measure.replace("_", " "))


@register.filter
def at(mapping: dict[str, Any], key: str) -> Any:
    """The value under a key that is itself a variable."""
    return mapping[key]
