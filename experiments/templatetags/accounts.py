"""What a page may ask about accounts."""

from django import template
from django.conf import settings

from experiments.accounts import sends_mail

register = template.Library()


@register.simple_tag
def signup_is_open() -> bool:
    """Whether strangers may make accounts."""
    return settings.OPEN_SIGNUP


@register.simple_tag
def mail_is_sent() -> bool:
    """Whether messages leave this machine; the usual setting writes them into the server's output."""
    return sends_mail()
