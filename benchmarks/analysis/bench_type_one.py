"""Count the studies without an effect that are significant, by test and design.

Run it as ``python benchmarks/analysis/bench_type_one.py [STUDIES]``; it prints one line per design. Choices:
logits with an SD of 1 between items and of .3 between participants, around 0. Ratings: each participant rates
each item in one condition; SD of the effect .3 between items and .2 between participants, of items .25, of
one rating .68. The mixed model is the headline of pages and reports; t over participants holds for these
items only.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from analysis.effects.contrast_models import contrast_model, share_model  # noqa: E402
from analysis.effects.contrasts import paired_contrast  # noqa: E402
from analysis.effects.five_analyses import rating_contrast  # noqa: E402

DESIGNS = ((20, 4), (20, 12), (8, 12), (40, 12))
TESTS = ("two_tailed", "mixed_model")


def simulate_choices(people: int, items: int, rng: np.random.Generator) -> pd.DataFrame:
    """Simulate choices of all participants between the members of all items."""
    rows = cross(people, items)
    logit = rng.normal(0, 1, items)[rows["item"]] + rng.normal(0, 0.3, people)[rows["participant"]]
    value = (rng.random(len(rows)) < 1 / (1 + np.exp(-logit))).astype(float)
    return rows.assign(value=value, task="forced_choice")


def simulate_ratings(people: int, items: int, rng: np.random.Generator) -> pd.DataFrame:
    """Simulate a Latin square of two lists: every participant rates each item in one condition."""
    rows = cross(people, items)
    sign = np.where((rows["participant"] + rows["item"]) % 2, 0.5, -0.5)
    effect = rng.normal(0, 0.3, items)[rows["item"]] + rng.normal(0, 0.2, people)[rows["participant"]]
    level = rng.normal(0, 0.25, items)[rows["item"]]
    value = level + sign * effect + rng.normal(0, 0.68, len(rows))
    expected = np.where(sign > 0, "acceptable", "unacceptable")
    return rows.assign(value=value, task="likert", expected=expected)


def test_studies(rows: pd.DataFrame) -> tuple[float | None, float | None]:
    """Return p of the test over participants and of the headline mixed model."""
    if "expected" in rows.columns:
        good = (rows["expected"] == "acceptable").to_numpy()
        return rating_contrast(rows)[0].p, contrast_model(rows, good, task="likert", random=None)["p"]
    shares = rows.groupby("participant")["score"].mean().to_numpy()
    return paired_contrast(shares, np.full(len(shares), 0.5)).p, share_model(rows)["p"]


def cross(people: int, items: int) -> pd.DataFrame:
    """Return one row for each participant and item."""
    return pd.DataFrame(
        {
            "participant": np.repeat(np.arange(people), items),
            "item": np.tile(np.arange(items), people),
            "phenomenon": "a",
        }
    )


def main() -> None:
    """Print one line per design."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    for simulate in (simulate_choices, simulate_ratings):
        for people, items in DESIGNS:
            rng = np.random.default_rng([people, items])
            counts: Counter[str] = Counter()
            for _ in range(studies):
                rows = simulate(people, items, rng).rename(columns={"value": "score"})
                p_values = zip(TESTS, test_studies(rows), strict=True)
                counts.update(test for test, p in p_values if p is not None and p < 0.05)
            shares = ", ".join(f"{test} {counts[test] / studies:.3f}" for test in TESTS)
            print(f"{simulate.__name__} {people} x {items}: {shares}", flush=True)


if __name__ == "__main__":
    main()
