"""Fixtures shared by every test, among them real data beside the project where there are any."""

import gc
import os
import re
import sys

import pytest
from django.core.signals import setting_changed

from tests.real_data import shared_data, shared_vectors

__all__ = ["shared_data", "shared_vectors"]  # fixtures


def pytest_configure() -> None:
    """Let child processes run with the site's own settings; those of the tests are loaded here by now."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"


#: Where the tests of pages, reports and files of releases are. The rest of `tests/releases` locks rows,
#: shares work between processes or stores what it computed. What moves money is in `judgments/recruitment`.
PAGES = re.compile(
    r"tests/((experiments|judgments)/pages/|experiments/test_admin|test_demo"
    r"|releases/(?!api/|reports/|scoring/|test_(brokers|jobs|shard_workers)))"
)
#: Where the browser tests of researchers' pages and of layout are; the others are of participants' sessions.
PAGES_IN_BROWSER = re.compile(
    r"tests/browser/((accounts|paradigms|studio)/|recruitment/test_\w+_campaign"
    r"|test_(around|factorial_walk|layout|live|markup|phone_tables|pictures|studio_pages))"
)
#: Where the tests are that need the extra `models`.
NEURAL = re.compile(r"tests/analysis/(scoring/neural|training)/")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--part slow:3/10``, which leaves out the tests marked slow but the third of ten parts."""
    parser.addoption(
        "--part",
        action="append",
        default=[],
        metavar="MARK:K/N",
        help="of the tests with this mark, run the K-th of N parts; may be given for several marks",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by their place and by what they open, and leave out the other parts of a mark.

    Tests without the mark ``database`` need not run again on another one.
    """
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        database = item.get_closest_marker("django_db")
        if database or {"db", "transactional_db"} & fixtures or item.get_closest_marker("postgres"):
            item.add_marker("database")
        commits = {"transactional_db", "live_server"} & fixtures or (
            database and database.kwargs.get("transaction")
        )
        pages = PAGES_IN_BROWSER.match(item.nodeid) or (PAGES.match(item.nodeid) and not commits)
        # Slow tests get neither mark: a part of a part would leave some of them out of every run.
        if not item.get_closest_marker("slow"):
            if pages:
                item.add_marker("pages")
            if NEURAL.match(item.nodeid):
                item.add_marker("neural")
    for part in config.getoption("part"):
        match = re.fullmatch(r"(\w+):(\d+)/(\d+)", part)
        if not match or not 1 <= int(match[2]) <= int(match[3]):
            raise pytest.UsageError(f"--part {part}: write MARK:K/N with K from 1 to N, such as slow:3/10")
        marked = [item for item in items if item.get_closest_marker(match[1])]
        left_out = set(marked) - set(marked[int(match[2]) - 1 :: int(match[3])])
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


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

    from judgments.sessions.arrival import clear_cache
    from judgments.sessions.trial_buffer import patterns
    from judgments.sessions.trials import templates_of

    templates_of.cache_clear()
    caches["pages"].clear()
    patterns.clear()
    clear_cache()
    if "releases.reports.judgment_cache" in sys.modules:
        sys.modules["releases.reports.judgment_cache"].FRAMES.frames.clear()
