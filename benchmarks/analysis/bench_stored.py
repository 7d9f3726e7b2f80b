"""Agreement of ten million judgments from PostgreSQL: seconds and memory, with results counted again in SQL.

Run ``BENCH_POSTGRES=postgres://USER@HOST/DATABASE python benchmarks/analysis/bench_stored.py
[JUDGMENTS]``. It makes a database of its own (ten million need 8 GB and some minutes), reads the study in a
new process through the steps of page, command and API (frame, exclusions, report), and drops the database;
``--keep`` leaves it, and a later run with ``--keep`` reads it as it is.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.analysis import stored_choices  # noqa: E402

BOUND_S, BOUND_MIB = 20, 4096


def read() -> None:
    """Read and report once; prints one JSON document."""
    import django

    django.setup()
    from experiments.models import Experiment
    from releases.reports.compute import compute_agreement

    study = Experiment.objects.get(slug="choices")
    start, cpu = time.perf_counter(), time.process_time()
    report = compute_agreement(study, rule="blimp")
    measured = {
        "wall": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "shares": {
            paradigm["paradigm"]: paradigm["individual_agreement_pooled"] for paradigm in report["paradigms"]
        },
        "judgments": report["overall"]["judgments"],
    }
    print(json.dumps(measured))


def shares_by_sql(address: str) -> dict[str, float]:
    """Give the share of expected choices of each paradigm, by SQL alone."""
    rows = stored_choices.psql(
        address,
        "SELECT p.name || '|' || avg(j.value) FROM judgments_judgment j "
        "JOIN judgments_trial t ON t.id = j.trial_id JOIN experiments_minimalpair m ON m.id = t.pair_id "
        "JOIN experiments_paradigm p ON p.id = m.paradigm_id WHERE j.status = 'answered' GROUP BY p.name",
    )
    return {name: float(share) for name, share in (line.split("|") for line in rows.splitlines())}


def main() -> None:
    """Fill, read, compare, drop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("judgments", type=int, nargs="?", default=10_000_000)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    server = os.environ.get("BENCH_POSTGRES")
    if not server:
        print(
            "Set BENCH_POSTGRES=postgres://USER@HOST/DATABASE to read ten million judgments from PostgreSQL."
        )
        return
    address = stored_choices.make_database(server, options.judgments, keep=options.keep)
    environment = os.environ | stored_choices.surroundings(address)
    load = os.getloadavg()[0]
    process = subprocess.run(
        [sys.executable, __file__, "read"], env=environment, capture_output=True, text=True, check=False
    )
    if process.returncode:
        sys.exit(process.stderr)
    measured = json.loads(process.stdout.splitlines()[-1])
    sql_shares = shares_by_sql(address)
    gap = max(abs(measured["shares"][name] - share) for name, share in sql_shares.items())
    assert gap < 1e-9 and len(sql_shares) == len(measured["shares"]), gap
    print(
        f"{measured['judgments']} judgments from PostgreSQL to the agreement report: "
        f"{measured['wall']:.1f} s, bound {BOUND_S} s (CPU of this side {measured['cpu']:.1f} s); "
        f"peak {measured['peak']:.0f} MiB, bound {BOUND_MIB} MiB; "
        f"shares of {len(sql_shares)} paradigms differ from SQL by at most {gap:.0e}; "
        f"load average {load:.1f} on {os.cpu_count()} cores"
    )
    if not options.keep:
        stored_choices.dropped(server)


if __name__ == "__main__":
    read() if "read" in sys.argv[1:2] else main()
