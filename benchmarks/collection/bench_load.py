"""Judgments stored per second, against a plain Django view that inserts one row per request.

Run ``python benchmarks/collection/bench_load.py``. The plain view is served by gunicorn, ours by our
own server, each with one process of eight threads, with the same kind of database (SQLite in WAL mode with
full synchronisation; ``BENCH_POSTGRES=postgres://…/DATABASE`` adds PostgreSQL, in which two databases are
made and dropped). The server runs on core 0, the driver on core 1; every participant has one connection and
sends the next answer when the last is acknowledged. Before the clock runs, each session asks for its plan, as
every engine does before its first answer, and two rounds of both are not counted: in these the database plans
the statements of each thread's connection, and our first round stores a third less. Afterwards the stored
rows are counted against the acknowledged ones.
"""

import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PEOPLE, TRIALS = (1, 10, 50), 20
ROUNDS, WARM_UP_ROUNDS = 9, 2
ANSWERS = 1_000
ONE_BY_EIGHT = ["--workers", "1", "--threads", "8"]
OURS = ["config.serve", *ONE_BY_EIGHT]
PLAIN = ["gunicorn", "benchmarks.collection.plain_view", *ONE_BY_EIGHT]
PLAIN += ["--worker-class", "gthread", "--keep-alive", "60", "--log-level", "warning"]

SETUP = """
import json, django
django.setup()
from tests import cast
from judgments.models import Session
materials = cast.material_set()
paradigm = materials.paradigms.first()
for number in range({trials}):
    good, bad = f"The cat sees {{number}} dogs.", f"The cat see {{number}} dogs."
    cast.pair(paradigm, f"more-{{number}}", good=good, bad=bad)
study = cast.study(materials=materials, n_lists=4, target_judgments=0)
plans = []
for number in range({people}):
    session = cast.begin(study, f"person-{{number}}")
    trials = [(one.public_id, one.shown["options"][0]["id"]) for one in session.trials.all()]
    plans.append([session.token, trials])
print(json.dumps(plans))
"""

Request = tuple[str, dict]


@dataclass
class Measured:
    """One run: answers per second, waits, and server CPU."""

    per_second: float
    waits_ms: list[float] = field(default_factory=list)
    cpu_s: float = 0.0
    n: int = 0


def python(code: str, environment: dict[str, str]) -> str:
    """Run a piece of Python in the project and give what it prints last."""
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if process.returncode:
        sys.exit(process.stderr)
    return process.stdout.strip().splitlines()[-1] if process.stdout.strip() else ""


class Server:
    """A server on core 0."""

    def __init__(self, module: list[str], port: int, environment: dict[str, str]) -> None:
        self.port = port
        where = ["--port", str(port)] if module is OURS else ["--bind", f"127.0.0.1:{port}"]
        command = [sys.executable, "-m", *module, *where]
        if shutil.which("taskset"):
            command = ["taskset", "-c", "0", *command]
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment)
        self._wait()

    def _wait(self) -> None:
        for _ in range(200):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/health/live")
                connection.getresponse().read()
                return
            except OSError:
                time.sleep(0.1)
        sys.exit("the server did not come up")

    def cpu_s(self) -> float:
        """Seconds of CPU of the server and its worker."""
        tick, spent = os.sysconf("SC_CLK_TCK"), 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            facts = stat.read_text().rpartition(")")[2].split()
            if int(facts[1]) == self.process.pid:
                spent += int(facts[11]) + int(facts[12])
        return spent / tick

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def drive(server: Server, queues: list[list[Request]]) -> Measured:
    """Every queue is one participant: one connection, one answer after the other."""
    waits: list[float] = []
    faults: list[str] = []

    def sit(queue: list[Request]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        for address, body in queue:
            start = time.perf_counter()
            connection.request("POST", address, json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            reply = answer.read()
            waits.append(1000 * (time.perf_counter() - start))
            if answer.status != 200:
                faults.append(f"{answer.status} {reply[:200]!r}")

    threads = [threading.Thread(target=sit, args=(queue,)) for queue in queues]
    before, start = server.cpu_s(), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    if faults:
        sys.exit(f"{len(faults)} answers were not taken, the first: {faults[0]}")
    return Measured(len(waits) / seconds, waits, server.cpu_s() - before, len(waits))


def base_environment() -> dict[str, str]:
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "LOG_LEVEL": "ERROR",
        "ARRIVALS_PER_MINUTE": "0",
    }


def our_server(
    folder: Path, url: str
) -> tuple[Server, Callable[[int], list[list[Request]]], Callable[[], int]]:
    """Our server with sessions begun, and their answers as requests, each used once."""
    environment = {**base_environment(), "VAR_DIR": str(folder / "ours"), "DATABASE_URL": url}
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, env=environment, check=True)
    people = (WARM_UP_ROUNDS + ROUNDS) * sum(max(n, ANSWERS // TRIALS) for n in PEOPLE) + 10
    plans = json.loads(python(SETUP.format(trials=TRIALS, people=people), environment))

    def queues(n_people: int) -> list[list[Request]]:
        queue_of: list[list[Request]] = [[] for _ in range(n_people)]
        for number in range(max(n_people, ANSWERS // TRIALS)):
            token, trials = plans.pop()
            queue_of[number % n_people] += [
                (
                    f"/api/v1/sessions/{token}/judgments/",
                    {"judgments": [{"trial": trial, "response": option, "rt_ms": 812.0}]},
                )
                for trial, option in trials[:TRIALS]
            ]
        return queue_of

    def count() -> int:
        return int(
            python(
                "import django; django.setup(); from judgments.models import Judgment;"
                " print(Judgment.objects.count())",
                environment,
            )
        )

    return Server(OURS, 8301, environment), queues, count


def open_sessions(server: Server, queues: list[list[Request]]) -> list[list[Request]]:
    """Ask for the plan of every session that is going to answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    for address in dict.fromkeys(address for queue in queues for address, _ in queue):
        connection.request("GET", address.replace("/judgments/", "/plan/"))
        connection.getresponse().read()
    return queues


def plain(folder: Path, url: str) -> tuple[Server, Callable[[int], list[list[Request]]]]:
    """The plain view, and as many answers."""
    environment = {**base_environment(), "PLAIN_DATABASE_URL": url}
    environment.pop("DJANGO_SETTINGS_MODULE")
    environment_of_table = {**environment, "MAKE_TABLE": "1"}
    subprocess.run(
        [sys.executable, "-m", "benchmarks.collection.plain_view"],
        cwd=ROOT,
        env=environment_of_table,
        check=True,
    )
    number = iter(range(10**9))

    def queues(n_people: int) -> list[list[Request]]:
        each = max(TRIALS, ANSWERS // n_people)
        return [
            [
                (
                    "/store",
                    {"worker": f"w{person}", "trial": f"t{next(number)}", "response": "a", "rt_ms": 812.0},
                )
                for _ in range(each)
            ]
            for person in range(n_people)
        ]

    return Server(PLAIN, 8302, environment), queues


def compare(label: str, our_url: str, plain_url: str, folder: Path) -> None:
    """Print a line per number of participants: ours, plain, ratio of medians."""
    server, our_queues, count = our_server(folder, our_url)
    bare, bare_queues = plain(folder, plain_url)
    stored = 0
    try:
        for n_people in PEOPLE:
            runs: dict[str, list[Measured]] = {"ours": [], "plain": []}
            for _ in range(WARM_UP_ROUNDS + ROUNDS):
                runs["ours"].append(drive(server, open_sessions(server, our_queues(n_people))))
                runs["plain"].append(drive(bare, bare_queues(n_people)))
            stored += sum(run.n for run in runs["ours"])
            runs = {name: measured_runs[WARM_UP_ROUNDS:] for name, measured_runs in runs.items()}
            rate = {
                name: statistics.median(run.per_second for run in measured_runs)
                for name, measured_runs in runs.items()
            }
            waits = sorted(wait for run in runs["ours"] for wait in run.waits_ms)
            cpu = sum(run.cpu_s for run in runs["ours"]) / sum(run.n for run in runs["ours"])
            print(
                f"{label}, {n_people:>2} at once: {rate['ours']:.0f}/s, plain view {rate['plain']:.0f}/s, "
                f"ratio {rate['ours'] / rate['plain']:.2f}; p50 {waits[len(waits) // 2]:.1f} ms, "
                f"p99 {waits[int(0.99 * len(waits))]:.1f} ms; {cpu * 1000:.2f} CPU s per 1,000",
                flush=True,
            )
    finally:
        server.stop()
        bare.stop()
    print(f"{label}: acknowledged {stored}, stored {count()}")


def main() -> None:
    """SQLite always, PostgreSQL when its address is given."""
    if hasattr(os, "sched_setaffinity") and (os.cpu_count() or 1) > 1:
        os.sched_setaffinity(0, {1})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compare("SQLite", f"sqlite:///{folder}/ours.sqlite3", f"sqlite:///{folder}/plain.sqlite3", folder)
        if server := os.environ.get("BENCH_POSTGRES"):
            address = server.rpartition("/")[0]
            for database in ("bench_ours", "bench_plain"):
                subprocess.run(["psql", server, "-qc", f"DROP DATABASE IF EXISTS {database}"], check=True)
                subprocess.run(["psql", server, "-qc", f"CREATE DATABASE {database}"], check=True)
            compare("PostgreSQL", f"{address}/bench_ours", f"{address}/bench_plain", folder)
            for database in ("bench_ours", "bench_plain"):
                subprocess.run(["psql", server, "-qc", f"DROP DATABASE {database}"], check=True)


if __name__ == "__main__":
    main()
