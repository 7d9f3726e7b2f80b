"""Individual agreement: pooled, mean of item shares, mean of group means."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.agreement.majority import majority_agreement, majority_status
from analysis.agreement.summaries import mean_of_group_means, mean_of_item_shares, pooled_share


def test_items_and_judgments_weigh_differently():
    assert pooled_share([9, 1], [10, 2]) == pytest.approx(10 / 12)
    assert mean_of_item_shares([9, 1], [10, 2]) == pytest.approx(0.7)


def test_items_without_judgments_are_left_out():
    assert mean_of_item_shares([3, 0], [4, 0]) == 0.75


@pytest.mark.filterwarnings("error")
def test_nothing_gives_nothing():
    assert pooled_share([], []) is None
    assert mean_of_item_shares([0], [0]) is None
    assert mean_of_group_means([], []) is None


def test_group_means_weigh_groups_alike():
    assert mean_of_group_means([1, 1, 1, 0, np.nan], ["a", "a", "a", "b", "b"]) == 0.5


@given(st.lists(st.integers(0, 12), min_size=1, max_size=20))
def test_pooled_and_mean_are_equal_when_items_have_equally_many_judgments(k):
    n = [12] * len(k)
    assert pooled_share(k, n) == pytest.approx(mean_of_item_shares(k, n))


def test_vector_fc_micro_macro(shared_vectors):
    vector = shared_vectors["fc_micro_macro"]
    k, n = zip(*vector["input"].values(), strict=True)
    expected = vector["expected"]
    assert pooled_share(k, n) == pytest.approx(expected["micro"])
    assert mean_of_item_shares(k, n) == pytest.approx(expected["mean_of_item_means"])
    majority = majority_status(k, n, n_min=1)
    assert majority_agreement(majority) == expected["aggregate_strict"]
    assert (majority == "tie").sum() == expected["ties"]
