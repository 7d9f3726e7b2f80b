"""System checks that stop a start or a command which would endanger stored data.

Commands run them as Django's system checks; web server, worker and scheduler by :func:`refuse_unsafe_start`.
"""

import sqlite3
import sys
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connection

from config.env import env_str

MIN_SECRET_LENGTH = 32  # characters
# WSGI gives each of these the name that it gives X-Forwarded-Proto.
UNDERSCORED = ("X_Forwarded_Proto", "X-Forwarded_Proto", "X_Forwarded-Proto")
ASK_S = 10
LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}


@register(Tags.security)
def check_secret_length(**options: Any) -> list[CheckMessage]:
    """Refuse a secret key that can be guessed: it signs the links of participants."""
    # Reading a key that is not set generates one, which must not happen where check_shared_secret refuses it.
    if check_shared_secret() or len(settings.SECRET_KEY) >= MIN_SECRET_LENGTH:
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
def check_proxy_headers(**options: Any) -> list[CheckMessage]:
    """Warn of a proxy that passes on what WSGI takes for the proxy's own header; asks the site itself."""
    if not (settings.BEHIND_PROXY and settings.HTTPS):
        return []
    try:
        if (status := _status_of_site({})) != 200:
            raise HTTPException(f"status {status}")
        # A request that seems to have come over HTTP is redirected to HTTPS.
        passed = [name for name in UNDERSCORED if _status_of_site({name: "http"}) != 200]
    except (OSError, HTTPException) as error:
        message = (
            f"Whether the proxy drops headers with underscores is unknown: {settings.SITE_ADDRESS}: {error}"
        )
        hint = "Run this check where SITE_ADDRESS can be reached."
        return [Warning(message, hint=hint, id="obelus.W003")]
    if not passed:
        return []
    message = f"The proxy passes on {', '.join(passed)}: clients can pretend HTTPS and choose their address."
    hint = "Let the proxy drop headers with underscores (docs/how-to/security.md, docker/proxy/)."
    return [Warning(message, hint=hint, id="obelus.W003")]


def _status_of_site(headers: dict[str, str]) -> int:
    """The status of a request that passes through the proxy, as every client's."""
    site = urlsplit(settings.SITE_ADDRESS)
    kind = HTTPSConnection if site.scheme == "https" else HTTPConnection
    connection = kind(site.netloc, timeout=ASK_S)
    try:
        connection.request("GET", "/health/live", headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


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


@register(Tags.models)
def check_sqlite(**options: Any) -> list[CheckMessage]:
    """Refuse an SQLite that does not return the keys of several rows inserted at once (before 3.35)."""
    if connection.features.can_return_rows_from_bulk_insert:
        return []
    message = f"SQLite {sqlite3.sqlite_version} is too old: arrivals need 3.35 or newer."
    return [Error(message, hint="Use a newer Python, or PostgreSQL (DATABASE_URL).", id="obelus.E004")]


def refuse_unsafe_start(**arguments: Any) -> None:
    """Exit with status 1 and one line on standard error where an error above would stop a command.

    Django runs system checks for commands only: without this, a second host would generate a key of its own.
    """
    for check in (check_shared_secret, check_secret_length, check_time_zone, check_sqlite):
        for error in check():
            # Celery's scheduler has redirected sys.stderr into its log, whose level may hide the line.
            print(f"Obelus cannot start: {error.msg} {error.hint}", file=sys.__stderr__, flush=True)
            sys.exit(1)  # Celery logs any Exception of a signal's receiver and goes on; this is none
