"""The version of the code, as written on every exported number."""

import tomllib
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


@cache
def code_version() -> str:
    """The version in ``pyproject.toml``."""
    return str(tomllib.loads(PROJECT.read_text())["project"]["version"])
