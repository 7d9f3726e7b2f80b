"""Compare the locked packages with a copy of the OSV database of vulnerabilities.

The database is the file ``all.zip`` that OSV publishes for PyPI, so that a mirror without a way out can keep
it: ``python -m tools.audit /srv/osv/PyPI/all.zip``. Exit status 1 where a locked version is affected, 2
where the file is not that database or is older than a month.
"""

import json
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from tools.locks import LOCKS, read_lock

#: Where OSV publishes the database.
SOURCE = "https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip"
#: OSV changes advisories of PyPI on most days.
LARGEST_AGE = timedelta(days=30)


class UnusableDatabase(Exception):
    """A file that is not OSV's database for PyPI, or an old one."""


def locked_versions(folder: Path = LOCKS) -> dict[str, dict[str, list[str]]]:
    """Return the files that pin each version of each package."""
    pins: dict[str, dict[str, list[str]]] = {}
    for path in sorted(folder.glob("*.txt")):
        for pin in read_lock(path):
            files = pins.setdefault(canonicalize_name(pin.name), {})
            files.setdefault(pin.version, []).append(path.name)
    return pins


def advisories(database: Path) -> Iterator[dict[str, Any]]:
    """Yield the advisories of the database that were not withdrawn."""
    with zipfile.ZipFile(database) as archive:
        for name in archive.namelist():
            if name.endswith(".json"):
                advisory: dict[str, Any] = json.loads(archive.read(name))
                if not advisory.get("withdrawn"):
                    yield advisory


def check_database(database: Path, now: datetime) -> tuple[int, datetime]:
    """Return how many advisories of PyPI the database has, and when the newest was changed.

    Raises
    ------
    UnusableDatabase
        If the file is no ZIP archive, has no advisory of PyPI, or the newest is older than ``LARGEST_AGE``.
    """
    try:
        changes = [
            datetime.fromisoformat(advisory["modified"])
            for advisory in advisories(database)
            if any(entry["package"]["ecosystem"] == "PyPI" for entry in advisory.get("affected", []))
        ]
    except (zipfile.BadZipFile, ValueError, KeyError) as error:
        raise UnusableDatabase(f"{database} is not a database of OSV ({error})") from error
    if not changes:
        raise UnusableDatabase(f"{database} has no advisory for PyPI")
    if (age := now - max(changes)) > LARGEST_AGE:
        raise UnusableDatabase(
            f"{database} is old: its newest advisory is of {max(changes):%Y-%m-%d}, {age.days} days ago"
        )
    return len(changes), max(changes)


def is_affected(version: str, affected: dict[str, Any]) -> bool:
    """Whether an entry of an advisory lists a version, or has it in one of its ranges."""
    if version in affected.get("versions", []):
        return True
    return any(
        _is_within(Version(version), span.get("events", []))
        for span in affected.get("ranges", [])
        if span.get("type") == "ECOSYSTEM"
    )


def _is_within(version: Version, events: list[dict[str, str]]) -> bool:
    """Follow OSV's evaluation: the last event at or below the version decides."""
    is_inside = False
    for event in sorted(events, key=_event_version):
        bound = _event_version(event)
        is_past = version > bound if "last_affected" in event else version >= bound
        if is_past:
            is_inside = "introduced" in event
    return is_inside


def _event_version(event: dict[str, str]) -> Version:
    text = next(iter(event.values()))
    try:
        return Version(text)
    except InvalidVersion:  # "0" is any first version; others are typing errors of an advisory
        return Version("0")


def audit(database: Path, folder: Path = LOCKS) -> list[str]:
    """Return a line for each locked version that an advisory affects."""
    pins = locked_versions(folder)
    lines = set()
    for advisory in advisories(database):
        for affected in advisory.get("affected", []):
            package = affected.get("package", {})
            if package.get("ecosystem") != "PyPI":
                continue
            for version, files in pins.get(canonicalize_name(package["name"]), {}).items():
                if is_affected(version, affected):
                    names = ", ".join([advisory["id"], *advisory.get("aliases", [])])
                    lines.add(
                        f"{package['name']} {version} ({', '.join(files)}): {names}: "
                        f"{advisory.get('summary', 'no summary')}"
                    )
    return sorted(lines)


def main() -> int:
    """Print what is affected."""
    database = Path(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1] else None
    if database is None or not database.is_file():
        print("Give a copy of OSV's database for PyPI: python -m tools.audit FOLDER/all.zip")
        print(f"It is published at {SOURCE}")
        return 2
    try:
        n_advisories, newest = check_database(database, datetime.now(UTC))
    except UnusableDatabase as error:
        print(f"{error}. Take a new copy of {SOURCE}")
        return 2
    lines = audit(database)
    print("\n".join(lines) or "No locked version is affected.")
    print(f"{n_advisories} advisories, the newest of {newest:%Y-%m-%d}")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
