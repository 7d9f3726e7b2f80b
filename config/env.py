"""Typed readers of the environment: the one configuration surface.

A wrong value stops the start with a sentence that says what to set. Secrets may also come from a
file named by ``<NAME>_FILE``.
"""

import os
import re
import secrets
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import ParseResult, unquote, urlparse

from django.core.exceptions import ImproperlyConfigured

PREPARE_AFTER = 5  # executions on one connection; psycopg's own default
POOL_WAIT_S = 10  # for a connection; participants' browsers wait twice as long before they try again


def env_str(name: str, default: str = "") -> str:
    """Read text."""
    return os.environ.get(name, default).strip()


def env_bool(name: str, default: bool) -> bool:
    """Read yes or no."""
    value = env_str(name).lower()
    if value in {"", "1", "true", "yes", "on", "0", "false", "no", "off"}:
        return default if not value else value in {"1", "true", "yes", "on"}
    raise ImproperlyConfigured(f"{name} is {value!r}: set it to yes or no.")


def env_int(name: str, default: int) -> int:
    """Read a whole number."""
    value = env_str(name)
    try:
        return int(value) if value else default
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}: set it to a whole number.") from None


def env_list(name: str, default: list[str]) -> list[str]:
    """Read a comma list."""
    value = [part.strip() for part in env_str(name).split(",") if part.strip()]
    return value or default


def env_secret(name: str) -> str:
    """Read a secret from ``NAME`` or from the file that ``NAME_FILE`` names; empty where neither is set."""
    if value := env_str(name):
        return value
    if file := env_str(f"{name}_FILE"):
        try:
            return Path(file).read_text().strip()
        except OSError as error:
            raise ImproperlyConfigured(
                f"{name}_FILE points to {file}, which cannot be read: {error}."
            ) from None
    return ""


def kept_secret(file: Path) -> str:
    """Read the secret in this file, which is generated on first use (mode 600)."""
    if not file.exists():
        _write_private(file, secrets.token_urlsafe(50))
    return file.read_text().strip()


def _write_private(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}")
    with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    try:
        os.link(partial, path)  # Race: of two first starts, the first one's secret is kept
    except FileExistsError:
        return
    finally:
        partial.unlink()


def env_database(name: str, default_file: Path) -> dict[str, Any]:
    """Read a database address: sqlite:///path or postgres://user:password@host:port/name."""
    value = env_str(name)
    if not value:
        return sqlite(default_file)
    url = urlparse(value)
    if url.scheme == "sqlite":
        return sqlite(Path(unquote(value.removeprefix("sqlite:///"))))
    if url.scheme in {"postgres", "postgresql"} and url.path.strip("/"):
        return postgres(url)
    raise ImproperlyConfigured(
        f"{name} is {value!r}: set it to sqlite:///FILE or postgres://USER:PASSWORD@HOST:PORT/NAME."
    )


def env_umask(name: str) -> int:
    """Read the permissions that new files lack, in octal; without it everything is the owner's alone."""
    value = env_str(name, "077")
    if not re.fullmatch("0?[0-7]{3}", value):
        raise ImproperlyConfigured(f"{name} is {value!r}: set it to three octal digits, such as 077 or 027.")
    return int(value, 8)


class SQLiteConnection(sqlite3.Connection):
    """Creates the folder of the database when the first connection opens, not when settings are read.

    A database file that others may read, as from before ``UMASK`` was applied, loses their permission.
    """

    def __init__(self, database: str, *args: Any, **kwargs: Any) -> None:
        if not database.startswith("file:"):  # an URI names a database in memory
            file = Path(database)
            file.parent.mkdir(parents=True, exist_ok=True)
            umask = env_umask("UMASK")
            if file.exists() and file.stat().st_mode & umask and file.stat().st_uid == os.geteuid():
                file.chmod(file.stat().st_mode & 0o777 & ~umask)  # its -wal and -shm files take over the mode
        super().__init__(database, *args, **kwargs)


def sqlite(file: Path) -> dict[str, Any]:
    """SQLite in WAL mode; writers queue up instead of failing."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(file),
        "OPTIONS": {
            "factory": SQLiteConnection,
            "timeout": 30,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-65536;",
        },
    }


def postgres(url: ParseResult) -> dict[str, Any]:
    """PostgreSQL with a connection for each thread; ``DATABASE_POOL=16`` shares as many in each process."""
    size = env_int("DATABASE_POOL", 0)
    options: dict[str, Any] = {}
    if size:
        options["pool"] = {"min_size": 1, "max_size": size, "timeout": POOL_WAIT_S}
    if env_bool("DATABASE_PREPARES", True):
        # Statements that come again are parsed and planned once for each connection. A pooler that shares
        # connections by transaction loses what was prepared, hence the setting.
        options["server_side_binding"] = True
        options["prepare_threshold"] = PREPARE_AFTER
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(url.path.strip("/")),
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or "") or env_secret("DATABASE_PASSWORD"),
        "HOST": url.hostname or "",
        "PORT": str(url.port or ""),
        "OPTIONS": options,
    }
