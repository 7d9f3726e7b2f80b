"""Fixtures shared by every test: real input that lies beside the project, when it does."""

import gc
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("shared_machine", deadline=None)  # a busy core is not a failing property
settings.load_profile("shared_machine")

BESIDE = Path(__file__).resolve().parent.parent.parent / "shared"


def pytest_collection_finish() -> None:
    """What is imported and collected by now stays: a look for garbage, asked for or not, passes it over."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Give the path of a real data file, or skip where the data does not lie beside the project."""

    def locate(name: str) -> Path:
        path = BESIDE / "data" / name
        if not path.exists():
            pytest.skip(f"real data is not here: put it at {path} to run this test")
        return path

    return locate


@pytest.fixture(scope="session")
def shared_vectors() -> dict[str, Any]:
    """The statistics' test vectors by id, or skip where they do not lie beside the project."""
    path = BESIDE / "reference" / "test_vectors.json"
    if not path.exists():
        pytest.skip(f"the test vectors are not here: put them at {path} to run this test")
    return {vector["id"]: vector for vector in json.loads(path.read_text())["vectors"]}


@pytest.fixture
def ada(client, db):
    """A browser in which Ada is logged in."""
    from tests import cast

    client.force_login(cast.ada())
    return client


@pytest.fixture(autouse=True)
def _forget_frozen_lists() -> None:
    """Lists never change, so a process keeps them; the test database gives their ids anew."""
    from judgments.sessions.begun import patterns
    from judgments.sessions.opened import forget
    from judgments.sessions.prepare import places_of

    places_of.cache_clear()
    patterns.clear()
    forget()
