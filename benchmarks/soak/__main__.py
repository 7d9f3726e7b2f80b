"""``make soak``: everything that a bad day does, under load; then count what was promised and not kept.

1. Start a database and a broker of their own on a disk of their own, web server, worker and scheduler.
2. People take part, with pauses to think; some over a network that loses, delays, doubles and reorders, some
   over doubles of Prolific and MTurk, where Ada approves and pays them. A fifth of the people walk away. A
   script makes and changes drafts over the API and reads all judgments.
3. One trouble after another: SIGKILL to any process, a restart of the database, a full, slow and read-only
   disk, clocks that jump. Meanwhile backups are made and restored into empty installations.
4. Leases of those who walked away run out, newcomers fill the lists, and what is due is paid.
5. Every acknowledged answer is looked up in the database, every payment in the ledger and on the platform.
   Exit status 0 when nothing is missing and nothing doubled.
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

from benchmarks.soak import payers
from benchmarks.soak.audit import SERVES_S, audit, balance, gave_up_in_outage
from benchmarks.soak.backups import Rehearsals
from benchmarks.soak.broker import RabbitMQ, broker
from benchmarks.soak.cluster import make_cluster
from benchmarks.soak.machine import Clock, Disk
from benchmarks.soak.network import FlakyNetwork
from benchmarks.soak.people import Crowd, Person
from benchmarks.soak.pulse import PATIENCE_S, Pulse
from benchmarks.soak.script import Script
from benchmarks.soak.services import Service, database, free_port, platform
from benchmarks.soak.study import SLUG, step
from benchmarks.soak.troubles import Troubles

N_LISTS, N_ITEMS, LEASE_MINUTES = 4, 12, 2
SHARE_FLAKY, SHARE_PAID, SHARE_LEAVING = 0.2, 0.1, 0.2
THINK_S = (2.0, 8.0)  # between two answers
PATIENCE_OF_PEOPLE_S = 240.0
BACKUP_EVERY_MINUTES = 15
TROUBLE_STARTS_S = 10.0
PAID_WITHIN_S = 300.0


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make soak ARGS=…", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5, help="how long troubles last")
    parser.add_argument("--people", type=int, default=200, help="how many at once")
    parser.add_argument("--database", choices=["postgres", "sqlite"], default="postgres")
    parser.add_argument("--broker", choices=["auto", "rabbitmq", "redis", "folder"], default="auto")
    parser.add_argument("--seed", type=int, default=None, help="printed; the same seed, the same troubles")
    parser.add_argument("--keep", action="store_true", help="keep the folder with logs")
    return parser.parse_args()


def say(text: str) -> None:
    """A line with the time."""
    print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)


def newcomers(people: int, port: int, seed: int) -> list[Person]:
    """So many come and stay to the end."""
    arrivals = [
        Person(f"late {seed} {n}", SLUG, port, seed=seed + n, think_s=(0.05, 0.4)) for n in range(people)
    ]
    threads = [threading.Thread(target=person.live) for person in arrivals]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return arrivals


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
    return newcomers(missing, port, seed)


class Soak:
    """One run: its services, people and findings."""

    def __init__(self, arguments: argparse.Namespace, folder: Path, services: dict[str, Service]) -> None:
        self.arguments, self.folder, self.services = arguments, folder, services
        self.rng = random.Random(arguments.seed)
        self.port = free_port()
        folder.chmod(0o711)
        self.disk, self.clock = Disk(folder), Clock(folder)
        self.platforms: list[payers.Platform] = [payers.Prolific(), payers.MTurk()]
        self.crowds: list[Crowd] = []
        self.late: list[Person] = []
        self.start = time.monotonic()

    def people(self) -> list[Person]:
        """Everybody so far."""
        return [person for crowd in self.crowds for person in list(crowd.people)] + self.late

    def start_services(self) -> None:
        """Database, broker, a study with a campaign, then web server, worker and scheduler."""
        queue, address = broker(self.arguments.broker, self.disk.folder, self.folder)
        self.database = self.elsewhere = ""
        (self.folder / "elsewhere").mkdir()
        if queue:
            self.services["broker"] = queue
        if self.arguments.database == "postgres":
            cluster = make_cluster(self.disk.folder, free_port())
            self.services["database"] = database(cluster, self.folder, self.clock.environment)
            self.database = cluster.url
            another = make_cluster(self.folder / "elsewhere", free_port())
            self.services["elsewhere"] = database(another, self.folder / "elsewhere")
            self.elsewhere = another.url
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": self.database or f"sqlite:///{self.disk.folder}/var/soak.sqlite3",
            "VAR_DIR": str(self.disk.folder / "var"),
            "CELERY_BROKER_URL": address,
            **{name: value for each in self.platforms for name, value in each.settings.items()},
            "LOG_LEVEL": "WARNING",
            "ARRIVALS_PER_MINUTE": "0",
            "SECRET_KEY": secrets.token_hex(32),
        }
        prepare(self.environment)
        for each in self.platforms:
            fields = {"recruiter": each.recruiter, "currency": each.currency, "secrets": each.secrets}
            fields |= {"places": each.n_places, "site": self.address}
            each.campaign = step("campaign", self.environment, fields)
        self.services |= platform(self.port, self.environment | self.clock.environment, self.folder)
        self.pulse = Pulse(self.port)
        self.pulse.wait()
        self.pulse.start()

    @property
    def address(self) -> str:
        """Where people come in."""
        return f"http://127.0.0.1:{self.port}"

    def take_place(self) -> payers.Place:
        """A place on the platform that had fewer people so far."""
        n_paid = Counter(person.place.platform.recruiter for person in self.people() if person.place)
        return min(self.platforms, key=lambda each: n_paid[each.recruiter]).take_place()

    def crowd(self, label: str, n: int, port: int, **how: Any) -> None:
        """Let so many people take part at once from now on."""
        how |= {"think_s": THINK_S, "patience_s": PATIENCE_OF_PEOPLE_S, "spread_s": sum(THINK_S)}
        seed = self.arguments.seed + len(self.crowds)
        self.crowds.append(
            Crowd(SLUG, port, at_once=n, seed=seed, drop_outs=SHARE_LEAVING, label=label, **how)
        )

    def run(self) -> dict[str, int]:
        """The whole of it; gives the broken promises by kind."""
        self.start_services()
        n_flaky = round(SHARE_FLAKY * self.arguments.people)
        seconds, seed = 60 * self.arguments.minutes, self.arguments.seed
        say(
            f"{self.arguments.database}, {sorted(self.services)}, {self.arguments.people} people, seed {seed}"
        )
        network = FlakyNetwork(self.port, seed=seed)
        self.crowd(
            "near",
            self.arguments.people - n_flaky,
            self.port,
            share_paid=SHARE_PAID,
            take_place=self.take_place,
        )
        self.crowd("far", n_flaky, network.port)
        adas = [
            payers.Ada(self.port, payers.address_of(SLUG, each.campaign["pk"])) for each in self.platforms
        ]
        script = Script(self.address, step("token", self.environment), SLUG)
        for thread in (*adas, script):
            thread.start()
        rehearsals = self.rehearse(seconds)
        troubles = Troubles(self.services, self.disk, self.clock, self.pulse, self.rng, say)
        time.sleep(TROUBLE_STARTS_S)
        stuck = 0
        try:
            troubles.go_on(seconds - TROUBLE_STARTS_S)
            self.pulse.wait()
        except RuntimeError as error:  # the table tells the rest
            say(str(error))
            stuck = 1
        for crowd in self.crowds:
            crowd.is_open.clear()
        for crowd in self.crowds:
            crowd.finish()
        network.calm()
        say(f"{len(self.people())} people through; bad network: {dict(network.fates)}")
        rehearsals.join()
        try:
            self.pulse.wait()
            self.late += fill_up(self.environment, self.port, seed)
        except RuntimeError as error:
            say(str(error))
            stuck += 1
        script.stop()
        say(f"API: {len(script.drafts)} drafts, {len(script.read)} judgments read; {dict(script.answers)}")
        excused = set(gave_up_in_outage(self.people(), self.pulse))
        broken = {**audit(self.people(), facts := step("facts", self.environment), excused), **self.pay(adas)}
        broken |= script.audit(step("drafts", self.environment))
        broken |= summed(rehearsals.results) | {"services that did not come back": stuck}
        report(self, facts, troubles, rehearsals.results)
        return broken

    def rehearse(self, seconds: float) -> Rehearsals:
        """Backups in the middle of every quarter of an hour."""
        n = max(1, round(seconds / 60 / BACKUP_EVERY_MINUTES))
        moments = [seconds * (2 * number + 1) / (2 * n) for number in range(n)]
        rehearsals = Rehearsals(self.environment, self.folder, self.elsewhere, self.people, moments, say)
        rehearsals.start()
        return rehearsals

    def pay(self, adas: list[payers.Ada]) -> dict[str, int]:
        """Ada goes on until nothing is left to pay; then the platforms and the ledger are compared."""
        end = time.monotonic() + PAID_WITHIN_S
        while True:
            paid = sum((each.paid() for each in self.platforms), Counter[tuple[str, str]]())
            facts = step("money", self.environment)
            if facts["is_settled"] or time.monotonic() > end:
                break
            step("age", self.environment)
            step("settle", self.environment, list(paid))
            time.sleep(payers.REST_S)
        for ada in adas:
            ada.stop()
            for problem, n in ada.problems.items():
                say(f"Ada: {n} × {problem}")
        places = [person.place for person in self.people() if person.place and person.place.is_submitted]
        submitted = {place.submission for place in places}
        self.n_paid = len(paid), len(submitted), sum(ada.n_rounds for ada in adas)
        self.n_by_platform = Counter(place.platform.recruiter for place in places)
        return {
            **payers.audit_money(paid, submitted, facts),
            "shapes unlike the platforms'": sum(each.n_malformed() for each in self.platforms),
        }


def summed(results: list[dict[str, Any]]) -> dict[str, int]:
    """What restored backups lacked."""
    kinds = ("acknowledged before and not in it", "checksums that differ", "backups that were not restored")
    return {f"restored: {kind}": sum(result.get(kind, 0) for result in results) for kind in kinds}


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


def report(soak: Soak, facts: dict[str, Any], troubles: Troubles, backups: list[dict[str, Any]]) -> None:
    """What happened."""
    people = soak.people()
    tries, failures = sum(person.n_tries for person in people), sum(person.n_failures for person in people)
    n_acknowledged = sum(len(person.acknowledged) for person in people)
    print(f"\n| {'trouble':<26} | {'times':>5} | longest without service, s |")
    print(f"|{'-' * 28}|{'-' * 7}|{'-' * 28}|")
    for name, n in sorted(troubles.n.items()):
        print(f"| {name:<26} | {n:>5} | {troubles.away_s[name]:>26.1f} |")
    for kind in troubles.impossible:
        print(f"not tried: {kind}")
    remedies = Counter(soak.disk.remedies)
    if isinstance(queue := soak.services.get("broker"), RabbitMQ):
        remedies += queue.remedies
    print(f"\n| {'what an administrator would do':<52} | {'times':>5} |\n|{'-' * 54}|{'-' * 7}|")
    for name, n in sorted(remedies.items()) or [("nothing", 0)]:
        print(f"| {name:<52} | {n:>5} |")
    print(f"\n{len(people)} people, {sum(bool(person.code) for person in people)} completed,", end=" ")
    print(f"in {time.monotonic() - soak.start:.0f} s")
    print(f"{tries} requests, {failures} without an answer or 5xx,", end=" ")
    print(f"{sum(person.n_broken for person in people)} answered 500")
    gave_up = {person for person in people if person.waited}
    in_outage = gave_up & set(gave_up_in_outage(people, soak.pulse))
    away_s = sum(end - begin for begin, end in soak.pulse.outages)
    print(
        f"gave up after {PATIENCE_OF_PEOPLE_S:.0f} s without an answer: {len(in_outage)} during an outage,",
        end=" ",
    )
    print(f"{len(gave_up - in_outage)} though the platform served for {SERVES_S:.0f} s of them;", end=" ")
    print(f"without service {away_s:.0f} s in {len(soak.pulse.outages)} outages")
    print(f"{n_acknowledged} judgments acknowledged, {len(facts['judgments'])} stored")
    print(f"{soak.n_paid[0]} payments to {soak.n_paid[1]} people", end=" ")
    print(f"({dict(soak.n_by_platform)}) in {soak.n_paid[2]} rounds")
    for backup in backups:
        print(f"backup: {backup}")
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
    soak = Soak(arguments, folder, services)
    try:
        broken = soak.run()
    finally:
        for name in ("worker", "web", "broker", "database", "elsewhere"):
            if name in services:
                services[name].stop()
        soak.disk.remove()
        if arguments.keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"\n| {'broken promise':<44} | {'number':>6} |\n|{'-' * 46}|{'-' * 8}|")
    for problem, n in broken.items():
        print(f"| {problem:<44} | {n:>6} |")
    print(f"seed {arguments.seed}")
    return int(any(broken.values()))


if __name__ == "__main__":
    sys.exit(main())
