"""Whole participant runs at once, against oTree, Potato, psiTurk and Label Studio, in one run on one machine.

Run ``PEERS_ROOT=FOLDER python benchmarks/collection/bench_peers.py``. The folder holds ``drivers/``,
load drivers of self-hosted peers with their ``harness.py`` and ``README.md``, and beside it the environments
that this file says how to make; without them the benchmark says so and ends well. Our side is
``benchmarks/peers/obelus_driver.py``. Servers run on core 0, the driver on core 1; every acknowledged
answer is looked up in the store afterwards. PostgreSQL is taken where one listens on ``PG_PORT`` (5544) with
a role ``bench``. Label Studio needs 100 s for 50 at once and is measured with up to 10, unless ``--long``.
"""

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

OURS = Path(__file__).resolve().parents[1] / "peers" / "obelus_driver.py"
PEERS = {  # ratios wanted
    "otree": {"sqlite": 8.0, "pg": 5.0},
    "potato": {"sqlite": 8.0, "pg": 5.0},
    "psiturk": {"sqlite": 2.5, "pg": 1.3},
    "labelstudio": {"sqlite": 50.0, "pg": 50.0},
}
SESSIONS = {1: 60, 10: 30, 50: 50}
FEWER = {"labelstudio": {1: 2, 10: 10, 50: 50}}
OPEN_MS, CROWD, DISTURBED_PCT = 300, 50, 15
HOW = """The peers are not here, so there is nothing to compare with.
Set PEERS_ROOT to a folder with
  drivers/   the load drivers of self-hosted peers: harness.py, otree_driver.py, README.md, …
  driver/    a virtual environment with aiohttp, psutil and psycopg[binary]
  otree/, potato/, psiturk/, labelstudio/   one with each peer; drivers/README.md has the versions
and run this again."""
HEAD = (
    f"{'':12} {'store':7}{'people':>6}{'/s':>8}  {'ack p50/p95/p99 ms':>22}{'open p50':>9}{'CPU s/1000':>13}"
)
HEAD += f"{'MB':>6}  {'acked → stored':>16}  other load"

Case = dict[str, Any]


def settings() -> argparse.Namespace:
    """What to measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--peers", default=",".join(PEERS), help="which; empty measures ours alone")
    parser.add_argument("--db", default="sqlite,pg")
    parser.add_argument("--people", default="1,10,50", help="participants at once")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=8, help="no case begins later")
    parser.add_argument("--long", action="store_true", help="Label Studio with 50 at once, too")
    return parser.parse_args()


class Runner:
    """Runs one case after the other, each in the drivers' own environment."""

    def __init__(self, root: Path, minutes: float) -> None:
        self.root, self.ends = root, time.monotonic() + 60 * minutes
        self.drivers = Path(os.environ.get("PEERS_DRIVERS") or root / "drivers")
        self.left_out: list[str] = []
        (root / "results").mkdir(exist_ok=True)

    def is_ready(self) -> bool:
        """Whether the drivers and their environment are there."""
        return (self.drivers / "harness.py").exists() and (self.root / "driver/bin/python").exists()

    def has(self, peer: str) -> bool:
        """Whether a peer is installed; says so where it is not."""
        is_here = (self.root / peer / "bin").exists()
        if not is_here:
            print(f"{peer} is not installed in {self.root}: left out.")
        return is_here

    def case(self, side: str, db: str, people: int, *options: str) -> Case | None:
        """One run of one side."""
        name = f"{side} {db} with {people} at once"
        if time.monotonic() > self.ends:
            self.left_out.append(name)
            return None
        script = OURS if side == "obelus" else self.drivers / f"{side}_driver.py"
        n = FEWER.get(side, SESSIONS).get(people, 2 * people)
        command = [str(self.root / "driver/bin/python"), str(script), "--db", db, "--reps", "1"]
        command += ["-C", str(people), "--sessions", str(n), *options]
        if shutil.which("taskset"):
            command = ["taskset", "-c", "1", *command]
        environment = {
            **os.environ,
            "PEERS_ROOT": str(self.root),
            "PYTHONPATH": str(self.drivers),
            "OBELUS_PYTHON": sys.executable,
            "QUIET_GATE_S": os.environ.get("QUIET_GATE_S", "3"),
        }
        process = subprocess.run(
            command, cwd=self.drivers, env=environment, capture_output=True, text=True, check=False
        )
        documents = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
        if not documents:
            self.left_out.append(f"{name} ({(process.stderr.strip() or 'no result').splitlines()[-1][:150]})")
            return None
        print_case(documents[-1])
        return documents[-1]


def print_case(case: Case) -> None:
    """A line for a case."""
    cpu = f"{case['cpu_per_1000']:.2f}"
    if case["pg_cpu_per_1000"] is not None:
        cpu += f" +{case['pg_cpu_per_1000']:.2f}"
    store = "files" if case["peer"] == "potato" else case["db"]
    waits = "/".join(f"{ms:.0f}" if ms >= 100 else f"{ms:.1f}" for ms in case["ack"])
    wrong = case["missing"] + case["wrong"]
    stored = f"{case['acked']} → {case['in_db']}" + (f" ({wrong} lost)" if wrong else "")
    print(
        f"{case['peer']:12} {store:7}{case['C']:>6}{case['jps']:>8.1f}  {waits:>22}{case['open_p50']:>9.0f}"
        f"{cpu:>13}{case['rss_mb']:>6}  {stored:>16}  {case['core_other_pct']} %"
        + (f"  errors: {case['errors']}" if case["errors"] else ""),
        flush=True,
    )


def middle(cases: list[Case], name: str) -> float:
    """The median over rounds; of those without other load, where there are two."""
    calm = [case for case in cases if case["core_other_pct"] <= DISTURBED_PCT]
    return statistics.median(case[name] for case in (calm if len(calm) > 1 else cases))


def compare(cases_by_run: dict[tuple[str, str, int], list[Case]], peers: list[str]) -> None:
    """Ratios of ours to each peer, with those wanted; a store or a crowd it was not measured with is said."""
    print("\nRatios of judgments stored per second")
    for (side, db, people), our_cases in cases_by_run.items():
        if side != "obelus":
            continue
        for peer in peers:
            peer_cases = {key: cases for key, cases in cases_by_run.items() if key[0] == peer}
            if not peer_cases:
                continue
            key = min(peer_cases, key=lambda run_key: (run_key[1] != db, abs(run_key[2] - people)))
            ratio = middle(our_cases, "jps") / middle(peer_cases[key], "jps")
            wanted = PEERS[peer][db]
            verdict = "reached" if ratio >= wanted else "MISSED"
            where = "" if key[1:] == (db, people) else f"; its figure is of {key[1]}, {key[2]} at once"
            target = f"(≥ {wanted:g}: {verdict}{where})"
            print(f"{db:6} {people:>3} at once: {ratio:6.1f} × {peer:12} {target}")
        if people == CROWD:
            opened = middle(our_cases, "open_p50")
            verdict = "reached" if opened <= OPEN_MS else "MISSED"
            first_trial_ms = statistics.median(case["status"]["first_trial_p50_ms"] for case in our_cases)
            print(
                f"{db:6} {people:>3} at once: open p50 {opened:.0f} ms (≤ {OPEN_MS}: {verdict}), "
                f"the first trial's page after {first_trial_ms:.0f} ms"
            )


def twice(runner: Runner, db: str) -> list[Case]:
    """Every answer sent twice at once."""
    print("every answer sent twice at once:")
    case = runner.case("obelus", db, 10, "--opt", "dup=1")
    return [case] if case else []


def main() -> int:
    """Measure and compare; fails when one of our answers is lost or doubled."""
    chosen = settings()
    root = Path(os.environ.get("PEERS_ROOT", ""))
    runner = Runner(root, chosen.minutes) if os.environ.get("PEERS_ROOT") else None
    if runner is None or not runner.is_ready():
        print(HOW)
        return 0
    peers = [peer for peer in chosen.peers.split(",") if peer and runner.has(peer)]
    stores = chosen.db.split(",")
    if "pg" in stores and not listens(int(os.environ.get("PG_PORT", "5544"))):
        print("Nothing listens on PG_PORT: PostgreSQL is left out.")
        stores.remove("pg")
    print(HEAD)
    cases_by_run: dict[tuple[str, str, int], list[Case]] = defaultdict(list)
    doubled: list[Case] = []
    for _ in range(chosen.rounds):
        for db in stores:
            for people in map(int, chosen.people.split(",")):
                for side in ["obelus", *peers]:
                    if side == "labelstudio" and people >= CROWD and not chosen.long:
                        continue
                    if side == "potato" and db != stores[0]:
                        continue  # it keeps files, whatever the store
                    if case := runner.case(side, db, people):
                        cases_by_run[side, db, people].append(case)
    for db in stores:
        doubled += twice(runner, db)
    compare(cases_by_run, peers)
    if runner.left_out:
        print("Left out: " + "; ".join(runner.left_out))
    our_cases = doubled + [
        case for (side, *_), cases in cases_by_run.items() if side == "obelus" for case in cases
    ]
    lost = sum(case["missing"] + case["wrong"] for case in our_cases)
    many = sum(case["dups"] for case in our_cases)
    print(f"Of {sum(case['acked'] for case in our_cases)} acknowledged: {lost} lost, {many} doubled.")
    return 1 if lost or many else 0


def listens(port: int) -> bool:
    """Whether a server listens here."""
    with socket.socket() as probe:
        probe.settimeout(2)
        return probe.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    sys.exit(main())
