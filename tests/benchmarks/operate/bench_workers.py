"""Shards shared by worker processes: how much faster two, each pinned to a core of its own, are than one.

Run ``python tests/benchmarks/operate/bench_workers.py [--sentences 4000] [--rounds 3] [--hosts 4] [--database
URL]``. It makes a database of its own (SQLite in a folder, or the PostgreSQL address given), stores a set of
generated sentences and a causal model of random weights, and lets one process, then two (or four, as four
hosts), claim and score the shards of a run; each round clears the cache first. A process opens the model
before the clock starts, and scores with one thread. Printed are wall and CPU seconds of each round and the
ratios of the medians: of the wall time, which other load on the two cores spoils (the load at the start is
printed), and of one worker's CPU time to that of the busiest of several, which is what free cores would give
but for waits on the database.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))
NAME, SHARD = "bench-workers", 200
LAYERS, WIDTH, TYPES = 6, 384, 400
PATIENCE_S = 900  # of a round


def main() -> None:
    """Print the figures as JSON."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sentences", type=int, default=4_000)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--hosts", type=int, default=2, help="processes beside one: 2, or 4 as four hosts")
    options.add_argument("--database", default="", help="an empty database; default: SQLite in a folder")
    options.add_argument("--run", type=int, default=0, help="internal: score the shards of this run")
    chosen = options.parse_args()
    if chosen.run:
        score_as_worker(chosen.run)
        return
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        sys.exit("two workers need two cores")
    with tempfile.TemporaryDirectory(prefix="obelus-workers-") as folder:
        os.environ |= {
            "VAR_DIR": folder,
            "MODELS_DIR": f"{folder}/models",
            "DATABASE_URL": chosen.database or f"sqlite:///{folder}/bench.sqlite3",
            "SHARD_SENTENCES": str(SHARD),
            "SCORING_THREADS": "1",
        }
        # More processes than cores share them in pairs; their CPU seconds are those of cores of their own.
        hosts = [cores[number % 2] for number in range(chosen.hosts)]
        print(json.dumps(measured(Path(folder), chosen.sentences, chosen.rounds, hosts), indent=2))


def measured(folder: Path, n: int, rounds: int, cores: list[int]) -> dict[str, Any]:
    """One worker and all of them in turn, so that a slow minute of the machine falls on both."""
    load, many = os.getloadavg()[0], len(cores)
    materials = prepare(folder / "models", n)
    rounds_by_workers: dict[int, list[dict[str, float]]] = {1: [], many: []}
    for _ in range(rounds):
        for workers in (1, many):
            rounds_by_workers[workers].append(one_round(materials, cores[:workers]))
    wall = {k: statistics.median(row["wall_s"] for row in rows) for k, rows in rounds_by_workers.items()}
    cpu = {k: statistics.median(row["cpu_s"] for row in rows) for k, rows in rounds_by_workers.items()}
    busiest = statistics.median(row["busiest_cpu_s"] for row in rounds_by_workers[many])
    return {
        "sentences": n,
        "shards": -(-n // SHARD),
        "rounds": rounds,
        "load_at_start": round(load, 1),
        "one_worker": rounds_by_workers[1],
        "workers": many,
        "many_workers": rounds_by_workers[many],
        "wall_ratio": round(wall[1] / wall[many], 2),
        "ratio_on_free_cores": round(cpu[1] / busiest, 2),
        "cpu_of_many_to_one": round(cpu[many] / cpu[1], 2),
    }


def prepare(models: Path, n: int) -> int:
    """The database, a set of sentences in paradigms of one shard, and a model."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.core.management import call_command

    from experiments.models import Item, MaterialSet, Paradigm, Sentence

    call_command("migrate", verbosity=0)
    write_model(models / "random")
    texts = sentences(n)
    materials = MaterialSet.objects.create(name=NAME, slug=NAME, checksum="0" * 64)
    paradigms = [Paradigm.objects.create(material_set=materials, name=f"p{k}") for k in range(-(-n // SHARD))]
    items = Item.objects.bulk_create(
        Item(material_set=materials, paradigm=paradigms[k // SHARD], key=str(k)) for k in range(n)
    )
    Sentence.objects.bulk_create(
        Sentence(material_set=materials, item=item, key=item.key, text=text)
        for item, text in zip(items, texts, strict=True)
    )
    return materials.pk


def sentences(n: int) -> list[str]:
    """Sentences of eight words drawn at random; no two the same."""
    import numpy as np

    word_ids = np.random.default_rng(0).integers(0, TYPES, size=(n, 8))
    return [f"{k} " + " ".join(f"w{word}" for word in row) for k, row in enumerate(word_ids)]


def write_model(folder: Path) -> None:
    """A GPT-2 of six layers with seeded random weights; every word is a token."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    words = ["<s>", "<unk>", *(f"w{k}" for k in range(TYPES)), *(str(k) for k in range(20_000))]
    backend = Tokenizer(models.WordLevel({word: k for k, word in enumerate(words)}, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(words), n_embd=WIDTH, n_layer=LAYERS, n_head=6, n_positions=64,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", unk_token="<unk>")
    tokenizer.save_pretrained(folder)


def one_round(materials: int, cores: list[int]) -> dict[str, float]:
    """Plan a run on an empty cache, and let a process on each core score it."""
    from releases.models import CachedScore, ScoringRun
    from releases.scoring import execution, loaded_model
    from releases.scoring.shards import shards_of

    CachedScore.objects.all().delete()
    execution.request_helpers = lambda run, n: None
    run = ScoringRun.objects.create(
        material_set_id=materials, name=NAME, model="hf-causal:./random", state="running"
    )
    execution.create_shards(run, execution.sentences_of(run))
    loaded_model.forget()
    words = [sys.executable, __file__, "--run", str(run.pk)]
    workers = [
        subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda core=core: os.sched_setaffinity(0, {core}),
        )
        for core in cores
    ]  # fmt: skip
    begun = time.monotonic()
    watch = threading.Timer(PATIENCE_S, lambda: [worker.kill() for worker in workers])
    watch.start()
    try:
        opened = [worker.stdout.readline() for worker in workers]  # once the model is open
        tell(f"{len(cores)} at work: models open after {time.monotonic() - begun:.0f} s")
        if not all(opened):
            sys.exit(f"a worker ended before its model was open (or {PATIENCE_S} s were over): see above")
        began = time.perf_counter()
        for worker in workers:
            worker.stdin.write("go\n")
            worker.stdin.flush()
        spent = [worker.communicate()[0] for worker in workers]
        wall = time.perf_counter() - began
    finally:
        watch.cancel()
        for worker in workers:
            worker.kill()
    left = shards_of(run).exclude(state="done").count()
    tell(f"{len(cores)} at work: {wall:.1f} s, {left} shards left, load {os.getloadavg()[0]:.1f}")
    if not all(spent):
        sys.exit(f"a worker ended early (or {PATIENCE_S} s were over): see above")
    cpu = [float(seconds) for seconds in spent]
    states = set(shards_of(run).values_list("state", flat=True))
    stored = CachedScore.objects.count()
    if states != {"done"} or stored != run.n_distinct:
        sys.exit(f"not every shard was scored: {states}, {stored} of {run.n_distinct} scores")
    return {"wall_s": round(wall, 2), "cpu_s": round(sum(cpu), 2), "busiest_cpu_s": round(max(cpu), 2)}


def tell(text: str) -> None:
    """A line while it runs: on a machine that others use, a round takes minutes."""
    print(f"{time.strftime('%H:%M:%S')}  {text}", file=sys.stderr, flush=True)


def score_as_worker(number: int) -> None:
    """Open the model, wait for the word, score until no shard is left, and say the CPU seconds it took."""
    import django

    django.setup()
    from releases.models import ScoringRun
    from releases.scoring import execution, loaded_model

    loaded_model.model_of(ScoringRun.objects.get(pk=number)).score(["w1 w2", "w1 w3"])
    print("open", flush=True)
    sys.stdin.readline()
    began = time.process_time()
    while execution.score_next_shard(number):
        pass
    print(time.process_time() - began, flush=True)


if __name__ == "__main__":
    main()
