"""Environments beside the tests' own, for tools that ask for other versions of their packages."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def find_programs(name: str) -> Path:
    """Return the folder of the programs in ``lock/NAME.txt``, which make installs the first time."""
    subprocess.run(["make", "--silent", f".venv/{name}/.made"], cwd=ROOT, check=True)
    return ROOT / ".venv" / name / "bin"
