"""CPU time of the web application for one participant's session, and its statements.

Run ``python benchmarks/collection/bench_session.py``; ``BENCH_POSTGRES=postgres://…/DATABASE`` adds
PostgreSQL, in which databases are made and dropped. A session is what ``bench_peers.py`` sends: link, consent
with scripts, 20 forced choices with one request each, the last of which returns the page with the code. The
requests go to ``config.wsgi.application`` without a server or socket between, so that only the application
and its database driver are measured: user and system seconds of the process.

The bound is the plain view of ``bench_load.py``, called in the same way, one row for each request.
``--beside FOLDER`` measures another checkout in turns with this one, such as an earlier commit. A session's
figure is the median of a round, then of the rounds. Cores that others use change their speed within a run:
compare figures of one run only.
"""

import argparse
import io
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TRIALS, WARM_UP = 20, 30
KEY = re.compile(r'name="arrival" value="([^"]+)"')
SESSION = re.compile(r'data-session="([-\w]+)"')
PLAN = re.compile(r'<script id="plan" type="application/json">(.*?)</script>', re.DOTALL)
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
STUDY = f"""
import django
django.setup()
from tests import cast
materials = cast.material_set("bench", n_items={TRIALS})
cast.study("bench", materials=materials, n_lists=4, target_judgments=0, instructions="")
"""
MEASUREMENTS = {
    "engine": "1.0.0",
    "task_version": "1.0.0",
    "clock_step_ms": 0.1,
    "coarse_clock": False,
    "viewport": "390x844",
    "frame_ms": 16.7,
    "trusted": True,
}


class Client:
    """Calls a WSGI application as the web server does."""

    def __init__(self, application: Any) -> None:
        self.application = application

    def send(self, method: str, path: str, body: bytes = b"", *, content_type: str = "") -> str:
        """Send a request and return the text of its response; anything but 200 ends the program."""
        status: list[str] = []
        environ = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": path,
            "QUERY_STRING": "",
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "8000",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "HTTP_HOST": "127.0.0.1:8000",
            "HTTP_ACCEPT": "*/*",
            "HTTP_USER_AGENT": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            "CONTENT_TYPE": content_type,
            "CONTENT_LENGTH": str(len(body)) if body else "",
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
        }
        response = self.application(environ, lambda line, headers, *rest: status.append(line))
        text = b"".join(response)
        if hasattr(response, "close"):
            response.close()
        if not status[0].startswith("200"):
            sys.exit(f"{method} {path}: {status[0]} {text[:300]!r}")
        return text.decode()


def session(client: Client, number: int) -> tuple[float, float]:
    """Take part once; returns the CPU seconds of opening the session and of its answers."""
    start = time.process_time()
    key = KEY.search(client.send("GET", "/take/bench/"))
    assert key is not None
    form = f"arrival={key[1]}&consent=yes&script=1".encode()
    page = client.send("POST", "/take/bench/", form, content_type=FORM)
    token, plan = SESSION.search(page), PLAN.search(page)
    opening = time.process_time() - start
    assert token is not None and plan is not None
    bodies = [_answer(trial, number) for trial in json.loads(plan[1])["trials"]]
    assert len(bodies) == TRIALS
    start = time.process_time()
    for body in bodies:
        last = client.send("POST", f"/api/v1/sessions/{token[1]}/judgments/", body, content_type=JSON)
    answering = time.process_time() - start
    receipt = json.loads(last)
    if 'class="code"' not in (receipt.get("page") or client.send("GET", receipt["next"])):
        sys.exit("the session has no code at its end")
    return opening, answering


def _answer(trial: dict[str, Any], number: int) -> bytes:
    """The body of one answer, as the engine sends it."""
    now, position = datetime.now(UTC).isoformat(), trial["position"]
    row = {
        "trial": trial["id"],
        "response": trial["options"][(number + position) % 2]["id"],
        "rt_ms": 812,
        "input_type": "keyboard",
        "answered_at": now,
        "timing": {"position": position, **MEASUREMENTS},
        "events": [],
    }
    return json.dumps({"judgments": [row], "sent_at": now}).encode()


def take_part(n_sessions: int) -> dict[str, float]:
    """In a process of its own: sessions one after another; returns CPU ms and statements of one."""
    from config.wsgi import application

    client = Client(application)
    for number in range(WARM_UP):
        session(client, number)
    seconds = [session(client, number) for number in range(n_sessions)]
    # The median, because other processes on the cores lengthen some sessions several times.
    opening, answering = (1000 * statistics.median(column) for column in zip(*seconds, strict=True))
    return {
        "session_ms": opening + answering,
        "opening_ms": opening,
        "answer_ms": answering / TRIALS,
        "statements": _n_statements(client),
    }


def _n_statements(client: Client) -> int:
    """Statements that one session sends to the database, ``BEGIN`` and ``COMMIT`` included."""
    from django.db import connection

    if connection.vendor == "sqlite":
        lines: list[str] = []
        connection.connection.set_trace_callback(lines.append)
        session(client, 0)
        return len(lines)
    with tempfile.TemporaryFile("w+") as file:
        connection.connection.pgconn.trace(file.fileno())
        session(client, 0)
        connection.connection.pgconn.untrace()
        file.seek(0)
        # A statement is one message, whether it was prepared before or not.
        return sum(line.split("\t")[3:4] in (["Execute"], ["Query"]) for line in file if "\tF\t" in line)


def insert_rows(n_rows: int) -> dict[str, float]:
    """In a process of its own: rows through the plain view; returns CPU ms of one."""
    from benchmarks.collection.plain_view import application

    client, start, prefix = Client(application), 0.0, os.getpid()
    for number in range(-100, n_rows):
        if number == 0:
            start = time.process_time()
        row = {"worker": "w", "trial": f"{prefix}-{number}", "response": "a", "rt_ms": 812.0}
        client.send("POST", "/store", json.dumps(row).encode(), content_type=JSON)
    return {"row_ms": 1000 * (time.process_time() - start) / n_rows}


class Checkout:
    """A checkout with a database of its own."""

    def __init__(self, folder: Path, url: str, data: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(folder),
            "VAR_DIR": str(data),
            "DATABASE_URL": url,
            "PLAIN_DATABASE_URL": url,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "LOG_LEVEL": "ERROR",
            "ARRIVALS_PER_MINUTE": "0",
        }

    def run(self, *arguments: str, **environment: str) -> str:
        """Run Python in the checkout; returns what it prints."""
        process = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode:
            sys.exit(process.stderr)
        return process.stdout

    def prepare(self) -> None:
        """Make the tables, the static files' manifest and an open study."""
        self.run("manage.py", "migrate", "-v0")
        self.run("manage.py", "collectstatic", "--no-input", "-v0")
        self.run("-c", STUDY)

    def measure(self, part: str, n: int) -> dict[str, float]:
        """Run one part of this program there."""
        figures: dict[str, float] = json.loads(self.run(__file__, part, str(n)).splitlines()[-1])
        return figures


def compare(label: str, checkouts: dict[str, Checkout], *, people: int, rounds: int) -> None:
    """Measure in turns, and print the median of the rounds."""
    here = checkouts["here"]
    for checkout in checkouts.values():
        checkout.prepare()
    code = "from benchmarks.collection import plain_view"
    unset = {"MAKE_TABLE": "1", "DJANGO_SETTINGS_MODULE": ""}
    here.run("-c", code, **unset)
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in [*checkouts, "plain"]}
    for _ in range(rounds):
        for name, checkout in checkouts.items():
            runs[name].append(checkout.measure("sessions", people))
        runs["plain"].append(here.measure("rows", people * TRIALS))
    rows = [run["row_ms"] for run in runs["plain"]]
    print(f"{label}, plain view: {statistics.median(rows):.3f} ms a row ({min(rows):.3f} to {max(rows):.3f})")
    for name, checkout in checkouts.items():
        totals = [run["session_ms"] for run in runs[name]]
        shares = [run["session_ms"] / row for run, row in zip(runs[name], rows, strict=True)]
        median = {key: statistics.median(run[key] for run in runs[name]) for key in runs[name][0]}
        against = [
            run["session_ms"] / other["session_ms"]
            for run, other in zip(runs["here"], runs.get("beside", runs["here"]), strict=True)
        ]
        print(
            f"{label}, {checkout.folder.name} ({name}): {median['session_ms']:.2f} CPU ms a session"
            f" ({min(totals):.2f} to {max(totals):.2f}): {median['opening_ms']:.2f} to open,"
            f" {median['answer_ms']:.3f} for each answer; {median['statements']:.0f} statements;"
            f" {statistics.median(shares):.1f} rows of the plain view"
            + (f"; here ÷ beside {statistics.median(against):.2f}" if name == "beside" else ""),
            flush=True,
        )


def main() -> None:
    """SQLite always, PostgreSQL when its address is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--people", type=int, default=100, help="sessions in each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--beside", type=Path, help="another checkout to measure in turns")
    options = parser.parse_args()
    folders = {"here": ROOT} | ({"beside": options.beside.resolve()} if options.beside else {})
    with tempfile.TemporaryDirectory() as name:
        data = Path(name)
        compare(
            "SQLite",
            {
                key: Checkout(folder, f"sqlite:///{data}/{key}.sqlite3", data / key)
                for key, folder in folders.items()
            },
            people=options.people,
            rounds=options.rounds,
        )
        if server := os.environ.get("BENCH_POSTGRES"):
            databases = {key: f"bench_session_{key}" for key in folders}
            for database in databases.values():
                subprocess.run(["psql", server, "-qc", f"DROP DATABASE IF EXISTS {database}"], check=True)
                subprocess.run(["psql", server, "-qc", f"CREATE DATABASE {database}"], check=True)
            address = server.rpartition("/")[0]
            compare(
                "PostgreSQL",
                {
                    key: Checkout(folder, f"{address}/{databases[key]}", data / f"{key}-postgres")
                    for key, folder in folders.items()
                },
                people=options.people,
                rounds=options.rounds,
            )
            for database in databases.values():
                subprocess.run(["psql", server, "-qc", f"DROP DATABASE {database}"], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["sessions"]:
        print(json.dumps(take_part(int(sys.argv[2]))))
    elif sys.argv[1:2] == ["rows"]:
        print(json.dumps(insert_rows(int(sys.argv[2]))))
    else:
        main()
