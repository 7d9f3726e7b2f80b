"""Template tags about accounts."""

from typing import cast

from django import template
from django.conf import settings

from experiments.accounts.adapters import sends_mail

register = template.Library()


@register.simple_tag
def signup_is_open() -> bool:
    """Whether strangers may make accounts."""
    return settings.OPEN_SIGNUP


@register.simple_tag
def mail_is_sent() -> bool:
    """Whether messages leave this machine; the usual setting writes them into the server's output."""
    return sends_mail()


@register.simple_tag
def other_logins() -> list[dict[str, object]]:
    """The services whose logins the settings allow."""
    return cast("list[dict[str, object]]", settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"])


@register.simple_tag
def service_name(services: list[dict[str, object]], key: str) -> object:
    """The name of a service; its key, where the settings no longer have it."""
    return next((service["name"] for service in services if service["provider_id"] == key), key)
