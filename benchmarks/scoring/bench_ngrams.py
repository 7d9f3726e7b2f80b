"""N-gram models: CPU seconds and memory of training and of loading, seconds to score 67,000 minimal pairs.

Run ``python benchmarks/scoring/bench_ngrams.py [--sentences 200000] [--order 5]``. The text is
synthetic (22 words a sentence, 50,000 word types): at 1,000,000 sentences about as many distinct n-grams as
in the published comparison (32 million up to order 5 in 22.0 million tokens), where lmplz needed 28.6 CPU
seconds and 1.1 GB on a core of this kind; lmplz is not run here. Memory is told in two parts: what the
process holds itself, and pages of its files, which the system may drop when others need room.
"""

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np  # noqa: E402

from analysis.ngrams import read_arpa, train_model, write_arpa  # noqa: E402
from analysis.ngrams.columns import Workspace  # noqa: E402
from analysis.scoring import scorer  # noqa: E402

TYPES, LENGTH, PAIRS = 50_000, 22, 67_000
STEEPNESS = 1.3
LMPLZ_CPU_SECONDS, LMPLZ_SENTENCES = 28.6, 1_000_000


def sentences(count: int, *, seed: int = 0) -> Iterator[list[str]]:
    """Give sentences of words drawn by Zipf's law."""
    rng = np.random.default_rng(seed)
    share = np.arange(1, TYPES + 1, dtype=float) ** -STEEPNESS
    cumulative = np.cumsum(share / share.sum())
    words = [f"w{number}" for number in range(TYPES)]
    for start in range(0, count, 10_000):
        rows = min(10_000, count - start)
        word_ids = np.minimum(np.searchsorted(cumulative, rng.random((rows, LENGTH))), TYPES - 1)
        for row in word_ids.tolist():
            yield [words[number] for number in row]


class Memory(threading.Thread):
    """Looks at the process ten times a second and keeps the most of each kind of memory, in GB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = {"RssAnon": 0.0, "RssFile": 0.0, "VmRSS": 0.0}
        self.ended = threading.Event()

    def run(self) -> None:
        """Look until told to end."""
        while not self.ended.wait(0.1):
            lines = Path("/proc/self/status").read_text().splitlines()
            now = {name: value for name, _, value in (line.partition(":") for line in lines)}
            for name, most in self.most.items():
                self.most[name] = max(most, int(now[name].split()[0]) / 2**20)


def train(count: int, order: int, path: Path) -> dict[str, float]:
    """Train on a text in a file, and write the model."""
    corpus = path.with_suffix(".txt")
    with corpus.open("w") as file:
        file.writelines(" ".join(words) + "\n" for words in sentences(count))
    memory = Memory()
    memory.start()
    began, wall = time.process_time(), time.perf_counter()
    with corpus.open() as file:
        model = train_model((line.split() for line in file), order=order, workspace=Workspace(path.parent))
    trained = time.process_time()
    write_arpa(model, path)
    written = time.process_time()
    memory.ended.set()
    memory.join()
    limit = LMPLZ_CPU_SECONDS * count / LMPLZ_SENTENCES
    return {
        "sentences": count,
        "order": order,
        "ngrams": sum(len(level.keys) for level in model.orders),
        "train_cpu_s": round(trained - began, 2),
        "write_cpu_s": round(written - trained, 2),
        "cpu_s": round(written - began, 2),
        "wall_s": round(time.perf_counter() - wall, 2),
        "ratio_to_lmplz_cpu": round((written - began) / limit, 2),
        "own_memory_gb": round(memory.most["RssAnon"], 2),
        "mapped_files_gb": round(memory.most["RssFile"], 2),
        "together_gb": round(memory.most["VmRSS"], 2),
        "arpa_gb": round(path.stat().st_size / 2**30, 2),
    }


def query(path: Path) -> dict[str, float]:
    """Load the model, beside cutting its lines into fields; score 67,000 pairs of eight words."""
    began = time.process_time()
    with path.open() as lines:
        fields = sum(len(line.split()) for line in lines)
    cut = time.process_time() - began
    memory = Memory()
    memory.start()
    began = time.process_time()
    model = scorer(f"arpa:{path}?engine=own")
    loaded = time.process_time() - began
    memory.ended.set()
    memory.join()
    text = [" ".join(words[:8]) for words in sentences(2 * PAIRS, seed=1)]
    start, wall = time.process_time(), time.perf_counter()
    model.score(text)
    return {
        "pairs": PAIRS,
        "fields": fields,
        "load_cpu_s": round(loaded, 2),
        "load_ratio_to_cutting_lines": round(loaded / cut, 2),
        "load_memory_gb": round(memory.most["RssAnon"], 2),
        "score_cpu_s": round(time.process_time() - start, 2),
        "score_wall_s": round(time.perf_counter() - wall, 2),
    }


def main() -> None:
    """Print the figures as JSON."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sentences", type=int, default=200_000)
    options.add_argument("--order", type=int, default=5)
    options.add_argument("--no-query", action="store_true", help="only train")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="obelus-ngrams-") as folder:
        path = Path(folder) / "model.arpa"
        measurements = {"train": train(chosen.sentences, chosen.order, path)}
        if not chosen.no_query:
            assert read_arpa(path, max_order=1).order == 1
            measurements["query"] = query(path)
        print(json.dumps(measurements, indent=2))


if __name__ == "__main__":
    main()
