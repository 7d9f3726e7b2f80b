"""Coverage of the 95 % intervals of models over clusters of pairs.

Run ``python -m benchmarks.analysis.bench_cluster_coverage``.

Each study draws C phenomena of ten pairs. Accuracy: logit of a phenomenon ~ N(1, 1). Correlation: differences
of humans and model share a part of the phenomenon (variance .5) and one of the pair (variance .5); r = .5.
"""

import numpy as np
import pandas as pd

from analysis.comparison.intervals import cluster_intervals, correlation_interval

STUDIES, PAIRS = 1_000, 10


def coverage(n_clusters: int, *, rng: np.random.Generator) -> dict[str, float]:
    """Return the share of studies whose intervals contain the true accuracy and r."""
    truth = float((1 / (1 + np.exp(-rng.normal(1, 1, 1_000_000)))).mean())
    clusters = pd.Series(np.repeat(np.arange(n_clusters), PAIRS))
    covered = np.zeros((STUDIES, 2))
    for study in range(STUDIES):
        share = np.repeat(1 / (1 + np.exp(-rng.normal(1, 1, n_clusters))), PAIRS)
        right = (rng.random(share.size) < share).astype(float)[:, None]
        low, high = cluster_intervals(clusters, right)[0]
        shared, human, model = (
            np.repeat(rng.normal(scale=0.5**0.5, size=n_clusters), PAIRS)
            + rng.normal(scale=0.5**0.5, size=share.size)
            for _ in range(3)
        )
        ends = correlation_interval(clusters, shared + human, shared + model)
        covered[study] = low <= truth <= high, ends[0] is not None and ends[0] <= 0.5 <= (ends[1] or 0.0)
    accuracy, r = covered.mean(axis=0)
    return {"clusters": n_clusters, "accuracy": round(accuracy, 3), "r": round(r, 3)}


if __name__ == "__main__":
    generator = np.random.default_rng(0)
    rows = [coverage(n_clusters, rng=generator) for n_clusters in (5, 8, 12, 30)]
    print(pd.DataFrame(rows).to_string(index=False))
