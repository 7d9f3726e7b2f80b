"""t tests by participants and by items, and effect sizes by name."""

import numpy as np
import pandas as pd
import pingouin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.effects.contrasts import (
    common_language,
    contrast,
    d_z_interval,
    p_value,
    paired_contrast,
    paired_means,
    welch_contrast,
)
from analysis.effects.within import within_intervals
from analysis.errors import MissingColumns, UnknownName

scores = st.lists(st.tuples(st.integers(1, 7), st.integers(1, 7)), min_size=3, max_size=20)


def sides(pairs):
    good, bad = zip(*pairs, strict=True)
    return np.array(good, dtype=float), np.array(bad, dtype=float)


@given(scores)
def test_paired_tests_equal_scipy_and_swap_with_their_sides(pairs):
    good, bad = sides(pairs)
    contrast, swapped = paired_contrast(good, bad), paired_contrast(bad, good)
    if np.ptp(good - bad) == 0:
        assert (contrast.status, contrast.p) == ("no_variation", None)
        return
    rel = stats.ttest_rel(good, bad)
    interval = rel.confidence_interval()
    assert (contrast.statistic, contrast.p) == pytest.approx((rel.statistic, rel.pvalue))
    assert (contrast.ci_low, contrast.ci_high) == pytest.approx((interval.low, interval.high))
    assert p_value(contrast, alternative="greater") == pytest.approx(p_value(swapped, alternative="less"))
    assert contrast.d_z == pytest.approx(-swapped.d_z)


def test_effect_sizes_are_named_for_what_they_divide_by():
    rng = np.random.default_rng(1)
    bad = rng.normal(size=30)
    good = bad + rng.normal(0.5, 0.3, size=30)
    contrast = paired_contrast(good, bad)
    assert contrast.d_z == pytest.approx((good - bad).mean() / (good - bad).std(ddof=1))
    pooled = ((good.var(ddof=1) + bad.var(ddof=1)) / 2) ** 0.5
    assert contrast.d_pooled == pytest.approx((good - bad).mean() / pooled)
    assert contrast.d_av == pytest.approx((good - bad).mean() / ((good.std(ddof=1) + bad.std(ddof=1)) / 2))


def test_the_interval_of_d_z_covers_as_often_as_it_says_and_that_of_pingouin_too_often():
    """With five participants and no effect t has a known distribution, so both coverages are exact."""
    n, t = 5, np.linspace(0, 9, 901)

    def coverage(interval):
        first = next(value for value in t if interval(value / n**0.5)[0] > 0)
        return 1 - 2 * stats.t.sf(first, n - 1)

    def symmetric(d):
        return pingouin.compute_esci(d, nx=n, ny=1, eftype="cohen", decimals=9)

    assert coverage(lambda d: d_z_interval(d, n)) == pytest.approx(0.95, abs=0.001)
    assert coverage(symmetric) == pytest.approx(0.9956, abs=0.001)


def test_the_options_of_pingouin_are_restored():
    before = dict(pingouin.options)
    found = paired_contrast(np.array([5.0, 6, 7, 7]), np.array([3.0, 5, 4, 6]))
    half = stats.t.ppf(0.975, 3) * (2.75 / 3 / 4) ** 0.5
    assert found.ci_low == pytest.approx(1.75 - half)  # pingouin.ttest alone: .23
    assert dict(pingouin.options) == before and before["round.column.CI95"] == 2


@given(scores)
def test_welch_equals_scipy(pairs):
    good, bad = sides(pairs)
    contrast = welch_contrast(good, bad[:-1])
    if np.ptp(good) == 0 and np.ptp(bad[:-1]) == 0:
        assert contrast.status == "no_variation"
        return
    ind = stats.ttest_ind(good, bad[:-1], equal_var=False)
    assert (contrast.statistic, contrast.df, contrast.p) == pytest.approx((ind.statistic, ind.df, ind.pvalue))
    assert contrast.ci_low == pytest.approx(ind.confidence_interval().low)


def test_units_with_one_side_are_left_out_of_the_pairs():
    rows = pd.DataFrame(
        [("A", "acceptable", 5.0), ("A", "unacceptable", 2.0), ("A", "acceptable", 7.0),
         ("B", "acceptable", 6.0), ("C", "unacceptable", np.nan), ("C", "acceptable", 6.0),
         ("D", "other", 1.0)],
        columns=["participant", "expected", "value"],
    )  # fmt: skip
    assert paired_means(rows).values.tolist() == [["A", 6.0, 2.0, 4.0]]
    assert contrast(rows).status == "too_few"
    with pytest.raises(MissingColumns, match="item"):
        contrast(rows, unit="item")


def test_too_few_values_have_no_test():
    assert paired_contrast(np.array([1.0, np.nan]), np.array([0.0, 1.0])).status == "too_few"
    assert welch_contrast(np.array([1.0]), np.array([0.0, 1.0])).status == "too_few"
    with pytest.raises(UnknownName, match="greater"):
        p_value(paired_contrast(np.array([1.0]), np.array([0.0])), alternative="more")


@given(scores)
def test_common_language_counts_pairs_and_is_blind_to_the_scale(pairs):
    good, bad = sides(pairs)
    expected = np.mean((good[:, None] > bad) + 0.5 * (good[:, None] == bad))
    assert common_language(good, bad) == pytest.approx(expected)
    assert common_language(np.exp(good), np.exp(bad)) == pytest.approx(expected)
    assert common_language(bad, good) == pytest.approx(1 - expected)
    assert common_language(good, bad[:0]) is None


def test_within_intervals_leave_out_the_level_of_people():
    rng = np.random.default_rng(2)
    rows = pd.DataFrame([(p, c) for p in range(20) for c in "xyz"], columns=["participant", "condition"])
    rows["value"] = rng.normal(size=60) + rows["condition"].map({"x": 0, "y": 1, "z": 2})
    shifted = rows.assign(value=rows["value"] + 50 * rows["participant"])
    near, far = within_intervals(rows), within_intervals(shifted)
    assert far["se"].tolist() == pytest.approx(near["se"].tolist())
    wide = rows.pivot(index="participant", columns="condition", values="value").to_numpy()
    level = wide - wide.mean(axis=1, keepdims=True)
    assert near["se"].tolist() == pytest.approx((level.std(axis=0, ddof=1) * np.sqrt(3 / 2 / 20)).tolist())


def test_two_conditions_agree_with_the_paired_t():
    rng = np.random.default_rng(5)
    wide = rng.normal(size=(12, 2))
    rows = pd.DataFrame([(p, c, wide[p, c]) for p in range(12) for c in (0, 1)])
    table = within_intervals(rows.set_axis(["participant", "condition", "value"], axis=1))
    spread = (wide[:, 0] - wide[:, 1]).std(ddof=1) / np.sqrt(12)
    assert table["se"].tolist() == pytest.approx([spread / np.sqrt(2)] * 2)


def test_within_intervals_need_two_complete_people():
    rows = pd.DataFrame(
        {"participant": ["A", "A", "B"], "condition": ["x", "y", "x"], "value": [1.0, 2.0, 3.0]}
    )
    table = within_intervals(rows)
    assert set(table["status"]) == {"too_few"} and table["se"].isna().all()
