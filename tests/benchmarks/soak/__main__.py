"""``make soak``: kill -9 and a bad network under load; then count what was promised and not kept.

1. Start a database (PostgreSQL in a folder of its own, or SQLite), web server, worker and scheduler.
2. People take part; at random moments web workers, web master, worker or database get SIGKILL and are
   started again. A third of the people walk away.
3. Other people take part through a network that loses, delays, doubles and reorders.
4. Leases of those who walked away run out; newcomers fill the lists.
5. Every acknowledged answer is looked up in the database. Exit status 0 when nothing is missing.
"""

import argparse
import os
import random
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.benchmarks.soak.audit import audit, balance
from tests.benchmarks.soak.cluster import make_cluster
from tests.benchmarks.soak.network import FlakyNetwork
from tests.benchmarks.soak.people import Crowd, Person
from tests.benchmarks.soak.pulse import PATIENCE_S, Pulse
from tests.benchmarks.soak.services import Service, database, free_port, platform
from tests.benchmarks.soak.study import SLUG, step

N_LISTS, N_ITEMS, LEASE_MINUTES, THIRD = 4, 24, 1, 1 / 3
SERVED = 0.75  # of the kills; the others come while the platform is still coming back
TARGETS = {  # name: service, whether one of its children
    "web worker": ("web", True),
    "web master": ("web", False),
    "task worker": ("worker", False),
    "task process": ("worker", True),
    "scheduler": ("beat", False),
    "database": ("database", False),
    "database backend": ("database", True),
}


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make soak ARGS=…", description=__doc__.partition("\n")[0])
    parser.add_argument("--database", choices=["postgres", "sqlite"], default="postgres")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--flaky-seconds", type=int, default=45, help="how long the network is bad")
    parser.add_argument("--people", type=int, default=24, help="how many at once")
    parser.add_argument("--seed", type=int, default=None, help="printed; the same seed kills the same kinds")
    parser.add_argument("--broker", default="filesystem://", help="address of a Celery broker")
    parser.add_argument("--keep", action="store_true", help="keep the folder with logs and database")
    return parser.parse_args()


def say(text: str) -> None:
    """A line with the time."""
    print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)


def kill_at_random(services: dict[str, Service], n: int, rng: random.Random, pulse: Pulse) -> Counter[str]:
    """SIGKILL so many times, mostly while the platform serves; kinds take turns in an order of the seed."""
    kinds = [kind for kind, (service, _) in TARGETS.items() if service in services]
    order: list[str] = []
    while len(order) < n:
        order += rng.sample(kinds, len(kinds))
    kills: Counter[str] = Counter()
    for number, kind in enumerate(order[:n], start=1):
        if rng.random() < SERVED:
            pulse.wait()
        time.sleep(rng.uniform(0.5, 5))
        name, child = TARGETS[kind]
        while (pid := services[name].kill(rng, child=child)) is None:
            time.sleep(0.1)
        kills[kind] += 1
        say(f"kill -9 {number}/{n}: {kind} ({pid})")
    return kills


def fill_up(environment: dict[str, str], port: int, seed: int) -> list[Person]:
    """When leases have run out and were noted, let as many come as level lists need."""
    end = time.monotonic() + 60 * LEASE_MINUTES + PATIENCE_S
    while True:
        sessions = step("facts", environment)["sessions"]
        if not any(session["status"] == "active" for session in sessions):
            break
        if time.monotonic() > end:
            raise RuntimeError("leases that ran out were not swept: worker or scheduler does not run")
        time.sleep(3)
    counts = balance(sessions).values()
    missing = sum(max(counts) - count for count in counts)
    say(f"completed per list {sorted(counts)}; {missing} newcomers")
    people = [Person(f"late {n}", SLUG, port, seed=seed + n) for n in range(missing)]
    threads = [threading.Thread(target=person.live) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return people


def soak(options: argparse.Namespace, folder: Path, services: dict[str, Service]) -> dict[str, int]:
    """The whole of it; gives the broken promises by kind."""
    rng = random.Random(options.seed)
    web_port, database_port = free_port(), free_port()
    url = f"sqlite:///{folder}/var/soak.sqlite3"
    if options.database == "postgres":
        cluster = make_cluster(folder, database_port)
        services["database"], url = database(cluster, folder), cluster.url
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": url,
        "VAR_DIR": str(folder / "var"),
        "CELERY_BROKER_URL": options.broker,
        "LOG_LEVEL": "WARNING",
        "ARRIVALS_PER_MINUTE": "0",
    }
    prepare(environment)
    services |= platform(web_port, environment, folder)
    pulse = Pulse(web_port)
    pulse.wait()
    pulse.start()
    start = time.monotonic()
    say(f"{options.database}: {options.people} people at once, {options.kills} kills, seed {options.seed}")
    crowd = Crowd(SLUG, web_port, at_once=options.people, seed=options.seed, drop_outs=THIRD, label="killed")
    killed = kill_at_random(services, options.kills, rng, pulse)
    people = crowd.finish()
    say(f"{len(people)} people through; longest time without service {pulse.longest_s:.1f} s")
    network = FlakyNetwork(web_port, seed=options.seed)
    say(f"a bad network for {options.flaky_seconds} s")
    crowd = Crowd(
        SLUG, network.port, at_once=options.people, seed=options.seed + 1, drop_outs=THIRD, label="lost"
    )
    time.sleep(options.flaky_seconds)
    people += crowd.finish()
    network.calm()
    say(f"{len(people)} people through; requests {dict(network.fates)}")
    people += fill_up(environment, web_port, options.seed)
    broken = audit(people, facts := step("facts", environment))
    report(people, facts, killed, time.monotonic() - start)
    return broken


def prepare(environment: dict[str, str]) -> None:
    """Make the study, as soon as the database answers."""
    study: dict[str, Any] = {"n_items": N_ITEMS, "n_lists": N_LISTS, "lease_minutes": LEASE_MINUTES}
    for _ in range(60):
        try:
            step("make", environment, {**study, "target_judgments": 0})
            return
        except RuntimeError as error:
            if "OperationalError" not in str(error):
                raise
            time.sleep(1)
    raise RuntimeError("the database did not answer")


def report(people: list[Person], facts: dict[str, Any], killed: Counter[str], seconds: float) -> None:
    """What happened."""
    tries, failures = sum(person.n_tries for person in people), sum(person.n_failures for person in people)
    n_acknowledged = sum(len(person.acknowledged) for person in people)
    print(f"\n{sum(killed.values())} kills: {', '.join(f'{n} {kind}' for kind, n in sorted(killed.items()))}")
    print(
        f"{len(people)} people, {sum(bool(person.code) for person in people)} completed, in {seconds:.0f} s"
    )
    print(
        f"{tries} requests, {failures} without an answer, "
        f"{sum(person.n_broken for person in people)} answered 500"
    )
    print(f"{n_acknowledged} judgments acknowledged, {len(facts['judgments'])} stored")
    print(f"completed sessions per list: {sorted(balance(facts['sessions']).values())}")
    for problem, n in Counter(person.problem for person in people if person.problem).most_common(10):
        print(f"  {n} × {problem}")


def main() -> int:
    """Run; 1 when a promise was broken."""
    arguments = options()
    arguments.seed = secrets.randbelow(10**6) if arguments.seed is None else arguments.seed
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    services: dict[str, Service] = {}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        broken = soak(arguments, folder, services)
    finally:
        for name in ("beat", "worker", "web", "database"):
            if name in services:
                services[name].stop()
        if arguments.keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print()
    for problem, n in broken.items():
        print(f"{n:>6}  {problem}")
    print(f"seed {arguments.seed}")
    return int(any(broken.values()))


if __name__ == "__main__":
    sys.exit(main())
