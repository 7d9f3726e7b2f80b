"""Figures and results pages of 250,000 judgments: wall and CPU seconds, the first time and the second.

Run ``BENCH_POSTGRES=postgres://USER@HOST/DATABASE python benchmarks/analysis/bench_figures.py
[JUDGMENTS]``. It makes a database of its own and drops it; ``--keep`` leaves it. The bounds are 4 s, then 0.3
s.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.analysis import stored_choices  # noqa: E402

FIRST_S, NEXT_S = 4.0, 0.3
PAGES = (
    "agreement",
    "items",
    "exclusions",
    "reliability",
    "effects",
    "power",
    "figures",
    "live",
    "progress",
    "participants",
)


def measure() -> list[tuple[str, list[tuple[float, float]]]]:
    """Request every page and figure twice through Django's test client, in a process of its own caches."""
    import django

    django.setup()
    from django.conf import settings
    from django.test import Client
    from django.urls import reverse

    from analysis.figures import FIGURES
    from experiments.models import Experiment
    from tests import cast

    settings.ALLOWED_HOSTS = ["*"]
    client, study = Client(), Experiment.objects.get(slug="choices")
    client.force_login(cast.ada())
    addresses = [reverse(f"study-{name}", args=[study.slug]) for name in PAGES]
    addresses += [
        reverse("study-figure", args=[study.slug, name, "svg"]) + "?width=half"
        for name, drawing in FIGURES.items()
        if drawing.about == "study"
    ]
    client.get(reverse("study", args=[study.slug]))  # imports and templates
    return [(address, [_request(client, address) for _ in range(2)]) for address in addresses]


def _request(client: Any, address: str) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    answer = client.get(address)
    if "Refresh" in answer.headers:  # the page that names the work; a browser asks again
        print(f"{address:<70} names the work after {time.perf_counter() - wall:.2f} s")
        answer = client.get(address)
    assert answer.status_code == 200, address
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    """Fill, request, print, drop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("judgments", type=int, nargs="?", default=250_000)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    server = os.environ.get("BENCH_POSTGRES", "")
    if not server:
        sys.exit("Give a PostgreSQL server in BENCH_POSTGRES.")
    stored_choices.DATABASE = "bench_figures"
    address = stored_choices.make_database(server, options.judgments, paradigms=67, keep=options.keep)
    os.environ.update(stored_choices.surroundings(address))
    print(f"{options.judgments:,} judgments; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for name, ((first, first_cpu), (later, later_cpu)) in measure():
        marks = f"{'over' if first > FIRST_S else 'ok':>5} {'over' if later > NEXT_S else 'ok':>5}"
        times = f"{first:6.2f} s (CPU {first_cpu:.2f}) then {later:5.2f} s (CPU {later_cpu:.2f})"
        print(f"{name:62} {times} {marks}")

    if not options.keep:
        from django.db import connections

        connections.close_all()
        stored_choices.dropped(server)


if __name__ == "__main__":
    main()
