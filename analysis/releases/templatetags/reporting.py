"""What a report's templates need beyond Django's."""

from typing import Any

from django import template

register = template.Library()


@register.filter
def at(mapping: dict[str, Any], key: str) -> Any:
    """The value under a key that is itself a variable."""
    return mapping[key]
