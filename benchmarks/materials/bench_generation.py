"""Time and memory of drawing all paradigms: 67 x 1,000 pairs of English and 16 x 1,000 of Mandarin.

Run ``python benchmarks/materials/bench_generation.py [--n 1000] [--language en]``. Each language is
drawn in a process of its own, with all rows kept, as ``manage.py generate`` does. Ends with 1 beyond 60 s or
500 MB.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
MOST_S, MOST_MB = 60, 500


def draw(language: str, n: int) -> dict[str, object]:
    """Draw n pairs of every paradigm of a language in this process."""
    start = time.process_time()
    from experiments.generation.paradigms import find_paradigm, sample_pairs, shipped_paradigms

    imported = time.process_time() - start
    seconds, rows = {}, []
    for uid in shipped_paradigms(language):
        begun = time.process_time()
        rows += sample_pairs(find_paradigm(uid, language=language), n)
        seconds[uid] = time.process_time() - begun
    slowest = max(list(seconds)[1:], key=seconds.__getitem__)
    return {
        "pairs": len(rows),
        "total_s": time.process_time() - start,
        "import_s": imported,
        "first_s": next(iter(seconds.values())),
        "slowest": slowest,
        "slowest_s": seconds[slowest],
        # Linux counts in KiB, macOS in bytes.
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        / (1 << (20 if sys.platform == "darwin" else 10)),
    }


def main() -> int:
    """Draw each language in a fresh process and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--language", choices=("en", "zh"))
    parser.add_argument("--here", action="store_true", help="draw in this process and print JSON")
    options = parser.parse_args()
    if options.here:
        print(json.dumps(draw(options.language, options.n)))
        return 0
    beyond = 0
    for language in [options.language] if options.language else ["en", "zh"]:
        command = [sys.executable, __file__, "--here", "--language", language, "--n", str(options.n)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        report = json.loads(subprocess.run(command, capture_output=True, check=True, env=environment).stdout)
        print(
            f"{language}: {report['pairs']:,} pairs in {report['total_s']:.1f} s of CPU (imports "
            f"{report['import_s']:.1f} s, first with the lexicon {report['first_s']:.1f} s, then at most "
            f"{report['slowest_s']:.2f} s: {report['slowest']}), {report['memory_mb']:.0f} MB at the peak"
        )
        beyond += report["total_s"] > MOST_S or report["memory_mb"] > MOST_MB
    return int(beyond > 0)


if __name__ == "__main__":
    raise SystemExit(main())
