"""What a page may ask about accounts."""

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def signup_is_open() -> bool:
    """Whether strangers may make accounts."""
    return settings.OPEN_SIGNUP
