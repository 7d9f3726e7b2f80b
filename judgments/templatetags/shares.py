"""Filter for shares in percent."""

from django import template

register = template.Library()


@register.filter
def percent(share: float | None) -> str:
    """A share in percent with one decimal; a dash where it is not defined.

    >>> percent(0.5), percent(None)
    ('50.0 %', '–')
    """
    return "–" if share is None else f"{100 * share:.1f} %"
