"""Work shared by worker processes: how much faster two, each pinned to a core of its own, are than one.

Run ``python benchmarks/operate/bench_workers.py [--work imports] [--size N] [--rounds 3] [--hosts 4]
[--database URL]``. It makes a database of its own (SQLite in a folder, or in the empty PostgreSQL database
given) and lets one process, then two (or four, as four hosts), do the same work:

- ``scoring``: claim and score the shards of a run of ``--size`` sentences with a causal model of random
  weights; each round clears the cache first. A process opens the model before the clock starts, and scores
  with one thread.
- ``imports``: take queued jobs, each the import of an upload of ``--size`` pairs in a JSONL file. A process
  imports one small file before the clock starts.

Printed are wall and CPU seconds of each round and the ratios of the medians: of the wall time, which other
load on the two cores spoils (the load at the start is printed), and of one worker's CPU time to that of the
busiest of several, which is what free cores would give but for waits on the database. Cores that share caches
or a physical core do less together than twice the work of one; so for scoring the same ratios are printed of
processes that share no run and no database (``bound``): each scores its part of the sentences in memory.
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

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
NAME, SHARD = "bench-workers", 200
LAYERS, WIDTH, TYPES = 6, 384, 400
UPLOADS = 8  # imports of a round
N_WORKERS = "BENCH_WORKERS"  # tells a process how many take part
SIZES = {"scoring": 4_000, "imports": 5_000}
PATIENCE_S = 900  # of a round


def main() -> None:
    """Print the figures as JSON."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--work", choices=["scoring", "imports", "unshared"], default="scoring")
    options.add_argument("--size", type=int, help="sentences to score, or pairs of each upload")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--hosts", type=int, default=2, help="processes beside one: 2, or 4 as four hosts")
    options.add_argument("--database", default="", help="an empty database; default: SQLite in a folder")
    options.add_argument("--part", type=int, default=0, help="internal: the run or imports to take part in")
    chosen = options.parse_args()
    chosen.size = chosen.size or SIZES.get(chosen.work, 0)
    if chosen.part:
        take_part(WORK[chosen.work](), chosen.part)
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
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        # More processes than cores share them in pairs; their CPU seconds are those of cores of their own.
        hosts = [cores[number % 2] for number in range(chosen.hosts)]
        work = WORK[chosen.work]()
        work.prepare(Path(folder), chosen.size)
        figures = {"work": work.name, "size": chosen.size, "parts": work.n_parts, "rounds": chosen.rounds}
        print(json.dumps(figures | measured(work, chosen.rounds, hosts), indent=2))


def measured(work: "Scoring | Imports", rounds: int, cores: list[int]) -> dict[str, Any]:
    """One worker and all of them in turn, so that a slow minute of the machine falls on both."""
    load, many = os.getloadavg()[0], len(cores)
    bound = Unshared(work) if isinstance(work, Scoring) else None
    kinds = [kind for kind in (work, bound) if kind]
    times: dict[tuple[str, int], list[dict[str, float]]] = {}
    for _ in range(rounds):
        for kind in kinds:
            for workers in (1, many):
                row = one_round(kind, cores[:workers])
                times.setdefault((kind.name, workers), []).append(row)
    figures = {
        "load_at_start": round(load, 1),
        "one_worker": times[work.name, 1],
        "workers": many,
        "many_workers": times[work.name, many],
        **ratios(times[work.name, 1], times[work.name, many]),
    }
    return figures | ({"bound": ratios(times[bound.name, 1], times[bound.name, many])} if bound else {})


def ratios(one: list[dict[str, float]], many: list[dict[str, float]]) -> dict[str, float]:
    """How much faster several processes were than one, from the medians of their rounds."""
    alone, shared = (
        {name: statistics.median(row[name] for row in rows) for name in rows[0]} for rows in (one, many)
    )
    return {
        "wall_ratio": round(alone["wall_s"] / shared["wall_s"], 2),
        "ratio_on_free_cores": round(alone["cpu_s"] / shared["busiest_cpu_s"], 2),
        "cpu_of_many_to_one": round(shared["cpu_s"] / alone["cpu_s"], 2),
    }


class Scoring:
    """Score the sentences of a set, shard by shard."""

    name = "scoring"

    def prepare(self, folder: Path, size: int) -> None:
        """A set of sentences in paradigms of one shard, and a model."""
        from experiments.models import Item, MaterialSet, Paradigm, Sentence

        write_model(folder / "models" / "random")
        self.size, self.n_parts = size, -(-size // SHARD)
        self.materials = MaterialSet.objects.create(name=NAME, slug=NAME, checksum="0" * 64)
        paradigms = [
            Paradigm.objects.create(material_set=self.materials, name=f"p{k}") for k in range(self.n_parts)
        ]
        items = Item.objects.bulk_create(
            Item(material_set=self.materials, paradigm=paradigms[k // SHARD], key=str(k)) for k in range(size)
        )
        Sentence.objects.bulk_create(
            Sentence(material_set=self.materials, item=item, key=item.key, text=text)
            for item, text in zip(items, sentences(size), strict=True)
        )

    def begin(self) -> int:
        """Plan a run on an empty cache."""
        from releases.models import CachedScore, ScoringRun
        from releases.scoring import execution, loaded_model

        CachedScore.objects.all().delete()
        execution.request_helpers = lambda run, n: None
        run = ScoringRun.objects.create(
            material_set=self.materials, name=NAME, model="hf-causal:./random", state="running"
        )
        execution.create_shards(run, execution.run_sentences(run))
        loaded_model.forget()
        return int(run.pk)

    def warm_up(self, number: int) -> None:
        """Open the model."""
        from releases.models import ScoringRun
        from releases.scoring import loaded_model

        loaded_model.load_model(ScoringRun.objects.get(pk=number)).score(["w1 w2", "w1 w3"])

    def do(self, number: int) -> None:
        """Score until no shard is left."""
        from releases.scoring import execution

        while execution.score_next_shard(number):
            pass

    def left(self, number: int) -> int:
        """Shards that are not scored, and distinct sentences without a score."""
        from releases.models import CachedScore, ScoringRun
        from releases.scoring.shards import run_shards

        run = ScoringRun.objects.get(pk=number)
        unscored = run.n_distinct - CachedScore.objects.count()
        return int(run_shards(run).exclude(state="done").count() + unscored)


class Unshared(Scoring):
    """Score in memory, each process its own part of the sentences: the most that several can give."""

    name = "unshared"

    def __init__(self, planned: Scoring | None = None) -> None:
        if planned is not None:
            self.materials, self.size = planned.materials, planned.size

    def warm_up(self, number: int) -> None:
        """Open the model, and keep the sentences of this process."""
        from releases.models import ScoringRun
        from releases.scoring import loaded_model

        super().warm_up(number)
        run = ScoringRun.objects.get(pk=number)
        self.model = loaded_model.load_model(run)
        self.texts = sentences(run.n_distinct)[: run.n_distinct // int(os.environ[N_WORKERS])]

    def do(self, number: int) -> None:
        """Score them in batches of a shard."""
        for start in range(0, len(self.texts), SHARD):
            self.model.score(self.texts[start : start + SHARD])

    def left(self, number: int) -> int:
        """Nothing is stored."""
        return 0


class Imports:
    """Import uploads, each a job."""

    name, n_parts = "imports", UPLOADS

    def prepare(self, folder: Path, size: int) -> None:
        """The researcher who uploads, and the number of rounds begun."""
        from django.contrib.auth import get_user_model

        self.user = get_user_model().objects.create_user(NAME)
        self.size, self.n_begun = size, 0

    def begin(self) -> int:
        """Queue the imports of a round; its number is the oldest job's."""
        self.n_begun += 1
        return min(self._queued(f"{self.n_begun}-{k}", self.size) for k in range(UPLOADS))

    def _queued(self, name: str, n: int) -> int:
        """The job of importing an upload of n pairs."""
        from django.core.files.base import ContentFile

        from experiments.intake import previews
        from experiments.intake.uploads import save_uploads

        texts = sentences(2 * n)
        pairs = [
            {"sentence_good": good, "sentence_bad": bad, "UID": f"p{k // 1000}", "pairID": str(k)}
            for k, (good, bad) in enumerate(zip(texts[::2], texts[1::2], strict=True))
        ]
        lines = "".join(json.dumps(pair) + "\n" for pair in pairs)
        file = ContentFile(lines.encode(), name=f"{name}.jsonl")
        options = {"name": f"{NAME} {name}", "language": "en"}
        uploads = save_uploads(self.user, [file], purpose=previews.PURPOSE, options=options)
        return int(previews.import_later(uploads).pk)

    def warm_up(self, number: int) -> None:
        """Import one small upload, whose name the process makes its own."""
        from django.contrib.auth import get_user_model

        from experiments.operation import job_runner

        self.user = get_user_model().objects.get(username=NAME)
        job_runner.run(self._queued(f"warm-up-{os.getpid()}", 50))

    def do(self, number: int) -> None:
        """Take jobs of the round, oldest first, until none is queued."""
        from experiments.models import Job
        from experiments.operation import job_runner

        round_jobs = Job.objects.filter(pk__range=(number, number + UPLOADS - 1), state=Job.State.QUEUED)
        while (oldest := round_jobs.order_by("pk").first()) is not None:
            job_runner.run(oldest.pk)  # does nothing where the other process was faster

    def left(self, number: int) -> int:
        """Jobs of the round that did not import every pair."""
        from experiments.models import Job, MinimalPair

        done = Job.objects.filter(pk__range=(number, number + UPLOADS - 1), state=Job.State.DONE)
        slugs = [row.result["slug"] for row in done]
        complete = MinimalPair.objects.filter(material_set__slug__in=slugs).count() == UPLOADS * self.size
        return UPLOADS - len(slugs) + (not complete)


WORK: dict[str, type[Scoring] | type[Imports]] = {
    "scoring": Scoring,
    "imports": Imports,
    "unshared": Unshared,
}


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


def one_round(work: Scoring | Imports, cores: list[int]) -> dict[str, float]:
    """Begin a round, and let a process on each core take part in it."""
    number = work.begin()
    words = [sys.executable, __file__, "--work", work.name, "--part", str(number)]
    workers = [
        subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | {N_WORKERS: str(len(cores))},
            preexec_fn=lambda core=core: os.sched_setaffinity(0, {core}),
        )
        for core in cores
    ]  # fmt: skip
    begun = time.monotonic()
    watch = threading.Timer(PATIENCE_S, lambda: [worker.kill() for worker in workers])
    watch.start()
    try:
        ready = [worker.stdout.readline() for worker in workers]
        tell(f"{len(cores)} at work: ready after {time.monotonic() - begun:.0f} s")
        if not all(ready):
            sys.exit(f"a worker ended before it was ready (or {PATIENCE_S} s were over): see above")
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
    tell(f"{len(cores)} at work: {wall:.1f} s, load {os.getloadavg()[0]:.1f}")
    if not all(spent):
        sys.exit(f"a worker ended early (or {PATIENCE_S} s were over): see above")
    if left := work.left(number):
        sys.exit(f"{left} parts were left undone")
    cpu = [float(seconds) for seconds in spent]
    return {"wall_s": round(wall, 2), "cpu_s": round(sum(cpu), 2), "busiest_cpu_s": round(max(cpu), 2)}


def tell(text: str) -> None:
    """A line while it runs: on a machine that others use, a round takes minutes."""
    print(f"{time.strftime('%H:%M:%S')}  {text}", file=sys.stderr, flush=True)


def take_part(work: Scoring | Imports, number: int) -> None:
    """Get ready, wait for the word, work until nothing is left, and say the CPU seconds it took."""
    import django

    django.setup()
    work.warm_up(number)
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.process_time()
    work.do(number)
    print(time.process_time() - began, flush=True)


if __name__ == "__main__":
    main()
