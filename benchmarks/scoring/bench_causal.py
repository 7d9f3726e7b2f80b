"""Causal scoring on one core, beside minicons, lm-evaluation-harness and what the core's products allow.

Run ``PEERS_PYTHON=FOLDER/bin/python python benchmarks/scoring/bench_causal.py [--data FOLDER] [--pairs
100]``. The same model of the size of GPT-2 small and the same BLiMP pairs go through all, in turns; figures
are medians of pairs per CPU second. The bound is what the products of the model alone would take at the rate
this core reaches on them by the better of torch's two libraries; peers are told theirs by torch's own. Ends
with 1 if a sum differs by more than 1e-4 or our ways reach less than 60 % of their bounds, which a slow
machine does not change. Without ``PEERS_PYTHON`` ours is measured alone.
"""

import argparse
import os
import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np  # noqa: E402

from benchmarks.scoring import scoring_setup as setup  # noqa: E402
from benchmarks.scoring.products import VOCABULARY, WIDTH, Products, body_gflop  # noqa: E402

WAYS = ("tree", "plain", "own-head", "naive")
LEAST = 0.6  # of the bound
WANTED = {"minicons": 3.3, "lm-eval": 2.0, "bound": 0.8, "bf16": 1.8}
HEAD_GFLOP = 2 * WIDTH * VOCABULARY["gpt2"] / 1e9


def settings() -> argparse.Namespace:
    """What to measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("BLIMP", setup.DATA)))
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--paradigm", default="determiner_noun_agreement_1")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--ways", default=",".join(WAYS), help="the first is compared")
    parser.add_argument("--batches", default="2,8,32", help="of minicons; lm-eval has 16 and 32")
    return parser.parse_args()


class Pairs:
    """One set of pairs: the cases that score it, and what it costs in products."""

    def __init__(self, name: str, pairs: list[setup.Pair], models: dict[str, Any]) -> None:
        self.name, self.pairs, self.models = name, pairs, models
        self.sentences = setup.sentences_of(pairs)
        self.cases: dict[str, setup.Case] = {}
        tokenizer = models["float32"].tokenizer
        self.ids = [[0, *tokenizer(sentence)["input_ids"]] for sentence in dict.fromkeys(self.sentences)]

    def add_ours(self, way: str, dtype: str = "float32") -> None:
        """Score by one of our ways, its probe and its start left out."""
        from analysis.scoring.neural.causal_paths import PATHS

        scorer = self.models[dtype]
        path = PATHS[way](scorer.model)
        rows = [[0, *tokens] for tokens in scorer.tokenizer(self.sentences)["input_ids"]]
        distinct = list(map(list, dict.fromkeys(map(tuple, rows))))

        def run() -> setup.Floats:
            sums = dict(zip(map(tuple, distinct), (row.sum() for row in path.run(distinct)), strict=True))
            return np.array([sums[tuple(row)] for row in rows])

        name = way if dtype == "float32" else f"{way} {dtype}"
        self.cases[name] = setup.our_case(name, run)

    def add_peers(self, peer: setup.Peer, batches: list[int]) -> None:
        """Score by the others, in several sizes of batch."""
        for batch in batches:
            name = f"minicons, {batch} at once"
            self.cases[name] = peer.case(name, self.sentences, kind="causal", batch=batch)
        for batch in (16, 32):
            name = f"lm-eval, {batch} at once"
            self.cases[name] = peer.case(name, self.sentences, kind="lm-eval", batch=batch)

    def gflop(self, way: str) -> float:
        """GFLOP of a pair: every token for itself, or what the trees' nodes need."""
        from analysis.scoring.neural.trees import prefix_trees

        if way == "tree":
            sizes = [len(tree.token) for tree in prefix_trees(self.ids)]
        else:
            sizes = [len(row) - 1 for row in self.ids]
        return sum(body_gflop(n, n) + n * HEAD_GFLOP for n in sizes) / len(self.pairs)

    def best(self, system: str) -> setup.Case:
        """The quickest case of a peer."""
        return min(
            (case for name, case in self.cases.items() if name.startswith(system)),
            key=lambda case: statistics.median(case.cpu),
        )

    def rate(self, name: str) -> float:
        """Pairs per CPU second."""
        return self.cases[name].rate(len(self.pairs))

    def problems(self, products: Products, way: str) -> list[str]:
        """Print the table; give what is wrong."""
        wrong = []
        print(f"\n{self.name}: {len(self.pairs)} pairs, {self.gflop(way):.2f} GFLOP a pair by {way}")
        print(setup.HEAD)
        for name, case in self.cases.items():
            kind, _, dtype = name.partition(" ")
            beside = ""
            if kind in WAYS:
                bound = products.best(dtype or "float32") / self.gflop(kind)
                share = self.rate(name) / bound
                beside = f"{share:.0%} of the bound {bound:.1f}"
                if kind in ("tree", "plain") and not dtype and share < LEAST:
                    wrong.append(f"{self.name}: {name} reaches {share:.0%} of its bound.")
            else:
                bound = products.rates("float32")["mm"] / self.gflop("plain")
                beside = f"{self.rate(name) / bound:.0%} of the bound {bound:.1f} by torch's own products"
            print(case.line(len(self.pairs), beside=beside))
            worst = float(np.abs(case.sums - self.cases[way].sums).max())
            if not dtype and worst > setup.EQUAL or kind not in WAYS and worst > setup.EQUAL:
                wrong.append(f"{self.name}: {name} differs by {worst:.1e}.")
        self._ratios(products, way)
        return wrong

    def _ratios(self, products: Products, way: str) -> None:
        for system in ("minicons", "lm-eval"):
            if any(name.startswith(system) for name in self.cases):
                best = self.best(system)
                ratio = self.rate(way) / best.rate(len(self.pairs))
                worst = float(np.abs(best.sums - self.cases[way].sums).max())
                print(f"  {ratio:.2f} × {best.name} (wanted {WANTED[system]}); sums differ by {worst:.1e}")
        share = self.rate(way) * self.gflop(way) / products.best("float32")
        print(f"  {share:.0%} of the bound (wanted {WANTED['bound']:.0%})")
        half = f"{way} bfloat16"
        if half in self.cases:
            ratio = self.rate(half) / self.rate(way)
            rms = float(np.sqrt(np.mean((self.cases[half].sums - self.cases[way].sums) ** 2)))
            print(f"  bf16: {ratio:.2f} × float32 (wanted {WANTED['bf16']}); sums differ by {rms:.2f} rms")


def measure(options: argparse.Namespace, folder: Path) -> list[str]:
    """Make the model, run all in turns, print; give what is wrong."""
    from analysis.scoring import scorer

    paradigms = setup.read_pairs(options.data)
    setup.causal_folder(folder, setup.sentences_of([pair for each in paradigms.values() for pair in each]))
    models = {dtype: scorer(f"hf-causal:{folder}?dtype={dtype}") for dtype in ("float32", "bfloat16")}
    sets = [
        Pairs("all paradigms mixed", setup.mixed(paradigms, options.pairs), models),
        Pairs(options.paradigm, paradigms[options.paradigm][: options.pairs], models),
    ]
    ways = options.ways.split(",")
    with setup.peers(folder, ["causal", "lm-eval"]) as peer:
        for pair_set in sets:
            for way in ways if pair_set is sets[0] else ways[:1]:
                pair_set.add_ours(way)
            pair_set.add_ours(ways[0], "bfloat16")
            if peer is not None:
                pair_set.add_peers(peer, list(map(int, options.batches.split(","))))
        products = Products("float32", "bfloat16")
        for _ in range(options.repetitions):
            products.measure()
            setup.in_turns([case for pair_set in sets for case in pair_set.cases.values()], 1)
    print(products.summary())
    return [problem for pair_set in sets for problem in pair_set.problems(products, ways[0])]


if __name__ == "__main__":
    setup.run(settings(), measure)
