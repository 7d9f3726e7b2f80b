"""A scoring run whose workers are all killed halfway: what is scored again, and what is lost.

Run ``python benchmarks/operate/bench_resumption.py [--pairs 67000] [--database URL]``. Two processes, each
with a folder of data and of models of its own as two hosts have, score the sentences of the pairs with a
trigram through one database (SQLite in a folder, or the empty PostgreSQL database given). One is killed by
SIGKILL when a quarter of the scores are stored, the other at a half; two others finish. Ends with 1 if a
sentence has no score, or if more shards than the two that were under way are scored again.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
MODEL, STALE_S, PATIENCE_S = "trigram.arpa", 10, 900


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=67_000)
    parser.add_argument("--database", default="", help="an empty database; default: SQLite in a folder")
    parser.add_argument("--run", type=int, default=0, help="internal: the run to take part in")
    options = parser.parse_args()
    if options.run:
        take_part(options.run)
        return
    with tempfile.TemporaryDirectory(prefix="obelus-resumption-") as folder:
        hosts = [Path(folder) / name for name in ("first", "second")]
        os.environ |= {
            "DATABASE_URL": options.database or f"sqlite:///{folder}/bench.sqlite3",
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "JOB_STALE_SECONDS": str(STALE_S),
            **environment(hosts[0]),
        }
        import django

        django.setup()
        raise SystemExit(measure(2 * options.pairs, hosts))


def environment(host: Path) -> dict[str, str]:
    """Return the settings that differ between hosts."""
    return {"VAR_DIR": str(host), "MODELS_DIR": str(host / "models")}


def take_part(run: int) -> None:
    """Score shards until none is left."""
    import django

    django.setup()
    from releases.scoring.execution import score_next_shard

    while score_next_shard(run):
        pass


def measure(n_sentences: int, hosts: list[Path]) -> bool:
    """Kill both workers, let two others finish, print; return whether something is wrong."""
    from django.core.management import call_command

    from releases.models import CachedScore
    from releases.scoring.shards import run_shards

    call_command("migrate", verbosity=0)
    run = planned_run(n_sentences, hosts)
    begun = time.monotonic()
    for number, worker in enumerate([start(host, run.pk) for host in hosts], start=1):
        while CachedScore.objects.count() < n_sentences * number // 4 and worker.poll() is None:
            time.sleep(0.1)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        print(f"worker {number} killed at {CachedScore.objects.count():,} scores")
    time.sleep(STALE_S + 1)  # until their shards can be claimed
    for worker in [start(host, run.pk) for host in hosts]:
        worker.wait(PATIENCE_S)
    attempts = list(run_shards(run).values_list("attempts", flat=True))
    n_scores, n_again = CachedScore.objects.count(), sum(n > 1 for n in attempts)
    print(
        f"{n_scores:,} of {n_sentences:,} sentences scored in {time.monotonic() - begun:.0f} s; {n_again} of "
        f"{len(attempts)} shards more than once"
    )
    return n_scores != n_sentences or n_again > len(hosts)


def planned_run(n_sentences: int, hosts: list[Path]) -> Any:
    """Return a run with its shards; the model is in the folder of every host."""
    from analysis.ngrams import train_model, write_arpa
    from benchmarks.operate.bench_workers import sentences
    from experiments.models import Item, MaterialSet, Paradigm, Sentence
    from releases.models import ScoringRun
    from releases.scoring import execution

    texts = sentences(n_sentences)
    for host in hosts:
        (host / "models").mkdir(parents=True)
    write_arpa(train_model((text.split()[1:] for text in texts[:5000]), order=3), hosts[0] / "models" / MODEL)
    shutil.copy(hosts[0] / "models" / MODEL, hosts[1] / "models")
    materials = MaterialSet.objects.create(name="resumption", slug="resumption", checksum="0" * 64)
    paradigms = [Paradigm.objects.create(material_set=materials, name=f"p{number}") for number in range(67)]
    items = [
        Item(material_set=materials, paradigm=paradigms[number % 67], key=str(number))
        for number in range(n_sentences)
    ]
    Item.objects.bulk_create(items, batch_size=5000)
    Sentence.objects.bulk_create(
        (
            Sentence(material_set=materials, item=item, key=item.key, text=text)
            for item, text in zip(items, texts, strict=True)
        ),
        batch_size=5000,
    )
    execution.request_helpers = lambda run, n: None
    run = ScoringRun.objects.create(
        material_set=materials, name="resumption", model=f"arpa:./{MODEL}", state="running"
    )
    execution.create_shards(run, execution.run_sentences(run))
    return run


def start(host: Path, run: int) -> subprocess.Popen[bytes]:
    """Start a worker on a host."""
    words = [sys.executable, __file__, "--run", str(run)]
    return subprocess.Popen(words, env=os.environ | environment(host))


if __name__ == "__main__":
    main()
