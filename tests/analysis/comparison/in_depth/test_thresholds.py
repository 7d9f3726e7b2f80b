"""Thresholds on a score: the best of all cuts, and the one learnt from other families."""

import numpy as np
import pandas as pd
import pytest

from analysis.comparison.criteria import matthews_correlation
from analysis.comparison.in_depth.thresholds import best_threshold, cross_validated_decisions


def test_threshold_is_the_best_of_all_cuts():
    rng = np.random.default_rng(6)
    label, score = rng.integers(0, 2, 50), np.round(rng.normal(size=50), 1)
    score = score + label * 0.5
    cuts = (np.unique(score)[1:] + np.unique(score)[:-1]) / 2
    best = max(matthews_correlation(label, score > cut).mcc for cut in cuts)
    threshold = best_threshold(label, score)
    assert matthews_correlation(label, score > threshold).mcc == pytest.approx(best)
    assert best_threshold([1, 1], [0.1, 0.2]) is None


def test_a_family_is_decided_by_the_thresholds_of_the_others():
    families = pd.Series(["a"] * 4 + ["b"] * 4)
    label = [0, 0, 1, 1, 0, 0, 1, 1]
    score = [0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0]
    decisions = cross_validated_decisions(label, score, families)
    # by the other family's cut, all of a is called bad and all of b good
    assert (decisions["tp"], decisions["fp"], decisions["tn"], decisions["fn"]) == (2, 2, 2, 2) and decisions[
        "mcc"
    ] == 0
    assert (decisions["threshold_low"], decisions["threshold_high"]) == (1.5, 11.5)
    assert cross_validated_decisions(label, score, pd.Series(["a"] * 8))["status"] == "too_few"
