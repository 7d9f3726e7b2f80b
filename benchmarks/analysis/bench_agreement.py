"""Time the statistics of ten million simulated judgments, and z-scores against plain pandas in the same run.

Run it as ``python benchmarks/analysis/bench_agreement.py [JUDGMENTS]``; it prints a line for each
figure. The bound is for ten million; agreement, nominal alpha, majority and shares by paradigm come from one
report.
"""

import argparse
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from analysis.aggregation.ratings import ratings_report  # noqa: E402
from analysis.agreement.report import agreement_report  # noqa: E402
from analysis.reliability.chance_corrected import krippendorff_alpha  # noqa: E402
from analysis.scales import zscore_by_participant  # noqa: E402


def simulated_choices(n: int, *, participants: int, paradigms: int, rng: np.random.Generator) -> pd.DataFrame:
    """Simulate forced choices: five pairs a paradigm, people and pairs of different difficulty."""
    person = np.sort(rng.integers(participants, size=n))  # judgments come session by session
    paradigm = rng.integers(paradigms, size=n)
    pair = paradigm * 5 + rng.integers(5, size=n)
    ability, ease = rng.normal(size=participants), rng.normal(2, 1, size=paradigms * 5)
    right = rng.random(n) < 1 / (1 + np.exp(-ability[person] - ease[pair]))
    return pd.DataFrame(
        {
            "participant": _names("P", person, participants),
            "phenomenon": _names("phenomenon ", paradigm % 12, 12),
            "paradigm": _names("paradigm ", paradigm, paradigms),
            "item": _names("pair ", pair, paradigms * 5),
            "task": pd.Categorical.from_codes(np.zeros(n, dtype=int), ["forced_choice"]),
            "value": right.astype(float),
            "expected_first": rng.random(n) < 0.5,
        }
    )


def simulated_ratings(choices: pd.DataFrame, *, rng: np.random.Generator) -> pd.DataFrame:
    """Give the same rows as ratings from 1 to 7."""
    return choices.assign(
        task=pd.Categorical.from_codes(np.zeros(len(choices), dtype=int), ["likert"]),
        value=rng.integers(1, 8, size=len(choices)).astype(float),
        condition=pd.Categorical.from_codes(choices["value"].astype(int).to_numpy(), ["bad", "good"]),
    )


def _names(prefix: str, codes: np.ndarray, n: int) -> pd.Categorical:
    return pd.Categorical.from_codes(codes, [f"{prefix}{number}" for number in range(n)])


def seconds(work: Callable[[], object], *, runs: int = 2) -> tuple[float, object]:
    """Give CPU seconds of the quickest of some calls, as others share the machine, and the last result."""
    best, result = float("inf"), None
    for _ in range(runs):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("judgments", type=int, nargs="?", default=10_000_000)
    n = parser.parse_args().judgments
    rng = np.random.default_rng(1)
    choices = simulated_choices(n, participants=max(729, n // 343), paradigms=1000, rng=rng)
    ratings = simulated_ratings(choices, rng=rng)
    rated = ratings.rename(columns={"item": "unit"})
    print(f"{n} judgments; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    start = time.perf_counter()
    agreement, report = seconds(lambda: agreement_report(choices, rule="blimp"))
    interval = seconds(lambda: krippendorff_alpha(rated, level="interval"))[0]
    nominal = seconds(lambda: krippendorff_alpha(rated))[0]
    z, z_ours = seconds(lambda: zscore_by_participant(ratings))
    total, wall = agreement + interval + nominal + z, (time.perf_counter() - start) / 2
    print(
        f"statistics alone: {total:.2f} s of CPU ({wall:.2f} s by the clock), bound 3 s = "
        f"agreement, alpha of choices, majority and paradigms "
        f"{agreement:.2f} s, alpha of ratings interval {interval:.2f} s and nominal {nominal:.2f} s, "
        f"z {z:.2f} s"
    )
    assert len(report["paradigms"]) == 1000
    values = ratings.groupby("participant", observed=True)["value"]
    plain, z_pandas = seconds(lambda: values.transform(lambda x: (x - x.mean()) / x.std()), runs=1)
    quick, same = seconds(lambda: (ratings["value"] - values.transform("mean")) / values.transform("std"))
    gap = max(float((z_ours - other).abs().max()) for other in (z_pandas, same))
    assert gap < 1e-9
    print(
        f"z: {z:.2f} s = {plain / z:.1f} x groupby.transform of a function ({plain:.2f} s), "
        f"{quick / z:.1f} x its built-in mean and std ({quick:.2f} s); differ by at most {gap:.0e}"
    )
    means = seconds(lambda: ratings_report(ratings), runs=1)[0]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"item means of ratings: {means:.2f} s; peak {peak:.0f} MiB with both simulated frames")


if __name__ == "__main__":
    main()
