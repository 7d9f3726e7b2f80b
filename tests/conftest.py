"""Fixtures shared by every test, among them real data beside the project where there are any."""

import gc
import os
import sys

import pytest
from django.core.signals import setting_changed

from tests.real_data import shared_data, shared_vectors

__all__ = ["shared_data", "shared_vectors"]  # fixtures


def pytest_configure() -> None:
    """Let child processes run with the site's own settings; those of the tests are loaded here by now."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"


def pytest_collection_finish() -> None:
    """Exempt all imported modules and collected tests from garbage collection."""
    gc.collect()
    gc.freeze()


def _reopen_counters(setting: str, **_: object) -> None:
    """Let this process count where `VAR` points now: the file of the counters is opened once."""
    if setting == "VAR":
        from experiments.operation.counters import counters

        counters.reopen()


setting_changed.connect(_reopen_counters)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> None:
    """Make the test database, and empty it faster after each test that commits."""
    from tests.database import keep_rows_of_migrations

    keep_rows_of_migrations()


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

    from judgments.sessions.trials import list_templates

    list_templates.cache_clear()
    caches["pages"].clear()
    if "releases.reports.judgment_cache" in sys.modules:
        sys.modules["releases.reports.judgment_cache"].FRAMES.frames.clear()
