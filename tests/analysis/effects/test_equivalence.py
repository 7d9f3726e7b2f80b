"""Tests of equivalence, against R's one-sided tests, and their verdicts."""

import numpy as np
import pandas as pd
import pytest

from analysis.effects.contrasts import paired_contrast, welch_contrast
from analysis.effects.equivalence import binomial_tost, tost
from analysis.effects.report import effects_report
from analysis.errors import BadInput
from analysis.report.findings import equivalence_sentence

GOOD = np.array([0.9, 0.4, 1.1, 0.2, 0.75, 0.6, 0.95, 0.3, 0.85, 0.5])
BAD = np.array([0.7, 0.5, 0.9, 0.4, 0.6, 0.65, 0.8, 0.45, 0.6, 0.55])


def values(tost):
    return [tost.p_lower, tost.p_upper, tost.p_difference, tost.ci_low, tost.ci_high]


def test_two_one_sided_t_tests_are_those_of_r():
    # R 4.2.2: t.test(good, bad, paired=TRUE, mu=-.2, alternative="greater"), mu=.2 with "less",
    # and conf.level=.9 of the two-sided test; the same without paired (Welch), with seven of the second
    paired = [0.000680392759266, 0.00698770004731, 0.466428913026, -0.0564201139081, 0.136420113908]
    assert values(tost(paired_contrast(GOOD, BAD), 0.2)) == pytest.approx(paired, rel=1e-9)
    welch = [0.0478822582205, 0.0557506584248, 0.96593966001, -0.197174151366, 0.207174151366]
    assert values(tost(welch_contrast(GOOD, BAD[:7]), 0.2)) == pytest.approx(welch, rel=1e-9)


def test_the_exact_test_of_choices_is_that_of_r():
    # R 4.2.2: binom.test(58, 110, .4, alternative="greater"), .6 with "less", conf.level=.9
    tost = binomial_tost(58, 110, 0.1)
    expected = [0.00463950904618, 0.0730035326867, 0.633755648019]
    assert values(tost)[:3] == pytest.approx(expected, rel=1e-9)
    assert [tost.ci_low + 0.5, tost.ci_high + 0.5] == pytest.approx([0.444609816315, 0.608811365453])
    assert tost.verdict == "undecided"


@pytest.mark.parametrize("k", range(40, 61))
def test_choices_are_equivalent_just_where_the_interval_is_within_the_bounds(k):
    tost = binomial_tost(k, 100, 0.1)
    assert (tost.p < 0.05) == (tost.ci_low > -0.1 and tost.ci_high < 0.1)


def ratings(difference, *, noise, n=20, seed=0):
    """Ratings of one contrast by participants who judged both sides."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"p{p}", f"i{i}", side, difference * (side == "acceptable") + noise * rng.normal())
        for p in range(n)
        for i in range(4)
        for side in ("acceptable", "unacceptable")
    ]
    columns = ["participant", "item", "expected", "value"]
    return pd.DataFrame(rows, columns=columns).assign(task="likert", phenomenon="islands")


@pytest.mark.parametrize(
    ("difference", "noise", "verdict"),
    [(0.0, 0.1, "equivalent"), (1.0, 0.1, "different"), (0.1, 0.05, "both"), (0.2, 1.5, "undecided")],
)
def test_each_verdict_has_its_word(difference, noise, verdict):
    report = effects_report(ratings(difference, noise=noise), transform="raw", sesoi=0.2)
    row = report["equivalence"][0]
    assert row["verdict"] == verdict and (row["low"], row["high"]) == (-0.2, 0.2)
    assert verdict in equivalence_sentence(report) and "within ±0.2 scale points" in equivalence_sentence(
        report
    )
    two_tailed = next(row for row in report["analyses"] if row["analysis"] == "two_tailed")
    assert row["p_difference"] == two_tailed["p"] and row["estimate"] == two_tailed["estimate"]


def choices(shares, *, each):
    """Choices of the expected member; each participant has so many, of which a share is as expected."""
    rows = [
        (f"p{p}", f"i{i}", float(i < round(share * each)))
        for p, share in enumerate(shares)
        for i in range(each)
    ]
    frame = pd.DataFrame(rows, columns=["participant", "item", "value"])
    return frame.assign(task="forced_choice", phenomenon="islands")


def test_one_choice_each_is_tested_exactly_and_several_by_participants_shares():
    single = effects_report(choices([1, 0] * 100, each=1), sesoi=0.1)["equivalence"][0]
    assert single["p"] == binomial_tost(100, 200, 0.1).p and single["verdict"] == "equivalent"
    shares = [0.5, 0.75, 0.25, 0.5, 0.5, 0.75, 0.25, 0.5]
    several = effects_report(choices(shares, each=4), sesoi=0.1)["equivalence"][0]
    t = tost(paired_contrast(np.array(shares), np.full(8, 0.5)), 0.1)
    assert several["p"] == t.p and several["n"] == 8
    agreed = effects_report(choices([1] * 12, each=4), sesoi=0.1)["equivalence"][0]
    assert agreed["verdict"] == "different" and agreed["n"] == 12
    even = effects_report(choices([0.5] * 12, each=4), sesoi=0.1)["equivalence"][0]
    assert (even["verdict"], even["status"]) == ("not_estimable", "no_variation")


def test_without_a_smallest_effect_nothing_is_tested():
    report = effects_report(ratings(1.0, noise=0.1))
    assert report["sesoi"] is None and report["equivalence"] == [] and equivalence_sentence(report) == ""
    assert "equivalence" not in report["conventions"]


@pytest.mark.parametrize(("rows", "sesoi"), [("ratings", 0.0), ("ratings", -1.0), ("choices", 0.5)])
def test_an_impossible_smallest_effect_is_refused(rows, sesoi):
    frame = ratings(1.0, noise=1.0) if rows == "ratings" else choices([1, 0], each=1)
    with pytest.raises(BadInput, match="no smallest effect of interest"):
        effects_report(frame, sesoi=sesoi)
