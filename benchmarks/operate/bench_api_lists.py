"""CPU time and queries of lists of the API with 10,000 rows, beside another commit.

``python benchmarks/operate/bench_api_lists.py [--beside COMMIT] [--rows 10000] [--turns 5]``

Both checkouts run in turns, in processes of their own, on databases that the same rows were inserted into.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
TARGET = 0.5  # of the CPU time per row
MEASURE = """
import json, os, sys, time
sys.path.insert(0, os.getcwd())
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
django.setup()
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from experiments.models import (
    Experiment, Item, MaterialSet, Membership, MinimalPair, Paradigm, Phenomenon, Sentence)
n = int(sys.argv[1])
if not User.objects.exists() if "auth_user" in connection.introspection.table_names() else True:
    call_command("migrate", verbosity=0)
    user = User.objects.create(username="ada")
    materials = MaterialSet.objects.create(name="m", slug="m", language="en", checksum="c" * 64, owner=user)
    phenomenon = Phenomenon.objects.create(material_set=materials, name="p")
    paradigm = Paradigm.objects.create(material_set=materials, phenomenon=phenomenon, name="p")
    items = Item.objects.bulk_create(
        [Item(material_set=materials, paradigm=paradigm, key=str(i)) for i in range(n)], 500)
    rows = Sentence.objects.bulk_create([
        Sentence(material_set=materials, item=item, key=f"{item.key}-{c}", condition=c,
                 text=f"It {c} {item.key}.")
        for item in items for c in "ab"], 500)
    MinimalPair.objects.bulk_create([
        MinimalPair(material_set=materials, paradigm=paradigm, key=str(i),
                    good=rows[2 * i], bad=rows[2 * i + 1])
        for i in range(n)], 500)
    studies = Experiment.objects.bulk_create([
        Experiment(slug=f"s{i}", title=f"Study {i}", owner=user, task="likert", public_slug=f"p{i}")
        for i in range(n)], 500)
    Membership.objects.bulk_create(
        [Membership(experiment=s, user=user, role="owner") for s in studies], 500)
client = Client()
client.force_login(User.objects.get())
figures, addresses = {}, {"studies": "studies/", "sentences": "materials/m/sentences/"}
for name, path in {**addresses, "pairs": "materials/m/pairs/"}.items():
    client.get(f"/api/v1/{path}?page_size=10")
    begin, n_rows = time.process_time(), 0
    for page in range(1, max(1, n // 1000) + 1):
        answer = client.get(f"/api/v1/{path}?page_size=1000&page={page}")
        assert answer.status_code == 200, answer.content[:300]
        n_rows += len(answer.json()["results"])
    seconds = time.process_time() - begin
    queries = []
    for size in (10, 1000):
        with CaptureQueriesContext(connection) as context:
            client.get(f"/api/v1/{path}?page_size={size}")
        queries.append(len(context))
    figures[name] = {"us_per_row": seconds / n_rows * 1e6, "queries": queries}
print(json.dumps(figures))
"""


def measure(checkout: Path, folder: str, rows: int) -> dict[str, dict[str, object]]:
    """Figures of one checkout in a process of its own."""
    environment = {**os.environ, "VAR_DIR": folder, "DATABASE_URL": "", "CELERY_BROKER_URL": "", "DEBUG": ""}
    environment |= {"API_REQUESTS_PER_MINUTE": "0", "ALLOWED_HOSTS": "testserver"}
    command = [sys.executable, "-c", MEASURE, str(rows)]
    run = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(run.stderr[-3000:])
    figures: dict[str, dict[str, object]] = json.loads(run.stdout.splitlines()[-1])
    return figures


def main() -> None:
    """Measure in turns, and print medians with their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", default="d06594a", help="commit to measure beside")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder, "other")
        subprocess.run(
            ["git", "worktree", "add", "-q", "--detach", other, options.beside], cwd=ROOT, check=True
        )
        try:
            checkouts = {"here": ROOT, options.beside: other}
            turns: dict[str, list[dict[str, dict[str, object]]]] = {name: [] for name in checkouts}
            for _ in range(options.turns):
                for name, checkout in checkouts.items():
                    turns[name].append(measure(checkout, str(Path(folder, name)), options.rows))
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", other], cwd=ROOT, check=True)
    for kind in turns["here"][0]:
        here, before = (
            median(float(str(turn[kind]["us_per_row"])) for turn in turns[name]) for name in checkouts
        )
        queries = turns["here"][0][kind]["queries"]
        print(
            f"{kind}: {here:.1f} µs a row here, {before:.1f} at {options.beside}: {here / before:.2f} ×"
            f" (≤ {TARGET}); queries for 10 and 1,000 rows: {queries}"
        )


if __name__ == "__main__":
    main()
