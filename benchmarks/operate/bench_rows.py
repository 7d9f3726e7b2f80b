"""How much of a disk judgments take: rows a gigabyte on SQLite and PostgreSQL, all tables included.

Run ``python benchmarks/operate/bench_rows.py [--people 200]``; ``BENCH_POSTGRES=postgres://…/DATABASE``
adds PostgreSQL as well, in a database of its own. People take part in a study of 40 pairs through the
functions of the web server: participant, consent, session, 40 trials and 40 judgments with what the browser
measures. Printed are bytes for each judgment (its share of all these rows and their indexes), judgments a
gigabyte, and the largest tables; the space that unfilled pages and the write-ahead log take is left out.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
DATABASE, N_PAIRS = "bench_rows", 40
MEASURED = {"focus_lost_ms": 0, "clock_step_ms": 0.1, "frames_late": 0}


def main() -> None:
    """Print one JSON line for each database."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--people", type=int, default=200)
    options.add_argument("--fill", action="store_true", help="internal: fill the database of the environment")
    chosen = options.parse_args()
    if chosen.fill:
        print(json.dumps(filled(chosen.people)))
        return
    with tempfile.TemporaryDirectory(prefix="obelus-rows-") as folder:
        print(measured("SQLite", f"sqlite:///{folder}/rows.sqlite3", folder, chosen.people), flush=True)
        if server := os.environ.get("BENCH_POSTGRES"):
            drop = f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)"
            subprocess.run(["psql", server, "-qc", drop, "-c", f"CREATE DATABASE {DATABASE}"], check=True)
            address = f"{server.rpartition('/')[0]}/{DATABASE}"
            print(measured("PostgreSQL", address, folder, chosen.people), flush=True)
            subprocess.run(["psql", server, "-qc", drop], check=True)


def measured(label: str, address: str, folder: str, people: int) -> str:
    """Fill a database in a process of its own."""
    environment = {
        **os.environ,
        "DATABASE_URL": address,
        "VAR_DIR": folder,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "ARRIVALS_PER_MINUTE": "0",
    }
    words = [sys.executable, __file__, "--fill", "--people", str(people)]
    output = subprocess.run(words, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    return f"{label}: {output.strip().splitlines()[-1]}"


def filled(people: int) -> dict[str, Any]:
    """Let people take part; the growth of the database."""
    import time

    import django

    django.setup()
    from django.core.management import call_command

    from judgments.models import Judgment
    from tests import cast

    call_command("migrate", verbosity=0)
    study = cast.study(
        "rows", materials=cast.material_set("rows", n_items=N_PAIRS), n_lists=4, target_judgments=0
    )
    for number in range(5):  # tables and indexes have their first pages
        take_part(study, f"early {number}")
    before, n_before, began = sizes(), Judgment.objects.count(), time.process_time()
    for number in range(people):
        take_part(study, f"person {number}")
    seconds = time.process_time() - began
    grown = {name: size - before.get(name, 0) for name, size in sizes().items()}
    n = Judgment.objects.count() - n_before
    total = sum(grown.values())
    return {
        "judgments": n,
        "bytes_a_judgment": round(total / n),
        "judgments_a_gb": round(1e9 / (total / n), -4),
        "largest": {
            name: round(size / n) for name, size in sorted(grown.items(), key=lambda row: -row[1])[:5]
        },
        "cpu_s_per_1000_of_this_process": round(1000 * seconds / n, 2),
    }


def take_part(study: Any, name: str) -> None:
    """One session of 40 answers, each sent by itself."""
    from judgments.sessions.completion import finish
    from judgments.sessions.payload import SentAnswer
    from judgments.sessions.recording import record_answers
    from tests import cast

    session = cast.begin(study, name, user_agent="Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101")
    for trial in session.trials.select_related("session__experiment"):
        answer = SentAnswer(
            trial.public_id, cast.answer_to(trial), rt_ms=1234, input_type="keyboard", timing=MEASURED
        )
        record_answers(session.token, [answer])
    finish(session)


def sizes() -> dict[str, int]:
    """Bytes of each table with its indexes."""
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r'")
            return dict(cursor.fetchall())
        cursor.execute("SELECT tbl_name, sum(pgsize) FROM dbstat JOIN sqlite_master USING (name) GROUP BY 1")
        return dict(cursor.fetchall())


if __name__ == "__main__":
    main()
