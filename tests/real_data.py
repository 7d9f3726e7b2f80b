"""Fixtures of real data beside the project, and the profile of property tests; they need no platform."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(  # a busy core is not a failing property
    "shared_machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("shared_machine")

BESIDE = Path(__file__).resolve().parent.parent.parent / "shared"


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Return the path of a real data file; skip the test where the data are missing."""

    def locate(name: str) -> Path:
        path = BESIDE / "data" / name
        if not path.exists():
            pytest.skip(f"real data is not here: put it at {path} to run this test")
        return path

    return locate


@pytest.fixture(scope="session")
def shared_vectors() -> dict[str, Any]:
    """Return the statistics' test vectors by id; skip the test where they are missing."""
    path = BESIDE / "reference" / "test_vectors.json"
    if not path.exists():
        pytest.skip(f"the test vectors are not here: put them at {path} to run this test")
    return {vector["id"]: vector for vector in json.loads(path.read_text())["vectors"]}
