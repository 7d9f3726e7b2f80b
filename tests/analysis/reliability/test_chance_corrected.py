"""Agreement of annotators, corrected for chance."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import BadInput, UnknownName
from analysis.reliability.chance_corrected import (
    binary_counts,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    label_blind,
    percent_agreement,
    point_counts,
)


def answers_from_matrix(coders):
    """Turn coders × units into long answers."""
    rows = [(unit, value) for coder in coders for unit, value in enumerate(coder)]
    return pd.DataFrame(rows, columns=["unit", "value"]).astype({"value": float})


def answers_from_counts(counts):
    """Turn units × categories of counts into long answers."""
    rows = [(u, c) for u, unit in enumerate(counts) for c, n in enumerate(unit) for _ in range(n)]
    return pd.DataFrame(rows, columns=["unit", "value"]).astype({"value": float})


def test_two_coders_by_hand():
    answers = answers_from_matrix([[0, 0, 1, 1], [0, 1, 1, 1]])
    assert percent_agreement(answers).value == 0.75
    assert krippendorff_alpha(answers).value == pytest.approx(1 - (2 / 8) / (30 / 56))


@pytest.mark.filterwarnings("error")
def test_one_category_throughout_has_no_alpha_but_an_ac1():
    answers = answers_from_counts([[4, 0], [4, 0]])
    assert (krippendorff_alpha(answers).value, krippendorff_alpha(answers).status) == (None, "no_variation")
    assert krippendorff_alpha(answers, level="interval").status == "no_variation"
    assert fleiss_kappa(answers).status == "no_variation"
    assert gwet_ac1(answers).value == 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("counts", [[], [[1, 0], [0, 1]]])
def test_without_two_answers_to_a_unit_there_is_no_data(counts):
    answers = answers_from_counts(counts)
    for coefficient in (percent_agreement, fleiss_kappa, gwet_ac1, krippendorff_alpha):
        assert (coefficient(answers).value, coefficient(answers).status) == (None, "no_data")
    assert krippendorff_alpha(answers, level="interval").status == "no_data"


def test_fleiss_refuses_units_of_different_size():
    assert fleiss_kappa(answers_from_counts([[3, 0], [1, 1]])).status == "unequal_n"


def test_unknown_level_is_named():
    with pytest.raises(UnknownName, match="nominal"):
        krippendorff_alpha(answers_from_counts([[1, 1]]), level="nominl")


matrices = st.lists(
    st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=6, max_size=6), min_size=3, max_size=5
)


@settings(max_examples=60, deadline=None)
@given(matrices)
def test_closed_forms_equal_the_published_package(coders):
    answers = answers_from_matrix(coders)
    data = np.array(
        [[np.nan if value is None else value for value in coder] for coder in coders], dtype=float
    )
    for level in ("nominal", "ordinal", "interval", "ratio"):
        alpha = krippendorff_alpha(answers, level=level)
        if alpha.value is not None:
            expected = krippendorff.alpha(reliability_data=data, level_of_measurement=level)
            assert alpha.value == pytest.approx(expected, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(matrices, st.floats(-5, 5), st.floats(0.1, 9), st.randoms())
def test_alpha_is_invariant_under_relabelling_and_linear_maps(coders, a, b, shuffler):
    answers = answers_from_matrix(coders)
    mixed = [list(column) for column in zip(*coders, strict=True)]
    shuffler.shuffle(mixed)
    permuted = answers_from_matrix([list(row) for row in zip(*mixed, strict=True)][::-1])
    relabelled = answers.assign(value=answers["value"].map({1: 4, 2: 1, 3: 5, 4: 2, 5: 3}))
    linear = answers.assign(value=a + b * answers["value"])
    nominal, interval = krippendorff_alpha(answers).value, krippendorff_alpha(answers, level="interval").value
    assert krippendorff_alpha(relabelled).value == pytest.approx(nominal)
    assert krippendorff_alpha(permuted).value == pytest.approx(nominal)
    assert krippendorff_alpha(linear, level="interval").value == pytest.approx(interval, abs=1e-6)
    cubed, scaled = answers.assign(value=answers["value"] ** 3), answers.assign(value=b * answers["value"])
    ordinal, ratio = krippendorff_alpha(answers, level="ordinal"), krippendorff_alpha(answers, level="ratio")
    assert krippendorff_alpha(cubed, level="ordinal").value == pytest.approx(ordinal.value)
    assert krippendorff_alpha(scaled, level="ratio").value == pytest.approx(ratio.value, abs=1e-9)


def test_the_ratio_level_refuses_negative_numbers_and_takes_zeros():
    with pytest.raises(BadInput, match="negative"):
        krippendorff_alpha(answers_from_matrix([[-1, 2], [1, 2]]), level="ratio")
    alpha = krippendorff_alpha(answers_from_matrix([[0, 2], [0, 2]]), level="ratio")
    assert alpha.value == 1


def test_many_different_values_are_paired_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    coders = rng.integers(1, 40, size=(5, 30)) + 0.5
    value = krippendorff_alpha(answers_from_matrix(coders), level="ratio").value
    monkeypatch.setattr("analysis.reliability.chance_corrected._BLOCK", 50)
    assert krippendorff_alpha(answers_from_matrix(coders), level="ratio").value == pytest.approx(value)


@settings(max_examples=60, deadline=None)
@given(matrices, st.sampled_from(["nominal", "ordinal", "interval", "ratio"]))
def test_points_that_are_counted_first_give_the_alpha_of_the_same_points_halved(coders, level):
    answers = answers_from_matrix(coders)
    halved = answers.assign(value=answers["value"] / 2)
    assert point_counts(halved[halved["value"] % 1 > 0]) is None
    points, half = (krippendorff_alpha(rows, level=level) for rows in (answers, halved))
    assert points.status == half.status
    assert points.value == pytest.approx(half.value, abs=1e-12)


def test_units_may_be_named_by_distant_or_negative_numbers_and_answers_be_missing():
    rows = pd.DataFrame({"unit": [-5, -5, 7, 7, 9], "value": [1, 2, 2, 2, np.nan]})
    far = rows.assign(unit=rows["unit"] * 10**12)
    named_units = rows.assign(unit=rows["unit"].astype(str))
    alphas = {krippendorff_alpha(frame, level="interval").value for frame in (rows, far, named_units)}
    assert alphas == {krippendorff.alpha(value_counts=[[1, 1], [0, 2]], level_of_measurement="interval")}


def test_label_blind_coding_turns_whole_pairs_and_keeps_percent_agreement():
    n, names = np.full(200, 10), [f"pair {number}" for number in range(200)]
    k = np.tile([10, 9], 100)
    coded = label_blind(k, n, names=names)
    assert set(coded) == {0, 1, 9, 10} and 0.3 < (coded < 5).mean() < 0.7
    assert (label_blind(k[::-1], n, names=names[::-1])[::-1] == coded).all()
    before, after = binary_counts(k, n), binary_counts(coded, n)
    assert percent_agreement(before).value == pytest.approx(percent_agreement(after).value)
    assert krippendorff_alpha(after).value > krippendorff_alpha(before).value


def test_counts_and_answers_give_the_same_coefficients():
    rows = answers_from_counts([[1, 4], [3, 2], [0, 5], [1, 0]])
    counts = binary_counts(np.array([4, 2, 5, 0, 0]), np.array([5, 5, 5, 1, 0]))
    for coefficient in (percent_agreement, gwet_ac1, krippendorff_alpha):
        assert coefficient(counts).value == pytest.approx(coefficient(rows).value)


def test_vector_krippendorff(shared_vectors):
    vector = shared_vectors["krippendorff"]
    answers = answers_from_matrix(vector["input"])
    for level in ("nominal", "ordinal", "interval", "ratio"):
        alpha = krippendorff_alpha(answers, level=level).value
        assert alpha == pytest.approx(vector["expected"][level], abs=vector["tolerance"])


def test_vector_fleiss(shared_vectors):
    vector = shared_vectors["fleiss"]
    answers, expected = answers_from_counts(vector["input"]), vector["expected"]
    assert percent_agreement(answers).value == pytest.approx(expected["percent"], abs=1e-6)
    assert fleiss_kappa(answers).value == pytest.approx(expected["fleiss_kappa"], abs=1e-6)
    assert gwet_ac1(answers).value == pytest.approx(expected["gwet_ac1"], abs=1e-6)


def test_vector_fleiss_degenerate(shared_vectors):
    vector = shared_vectors["fleiss_degenerate"]
    answers, expected = answers_from_counts(vector["input"]), vector["expected"]
    assert percent_agreement(answers).value == expected["percent"]
    assert fleiss_kappa(answers).value is expected["fleiss_kappa"]
    assert krippendorff_alpha(answers).value is expected["krippendorff_nominal"]
    assert gwet_ac1(answers).value == expected["gwet_ac1"]
