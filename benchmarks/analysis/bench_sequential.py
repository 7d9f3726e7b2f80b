"""How often a rule of sequential Bayes factors decides, and misleads, by true effect size.

Run it as ``python benchmarks/analysis/bench_sequential.py [STUDIES]``; it prints one line per effect size.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from analysis.bayesian.sequential import StoppingRule  # noqa: E402
from analysis.effects.bayes import jzs_bayes_factor  # noqa: E402

RULE = StoppingRule(threshold=10, least=20, largest=100)
HALF = np.linspace(0, 8, 41)  # of t, between which the logarithm of the factor is interpolated
EFFECTS = (0.0, 0.2, 0.35, 0.5, 0.8)


def factors_by_look(differences: np.ndarray, logs: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Return the Bayes factor of each study after each number of participants."""
    sums, squares = differences.cumsum(axis=1), (differences**2).cumsum(axis=1)
    factors = {}
    for n, log in logs.items():
        mean = sums[:, n - 1] / n
        variance = (squares[:, n - 1] - n * mean**2) / (n - 1)
        factors[n] = np.exp(np.interp(np.abs(mean) / np.sqrt(variance / n), HALF, log))
    return factors


def main(studies: int) -> None:
    """Print a row for each effect size."""
    rng = np.random.default_rng(45)
    logs = {
        n: np.array([jzs_bayes_factor(t, n).log10 for t in HALF]) * np.log(10)
        for n in range(RULE.least, (RULE.largest or 0) + 1)
    }
    print("| d_z | stops for a difference | for none | undecided at 100 | participants, mean |")
    print("|---|---|---|---|---|")
    for effect in EFFECTS:
        factors = factors_by_look(rng.normal(effect, 1, (studies, RULE.largest or 0)), logs)
        stops = [
            RULE.decide([{"n": n, "factor": float(column[study])} for n, column in factors.items()])
            for study in range(studies)
        ]
        shares = [
            np.mean([stop["decision"] == name for stop in stops])
            for name in ("difference", "no_difference", "largest_reached")
        ]
        mean = np.mean([stop["n"] or RULE.largest for stop in stops])
        print(f"| {effect:g} | {' | '.join(f'{share:.3f}' for share in shares)} | {mean:.0f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
