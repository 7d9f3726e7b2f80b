"""Send invalid data to the API, participants' addresses and uploads; exit status 1 with a fault.

Run ``python -m tools.fuzz --cases 10000 --seed 1``. Faults: a status of 5xx, a response that the OpenAPI
document does not know, an operation in no sequence, no response, an upload of more than 30 s, a job without
an explained end, a process of the server or the worker above the memory limit, requests that slow clients
delay.
"""

import argparse
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tools.fuzz.api import fuzz_operations, fuzz_sequences
from tools.fuzz.participants import fuzz_participants
from tools.fuzz.site import Site, running_site
from tools.fuzz.slow_clients import slow_clients
from tools.fuzz.uploads import fuzz_uploads

PEAK_BYTES = 1_500_000_000
N_UPLOADS = 200
#: In this order. Uploads come first: the worker runs during them only, and the other parts queue jobs.
PARTS = ("uploads", "api", "sequences", "participants", "slow")


def run_part(name: str, site: Site, *, cases: int, seed: int) -> tuple[Counter[int], list[str]]:
    """Statuses and faults of one part."""
    simple: dict[str, Callable[..., tuple[Counter[int], list[str]]]] = {
        "participants": fuzz_participants,
        "uploads": fuzz_uploads,
    }
    if name in simple:
        n = min(cases, N_UPLOADS) if name == "uploads" else cases
        return simple[name](site, cases=n, seed_number=seed)
    if name == "slow":
        slow_faults, notes = slow_clients(site)
        for note in notes:
            print(f"  slow clients: {note}")
        return Counter(), slow_faults
    fuzz = fuzz_operations if name == "api" else fuzz_sequences
    by_operation, faults = fuzz(site, cases=cases, seed_number=seed)
    if name == "sequences":  # the other part prints each operation when it is through
        for operation, statuses in sorted(by_operation.items()):
            print(f"  {operation:70} {dict(sorted(statuses.items()))}")
    for operation, statuses in sorted(by_operation.items()):
        if not any(200 <= status < 300 for status in statuses):
            print(f"  never 2xx: {operation}")
    total = sum((Counter(statuses) for statuses in by_operation.values()), Counter[int]())
    return total, [f"{operation}: {fault}" for operation, fault in faults.items()]


def memory(site: Site) -> str:
    """The most memory of one process, by service."""
    peaks = site.peaks_by_service()
    return ", ".join(f"{name} {n_bytes / 1e6:.0f} MB" for name, n_bytes in peaks.items())


def main() -> int:
    """Run the parts one after the other against one platform."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=10_000, help="of the API and of participants' addresses")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    options = parser.parse_args()
    chosen = options.only.split(",")
    if unknown := set(chosen) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    seed = secrets.randbelow(10**6) if options.seed is None else options.seed
    print(f"seed {seed}")
    n_faults = 0
    with tempfile.TemporaryDirectory() as folder, running_site(Path(folder)) as site:
        for name in [part for part in PARTS if part in chosen]:
            started = time.monotonic()
            statuses, faults = run_part(name, site, cases=options.cases, seed=seed)
            print(
                f"{name}: {sum(statuses.values()):,} requests in {time.monotonic() - started:.0f} s, "
                f"{dict(sorted(statuses.items()))}, {len(faults)} faults, "
                f"peak memory {site.peak_bytes() / 1e6:.0f} MB ({memory(site)})",
                flush=True,
            )
            if site.peak_bytes() > PEAK_BYTES:
                faults.append(f"a process held {site.peak_bytes() / 1e6:.0f} MB")
            for fault in faults[:30]:
                print(f"  FAULT {fault}")
            n_faults += len(faults)
    return int(n_faults > 0)


if __name__ == "__main__":
    sys.exit(main())
