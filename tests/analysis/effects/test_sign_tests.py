"""Sign test, McNemar and sign flips."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.effects.contrasts import paired_contrast
from analysis.effects.five_analyses import five_analyses
from analysis.effects.sign_tests import mcnemar_test, sign_flip_test, sign_test
from analysis.errors import BadInput


def test_vector_sign_mcnemar(shared_vectors):
    vector = shared_vectors["sign_mcnemar"]
    expected = vector["expected"]
    for (k, n), p in zip(vector["input"]["sign"], expected["sign_p_two"], strict=True):
        assert sign_test(k, n) == pytest.approx(p, abs=1e-12)
    assert mcnemar_test(*vector["input"]["mcnemar_b_c"]) == pytest.approx(
        expected["mcnemar_exact_p"], abs=1e-9
    )


def test_vector_fc_glmm_without_the_logistic_model(shared_vectors):
    vector = shared_vectors["fc_glmm"]
    rows = pd.DataFrame(vector["input"], columns=["participant", "item", "ok"])
    expected = vector["expected"]
    assert sign_test(int(rows["ok"].sum()), len(rows)) == pytest.approx(expected["binomial_p"], rel=1e-6)
    for unit, name in (("participant", "participant_share"), ("item", "item_share")):
        shares = rows.groupby(unit)["ok"].mean().to_numpy()
        contrast = paired_contrast(shares, np.full(len(shares), 0.5))
        assert contrast.statistic == pytest.approx(expected[f"{name}_t"], abs=1e-4)
        assert contrast.p == pytest.approx(expected[f"{name}_p"], abs=1e-5)
    flipped = sign_flip_test(rows["ok"].to_numpy() - 0.5, rows["participant"])
    assert flipped["p"] == pytest.approx(expected["participant_share_p"], abs=0.004)
    assert flipped["p"] > 10 * expected["binomial_p"]


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8))
def test_exact_flips_equal_the_enumeration_by_hand(values):
    result = sign_flip_test(np.array(values, dtype=float))
    if not any(values):
        assert result["status"] == "no_variation"
        return
    totals = [
        sum(s * v for s, v in zip(signs, values, strict=True))
        for signs in product((1, -1), repeat=len(values))
    ]
    assert result["p"] == pytest.approx(np.mean([abs(t) >= abs(sum(values)) for t in totals]))
    assert result["p_greater"] == pytest.approx(np.mean([t >= sum(values) for t in totals]))


def test_values_of_one_participant_flip_together():
    values, people = np.ones(40), pd.Series(np.repeat(list("abcd"), 10))
    assert sign_flip_test(values, people)["p"] == 2 / 16
    alone = sign_flip_test(values)
    assert alone["method"] == "random" and alone["p"] == pytest.approx(1 / 10_001)


def test_random_flips_repeat_with_their_seed():
    values = np.random.default_rng(0).normal(0.3, 1, size=60)
    assert sign_flip_test(values, seed=3) == sign_flip_test(values, seed=3)
    assert sign_flip_test(values, seed=3)["p"] == pytest.approx(sign_flip_test(values, seed=4)["p"], abs=0.02)


def test_gaps_are_left_out_and_nothing_is_no_data():
    assert sign_flip_test(np.array([1.0, np.nan, 2.0]))["n_clusters"] == 2
    assert sign_flip_test(np.array([np.nan]))["status"] == "no_data"
    assert sign_test(0, 0) is None and mcnemar_test(0, 0) is None
    with pytest.raises(BadInput, match="11 of 10"):
        sign_test(11, 10)


@pytest.mark.parametrize("n", [3, 5, 6, 9])
def test_the_least_possible_p_is_that_of_clusters_which_all_agree(n):
    tested = sign_flip_test(np.ones(n))
    # R 4.2.2: binom.test(n, n)$p.value
    assert tested["p_least"] == pytest.approx(2 / 2**n) == tested["p"] == sign_test(n, n)


def test_a_sign_test_that_cannot_reject_says_so():
    rows = pd.DataFrame({"participant": list("abcde"), "item": "i", "value": 1.0}).assign(
        task="forced_choice"
    )
    table = five_analyses(rows).table.set_index("analysis")
    assert table.loc["two_tailed", "method"].endswith("5 choices give no p below 0.0625")
    more = pd.concat([rows, rows.tail(1).assign(participant="f")])
    assert (
        five_analyses(more).table.set_index("analysis").loc["two_tailed", "method"].endswith("participants")
    )
