"""A PostgreSQL of our own in a folder, so that its death is nobody else's."""

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

UNPRIVILEGED = ("postgres", "nobody")  # PostgreSQL refuses to run as root


def binaries() -> Path | None:
    """Where initdb and postgres lie; None when PostgreSQL's server is not installed."""
    on_path = shutil.which("initdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    for folder in [*([Path(on_path).resolve().parent] if on_path else []), *reversed(debian)]:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    return None


@dataclass(frozen=True)
class Cluster:
    """An empty cluster with one database, not yet started."""

    command: list[str]
    url: str
    user: str | None


def make_cluster(folder: Path, port: int) -> Cluster:
    """Make a cluster in a folder; as root, for a user without privileges."""
    folder_of_binaries = binaries()
    if folder_of_binaries is None:
        sys.exit("PostgreSQL's server is not installed here (no initdb): use --database sqlite.")
    user = _unprivileged() if os.geteuid() == 0 else None
    data = folder / "database"
    data.mkdir(mode=0o700)
    if user:
        folder.chmod(0o711)
        shutil.chown(data, user)
    _run(
        [
            str(folder_of_binaries / "initdb"),
            "-D",
            str(data),
            "-U",
            "obelus",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
        ],
        user,
    )
    settings = {"listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": data}
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    return Cluster(
        [str(folder_of_binaries / "postgres"), "-D", str(data), *words],
        f"postgres://obelus@127.0.0.1:{port}/postgres",
        user,
    )


def as_user(user: str | None) -> dict[str, object]:
    """Arguments of a process that runs as another user."""
    if user is None:
        return {}
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _unprivileged() -> str:
    is_user: Callable[[str], bool] = {entry.pw_name for entry in pwd.getpwall()}.__contains__
    user = next(filter(is_user, UNPRIVILEGED), None)
    return user or sys.exit("PostgreSQL does not run as root, and there is no user postgres or nobody.")


def _run(command: list[str], user: str | None) -> None:
    process = subprocess.run(command, capture_output=True, text=True, check=False, **as_user(user))
    if process.returncode:
        sys.exit(process.stderr)
