"""Ratings on one scale: participant z, magnitudes, outliers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from analysis.errors import BadInput, MissingColumns
from analysis.magnitudes import log_ratios, magnitude_ratios, without_zeros
from analysis.scales import (
    outliers,
    participant_scales,
    rank_normal_by_participant,
    robust_z_by_participant,
    zscore_by_participant,
)


def ratings_of(people):
    """Build a frame from {participant: ratings}, None for a missing one."""
    rows = [(person, value) for person, values in people.items() for value in values]
    return pd.DataFrame(rows, columns=["participant", "value"]).astype({"value": float})


def by_person(frame, column):
    """Give {participant: list of numbers, None for NaN}."""
    return {
        person: [None if np.isnan(number) else number for number in column[rows.index]]
        for person, rows in frame.groupby("participant")
    }


def same(values, expected, tolerance=1e-6):
    """Compare lists of numbers with Nones."""
    assert len(values) == len(expected)
    for value, other in zip(values, expected, strict=True):
        assert (value is None) == (other is None)
        assert value is None or value == pytest.approx(other, abs=tolerance)


def test_z_by_hand():
    frame = ratings_of({"A": [1, 4, 7, 4], "B": [3, 3, 3, 3], "C": [5]})
    z = by_person(frame, zscore_by_participant(frame))
    same(z["A"], [-(1.5**0.5), 0, 1.5**0.5, 0])
    same(z["B"], [None] * 4)
    same(z["C"], [None])
    assert participant_scales(frame)["status"].tolist() == ["ok", "constant", "too_few"]


@pytest.mark.filterwarnings("error")
def test_three_ratings_are_too_few_unless_asked_for():
    frame = ratings_of({"A": [1, 2, 6]})
    assert zscore_by_participant(frame).isna().all()
    assert zscore_by_participant(frame, min_ratings=2).notna().all()


@pytest.mark.filterwarnings("error")
def test_participant_without_any_rating_has_no_data():
    frame = ratings_of({"A": [None, None], "B": [1, 2, 3, 4]})
    assert participant_scales(frame)["status"].tolist() == ["no_data", "ok"]
    assert zscore_by_participant(frame)[:2].isna().all()


def test_constant_fractions_are_constant_in_spite_of_rounding():
    frame = ratings_of({"A": [0.1] * 7})
    assert participant_scales(frame)["status"].tolist() == ["constant"]
    assert zscore_by_participant(frame).isna().all()


def test_fillers_count_for_the_scale_and_catch_trials_do_not():
    frame = ratings_of({"A": [1, 4, 7, 4, 1, 7, 99]})
    frame["kind"] = ["target"] * 4 + ["filler"] * 2 + ["catch"]
    z = zscore_by_participant(frame)
    assert z[0] == pytest.approx(-1.118033989)
    assert np.isnan(z[6])
    assert zscore_by_participant(frame, scope=("target",))[0] == pytest.approx(-1.224744871)


def test_unanswered_trials_are_left_out_whatever_their_value():
    frame = ratings_of({"A": [1, 4, 7, 4, 7]})
    frame["status"] = ["answered"] * 4 + ["timed_out"]
    assert zscore_by_participant(frame)[0] == pytest.approx(-1.224744871)


def test_z_agrees_with_plain_pandas_on_many_participants():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"participant": rng.integers(50, size=5000), "value": rng.normal(1e6, 1, 5000)})
    plain = frame.groupby("participant")["value"].transform(lambda x: (x - x.mean()) / x.std())
    assert (zscore_by_participant(frame) - plain).abs().max() < 1e-6


def test_input_frame_is_untouched():
    frame = ratings_of({"A": [1, 4, 7, 4]})
    copy = frame.copy()
    zscore_by_participant(frame)
    pd.testing.assert_frame_equal(frame, copy)


def test_missing_column_names_itself_and_those_found():
    with pytest.raises(MissingColumns, match=r"participant.*worker"):
        zscore_by_participant(pd.DataFrame({"worker": ["A"], "value": [1]}))


@pytest.mark.parametrize("wrong", ["four", np.inf])
def test_text_or_infinity_among_the_values_is_refused_with_its_row(wrong):
    frame = pd.DataFrame({"participant": ["A"] * 2, "value": [1, wrong]})
    with pytest.raises(BadInput, match="row 2"):
        zscore_by_participant(frame)


def test_ddof_other_than_0_and_1_is_refused():
    with pytest.raises(BadInput, match="ddof"):
        zscore_by_participant(ratings_of({"A": [1, 2, 3, 4]}), ddof=2)


ratings = st.lists(st.integers(1, 7), min_size=4, max_size=30)


@given(ratings, st.floats(-50, 50), st.floats(0.1, 20))
def test_z_is_invariant_under_a_positive_linear_change(values, a, b):
    assume(len(set(values)) > 1)
    frame = ratings_of({"A": values})
    changed = frame.assign(value=a + b * frame["value"])
    assert np.allclose(zscore_by_participant(frame), zscore_by_participant(changed), atol=1e-8)


@given(st.lists(st.integers(1, 1000), min_size=4, max_size=30), st.floats(0.1, 50), st.floats(0.2, 3))
def test_z_of_logs_is_invariant_under_a_power_change(values, a, b):
    assume(len(set(values)) > 1)
    frame = ratings_of({"A": values})
    changed = frame.assign(value=a * frame["value"] ** b)
    first, second = (
        zscore_by_participant(each.assign(value=log_ratios(each.assign(task="magnitude_estimation"))))
        for each in (frame, changed)
    )
    assert np.allclose(first, second, atol=1e-6)


@given(ratings, st.randoms())
def test_z_does_not_depend_on_the_order_of_rows(values, shuffler):
    frame = ratings_of({"A": values, "B": values[::-1]})
    order = list(frame.index)
    shuffler.shuffle(order)
    assert np.allclose(
        zscore_by_participant(frame.loc[order]).sort_index(), zscore_by_participant(frame), equal_nan=True
    )


def test_magnitudes_are_flagged_not_clipped():
    ratios = magnitude_ratios(pd.Series(["50", 200, "0", -10, None, "abc", "inf", " "]), modulus=100)
    assert ratios["flag"].tolist() == [
        "ok", "ok", "nonpositive", "nonpositive", "missing", "not_a_number", "not_a_number", "missing",
    ]  # fmt: skip
    same([None if np.isnan(x) else x for x in ratios["ratio"]], [0.5, 2, 0, None, None, None, None, None])
    assert ratios["log10_ratio"].notna().tolist() == [True, True] + [False] * 6


def test_magnitudes_below_zero_have_no_z():
    frame = ratings_of({"A": [50, 200, 100, 150, -1, -10]}).assign(task="magnitude_estimation")
    same(zscore_by_participant(frame)[:4].tolist(), [-1.161895004, 1.161895004, -0.3872983346, 0.3872983346])
    assert zscore_by_participant(frame)[4:].isna().all()


def test_magnitudes_of_zero_have_a_z_as_in_the_authors_analyses_and_no_logarithm():
    values = [50.0, 200, 100, 150, 0]
    frame = ratings_of({"A": values}).assign(task="magnitude_estimation")
    expected = (np.array(values) - np.mean(values)) / np.std(values, ddof=1)
    same(zscore_by_participant(frame).tolist(), expected.tolist())
    assert log_ratios(frame).notna().tolist() == [True] * 4 + [False]


def test_logs_of_likert_ratings_are_refused():
    with pytest.raises(BadInput, match="likert"):
        log_ratios(ratings_of({"A": [1, 2]}).assign(task="likert"))


def test_one_typing_error_is_flagged_and_kept():
    frame = ratings_of({"A": [100, 110, 90, 105, 95, 1000], "B": [5, 5, 5, 5, 5, 9]})
    assert outliers(frame).tolist() == [False] * 5 + [True] + [False] * 6
    assert robust_z_by_participant(frame)[6:].isna().all()


def test_rank_normal_depends_on_order_only():
    frame = ratings_of({"A": [1, 2, 3, 500]})
    ranks = rank_normal_by_participant(frame)
    assert ranks.is_monotonic_increasing and ranks.sum() == pytest.approx(0)
    assert rank_normal_by_participant(ratings_of({"A": [3, 3, 3]})).isna().all()


def test_vector_participant_z(shared_vectors):
    vector = shared_vectors["participant_z"]
    frame = ratings_of(vector["input"])
    statuses = participant_scales(frame, min_ratings=2).set_index("participant")["status"]
    for ddof in (0, 1):
        z = by_person(frame, zscore_by_participant(frame, ddof=ddof, min_ratings=2))
        for person, expected in vector["expected"].items():
            same(z[person], expected[f"ddof{ddof}"], vector["tolerance"])
            assert statuses[person] == expected["status"]


def test_vector_participant_z_fillers(shared_vectors):
    vector = shared_vectors["participant_z_fillers"]
    given_rows = vector["input"]
    frame = ratings_of({"A": given_rows["experimental"] + given_rows["fillers"]})
    frame["kind"] = ["target"] * 4 + ["filler"] * 2
    expected = vector["expected"]
    same(zscore_by_participant(frame, scope=("target",))[:4].tolist(), expected["experimental_only"])
    same(zscore_by_participant(frame)[:4].tolist(), expected["with_fillers"])


def test_vector_me_transform(shared_vectors):
    vector = shared_vectors["me_transform"]
    ratios = magnitude_ratios(pd.Series(vector["input"]["responses"]), modulus=vector["input"]["standard"])
    expected = vector["expected"]
    assert ratios["flag"].tolist() == expected["flags"]
    frame = pd.DataFrame({"participant": "A", "task": "magnitude_estimation", "value": ratios["number"]})
    frame["modulus"] = 100
    logs = zscore_by_participant(frame.assign(value=log_ratios(frame), task="log_ratio"))
    for column, key in [
        (ratios["ratio"], "ratio"),
        (ratios["log10_ratio"], "log10_ratio"),
        (zscore_by_participant(without_zeros(frame)), "z_raw_positive_only_ddof1"),
        (logs, "z_log_ddof1"),
    ]:
        same([None if np.isnan(x) else x for x in column], expected[key])


def test_ssa_likert_zscores_are_those_the_authors_released(shared_data):
    path = shared_data("ssa2013-likert/LI.ls.results.csv")
    frame = pd.read_csv(path, encoding="mac_roman", skiprows=5).rename(columns={"judgment": "value"})
    difference = zscore_by_participant(frame) - frame["zscores"]
    assert difference.notna().sum() == 30_338
    assert difference.abs().max() < 1e-9
