"""Shares with intervals; signal detection."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from analysis.aggregation.proportions import clopper_pearson_interval, signal_detection, wilson_interval
from analysis.errors import BadInput
from analysis.reliability.item_diagnostics import item_diagnostics


@given(st.integers(0, 200), st.integers(1, 200))
def test_intervals_equal_those_of_statsmodels(k, extra):
    n = k + extra
    for interval, method in ((wilson_interval, "wilson"), (clopper_pearson_interval, "beta")):
        assert [float(end) for end in interval(k, n)] == pytest.approx(
            proportion_confint(k, n, method=method), abs=1e-9
        )


@pytest.mark.filterwarnings("error")
def test_ends_are_exact_at_0_and_1_and_undefined_without_data():
    for interval in (wilson_interval, clopper_pearson_interval):
        low, high = interval([0, 5, 0], [5, 5, 0])
        assert (low[0], high[1]) == (0, 1)
        assert high[0] < 1 and low[1] > 0
        assert np.isnan([low[2], high[2]]).all()


def test_more_chosen_than_shown_is_refused():
    with pytest.raises(BadInput):
        wilson_interval(3, 2)


def test_perfect_detection_is_finite_only_with_the_correction():
    assert signal_detection((20, 20), (0, 20), corrected=False).status == "ceiling"
    assert signal_detection((20, 20), (0, 20)).d_prime == pytest.approx(3.9610, abs=1e-3)


def test_without_sentences_of_one_kind_nothing_is_detected():
    detection = signal_detection((0, 0), (3, 20))
    assert (detection.d_prime, detection.criterion, detection.status) == (None, None, "no_data")


def test_vector_yn_sdt(shared_vectors):
    vector = shared_vectors["yn_sdt"]
    good, bad = (tuple(vector["input"][key]) for key in ("yes_good", "yes_bad"))
    plain = signal_detection(good, bad, corrected=False)
    assert plain.d_prime == pytest.approx(vector["expected"]["d_prime"], abs=1e-6)
    assert plain.criterion == pytest.approx(vector["expected"]["criterion_c"], abs=1e-6)
    assert signal_detection(good, bad).d_prime == pytest.approx(
        vector["expected"]["d_prime_loglinear"], abs=1e-6
    )


def test_people_of_different_bias_keep_their_own_d_prime():
    yes_counts = {"yes-sayer": (20, 12), "no-sayer": (9, 0)}  # of 20 acceptable and 20 unacceptable sentences
    rows = pd.DataFrame(
        [
            (person, f"i{n}", word, float(n < yes))
            for person, counts in yes_counts.items()
            for word, yes in zip(("acceptable", "unacceptable"), counts, strict=True)
            for n in range(20)
        ],
        columns=["participant", "item", "expected", "value"],
    ).assign(task="yes_no")
    single = rows.assign(participant="alone", value=1.0).head(1)
    row = item_diagnostics(pd.concat([rows, single], ignore_index=True))["detection"]["rows"][0]
    sensitivities = [signal_detection((good, 20), (bad, 20)).d_prime for good, bad in yes_counts.values()]
    assert (row["n_participants"], row["d_prime_mean"]) == (2, pytest.approx(sum(sensitivities) / 2))
    assert row["ci_low"] < row["d_prime_mean"] < row["ci_high"]
    assert row["d_prime"] < row["d_prime_mean"]
