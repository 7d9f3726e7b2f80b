"""Seconds of ``import analysis`` (in the wheel ``obelus``) and of the first statistic, in fresh processes.

Run ``python benchmarks/ecosystem/bench_library.py``; exits with 1 where the median of the import
exceeds 0.3 s.
"""

import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 0.3
RUNS = 9
STATEMENTS = {
    "import": "import analysis",
    "with pandas": "import analysis; analysis.zscore_by_participant",
    "with the comparison": "import analysis; analysis.compare_report",
}


def seconds(statement: str) -> float:
    """Seconds of a statement in a fresh process, without the start of Python."""
    code = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return float(ran.stdout)


if __name__ == "__main__":
    medians = {
        name: statistics.median(seconds(code) for _ in range(RUNS)) for name, code in STATEMENTS.items()
    }
    for name, median in medians.items():
        print(f"{name:<24}{median:8.3f} s (median of {RUNS})")
    sys.exit(medians["import"] > LIMIT_S)
