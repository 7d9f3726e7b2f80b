"""``make upgrade``: back up, take a version, install, check, migrate, gather static files, restart.

1. A backup that fails ends the upgrade before anything has changed. It is made by the code and the packages
   that are there, from the tables as they are: with ``VERSION=here`` the code is newer than the tables.
2. The version: a tag or commit (``VERSION=v0.2.0``), the newest of the branch (without), or what is there
   already (``VERSION=here``).
3. Locked packages, system checks, migrations and static files of that version. Running processes serve on:
   migrations never break the version before.
4. Units of systemd are restarted; elsewhere the processes to restart are named.

A step that fails names the way back. The database needs none: it stays as it is, with every answer, because
the version before works with the migrations that were applied.

Runs without the environment that it replaces, so it imports nothing but the standard library.
"""

import os
import shutil
import subprocess  # noqa: S404 - git, make and the commands of this project
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

UNITS = ("obelus-worker", "obelus-scheduler", "obelus-web")
SERVICE_COMMAND, SERVICE_SETTINGS = "obelus", Path("/etc/obelus/obelus.env")


class UpgradeFailed(Exception):
    """A step that failed, in a sentence with what to do."""


def call(*words: str) -> bool:
    """Run a program; whether it succeeded."""
    print(f"$ {' '.join(words)}", flush=True)
    try:
        return subprocess.run(words, check=False).returncode == 0  # noqa: S603 - no shell
    except OSError as error:
        print(error, file=sys.stderr)
        return False


def output(*words: str) -> str:
    """Return what a program prints; empty where it fails."""
    try:
        return subprocess.run(words, check=False, capture_output=True, text=True).stdout.strip()  # noqa: S603 - no shell
    except OSError:
        return ""


def management() -> list[str]:
    """Return the start of a management command: as the service of systemd where that is installed."""
    if os.geteuid() == 0 and SERVICE_SETTINGS.exists() and shutil.which(SERVICE_COMMAND):
        return [SERVICE_COMMAND]
    return [str(Path(".venv/bin/python")), "manage.py"]


def take_version(version: str) -> None:
    """Check out a version, or the newest of the branch."""
    if version == "here":
        return
    if output("git", "status", "--porcelain", "--untracked-files=no"):
        raise UpgradeFailed(
            "The working tree has changes of its own (git status): commit or undo them, or take it as it is "
            "with VERSION=here."
        )
    if not version:
        if not call("git", "pull", "--ff-only"):
            raise UpgradeFailed("git pull failed: name a version with VERSION=…, or take VERSION=here.")
        return
    call("git", "fetch", "--tags")  # without a network a version that is here already will do
    if not call("git", "checkout", "--quiet", version):
        raise UpgradeFailed(f"There is no version {version}: git tag lists them.")


def apply_files(manage: Sequence[str]) -> None:
    """Install the packages of the version in the working tree and check the settings."""
    if not call("make", "install"):
        raise UpgradeFailed("the packages could not be installed")
    if not call(*manage, "check"):
        raise UpgradeFailed("the settings do not fit this version")


def apply_database(manage: Sequence[str]) -> None:
    """Migrate and gather the files of the version in the working tree."""
    if not call(*manage, "migrate", "--no-input"):
        raise UpgradeFailed("a migration failed")
    if not call(*manage, "collectstatic", "--no-input", "--verbosity", "0"):
        raise UpgradeFailed("static files could not be gathered")


def restart(*, way_back: str) -> None:
    """Restart the units of systemd that run; elsewhere name what to restart."""
    active = [unit for unit in UNITS if output("systemctl", "is-active", unit) == "active"]
    if active and os.geteuid() == 0:
        if not call("systemctl", "restart", *active):
            raise UpgradeFailed(
                f"A unit did not start again: journalctl -u obelus-web says why. To go back: {way_back}."
            )
        print(f"Upgraded; restarted {', '.join(active)}.")
        return
    print("Upgraded. Restart web server, worker and scheduler now: until then the version before runs.")


def upgrade(version: str) -> None:
    """Upgrade the project in the working directory."""
    manage = management()
    before = "" if version == "here" else output("git", "rev-parse", "--short", "HEAD")
    if not call(*manage, "backup"):
        raise UpgradeFailed(
            "There is no backup, so nothing was changed. Mend what is named above, and again; "
            "if a Python package is missing, run make install first."
        )
    take_version(version)
    if before:
        files_back, back = f"git checkout {before} && make install", f"make upgrade VERSION={before}"
    else:  # the files of the version before are no longer here
        files_back = "put the earlier files in their place again and run make install"
        back = "put the earlier files in their place again and run make upgrade VERSION=here"
    _apply(apply_files, manage, way_back=files_back)
    _apply(apply_database, manage, way_back=back)
    restart(way_back=back)


def _apply(step: Callable[[Sequence[str]], None], manage: Sequence[str], *, way_back: str) -> None:
    try:
        step(manage)
    except UpgradeFailed as failure:
        raise UpgradeFailed(
            f"The upgrade stopped: {failure}; see above. The processes still run the version before. "
            f"To go back: {way_back}. The database stays as it is: that version works with it."
        ) from None


if __name__ == "__main__":
    try:
        upgrade(sys.argv[1] if len(sys.argv) > 1 else "")
    except UpgradeFailed as error:
        sys.exit(str(error))
