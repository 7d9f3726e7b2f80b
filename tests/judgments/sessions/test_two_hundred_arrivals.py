"""Two hundred people come at once to a server as it is deployed; a third of them walk away."""

import os
import threading

import pytest
from django.db import connection

from benchmarks.soak.audit import audit, balance
from benchmarks.soak.people import Person
from benchmarks.soak.pulse import Pulse
from benchmarks.soak.services import children, free_port, platform
from benchmarks.soak.study import SLUG, step
from tests.database import database_url, empty_database

N_PEOPLE, N_LISTS, N_ITEMS = 200, 4, 4


@pytest.fixture
def environment(tmp_path):
    """The environment of a service with a PostgreSQL database of its own."""
    if connection.vendor != "postgresql":
        pytest.skip("real processes need a database server: set DATABASE_URL=postgres://… to run this test")
    with empty_database(database_url()) as address:
        yield {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": address,
            "VAR_DIR": str(tmp_path),
            "LOG_LEVEL": "ERROR",
            "ARRIVALS_PER_MINUTE": "0",
        }


@pytest.fixture
def web(environment, tmp_path):
    """A web server with the command of `make run`; gives its port."""
    study_fields = {"n_items": N_ITEMS, "n_lists": N_LISTS, "target_judgments": N_PEOPLE, "instructions": ""}
    step("make", environment, study_fields)
    port = free_port()
    server = platform(port, environment, tmp_path, only=("web",))["web"]
    try:
        Pulse(port).wait()
        assert len(children(server.process.pid)) >= 2, "one process alone cannot race another"
        yield port
    finally:
        server.stop(at_once=True)


def come(names: list[str], port: int, *, walk_away: int = 0) -> list[Person]:
    """These people come at once; so many of them walk away, after consent or among the trials."""
    gate = threading.Barrier(len(names))
    people = [
        Person(
            name,
            SLUG,
            port,
            seed=number,
            stops_after=number % N_ITEMS if number < walk_away else None,
            think_s=(0, 0.2),
            reloads=0,
            wait_s=30,
        )
        for number, name in enumerate(names)
    ]

    def begin(person: Person) -> None:
        gate.wait()
        person.live()

    threads = [threading.Thread(target=begin, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return people


def test_lists_are_level_when_a_third_of_two_hundred_walk_away_and_others_come(environment, web):
    first = come([f"person {n}" for n in range(N_PEOPLE)], web, walk_away=N_PEOPLE // 3)
    dropouts = [visitor.token for visitor in first if visitor.stops_after is not None]
    assert [visitor.problem for visitor in first if visitor.problem] == []
    assert sum(bool(visitor.code) for visitor in first) == N_PEOPLE - len(dropouts)

    (early,) = come(["one too many"], web)
    assert (early.turned_away, early.consented) == ("before consent", False)

    assert step("lapse", environment, dropouts) == len(dropouts)
    assert step("sweep", environment) == len(dropouts) == N_PEOPLE // 3
    newcomers = come([f"newcomer {n}" for n in range(len(dropouts))], web)
    assert [newcomer.turned_away or newcomer.problem for newcomer in newcomers if not newcomer.code] == []

    facts = step("facts", environment)
    assert list(balance(facts["sessions"]).values()) == [N_PEOPLE // N_LISTS] * N_LISTS
    assert {problem: n for problem, n in audit(first + newcomers, facts).items() if n} == {}
    (late,) = come(["one later still"], web)
    assert late.turned_away == "before consent"
