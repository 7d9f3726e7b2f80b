"""Whole participant runs through our own addresses, for the load drivers of self-hosted peers.

A participant opens the link, consents as a browser with scripts does, is shown the first trial, whose page
brings the plan, sends 20 forced choices one after another (each a request of its own with all that our
engine measures), and reads the completion code, which comes with the last acknowledgement. Runs in the
drivers' environment with their folder on the path: ``bench_peers.py`` does so, and ``OBELUS_PYTHON`` names
the project's Python. Afterwards the harness looks up every acknowledged answer in the store. ``--opt dup=1``
sends every answer twice at once; ``--opt workers=2`` and ``--opt threads=8`` set the server.
"""

import asyncio
import json
import os
import re
import shutil
import sqlite3
import subprocess
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from harness import PG_PORT, TRIALS, WORK, NotAccepted, Peer, main, pct

PROJECT = Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("OBELUS_PYTHON", str(PROJECT / ".venv/bin/python"))
FOLDER = Path(WORK) / "obelus"
MADE_FROM = ("*/migrations/*.py", "*/*/migrations/*.py", "static/**/*", "tests/cast.py")
KEY = re.compile(r'name="arrival" value="([^"]+)"')
SESSION = re.compile(r'data-session="([-\w]+)"')
PLAN = re.compile(r'<script id="plan" type="application/json">(.*?)</script>', re.DOTALL)
STUDY = """
import django
django.setup()
from tests import cast
materials = cast.material_set("bench", n_items={trials})
cast.study("bench", materials=materials, n_lists=4, target_judgments=0, instructions="")
"""
STORED = """
select s.token, t.public_id, j.response from judgments_judgment j
join judgments_trial t on t.id = j.trial_id join judgments_session s on s.id = t.session_id"""


class Obelus(Peer):
    """Our server, as one more peer."""

    name = "obelus"
    port = 8106
    ready_path = "/health/ready"
    sqlite_file = str(FOLDER / "obelus.sqlite3")

    def environment(self):
        """What the server and its preparation are told."""
        return {
            "VAR_DIR": str(FOLDER),
            "DATABASE_URL": self.address("bench_obelus"),
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "LOG_LEVEL": "ERROR",
            "ARRIVALS_PER_MINUTE": "0",
        }

    def address(self, name):
        """Where the store is."""
        if self.db == "pg":
            return f"postgres://bench@127.0.0.1:{PG_PORT}/{name}"
        return f"sqlite:///{self.sqlite_file}"

    def prepare(self, n):
        """A fresh study, copied from one made once for this state of the project."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        files = (file for pattern in MADE_FROM for file in PROJECT.glob(pattern))
        stamp = int(max(file.stat().st_mtime for file in files))
        if not (FOLDER / f"static-{stamp}").exists():
            self.run(["manage.py", "collectstatic", "--no-input", "-v0"])
            (FOLDER / f"static-{stamp}").touch()
        for left in FOLDER.glob("obelus.sqlite3*"):
            left.unlink()
        if self.db == "pg":
            self.copy_database(f"bench_obelus_{stamp}")
        else:
            self.copy_file(FOLDER / f"pattern-{stamp}.sqlite3")

    def copy_file(self, pattern):
        """An open study nobody has taken part in."""
        if not pattern.exists():
            self.make_study()
            with (
                closing(sqlite3.connect(self.sqlite_file)) as copy,
                closing(sqlite3.connect(pattern)) as original,
            ):
                copy.backup(original)
        shutil.copy(pattern, self.sqlite_file)

    def copy_database(self, pattern):
        """The same on PostgreSQL, which copies a whole database."""
        self.psql("drop database if exists bench_obelus")
        if not self.psql(f"select 1 from pg_database where datname = '{pattern}'"):
            self.psql("create database bench_obelus")
            self.make_study()
            self.psql(f"alter database bench_obelus rename to {pattern}")
        self.psql(f"create database bench_obelus template {pattern}")

    def make_study(self):
        """Migrate and open a study of 20 pairs."""
        self.run(["manage.py", "migrate", "-v0"])
        self.run(["-c", STUDY.format(trials=TRIALS)])

    def run(self, arguments):
        """Run the project's Python; its complaint is ours."""
        environment = {**os.environ, **self.environment()}
        process = subprocess.run(
            [PYTHON, *arguments], cwd=PROJECT, env=environment, capture_output=True, text=True, check=False
        )
        if process.returncode:
            raise RuntimeError(process.stderr[-3000:])

    def psql(self, query):
        """What PostgreSQL answers."""
        command = ["psql", "-h", "127.0.0.1", "-p", str(PG_PORT), "-U", "bench", "-qtA", "postgres"]
        process = subprocess.run(
            [*command, "-c", query], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        return process.stdout.strip()

    def start_cmd(self):
        """The server as `make run` starts it, with one process, since there is one core."""
        workers, threads = self.opts.get("workers", "1"), self.opts.get("threads", "8")
        options = ["--port", str(self.port), "--workers", workers, "--threads", threads]
        return [PYTHON, "-m", "config.serve", *options], str(PROJECT), self.environment()

    async def warm(self):
        """Some people open a session and judge nothing: the clock measures a server in service."""

        async def look():
            async with self.http() as http:
                await self.consent(http)

        for _ in range(3):
            await asyncio.gather(*(look() for _ in range(8)))

    async def load(self, *arguments):
        """As every peer, and note how long it took until the page of the first trial was there."""
        self.shown = []
        rec = await super().load(*arguments)
        rec.status["first_trial_p50_ms"] = round(1000 * (pct(self.shown, 50) or 0), 1)
        return rec

    async def session(self, http, i, rec, state):
        """One participant from the link to the code; after a failure, from where the server stands."""
        start = time.perf_counter()
        is_new = "token" not in state
        if is_new:
            state["token"], plan = await self.consent(http)
            self.shown.append(time.perf_counter() - start)
        token = state["token"]
        address = f"{self.base}/api/v1/sessions/{token}"
        if not is_new:  # somebody comes back
            async with http.get(f"{address}/plan/") as answer:
                plan = await answer.json()
                if answer.status not in {200, 409}:
                    raise NotAccepted(f"plan {answer.status}")
        if not state.get("opened"):
            rec.open.append(time.perf_counter() - start)
            state["opened"] = True
        page = None
        for trial in plan.get("trials", ()):
            if not trial["is_answered"] and (token, trial["id"]) not in rec.acked:
                receipt = await self.judge(http, address, (token, trial), i, rec)
                page = receipt.get("page")
        if page is None:  # the engine, too, asks for it only where it did not come with the last answer
            async with http.get(f"{self.base}/s/{token}/") as answer:
                page = await answer.text()
        if 'class="code"' not in page:
            raise NotAccepted("end")

    async def consent(self, http):
        """From the link through consent to the first trial's page; gives the session's token and plan."""
        link = f"{self.base}/take/bench/"
        async with http.get(link) as answer:
            key = KEY.search(await answer.text())
            if answer.status != 200 or key is None:
                raise NotAccepted(f"link {answer.status}")
        async with http.post(link, data={"arrival": key[1], "consent": "yes", "script": "1"}) as answer:
            page = await answer.text()
            match = SESSION.search(page)
            plan = PLAN.search(page)
            if answer.status != 200 or match is None or plan is None:
                raise NotAccepted(f"consent {answer.status}")
        return match[1], json.loads(plan[1])

    async def judge(self, http, address, token_and_trial, i, rec):
        """Send one answer as the engine does, and wait until it is stored."""
        token, trial = token_and_trial
        position = trial["position"]
        choice = trial["options"][(i + position) % 2]["id"]
        now = datetime.now(UTC).isoformat()
        row = {
            "trial": trial["id"],
            "response": choice,
            "rt_ms": 812,
            "input_type": "keyboard",
            "answered_at": now,
            "timing": {
                "position": position,
                "engine": "1.0.0",
                "task_version": "1.0.0",
                "clock_step_ms": 0.1,
                "coarse_clock": False,
                "viewport": "390x844",
                "frame_ms": 16.7,
                "trusted": True,
            },
            "events": [],
        }
        body = {"judgments": [row], "sent_at": now}
        start = time.perf_counter()
        twin = self.twin(http, "POST", f"{address}/judgments/", json=body)
        async with http.post(f"{address}/judgments/", json=body) as answer:
            receipt = await answer.json(content_type=None)
            if answer.status != 200 or trial["id"] not in receipt["acknowledged"]:
                raise NotAccepted(f"judgment {answer.status} {str(receipt)[:60]}")
        waited = time.perf_counter() - start
        rec.ack.append(waited)
        rec.lat.append(waited)  # the next trial is in the browser already
        rec.acked[token, trial["id"]] = choice
        await twin
        return receipt

    def count(self):
        """Every stored answer: session, trial, response."""
        if self.db == "pg":
            import psycopg

            with psycopg.connect(self.address("bench_obelus")) as connection:
                return connection.execute(STORED).fetchall()
        with closing(sqlite3.connect(self.sqlite_file)) as connection:
            return connection.execute(STORED).fetchall()


if __name__ == "__main__":
    main(Obelus)
