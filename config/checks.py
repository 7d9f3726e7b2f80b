"""System checks that stop an unsafe start."""

from django.conf import settings
from django.core.checks import Error, Tags, Warning, register


@register(Tags.security)
def secret_is_long(app_configs, **kwargs):
    """A short secret key can be guessed."""
    if len(settings.SECRET_KEY) < 32:
        return [
            Error(
                "SECRET_KEY is shorter than 32 characters.",
                hint="Unset it to have one made.",
                id="obelus.E001",
            )
        ]
    return []


@register(Tags.security, deploy=True)
def hosts_are_named(app_configs, **kwargs):
    """Any host name would be accepted."""
    if "*" in settings.ALLOWED_HOSTS:
        return [
            Warning("ALLOWED_HOSTS accepts any name.", hint="Name the hosts you serve.", id="obelus.W001")
        ]
    return []


@register(Tags.compatibility)
def time_is_utc(app_configs, **kwargs):
    """Every stored time is aware UTC."""
    if not settings.USE_TZ or settings.TIME_ZONE != "UTC":
        return [
            Error("Times must be stored in UTC.", hint="Leave USE_TZ and TIME_ZONE alone.", id="obelus.E002")
        ]
    return []
