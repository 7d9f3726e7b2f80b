"""Corrections for several tests, against R and brute force."""

import itertools

import numpy as np
import pandas as pd
import pytest

from analysis.effects.report import effects_report
from analysis.errors import UnknownName
from analysis.multiple_tests import benjamini_hochberg, holm

P = [0.01, 0.02, 0.03, 0.04, 0.05, 0.2, 0.0005, 0.9]


def test_corrected_p_values_are_those_of_r():
    # R 4.2.2: p.adjust(p, "BH"); p.adjust(p, "holm")
    bh = [0.04, 0.16 / 3, 0.06, 0.064, 0.2 / 3, 1.6 / 7, 0.004, 0.9]
    assert benjamini_hochberg(P) == pytest.approx(bh, abs=1e-12)
    assert holm(P) == pytest.approx([0.07, 0.12, 0.15, 0.16, 0.16, 0.4, 0.004, 0.9], abs=1e-12)


def test_a_corrected_p_is_the_lowest_level_at_which_the_step_up_rule_rejects():
    rng = np.random.default_rng(3)
    for n in (1, 2, 5, 9):
        p = [round(float(value), 3) for value in rng.uniform(0, 0.3, n)]
        q = benjamini_hochberg(p)
        for place, level in itertools.product(range(n), np.arange(0.0005, 1, 0.0071)):
            ranked = sorted(p)
            passing = [rank for rank in range(1, n + 1) if ranked[rank - 1] <= rank * level / n]
            rejects = bool(passing) and p[place] <= ranked[max(passing) - 1]
            assert rejects == (q[place] <= level), (p, place, level)


def test_undefined_p_values_do_not_count_as_tests():
    assert benjamini_hochberg([None, 0.01, 0.04]) == [None, 0.02, 0.04]
    assert benjamini_hochberg([]) == [] and benjamini_hochberg([None]) == [None]


def test_the_effects_have_both_corrections_and_name_the_chosen_one():
    rng = np.random.default_rng(5)
    rows = pd.DataFrame(
        [
            (f"p{p}", f"{name}{i}", name, side, size * (side == "acceptable") + rng.normal())
            for p in range(12)
            for name, size in (("a", 1.5), ("b", 0.5), ("c", 0.0))
            for i in range(3)
            for side in ("acceptable", "unacceptable")
        ],
        columns=["participant", "item", "phenomenon", "expected", "value"],
    ).assign(task="likert")
    report = effects_report(rows, transform="raw", correction="bh")
    tested = [row for row in report["analyses"] if row["analysis"] == "two_tailed"]
    p = [row["p"] for row in tested]
    assert report["correction"] == "bh" and len(p) == 3
    assert [row["p_holm"] for row in tested] == holm(p)
    assert [row["p_bh"] for row in tested] == benjamini_hochberg(p)
    with pytest.raises(UnknownName, match="bonferroni"):
        effects_report(rows, correction="bonferroni")
