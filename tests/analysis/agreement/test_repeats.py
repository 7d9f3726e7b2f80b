"""Several judgments of one sentence by one participant: intervals count participants, not rows."""

import numpy as np
import pandas as pd
import pytest

from analysis.aggregation.decisions import decisions
from analysis.aggregation.proportions import wilson_interval
from analysis.aggregation.ratings import item_means
from analysis.agreement.majority import count_items

N_PEOPLE, N_REPEATS = 10, 10


def choices(n_repeats: int) -> pd.DataFrame:
    """Seven of ten participants choose the expected sentence, each time."""
    rows = [
        {"participant": f"p{person}", "item": "i", "value": int(person < 7)}
        for person in range(N_PEOPLE)
        for _ in range(n_repeats)
    ]
    return pd.DataFrame(rows)


def test_an_item_with_ten_repeats_of_ten_people_has_the_interval_of_ten_people():
    counts = count_items(decisions(choices(N_REPEATS))).iloc[0]
    low, high = wilson_interval(7, N_PEOPLE)
    assert (counts["n"], counts["share"]) == (100, pytest.approx(0.7))
    assert (counts["ci_low"], counts["ci_high"]) == (pytest.approx(low), pytest.approx(high))
    assert round(float(counts["ci_low"]), 2) == 0.40 and round(float(counts["ci_high"]), 2) == 0.89


def test_an_item_without_repeats_keeps_its_interval_exactly():
    counts = count_items(decisions(choices(1))).iloc[0]
    low, high = wilson_interval(7, N_PEOPLE)
    assert (counts["ci_low"], counts["ci_high"]) == (low, high)


def test_repeats_of_one_participant_do_not_narrow_another_item():
    rows = pd.concat([choices(1), choices(3).assign(item="j")])
    first, second = count_items(decisions(rows))[["ci_low", "ci_high"]].to_numpy()
    assert np.allclose(first, second)


@pytest.mark.parametrize("n_repeats", [1, 2, 5])
def test_means_of_ratings_and_their_errors_do_not_change_with_repeats(n_repeats):
    once = pd.DataFrame(
        {"participant": ["a", "b", "c"], "item": "i", "sentence_id": "s", "value": [2.0, 5.0, 6.0]}
    )
    rows = pd.concat([once] * n_repeats, ignore_index=True)
    columns = ["n", "mean", "sd", "se", "ci_low", "ci_high", "mean_raw"]
    expected = item_means(once, once["value"])[columns].to_numpy()
    assert np.allclose(item_means(rows, rows["value"])[columns].to_numpy(), expected)
    assert item_means(rows, rows["value"])["n"].tolist() == [3]
