"""Direct probabilities beside answers to prompts, pair by pair."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from analysis.scoring.method_agreement import agreement_line, method_agreement


def test_decisions_and_differences_are_compared_over_pairs_with_both_scores():
    rng = np.random.default_rng(1)
    n = 40
    direct, asked = rng.normal(size=(2, 2 * n))
    direct[0] = direct[n]  # equal scores prefer none
    asked[1] = np.nan
    names = [f"{side}{k}" for side in ("g", "b") for k in range(n)]
    scores = pd.DataFrame({"sentence_id": names, "m:lp": direct, "m:yes_no": asked})
    pairs = [(f"g{k}", f"b{k}") for k in range(n)] + [("g0", "absent")]
    (report,) = method_agreement(scores, pairs)
    first, second = (np.delete(values[:n] - values[n:], 1) for values in (direct, asked))
    assert report["pairs"] == n - 1
    assert report["both"] == ((first > 0) & (second > 0)).sum()
    assert report["neither"] == ((first <= 0) & (second <= 0)).sum()
    assert report["kappa"] == pytest.approx(cohen_kappa_score(first > 0, second > 0))
    assert report["r"] == pytest.approx(np.corrcoef(first, second)[0, 1])
    assert f"of {n - 1} pairs" in agreement_line(report)
