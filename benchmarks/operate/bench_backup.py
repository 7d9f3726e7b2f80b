"""Time and memory of a backup and of its restore with a million judgments, on a PostgreSQL of its own.

Run ``python benchmarks/operate/bench_backup.py [--judgments 1000000]``. Both commands run as an
administrator runs them; memory is the largest resident size of their process. The restored rows have the
checksums of the backup, because ``manage.py restore`` ends with an error otherwise. Bound: 600 MB, whatever
the size.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.analysis import stored_choices  # noqa: E402
from benchmarks.soak.cluster import make_cluster  # noqa: E402
from benchmarks.soak.services import database, free_port  # noqa: E402

BOUND_MB = 600
RESTORED = "bench_restored"


def measure(address: str, var: Path, *command: str) -> tuple[dict[str, Any], float, float]:
    """The document that a command prints, its seconds, and its largest resident size in MB."""
    environment = {**os.environ, **stored_choices.surroundings(address), "VAR_DIR": str(var)}
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", *command, "--json"], cwd=ROOT, env=environment, stdout=output
        )
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            sys.exit(f"{command[0]} failed")
        output.seek(0)
        return json.load(output), time.monotonic() - start, _megabytes(usage)


def _megabytes(usage: resource.struct_rusage) -> float:
    # Unit: Linux counts kilobytes.
    return usage.ru_maxrss / 1000


def main() -> None:
    """Measure and compare with the bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgments", type=int, default=1_000_000)
    n = parser.parse_args().judgments
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cluster = make_cluster(folder, free_port())
        service = database(cluster, folder)
        try:
            stored_choices.wait_for(cluster.url)
            address = stored_choices.make_database(cluster.url, n)
            stored_choices.psql(cluster.url, f"CREATE DATABASE {RESTORED}")
            there = f"{cluster.url.rpartition('/')[0]}/{RESTORED}"
            backup, backup_s, backup_mb = measure(address, folder / "a", "backup", "--to", name)
            _, restore_s, restore_mb = measure(there, folder / "b", "restore", backup["file"])
        finally:
            service.stop()
    print(
        f"{n} judgments, {backup['rows']} rows, a file of {backup['size'] / 1e6:.0f} MB; load average"
        f" {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n"
        f"backup with verification: {backup_s:.0f} s, {backup_mb:.0f} MB of memory\n"
        f"restore with comparison: {restore_s:.0f} s, {restore_mb:.0f} MB; bound {BOUND_MB} MB"
    )
    sys.exit(max(backup_mb, restore_mb) > BOUND_MB)


if __name__ == "__main__":
    main()
