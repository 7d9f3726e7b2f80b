"""Time agreement and ratings on simulated judgments, against plain pandas in the same run.

Run it as ``python tests/benchmarks/bench_agreement.py [JUDGMENTS]``; it prints one line.
"""

import argparse
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


def seconds(work: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    """Print one line of figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("judgments", type=int, nargs="?", default=250_000)
    n = parser.parse_args().judgments
    rng = np.random.default_rng(1)
    choices = simulated_choices(n, participants=max(729, n // 343), paradigms=1000, rng=rng)
    ratings = simulated_ratings(choices, rng=rng)
    agreement = seconds(lambda: agreement_report(choices, rule="blimp"))
    means = seconds(lambda: ratings_report(ratings))
    ours = seconds(lambda: zscore_by_participant(ratings))
    values = ratings.groupby("participant", observed=True)["value"]
    plain = seconds(lambda: values.transform(lambda x: (x - x.mean()) / x.std()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{n} judgments: agreement {agreement:.2f} s, ratings {means:.2f} s, z {ours:.3f} s = "
        f"{plain / ours:.1f} x plain groupby.transform ({plain:.2f} s), peak {peak:.0f} MiB"
    )


if __name__ == "__main__":
    main()
