"""The wheel: its size, and seconds from an empty environment to the first ``obelus compare``.

Run ``python benchmarks/ecosystem/bench_wheel.py`` where a package index is reachable; exits with 1
above 60 s. The first installation fills pip's cache and is not counted, so that the figure is of a warm
index.
"""

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.distribution import build  # noqa: E402

LIMIT_S = 60
PAIRS, MODELS = 1_000, ("one", "two", "three")


def write_files(folder: Path) -> list[str]:
    """Write pairs, people's scores and models' scores; return the arguments of the command."""
    rng = random.Random(1)
    sentences = [f"p{number}.{side}" for number in range(PAIRS) for side in ("good", "bad")]
    pairs = [f"p{n},p{n}.good,p{n}.bad,paradigm {n % 67}" for n in range(PAIRS)]
    (folder / "pairs.csv").write_text("\n".join(["pair_id,good_id,bad_id,paradigm", *pairs]) + "\n")
    for name, columns in (("human", ("score",)), ("scores", MODELS)):
        rows = [",".join([key, *(f"{rng.gauss(0, 1):.4f}" for _ in columns)]) for key in sentences]
        (folder / f"{name}.csv").write_text("\n".join([f"sentence_id,{','.join(columns)}", *rows]) + "\n")
    return ["--human", "human.csv", "--pairs", "pairs.csv", "--scores", "scores.csv", "--json"]


def steps(folder: Path, wheel: Path, words: list[str]) -> dict[str, float]:
    """Seconds of the environment, the installation and the first two comparisons."""
    environment = folder / "env"
    commands: dict[str, list[str]] = {
        "empty environment": [sys.executable, "-m", "venv", "--clear", str(environment)],
        "pip install": [str(environment / "bin" / "pip"), "install", "-q", str(wheel)],
        "first compare": [str(environment / "bin" / "obelus"), "compare", *words],
        "second compare": [str(environment / "bin" / "obelus"), "compare", *words],
    }
    seconds = {}
    for name, command in commands.items():
        started = time.perf_counter()
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        seconds[name] = time.perf_counter() - started
    return seconds


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="obelus-wheel-") as name:
        folder = Path(name)
        _, wheel = build(folder / "dist")
        print(f"wheel: {wheel.stat().st_size / 1000:,.0f} kB")
        words = write_files(folder)
        steps(folder, wheel, words)
        seconds = steps(folder, wheel, words)
        for name, value in seconds.items():
            print(f"{name:<20}{value:8.1f} s")
        total = sum(value for name, value in seconds.items() if name != "second compare")
        print(f"{'to the first compare':<20}{total:8.1f} s (limit {LIMIT_S})")
        sys.exit(total > LIMIT_S)
