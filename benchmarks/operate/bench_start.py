"""Start and memory of processes beside plain Django, and `make run`: its first page and its memory when idle.

Run ``python benchmarks/operate/bench_start.py [--runs 5] [--without-run]``. Plain Django is what
``django-admin startproject`` writes, with the same Django; the two take turns, after one run of each that
caches the bytecode.
Times are processor time of the process, memory is its largest resident size. `make run` (Linux) starts once,
with its packages installed and an empty folder; its memory is proportional (PSS), once the demo is complete.
"""

import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HELP, STATISTICS, EMPTY = ["help"], ["agreement", "--help"], ["migrate", "--verbosity", "0"]
# Aims: times plain Django, and shares of `make run` on commit d06594a (73 s, 1,221 MB).
AIMS = {"help": 2.0, "statistics": 2.2, "memory": 2.2, "database": 4.0}
FIRST_PAGE_S, IDLE_MB = 0.25 * 73, 0.4 * 1221
PATIENCE_S, STILL_S, BUSY_SHARE = 600, 10, 0.05


def run_command(folder: Path, arguments: list[str], var: Path) -> tuple[float, float]:
    """Processor seconds and MB of ``manage.py`` with these arguments."""
    environment = {
        **os.environ,
        "VAR_DIR": str(var),
        "DEBUG": "1",
        "DATABASE_URL": "",
        "CELERY_BROKER_URL": "",
    }
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    process = subprocess.Popen(
        [sys.executable, "manage.py", *arguments], cwd=folder, env=environment, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{folder}: manage.py {' '.join(arguments)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024  # unit: Linux counts KiB


def median_costs(plain: Path, own: list[str], theirs: list[str], runs: int) -> list[tuple[float, float]]:
    """Median seconds and MB, of plain Django and here, of runs in turns with an empty database each."""
    costs: list[list[tuple[float, float]]] = [[], []]
    for _ in range(runs + 1):
        for side, (folder, arguments) in enumerate([(plain, theirs), (ROOT, own)]):
            (plain / "db.sqlite3").unlink(missing_ok=True)
            with tempfile.TemporaryDirectory() as var:
                costs[side].append(run_command(folder, arguments, Path(var)))
    medians = [[statistics.median(figures) for figures in zip(*side[1:], strict=True)] for side in costs]
    return [(seconds, size) for seconds, size in medians]


def descendants(pid: int) -> list[int]:
    """Return a process and all that it and its children have started."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for task in tasks for child in task.read_text().split()]
    return [pid, *(one for child in children for one in descendants(child))]


def read_costs(pid: int) -> tuple[float, float]:
    """Processor seconds and proportional MB of a process and its descendants."""
    seconds = megabytes = 0.0
    for one in descendants(pid):
        with suppress(OSError):
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            rollup = Path(f"/proc/{one}/smaps_rollup").read_text().split("\nPss:")[1]
            megabytes += int(rollup.split()[0]) / 1024
    return seconds, megabytes


@contextmanager
def platform(port: int) -> Iterator[int]:
    """`make run` with an empty folder."""
    with tempfile.TemporaryDirectory() as var:
        environment = {**os.environ, "VAR_DIR": var, "PORT": str(port), "DEBUG": "1"}
        environment |= {"DATABASE_URL": "", "CELERY_BROKER_URL": ""}
        process = subprocess.Popen(
            [sys.executable, "-m", "config.run"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield process.pid
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def measure_run() -> tuple[float, float]:
    """Seconds until `make run` answers with a page, and MB when nothing is left to do."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    start = time.monotonic()
    with platform(port) as pid:
        first_page = None
        while first_page is None:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30):
                first_page = time.monotonic() - start
            if time.monotonic() - start > PATIENCE_S:
                sys.exit("no page")
            time.sleep(0.1)
        seconds, size = read_costs(pid)
        while time.monotonic() - start < PATIENCE_S:
            time.sleep(STILL_S)
            before, (seconds, size) = seconds, read_costs(pid)
            if (
                abs(seconds - before) < STILL_S * BUSY_SHARE
            ):  # a worker that is replaced takes its seconds along
                break
        return first_page, size


def main() -> None:
    """Measure, print the table; exit with 1 where a figure misses its aim."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--without-run", action="store_true", help="leave out `make run`")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, "-m", "django", "startproject", "plain", name]
        subprocess.run(command, check=True)
        folder = Path(name)
        first = median_costs(folder, HELP, HELP, options.runs)
        numbers = median_costs(folder, STATISTICS, HELP, options.runs)
        empty = median_costs(folder, EMPTY, EMPTY, options.runs)
    rows = [
        ("`help`, CPU s", "help", [cost[0] for cost in first]),
        ("`agreement --help`, CPU s", "statistics", [cost[0] for cost in numbers]),
        ("memory of that process, MB", "memory", [cost[1] for cost in numbers]),
        ("an empty database, CPU s", "database", [cost[0] for cost in empty]),
    ]
    print("| figure | plain Django | here | ratio | required |\n|---|---|---|---|---|")
    is_missed = False
    for label, key, (plain, own) in rows:
        digits = 0 if key == "memory" else 2
        print(f"| {label} | {plain:.{digits}f} | {own:.{digits}f} | {own / plain:.1f} × | ≤ {AIMS[key]} × |")
        is_missed |= own > AIMS[key] * plain
    if not options.without_run:
        seconds, size = measure_run()
        print(f"| `make run`, until the first page | – | {seconds:.1f} s | | ≤ {FIRST_PAGE_S:.0f} s |")
        print(f"| `make run`, idle, all processes | – | {size:.0f} MB | | ≤ {IDLE_MB:.0f} MB |")
        is_missed |= seconds > FIRST_PAGE_S or size > IDLE_MB
    load = os.getloadavg()[0]
    print(f"\nMedians of {options.runs} runs in turns; load average {load:.1f} on {os.cpu_count()} cores.")
    sys.exit(is_missed)


if __name__ == "__main__":
    main()
