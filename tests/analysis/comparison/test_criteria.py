"""The BLiMP criterion and the ADC: the paper's examples, the strict sense of inequalities, invariances."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.comparison.adc_curve import adc_area, adc_curve
from analysis.comparison.criteria import (
    acceptability_delta_criterion,
    adc_shares,
    blimp_criterion,
    standardize,
)
from analysis.errors import BadInput

differences = st.lists(
    st.tuples(st.integers(-3000, 3000), st.integers(-3000, 3000)), min_size=1, max_size=30
).map(lambda rows: np.array(rows, dtype=float) / 1000)


def as_bools(series):
    return [None if pd.isna(value) else bool(value) for value in series]


def test_criteria_equal_the_vector(shared_vectors):
    vector = shared_vectors["adc"]
    human = [row[0] for row in vector["input"]]
    model = [row[1] for row in vector["input"]]
    for delta in (0.5, 1, 5):
        criterion = acceptability_delta_criterion(human, model, delta=delta)
        assert as_bools(criterion) == vector["expected"][f"adc_{delta}"]
    assert as_bools(blimp_criterion(model, [0.0] * len(model))) == vector["expected"]["bc"]


def test_area_equals_the_vector(shared_vectors):
    vector = shared_vectors["adc_auc"]
    human = [row[0] for row in vector["input"]]
    model = [row[1] for row in vector["input"]]
    assert adc_area(human, model) == pytest.approx(vector["expected"]["auc_to_3"], abs=1e-9)


def test_examples_of_the_papers_appendix_come_out():
    human, model = [2.320552, 0.023432], [0.633896671, -0.158799029]
    assert as_bools(blimp_criterion(model, [0, 0])) == [True, False]
    assert as_bools(acceptability_delta_criterion(human, model, delta=1)) == [False, False]


def test_equal_scores_fail_the_blimp_criterion():
    assert as_bools(blimp_criterion([-3.0], [-3.0])) == [False]


def test_a_distance_of_exactly_delta_is_outside():
    assert as_bools(acceptability_delta_criterion([1.2], [0.7], delta=0.5)) == [False]


def test_published_signs_let_a_zero_pass_beside_a_negative_difference():
    human, model = [-0.461, -0.461, 0.3], [0.0, -0.2, 0.0]
    assert as_bools(acceptability_delta_criterion(human, model, delta=1, signs="strict")) == [
        False,
        True,
        False,
    ]
    assert as_bools(acceptability_delta_criterion(human, model, delta=1, signs="published")) == [
        True,
        True,
        False,
    ]


def test_published_signs_leave_missing_pairs_out():
    assert as_bools(acceptability_delta_criterion([None], [0.0], signs="published")) == [None]


@pytest.mark.parametrize("options", [{"delta": 0.0}, {"delta": -1.0}, {"signs": "loose"}])
def test_wrong_settings_are_refused(options):
    with pytest.raises(BadInput):
        acceptability_delta_criterion([1.0], [1.0], **options)


def test_standardization_counts_each_sentence_once_and_divides_by_n():
    z = standardize(pd.Series([1.0, 2.0, 3.0, np.nan], index=list("abcd")))
    assert z.round(6).tolist()[:3] == [-1.224745, 0.0, 1.224745]
    assert np.isnan(z["d"])


def test_equal_scores_have_no_z():
    assert standardize(pd.Series([2.0, 2.0])).isna().all()


@given(differences)
def test_adc_never_falls_with_delta_nor_exceeds_sign_agreement(rows):
    human, model = rows[:, 0], rows[:, 1]
    shares = list(adc_shares(human, model, deltas=[0.1, 0.5, 1, 2, 7], signs="strict").values())
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(np.mean(np.sign(human) * np.sign(model) > 0))


@given(differences)
def test_people_agree_with_themselves_wherever_they_see_a_difference(rows):
    human = rows[:, 0]
    assert adc_shares(human, human, deltas=[1e-6], signs="strict")[1e-6] == pytest.approx(np.mean(human != 0))


@given(differences)
def test_exchanging_good_and_bad_on_both_sides_changes_nothing(rows):
    human, model = rows[:, 0], rows[:, 1]
    there = adc_shares(human, model, deltas=[0.5, 1], signs="strict")
    back = adc_shares(-human, -model, deltas=[0.5, 1], signs="strict")
    assert there == back


@given(differences)
def test_area_is_the_integral_of_the_curve(rows):
    human, model = rows[:, 0], rows[:, 1]
    curve = adc_curve(human, model, delta_max=2.0)
    steps = np.diff(curve["delta"]) * curve["adc"].to_numpy()[:-1]
    assert adc_area(human, model, delta_max=2.0) == pytest.approx(steps.sum() / 2.0)
