"""Every architecture of transformers, tiny and random, scored beside a loop in double precision.

Run ``python benchmarks/scoring/bench_architectures.py [--kinds causal,masked,seq2seq] [--names gpt2,mpt]``.
The score of a sentence must be within 1e-4 of the loop, or the model refused by name. Ends with 1 if a score
is wrong, if anything but a refusal is raised, or if fewer than 80 causal, 30 masked or 15 encoder-decoder
architectures are compared.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

LEAST = {"causal": 80, "masked": 30, "seq2seq": 15}
NO_MODELS = "torch or transformers is not installed: make install-models. Nothing is compared."


def settings() -> argparse.Namespace:
    """What to compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kinds", default="causal,masked,seq2seq")
    parser.add_argument("--names", default="", help="of architectures; all by default")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--table", action="store_true", help="print the rows of docs/models/scoring.md too")
    return parser.parse_args()


def compare(options: argparse.Namespace) -> int:
    """Print a line for each architecture and the counts; return how many are wrong."""
    from benchmarks.scoring.architectures import REQUESTED, families, outcome, table

    n_wrong = 0
    for kind in options.kinds.split(","):
        names = [name for name in options.names.split(",") if name] or REQUESTED[kind]
        ends = []
        for name in names:
            start = time.perf_counter()
            with tempfile.TemporaryDirectory(prefix="obelus-bench-") as folder:
                ended = outcome(kind, name, Path(folder), dtype=options.dtype)
            ends.append((name, ended))
            print(
                f"{kind:8}{name:34}{ended.kind:10}{time.perf_counter() - start:5.1f} s  "
                f"{ended.detail}  {ended.path}",
                flush=True,
            )
        counts = Counter(ended.kind for _, ended in ends)
        n_compared = sum(n for end, n in counts.items() if end != "not built")
        print(f"{kind}: {n_compared} compared: {dict(counts)}")
        for end in ("exact", "refused", "wrong", "traceback", "not built"):
            print(f"  {end}: {', '.join(families(ends, end))}")
        if options.table:
            print(*table(ends, kind), sep="\n")
        n_wrong += counts["wrong"] + counts["traceback"]
        if not options.names and n_compared < LEAST[kind]:
            print(f"{kind}: fewer than {LEAST[kind]} architectures.")
            n_wrong += 1
    return n_wrong


if __name__ == "__main__":
    if not all(find_spec(name) for name in ("torch", "transformers")):
        print(NO_MODELS)
    else:
        import torch

        torch.set_num_threads(1)
        raise SystemExit(bool(compare(settings())))
