"""Typed readers of the environment: the one configuration surface.

A wrong value stops the start with a sentence that says what to set. Secrets may also come from a
file named by ``<NAME>_FILE``.
"""

import os
import secrets
from pathlib import Path
from urllib.parse import ParseResult, unquote, urlparse

from django.core.exceptions import ImproperlyConfigured

POOL_WAIT_S = 10  # for a connection; participants' browsers wait twice as long before they try again


def env_str(name: str, default: str = "") -> str:
    """Read text."""
    return os.environ.get(name, default).strip()


def env_bool(name: str, default: bool) -> bool:
    """Read yes or no."""
    given = env_str(name).lower()
    if given in {"", "1", "true", "yes", "on", "0", "false", "no", "off"}:
        return default if not given else given in {"1", "true", "yes", "on"}
    raise ImproperlyConfigured(f"{name} is {given!r}: set it to yes or no.")


def env_int(name: str, default: int) -> int:
    """Read a whole number."""
    given = env_str(name)
    try:
        return int(given) if given else default
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {given!r}: set it to a whole number.") from None


def env_list(name: str, default: list[str]) -> list[str]:
    """Read a comma list."""
    given = [part.strip() for part in env_str(name).split(",") if part.strip()]
    return given or default


def env_secret(name: str, keep_in: Path | None = None) -> str:
    """Read a secret from ``NAME`` or the file ``NAME_FILE``; else make one once and keep it (mode 600)."""
    if given := env_str(name):
        return given
    if file := env_str(f"{name}_FILE"):
        try:
            return Path(file).read_text().strip()
        except OSError as error:
            raise ImproperlyConfigured(
                f"{name}_FILE points to {file}, which cannot be read: {error}."
            ) from None
    if keep_in is None:
        return ""
    if not keep_in.exists():
        _write_private(keep_in, secrets.token_urlsafe(50))
    return keep_in.read_text().strip()


def _write_private(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}")
    with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    try:
        os.link(partial, path)  # two first starts at once: the first one's secret stands
    except FileExistsError:
        return
    finally:
        partial.unlink()


def env_database(name: str, default_file: Path) -> dict[str, object]:
    """Read a database address: sqlite:///path or postgres://user:password@host:port/name."""
    given = env_str(name)
    if not given:
        return sqlite(default_file)
    url = urlparse(given)
    if url.scheme == "sqlite":
        return sqlite(Path(unquote(given.removeprefix("sqlite:///"))))
    if url.scheme in {"postgres", "postgresql"} and url.path.strip("/"):
        return postgres(url)
    raise ImproperlyConfigured(
        f"{name} is {given!r}: set it to sqlite:///FILE or postgres://USER:PASSWORD@HOST:PORT/NAME."
    )


def sqlite(file: Path) -> dict[str, object]:
    """SQLite in WAL mode; writers queue up instead of failing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(file),
        "OPTIONS": {
            "timeout": 30,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-65536;",
        },
    }


def postgres(url: ParseResult) -> dict[str, object]:
    """PostgreSQL with a connection for each thread; ``DATABASE_POOL=16`` shares as many in each process."""
    size = env_int("DATABASE_POOL", 0)
    options: dict[str, object] = {}
    if size:
        options["pool"] = {"min_size": 1, "max_size": size, "timeout": POOL_WAIT_S}
    if env_bool("DATABASE_PREPARES", True):  # what is prepared is planned once, not anew for each answer
        options["options"] = "-c plan_cache_mode=force_generic_plan"
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(url.path.strip("/")),
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or "") or env_secret("DATABASE_PASSWORD"),
        "HOST": url.hostname or "",
        "PORT": str(url.port or ""),
        "OPTIONS": options,
    }
