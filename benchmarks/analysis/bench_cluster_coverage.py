"""Coverage of the 95 % intervals of models over clusters of pairs, and over participants as well.

Run ``python -m benchmarks.analysis.bench_cluster_coverage``, or with ``joint`` for the second table.

Each study draws C phenomena of ten pairs. Accuracy: logit of a phenomenon ~ N(1, 1). Correlation: differences
of humans and model share a part of the phenomenon (variance .5) and one of the pair (variance .5); r = .5.

Joint: true differences have a part of the phenomenon (variance 1) and one of the pair (variance 1) around 1,
the model's correlate with them at .7; 16 participants rate all sentences with an error of SD 1.5. An interval
holds if it contains the median of the estimates over all studies in which they are defined.
"""

import sys

import numpy as np
import pandas as pd

from analysis.comparison.intervals import cluster_intervals, correlation_interval
from analysis.comparison.report import compare_report
from analysis.scales import zscore_by_participant

STUDIES, PAIRS = 1_000, 10
JOINT_STUDIES, PEOPLE, DELTA = 200, 16, "1"


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


def joint_study(
    n_clusters: int, *, rng: np.random.Generator
) -> dict[str, tuple[float | None, list[float] | None]]:
    """Return estimates and intervals of one study."""
    n = n_clusters * PAIRS
    shared = np.repeat(rng.normal(1, 1, n_clusters), PAIRS) + rng.normal(0, 1, n)
    model = shared + np.repeat(rng.normal(0, 1, n_clusters), PAIRS) + rng.normal(0, 1, n)
    names = [f"{side}{pair}" for side in "gb" for pair in range(n)]
    pairs = pd.DataFrame({"pair_id": range(n), "good_id": names[:n], "bad_id": names[n:]})
    pairs["phenomenon"] = np.repeat([f"phenomenon {number}" for number in range(n_clusters)], PAIRS)
    rating = np.concatenate([shared, -shared]) / 2 + rng.normal(0, 1.5, (PEOPLE, 2 * n))
    people = np.repeat([f"P{number}" for number in range(PEOPLE)], 2 * n)
    judgments = pd.DataFrame({"participant": people, "sentence_id": names * PEOPLE, "value": rating.ravel()})
    z = judgments.assign(score=zscore_by_participant(judgments), task="likert")
    human = z.groupby("sentence_id")["score"].mean().reset_index()
    scores = pd.DataFrame({"sentence_id": names, "model": np.concatenate([model, -model]) / 2})
    report = compare_report(human, pairs, scores, judgments=judgments, deltas=(float(DELTA),))
    (row,), people_row = report["models"], report["baselines"]["human_ceiling"]
    joint, ends = row["intervals"]["joint"], people_row["intervals"]
    return {
        "ADC": (row["adc"][DELTA], joint["adc"][DELTA]),
        "r": (row["pearson_r"], joint["pearson_r"]),
        "disattenuated r": (row["pearson_r_disattenuated"], joint["pearson_r_disattenuated"]),
        "skill": (row["skill"][DELTA], joint["skill"][DELTA]),
        "ceiling of ADC": (people_row["adc"][DELTA], ends["adc"][DELTA]),
        "ceiling of r": (people_row["correlation"]["model"], ends["model"]),
    }


def joint_coverage(n_clusters: int, *, rng: np.random.Generator) -> dict[str, float]:
    """Return the share of studies whose intervals over pairs and participants contain the median estimate."""
    studies = [joint_study(n_clusters, rng=rng) for _ in range(JOINT_STUDIES)]
    row: dict[str, float] = {"clusters": n_clusters}
    for name in studies[0]:
        defined = [(value, ends) for value, ends in (study[name] for study in studies) if value is not None]
        truth = float(np.median([value for value, _ in defined]))
        held = [ends[0] <= truth <= ends[1] for _, ends in defined if ends is not None]
        row[name] = round(float(np.mean(held)), 3)
        row[f"{name}: intervals"] = round(len(held) / len(studies), 2)
    return row


if __name__ == "__main__":
    generator = np.random.default_rng(0)
    measure = joint_coverage if sys.argv[1:] == ["joint"] else coverage
    rows = [measure(n_clusters, rng=generator) for n_clusters in (5, 8, 12, 30)]
    print(pd.DataFrame(rows).T.to_string(header=False))
