"""System checks that stop a start or a command which would endanger stored data."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from config.env import env_str

MIN_SECRET_LENGTH = 32  # characters
LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}


@register(Tags.security)
def check_secret_length(**options: Any) -> list[CheckMessage]:
    """Refuse a secret key that can be guessed: it signs the links of participants."""
    if len(settings.SECRET_KEY) >= MIN_SECRET_LENGTH:
        return []
    message = f"SECRET_KEY is shorter than {MIN_SECRET_LENGTH} characters."
    return [Error(message, hint="Unset it to have one generated.", id="obelus.E001")]


def _remote_database() -> str:
    """Return the host of the database; empty where it is this machine, or a file."""
    host = str(settings.DATABASES["default"].get("HOST") or "")
    return "" if host.startswith("/") or host in LOCAL_HOSTS else host  # a path is a socket of this machine


@register(Tags.security)
def check_shared_secret(**options: Any) -> list[CheckMessage]:
    """Refuse a generated key beside a database that other hosts use: each of them would generate another."""
    host = _remote_database()
    if not host or not settings.SECRET_KEY_IS_GENERATED:
        return []
    message = f"SECRET_KEY is not set, and the database at {host} may serve several hosts."
    hint = "Set SECRET_KEY or SECRET_KEY_FILE to the same value on every host."
    return [Error(message, hint=hint, id="obelus.E003")]


@register(Tags.files, deploy=True)
def check_shared_storage(**options: Any) -> list[CheckMessage]:
    """Warn of uploads and releases in this host's own folder beside a database that other hosts use."""
    host = _remote_database()
    own = [name for name in ("UPLOAD_STORAGE", "RELEASE_STORAGE") if not env_str(name)]
    if not host or not own:
        return []
    message = f"{' and '.join(own)} not set, and the database at {host} may serve several hosts."
    hint = "Set each to a folder that all hosts mount, or to s3://BUCKET/PREFIX."
    return [Warning(message, hint=hint, id="obelus.W002")]


@register(Tags.security, deploy=True)
def check_allowed_hosts(**options: Any) -> list[CheckMessage]:
    """Warn of a deployment that accepts any host name."""
    if "*" not in settings.ALLOWED_HOSTS:
        return []
    return [Warning("ALLOWED_HOSTS accepts any name.", hint="Name the hosts you serve.", id="obelus.W001")]


@register(Tags.models)  # a tag that every command checks: a row stored in local time cannot be mended later
def check_time_zone(**options: Any) -> list[CheckMessage]:
    """Refuse to store times in anything but aware UTC."""
    if settings.USE_TZ and settings.TIME_ZONE == "UTC":
        return []
    return [Error("Times must be stored in UTC.", hint="Leave USE_TZ and TIME_ZONE alone.", id="obelus.E002")]
