"""Simulate how often 95 % intervals over few participants hold the true value, for every method.

Run it as ``python benchmarks/analysis/bench_coverage.py [--studies 2000] [--draws 1000]``; it prints a
table of shares by participants, items and true share, and one of item means of ratings from 1 to 7. Logits of
people have SD 1 and those of items SD 1; items are fixed, so the true share is that of their mean over all
people. The program ends with 1 if the default covers less than 90 % somewhere below 40 participants.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import scipy

from analysis.choices import INTERVAL_METHODS

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from analysis.aggregation.ratings import item_means  # noqa: E402
from analysis.agreement.bootstrap import FEW_PARTICIPANTS, Intervals, participant_intervals

PARTICIPANTS, ITEMS, SHARES = (8, 10, 20, 40), (5, 20, 60), (0.6, 0.89, 0.98)
CENTRES = {"middle": 4.0, "high": 6.0, "ceiling": 7.5}
"""Latent means of ratings, before they are rounded and cut to 1 to 7."""
SD_PEOPLE = SD_ITEMS = 1.0
SD_RATINGS = 1.4


def intercept(share: float) -> float:
    """Find the logit at which all people and items together have this share."""
    nodes, weights = normal_nodes()
    sd = np.hypot(SD_PEOPLE, SD_ITEMS)

    def excess(logit: float) -> float:
        return float(weights @ scipy.special.expit(logit + sd * nodes) - share)

    return float(scipy.optimize.brentq(excess, -20, 20))


def normal_nodes() -> tuple[np.ndarray, np.ndarray]:
    """Give nodes and weights of the standard normal distribution."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    return nodes, weights / weights.sum()


def simulated_choices(
    people: int, items: int, share: float, *, studies: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Simulate the right answers of each participant, a column for each study, and the true shares."""
    nodes, weights = normal_nodes()
    ease = intercept(share) + rng.normal(0, SD_ITEMS, (studies, 1, items))
    true = (scipy.special.expit(ease[:, 0, :, None] + SD_PEOPLE * nodes) @ weights).mean(axis=1)
    ability = rng.normal(0, SD_PEOPLE, (studies, people, 1))
    right = rng.random((studies, people, items)) < scipy.special.expit(ease + ability)
    return right.sum(axis=2).T.astype(float), true


def simulated_ratings(
    people: int, centre: float, *, studies: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Simulate ratings of one sentence, a column for each study, and the true mean."""
    ratings = np.clip(np.rint(rng.normal(centre, SD_RATINGS, (people, studies))), 1, 7)
    below = scipy.stats.norm.cdf((np.arange(1.5, 7) - centre) / SD_RATINGS)
    return ratings, float(7 - below.sum())


def coverage_of_shares(
    people: int,
    items: int,
    share: float,
    *,
    methods: tuple[str, ...],
    studies: int,
    draws: int,
    seed: int = 0,
) -> dict[str, tuple[float, float]]:
    """Give coverage and mean width of some methods."""
    rng = np.random.default_rng(seed)
    right, true = simulated_choices(people, items, share, studies=studies, rng=rng)
    answers = np.full_like(right, items)
    return {
        name: covered(participant_intervals(right, answers, draws=draws, seed=seed, method=name), true)
        for name in methods
    }


def coverage_of_means(
    people: int, centre: float, *, studies: int, draws: int, seed: int = 0
) -> dict[str, tuple[float, float]]:
    """Give coverage and mean width of the t interval of item means, and of bootstraps beside it."""
    rng = np.random.default_rng(seed)
    ratings, true = simulated_ratings(people, centre, studies=studies, rng=rng)
    rows = pd.DataFrame({"item": np.tile(np.arange(studies), people), "value": ratings.ravel()})
    means = item_means(rows, rows["value"])
    low, high = means["ci_low"].to_numpy(), means["ci_high"].to_numpy()
    result = {"t": (float(np.mean((low <= true) & (true <= high))), float(np.mean(high - low)))}
    # Ratings as parts of the scale from 1 to 7, which the bootstraps take like shares.
    parts, ones = (ratings - 1) / 6, np.ones_like(ratings)
    for name in ("percentile", "bca", "bootstrap-t"):
        ends = participant_intervals(parts, ones, draws=draws, seed=seed, method=name)
        hit, width = covered(ends, np.full(studies, (true - 1) / 6))
        result[name] = hit, 6 * width
    return result


def covered(ends: Intervals, true: np.ndarray) -> tuple[float, float]:
    """Give the share of intervals that hold the true value, and their mean width."""
    return float(np.mean((ends.low <= true) & (true <= ends.high))), float(np.mean(ends.high - ends.low))


def print_row(labels: tuple[object, ...], row: dict[str, tuple[float, float]]) -> None:
    """Print coverage and width of every method."""
    cells = [f"{hit:.3f} ({width:.3f})" for hit, width in row.values()]
    print("| " + " | ".join([*map(str, labels), *cells]) + " |", flush=True)


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--studies", type=int, default=2000, help="simulated studies of each cell")
    parser.add_argument("--draws", type=int, default=1000, help="of a bootstrap")
    options = parser.parse_args()
    size = {"studies": options.studies, "draws": options.draws}
    methods = tuple(INTERVAL_METHODS)
    print(f"shares: coverage (width); {options.studies} studies, {options.draws} draws")
    print("| share | items | participants | " + " | ".join(methods) + " |")
    hits: dict[str, list[float]] = {name: [] for name in methods}
    lowest = 1.0
    for share in SHARES:
        for items in ITEMS:
            for people in PARTICIPANTS:
                row = coverage_of_shares(people, items, share, methods=methods, **size)
                print_row((share, items, people), row)
                for name, (hit, _) in row.items():
                    hits[name].append(hit)
                if people < FEW_PARTICIPANTS:
                    lowest = min(lowest, row["auto"][0])
    for name, values in hits.items():
        print(f"{name}: mean {np.mean(values):.3f}, lowest {min(values):.3f}, highest {max(values):.3f}")
    print("item means of ratings: coverage (width in points)")
    print("| ratings | participants | t | percentile | bca | bootstrap-t |")
    for name, centre in CENTRES.items():
        for people in PARTICIPANTS:
            print_row((name, people), coverage_of_means(people, centre, **size))
    return int(lowest < 0.9)


if __name__ == "__main__":
    sys.exit(main())
