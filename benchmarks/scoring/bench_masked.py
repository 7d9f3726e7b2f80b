"""Masked scoring on one core, beside minicons and what the core's products allow.

Run ``PEERS_PYTHON=FOLDER/bin/python python benchmarks/scoring/bench_masked.py [--data FOLDER] [--pairs
20]``. The same model of the size of BERT base and the same BLiMP pairs go through both, in turns, by the
original pseudo-log-likelihood and by word-l2r; figures are medians of pairs per CPU second. minicons 0.3.39
needs a method that transformers 5 dropped, which its driver puts back. The bound takes the better of torch's
two libraries for products; peers are told their share by torch's own. Ends with 1 if a sum differs by more
than 1e-4 or ours reaches less than 60 % of its bound. Without ``PEERS_PYTHON`` ours is measured alone.
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

METHODS = {"pll": "original", "pll-l2r": "within_word_l2r"}  # ours: theirs
LEAST, WANTED_RATIO, WANTED_SHARE = 0.6, 1.45, 0.85
HEAD_GFLOP = 2 * WIDTH * (WIDTH + VOCABULARY["bert"]) / 1e9


def settings() -> argparse.Namespace:
    """What to measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("BLIMP", setup.DATA)))
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--batches", default="1,2,4", help="sentences at once of minicons")
    return parser.parse_args()


def gflop(scorer: Any, sentences: list[str]) -> float:
    """GFLOP of all masked copies, each for itself: two marks stand around a sentence."""
    lengths = [len(ids) for ids in scorer.tokenizer(sentences, add_special_tokens=False)["input_ids"]]
    return sum(n * (body_gflop(n + 2, n + 2) + HEAD_GFLOP) for n in lengths)


def problems_of(
    our_case: setup.Case, peer_cases: list[setup.Case], count: int, work: float, products: Products
) -> list[str]:
    """Print the table of one method; give what is wrong."""
    bound, torch_bound = products.best("float32") / work, products.rates("float32")["mm"] / work
    share, wrong = our_case.rate(count) / bound, []
    print(setup.HEAD)
    print(our_case.line(count, beside=f"{share:.0%} of the bound {bound:.2f} (wanted {WANTED_SHARE:.0%})"))
    if share < LEAST:
        wrong.append(f"{our_case.name} reaches {share:.0%} of its bound.")
    for case in peer_cases:
        beside = (
            f"{case.rate(count) / torch_bound:.0%} of the bound {torch_bound:.2f} by torch's own products"
        )
        print(case.line(count, beside=beside))
        worst = float(np.abs(case.sums - our_case.sums).max())
        if worst > setup.EQUAL:
            wrong.append(f"{case.name} differs from {our_case.name} by {worst:.1e}.")
    if peer_cases:
        best = min(peer_cases, key=lambda case: statistics.median(case.cpu))
        worst = float(np.abs(best.sums - our_case.sums).max())
        ratio = our_case.rate(count) / best.rate(count)
        print(f"  {ratio:.2f} × {best.name} (wanted {WANTED_RATIO}); sums differ by {worst:.1e}")
    return wrong


def measure(options: argparse.Namespace, folder: Path) -> list[str]:
    """Make the model, run all in turns, print; give what is wrong."""
    from analysis.scoring import scorer

    paradigms = setup.read_pairs(options.data)
    setup.masked_folder(folder, setup.sentences_of([pair for each in paradigms.values() for pair in each]))
    sentences = setup.sentences_of(setup.mixed(paradigms, options.pairs))
    our_cases, peer_cases = {}, {}
    with setup.peers(folder, ["masked"]) as peer:
        for method, metric in METHODS.items():
            # minicons takes BERT's own words, which punctuation ends as well.
            model = scorer(f"hf-masked:{folder}?method={method}&words=punctuation")
            model.score(sentences[:2])  # the way is tried when first asked
            our_cases[method] = setup.our_case(method, lambda model=model: model.score(sentences).logprob)
            peer_cases[method] = [
                peer.case(f"minicons, {n} at once", sentences, kind="masked", batch=n, metric=metric)
                for n in map(int, options.batches.split(","))
                if peer is not None
            ]
        products = Products("float32")
        for _ in range(options.repetitions):
            products.measure()
            setup.in_turns(
                [case for method in METHODS for case in (our_cases[method], *peer_cases[method])], 1
            )
    work = gflop(model, sentences) / options.pairs
    print(f"{products.summary()}; {options.pairs} pairs, {work:.1f} GFLOP a pair")
    return [
        problem
        for method in METHODS
        for problem in problems_of(our_cases[method], peer_cases[method], options.pairs, work, products)
    ]


if __name__ == "__main__":
    setup.run(settings(), measure)
