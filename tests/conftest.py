"""Fixtures shared by every test, among them real data beside the project where there are any."""

import gc
import json
import os
import sys
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


def pytest_configure() -> None:
    """Let child processes run with the site's own settings; those of the tests are loaded here by now."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that open a database; the others need not run again on another one."""
    for item in items:
        fixtures = {"db", "transactional_db"}.intersection(getattr(item, "fixturenames", ()))
        if fixtures or item.get_closest_marker("django_db") or item.get_closest_marker("postgres"):
            item.add_marker("database")


def pytest_collection_finish() -> None:
    """Exempt all imported modules and collected tests from garbage collection."""
    gc.collect()
    gc.freeze()


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


@pytest.fixture
def ada(client, db):
    """A browser in which Ada is logged in."""
    from tests import cast

    client.force_login(cast.ada())
    return client


@pytest.fixture(autouse=True)
def _forget_frozen_lists() -> None:
    """Clear the caches of a process: lists never change there, but the test database reuses their ids."""
    from django.core.cache import caches

    from judgments.sessions.arrival import clear_cache
    from judgments.sessions.trial_buffer import patterns
    from judgments.sessions.trials import templates_of

    templates_of.cache_clear()
    caches["pages"].clear()
    patterns.clear()
    clear_cache()
    if "releases.reports.judgment_cache" in sys.modules:
        sys.modules["releases.reports.judgment_cache"].FRAMES.frames.clear()
