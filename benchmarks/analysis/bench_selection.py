"""Bias of agreement with selected paradigms, of the best of many models, and their corrections.

Run ``python -m benchmarks.analysis.bench_selection``. Agreement: 20 participants judge five items of ten
paradigms whose probability of an expected answer (.5 to .9) varies over items (SD .5 logit); the rule is
blimp; the truth is the mean probability of the paradigms that the rule included. Models: all with accuracy
.73, ten pairs in each of 12 phenomena; covered: the interval of the best model contains that accuracy.
"""

import numpy as np
import pandas as pd

from analysis.agreement.report import agreement_report
from analysis.comparison.intervals import cluster_intervals
from analysis.multiple_tests import simultaneous_level

STUDIES, PEOPLE, PARADIGMS, ITEMS = 100, 20, 10, 5
MODEL_STUDIES, PHENOMENA, PAIRS = 1_000, 12, 10


def agreement_errors(rng: np.random.Generator) -> pd.DataFrame:
    """Return the errors of the plain and the cross-fitted agreement over studies."""
    rows = []
    for study in range(STUDIES):
        base = np.log(np.linspace(0.5, 0.9, PARADIGMS) / (1 - np.linspace(0.5, 0.9, PARADIGMS)))
        chance = 1 / (1 + np.exp(-(base[:, None] + rng.normal(0, 0.5, (PARADIGMS, ITEMS)))))
        answers = rng.random((PEOPLE, PARADIGMS, ITEMS)) < chance
        person, paradigm, item = (axis.ravel() for axis in np.indices(answers.shape))
        frame = pd.DataFrame({"participant": person, "paradigm": paradigm, "item": item})
        frame = frame.astype(str).assign(value=answers.ravel().astype(float), task="forced_choice")
        report = agreement_report(frame, rule="blimp", draws=0, cross_fit=True, seed=study)
        included = [int(row["paradigm"]) for row in report["paradigms"] if row["included"]]
        truth, fitted = float(chance[included].mean()), report["cross_fitted"]["individual_agreement"]
        rows.append((report["overall_included"]["individual_agreement"] - truth, fitted - truth))
    return pd.DataFrame(rows, columns=["plain", "cross-fitted"])


def best_coverage(n_models: int, *, rng: np.random.Generator) -> dict[str, float]:
    """Return how often the plain and the simultaneous interval of the best model contain its accuracy."""
    truth = float((1 / (1 + np.exp(-rng.normal(1.2, 1, 1_000_000)))).mean())
    clusters = pd.Series(np.repeat(np.arange(PHENOMENA), PAIRS))
    covered = []
    for _ in range(MODEL_STUDIES):
        share = 1 / (1 + np.exp(-rng.normal(1.2, 1, (PHENOMENA, n_models))))
        right = (rng.random((PHENOMENA * PAIRS, n_models)) < np.repeat(share, PAIRS, axis=0)).astype(float)
        best = int(right.mean(axis=0).argmax())
        levels = (0.95, simultaneous_level(n_models))
        ends = [cluster_intervals(clusters, right[:, [best]], confidence=level)[0] for level in levels]
        covered.append([low <= truth <= high for low, high in ends])
    plain, simultaneous = np.mean(covered, axis=0)
    return {"models": n_models, "plain": round(plain, 3), "simultaneous": round(simultaneous, 3)}


if __name__ == "__main__":
    generator = np.random.default_rng(0)
    errors = agreement_errors(generator)
    print("bias", errors.mean().round(4).to_dict(), "error of it", errors.sem().round(4).to_dict())
    print(pd.DataFrame([best_coverage(n, rng=generator) for n in (2, 5, 10, 20)]).to_string(index=False))
