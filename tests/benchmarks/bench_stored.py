"""Agreement of ten million judgments from PostgreSQL: seconds and memory, with results counted again in SQL.

Run ``BENCH_POSTGRES=postgres://USER@HOST/DATABASE python tests/benchmarks/bench_stored.py [JUDGMENTS]``. It
makes a database of its own (ten million need 8 GB and some minutes), reads the study in a new process through
the steps of page, command and API (frame, exclusions, report), and drops the database; ``--keep`` leaves it,
and a later run with ``--keep`` reads it as it is.
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

from tests.benchmarks import stored_choices  # noqa: E402

BOUND_S, BOUND_MIB = 20, 4096


def read() -> None:
    """Read and report once; prints one JSON document."""
    import django

    django.setup()
    from experiments.models import Experiment
    from releases.reports.compute import agreement_of

    study = Experiment.objects.get(slug="choices")
    start, cpu = time.perf_counter(), time.process_time()
    report = agreement_of(study, rule="blimp")
    told = {
        "wall": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "shares": {one["paradigm"]: one["individual_agreement_pooled"] for one in report["paradigms"]},
        "judgments": report["overall"]["judgments"],
    }
    print(json.dumps(told))


def counted(address: str) -> dict[str, float]:
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
    given = parser.parse_args()
    server = os.environ.get("BENCH_POSTGRES")
    if not server:
        print(
            "Set BENCH_POSTGRES=postgres://USER@HOST/DATABASE to read ten million judgments from PostgreSQL."
        )
        return
    address = stored_choices.made(server, given.judgments, keep=given.keep)
    environment = os.environ | stored_choices.surroundings(address)
    load = os.getloadavg()[0]
    done = subprocess.run(
        [sys.executable, __file__, "read"], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    told = json.loads(done.stdout.splitlines()[-1])
    again = counted(address)
    gap = max(abs(told["shares"][name] - share) for name, share in again.items())
    assert gap < 1e-9 and len(again) == len(told["shares"]), gap
    print(
        f"{told['judgments']} judgments from PostgreSQL to the agreement report: {told['wall']:.1f} s, "
        f"bound {BOUND_S} s (CPU of this side {told['cpu']:.1f} s); peak {told['peak']:.0f} MiB, "
        f"bound {BOUND_MIB} MiB; shares of {len(again)} paradigms differ from SQL by at most {gap:.0e}; "
        f"load average {load:.1f} on {os.cpu_count()} cores"
    )
    if not given.keep:
        stored_choices.dropped(server)


if __name__ == "__main__":
    read() if "read" in sys.argv[1:2] else main()
