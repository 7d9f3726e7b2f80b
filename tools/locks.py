"""The pins of a lock file: name, version, marker and hashes."""

import re
from dataclasses import dataclass
from pathlib import Path

LOCKS = Path(__file__).resolve().parents[1] / "lock"
REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;]+)(?:\s*;\s*(?P<marker>.+?))?(?P<hashes>(?:\s+--hash=\S+)*)"
)


@dataclass(frozen=True)
class Pin:
    """One requirement of a lock file."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]  # hexadecimal SHA-256 sums

    @property
    def text(self) -> str:
        """The requirement on one line."""
        marker = f" ; {self.marker}" if self.marker else ""
        hashes = "".join(f" --hash=sha256:{hash_}" for hash_ in self.hashes)
        return f"{self.name}=={self.version}{marker}{hashes}"


def read_lock(path: Path) -> list[Pin]:
    """Return the pins of a lock file.

    Raises
    ------
    ValueError
        If a line is no pinned requirement.
    """
    pins = []
    for line in path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        requirement = line.partition(" #")[0].strip()
        if not requirement or requirement.startswith("#"):
            continue
        match = REQUIREMENT.fullmatch(requirement)
        if match is None:
            raise ValueError(f"{path.name}: not a pinned requirement: {requirement}")
        hashes = tuple(re.findall(r"--hash=sha256:([0-9a-f]+)", match["hashes"]))
        pins.append(Pin(match["name"], match["version"], match["marker"] or "", hashes))
    return pins
