"""How many people at once the cores of this machine serve: a load test with Locust on PostgreSQL.

Run ``BENCH_POSTGRES=postgres://…/DATABASE python benchmarks/collection/bench_people.py [--people
500]``. In a database of its own it opens a study of 20 pairs, starts the web server as a service does, and
lets so many participants take part at once with 2 to 4 seconds at a trial (``people.py``): 500 people send
160 answers a second. Printed are p50, p95, p99 and errors of all requests and of answers, CPU seconds of the
web server, of PostgreSQL and of Locust for 1,000 answers, stored rows, cores and load at the start. Several
numbers of people by commas are measured in turn; the last line names the largest that holds p99 within 300 ms
without an error. Web server, database and Locust share the cores; ``--processes`` is the number of web
processes.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.collection.bench_load import Server, python  # noqa: E402
from benchmarks.soak.services import free_port  # noqa: E402

DATABASE, P99_MS, WARM_UP_S = "bench_people", 300, 20
SETUP = """
import django
django.setup()
from tests import cast
materials = cast.material_set("people", n_items=20)
cast.study("people", materials=materials, n_lists=4, target_judgments=0)
"""
COUNT = (
    "import django; django.setup(); from judgments.models import Judgment; print(Judgment.objects.count())"
)


@dataclass(frozen=True)
class Waits:
    """Requests of one kind: number, failures, percentiles in ms."""

    n: int
    failures: int
    p50: float
    p95: float
    p99: float


def ticks(belongs: Callable[[str, int], bool]) -> float:
    """CPU seconds of the processes whose command line belongs, with those of their ended children."""
    spent = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            facts = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        if belongs(line, int(folder.name)):
            spent += sum(map(int, facts[11:15]))
    return spent / os.sysconf("SC_CLK_TCK")


class Site:
    """The platform with an open study, on a database of its own."""

    def __init__(self, folder: Path, server: str, processes: int) -> None:
        self.server, self.processes, self.port = server, processes, free_port()
        for statement in (f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)", f"CREATE DATABASE {DATABASE}"):
            subprocess.run(["psql", server, "-qc", statement], check=True)
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": f"{server.rpartition('/')[0]}/{DATABASE}",
            "VAR_DIR": str(folder),
            "SECRET_KEY": "x" * 50,
            "LOG_LEVEL": "ERROR",
            "ARRIVALS_PER_MINUTE": "0",
        }
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, env=self.environment, check=True
        )
        subprocess.run(
            [sys.executable, "manage.py", "collectstatic", "-v0", "--no-input"],
            cwd=ROOT, env=self.environment, check=True,
        )  # fmt: skip
        python(SETUP, self.environment)
        words = [
            "-m",
            "config.serve",
            "--port",
            str(self.port),
            "--workers",
            str(processes),
            "--threads",
            "8",
        ]
        self.process = subprocess.Popen([sys.executable, *words], cwd=ROOT, env=self.environment)
        Server._wait(self)

    def n_judgments(self) -> int:
        """Stored rows."""
        return int(python(COUNT, self.environment))

    def stop(self) -> None:
        """Stop the server and drop the database."""
        self.process.terminate()
        self.process.wait()
        statement = f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)"
        subprocess.run(["psql", self.server, "-qc", statement], check=True)

    def load(self, folder: Path, people: int, seconds: int) -> dict[str, Waits]:
        """Let people take part; the first seconds, while they arrive, are left out of the percentiles."""
        words = [
            "-m", "locust", "--headless", "--only-summary", "--loglevel", "ERROR", "--reset-stats",
            "-f", str(ROOT / "benchmarks/collection/people.py"), "--host", f"http://127.0.0.1:{self.port}",
            "-u", str(people), "-r", str(max(1, people // WARM_UP_S)), "-t", f"{seconds + WARM_UP_S}s",
            "--csv", str(folder / f"people-{people}"), "--stop-timeout", "0",
        ]  # fmt: skip
        subprocess.run(
            [sys.executable, *words], cwd=ROOT, env=self.environment, stdout=subprocess.DEVNULL, check=False
        )
        with (folder / f"people-{people}_stats.csv").open(newline="") as table:
            return {row["Name"]: _waits(row) for row in csv.DictReader(table)}


def _waits(row: dict[str, str]) -> Waits:
    percentiles = (float(row[name] or 0) for name in ("50%", "95%", "99%"))
    return Waits(int(row["Request Count"]), int(row["Failure Count"]), *percentiles)


def main() -> None:
    """Print a line for each number of people, and the largest that holds."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--people", default="500", help="numbers of people, by commas")
    options.add_argument("--seconds", type=int, default=60, help="of each measurement")
    options.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="of the web server")
    chosen = options.parse_args()
    server = os.environ.get("BENCH_POSTGRES")
    if not server:
        print("set BENCH_POSTGRES to the address of a PostgreSQL database to run this benchmark")
        return
    with tempfile.TemporaryDirectory(prefix="obelus-people-") as name:
        site = Site(Path(name), server, chosen.processes)
        try:
            holding = [
                people
                for people in map(int, chosen.people.split(","))
                if holds(site, Path(name), people, chosen.seconds)
            ]
            print(f"largest number within {P99_MS} ms at p99 without an error: {max(holding, default=0)}")
        finally:
            site.stop()


def holds(site: Site, folder: Path, people: int, seconds: int) -> bool:
    """Measure one number of people and print it."""
    load = os.getloadavg()[0]
    mine = site.process.pid
    kinds = {
        "web": lambda line, pid: f"config.serve --port {site.port}" in line,
        # PostgreSQL's own process has the CPU time of connections that ended, of other databases, too.
        "database": lambda line, pid: "postgres:" in line and DATABASE in line or "postgres -D " in line,
    }
    before = {kind: ticks(belongs) for kind, belongs in kinds.items()}
    n_before, children = site.n_judgments(), os.times().children_user + os.times().children_system
    waits = site.load(folder, people, seconds)
    children = os.times().children_user + os.times().children_system - children
    n_stored = site.n_judgments() - n_before
    spent = {
        kind: round(1000 * (ticks(belongs) - before[kind]) / max(1, n_stored), 2)
        for kind, belongs in kinds.items()
    }
    every, answers = waits["Aggregated"], waits.get("6 answer", Waits(0, 0, 0, 0, 0))
    print(
        json.dumps(
            {
                "people": people,
                "answers_per_s": round(answers.n / seconds, 1),
                "all": {
                    "n": every.n,
                    "errors": every.failures,
                    "p50_ms": every.p50,
                    "p95_ms": every.p95,
                    "p99_ms": every.p99,
                },
                "answers": {
                    "n": answers.n,
                    "errors": answers.failures,
                    "p50_ms": answers.p50,
                    "p99_ms": answers.p99,
                },
                "stored": n_stored,
                "cpu_s_per_1000_stored": spent | {"locust": round(1000 * children / max(1, n_stored), 2)},
                "cores": os.cpu_count(),
                "web_processes": site.processes,
                "load_at_start": round(load, 1),
            }
        ),
        flush=True,
    )
    assert mine == site.process.pid
    return not every.failures and every.p99 <= P99_MS


if __name__ == "__main__":
    main()
