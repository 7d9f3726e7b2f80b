"""CPU time and queries of lists of the API with 10,000 rows, beside another commit.

``python benchmarks/operate/bench_api_lists.py [--beside COMMIT] [--rows 10000] [--turns 5] [--lists NAMES]``

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
import gc, json, os, sys, time, uuid
sys.path.insert(0, os.getcwd())
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
django.setup()
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from experiments.models import (
    Experiment, ExperimentVersion, GeneratedPair, Item, MaterialSet, Membership, MinimalPair, OwnParadigm,
    PairSet, Paradigm, ParadigmVersion, Phenomenon, Sentence, Webhook, WebhookDelivery)
from judgments.models import Judgment, Participant, Session, Trial
from releases.models import Comparison, ExclusionPlan, Publication, Release, ScoringRun
n, now = int(sys.argv[1]), timezone.now()


def insert(rows):
    return type(rows[0]).objects.bulk_create(rows, 500)


if not User.objects.exists() if "auth_user" in connection.introspection.table_names() else True:
    call_command("migrate", verbosity=0)
    user = User.objects.create(username="ada")
    sets = insert([MaterialSet(name=f"m{i}", slug=f"m{i}", language="en", checksum=f"{i:064}", owner=user)
                   for i in range(n)])
    materials = sets[0]
    phenomenon = Phenomenon.objects.create(material_set=materials, name="p")
    paradigm = Paradigm.objects.create(material_set=materials, phenomenon=phenomenon, name="p")
    items = insert([Item(material_set=materials, paradigm=paradigm, key=str(i)) for i in range(n)])
    rows = insert([
        Sentence(material_set=materials, item=item, key=f"{item.key}-{c}", condition=c,
                 text=f"It {c} {item.key}.")
        for item in items for c in "ab"])
    insert([MinimalPair(material_set=materials, paradigm=paradigm, key=str(i),
                        good=rows[2 * i], bad=rows[2 * i + 1])
            for i in range(n)])
    fields = {"task": "likert", "owner": user}
    studies = insert([Experiment(slug=f"s{i}", title=f"Study {i}", public_slug=f"p{i}",
                                 materials=None if i else materials, **fields) for i in range(n)])
    study = studies[0]
    insert([Membership(experiment=s, user=user, role="owner") for s in studies])
    version = ExperimentVersion.objects.create(experiment=study, number=1, snapshot={}, sha256="0" * 64)
    people = insert([Participant(experiment=study, pseudonym=f"p{i}") for i in range(n // 50 or 1)])
    done = {"version": version, "status": "complete", "completed_at": now}
    sittings = insert([Session(experiment=study, participant=person, external_id=person.pseudonym, **done)
                       for person in people])
    trials = insert([Trial(session=sitting, position=i + 1, item=items[i], sentence=rows[2 * i])
                     for sitting in sittings for i in range(min(n, 50))])
    insert([Judgment(trial=trial, response="6", value=6, rt_ms=900, received_at=now) for trial in trials])
    paradigms = insert([OwnParadigm(owner=user, uid=f"own{i}", language="en") for i in range(n)])
    insert([ParadigmVersion(paradigm=row, number=1, text="t" * 1000, sha256="0" * 64) for row in paradigms])
    pair_sets = insert([PairSet(owner=user, name=f"set{i}", n_each=1, drawn_at=now) for i in range(n)])
    insert([GeneratedPair(pair_set=pair_sets[0], key=f"k{i}", paradigm="p", good="Good.", bad="Bad.",
                          fields={"sentence_good": "Good.", "sentence_bad": "Bad."}) for i in range(n)])
    webhook = Webhook.objects.create(experiment=study, address="https://example.org/hook")
    insert([WebhookDelivery(webhook=webhook, event="webhook.test", body="{}", event_id=uuid.uuid4(),
                            attempts=[{"at": "2026-01-01T00:00:00Z", "status": 204, "ms": 9, "response": ""}])
            for i in range(n)])
    steps = [{"name": "c", "rule": "rejected", "scope": "session", "parameters": {}, "on_missing": "keep"}]
    insert([ExclusionPlan(experiment=study, name=f"plan{i}", steps=steps, author=user) for i in range(n)])
    manifest = {"files": [{"path": f"file{i}.csv", "bytes": 100, "sha256": "0" * 64} for i in range(20)]}
    releases = insert([Release(experiment=study, number=i + 1, state="ready", sha256="0" * 64,
                               manifest=manifest) for i in range(n)])
    insert([Publication(release=releases[0], place="osf", target=f"t{i}", marker=uuid.uuid4())
            for i in range(n)])
    runs = insert([ScoringRun(material_set=materials, name=f"m{i}", model="table:m", created_by=user,
                              state="done") for i in range(n)])
    comparisons = insert([Comparison(release=releases[0], report={"pairs": 1, "models": []})
                          for i in range(n)])
    insert([Comparison.runs.through(comparison=c, scoringrun=r) for c, r in zip(comparisons, runs)])
client = Client()
client.force_login(User.objects.get())
study, pair_set = "studies/s0/", PairSet.objects.get(name="set0").pk
addresses = {
    "studies": "studies/",
    "material sets": "materials/",
    "sentences": "materials/m0/sentences/",
    "pairs": "materials/m0/pairs/",
    "judgments": f"{study}judgments/",
    "own paradigms": "own-paradigms/",
    "pair sets": "pair-sets/",
    "drawn pairs": f"pair-sets/{pair_set}/pairs/",
    "deliveries": f"{study}webhooks/{Webhook.objects.get().pk}/deliveries/",
    "exclusion plans": f"{study}exclusion-plans/",
    "releases": f"{study}releases/",
    "publications": f"{study}releases/1/publications/",
    "scoring runs": f"{study}scoring-runs/",
    "comparisons": f"{study}comparisons/",
}
figures = {}
for name, path in addresses.items():
    if len(sys.argv) > 2 and name not in sys.argv[2].split(","):
        continue
    client.get(f"/api/v1/{path}?page_size=10")
    gc.collect()
    answers, begin = [], time.process_time()
    for page in range(1, max(1, n // 1000) + 1):
        answers.append(client.get(f"/api/v1/{path}?page_size=1000&page={page}"))
    seconds = time.process_time() - begin
    assert {answer.status_code for answer in answers} == {200}, (path, answers[0].content[:300])
    n_rows = sum(len(answer.json()["results"]) for answer in answers)
    queries = []
    for size in (10, 1000):
        with CaptureQueriesContext(connection) as context:
            client.get(f"/api/v1/{path}?page_size={size}")
        queries.append(len(context))
    figures[name] = {"us_per_row": seconds / n_rows * 1e6, "queries": queries}
print(json.dumps(figures))
"""


def measure(checkout: Path, folder: str, options: argparse.Namespace) -> dict[str, dict[str, object]]:
    """Figures of one checkout in a process of its own."""
    environment = {**os.environ, "VAR_DIR": folder, "DATABASE_URL": "", "CELERY_BROKER_URL": "", "DEBUG": ""}
    environment |= {"API_REQUESTS_PER_MINUTE": "0", "ALLOWED_HOSTS": "testserver"}
    command = [sys.executable, "-c", MEASURE, str(options.rows), *filter(None, [options.lists])]
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
    parser.add_argument("--lists", default="", help="names with commas; all by default")
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
                    turns[name].append(measure(checkout, str(Path(folder, name)), options))
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
