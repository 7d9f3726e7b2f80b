"""Labels follow the stated rule; ties and thin data stay visible."""

import numpy as np

from analysis.gold.labels import acceptability_labels, difference_labels, preference_labels


def test_tie_is_a_label_of_its_own():
    assert preference_labels([10, 9, 11], [20, 20, 20]).tolist() == ["tie", "unexpected", "expected"]


def test_few_judgments_decide_nothing():
    assert preference_labels([2, 0], [2, 0]).tolist() == ["undecided", "undecided"]
    assert preference_labels([2], [2], n_min=1).tolist() == ["expected"]


def test_yes_no_labels_name_the_status():
    assert acceptability_labels([4, 1, 2], [4, 4, 4]).tolist() == ["acceptable", "unacceptable", "tie"]


def test_rated_pairs_follow_the_sign_of_their_difference():
    labels = difference_labels([0.2, -0.1, 0.0, np.nan, 0.9], [5, 5, 5, 5, 2])
    assert labels.tolist() == ["expected", "unexpected", "tie", "undecided", "undecided"]
