"""Best-minus-worst counts, from −1 to 1."""

import numpy as np
import pandas as pd
import pytest

from analysis.aggregation.best_worst import best_worst_scores
from analysis.errors import MissingColumns


def rows(*sets):
    """Sets as (best, worst, others…)."""
    return pd.DataFrame(
        [
            {"sentence_id": name, "value": 1 if place == 0 else -1 if place == 1 else 0, "kind": "target"}
            for ranking in sets
            for place, name in enumerate(ranking)
        ]
    )


def test_a_score_is_best_less_worst_over_the_sets_it_was_judged_in():
    scores = best_worst_scores(rows("abcd", "abdc", "bacd", "acbd")).set_index("sentence_id")
    assert scores["n"].to_dict() == dict.fromkeys("abcd", 4)
    assert scores["score"].to_dict() == {"a": 0.5, "b": -0.25, "c": -0.25, "d": 0.0}
    assert scores["score"].sum() == 0


def test_scores_do_not_depend_on_the_order_of_rows_and_equal_the_mean_of_values():
    frame = rows("abcd", "cabd", "dbac")
    scores = best_worst_scores(frame)
    shuffled = best_worst_scores(frame.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(scores, shuffled)
    assert scores["score"].tolist() == frame.groupby("sentence_id")["value"].mean().tolist()


def test_missing_answers_and_practice_are_left_out():
    frame = rows("abc", "bac")
    frame.loc[3:, "value"] = np.nan
    assert best_worst_scores(frame)["n"].tolist() == [1, 1, 1]
    frame.loc[:2, "kind"] = "practice"
    assert best_worst_scores(frame).empty


def test_the_true_order_is_recovered_from_noisy_choices():
    rng = np.random.default_rng(5)
    truth = np.arange(12) / 3
    sets = []
    for _ in range(300):
        four = rng.choice(12, 4, replace=False)
        felt = truth[four] + rng.normal(0, 0.5, 4)
        order = four[np.argsort(-felt)]
        sets.append([f"{order[0]:02}", f"{order[-1]:02}", *(f"{number:02}" for number in order[1:-1])])
    scores = best_worst_scores(rows(*sets)).sort_values("sentence_id")["score"]
    assert np.corrcoef(scores, truth)[0, 1] > 0.97


def test_a_missing_column_is_named():
    with pytest.raises(MissingColumns, match="value"):
        best_worst_scores(pd.DataFrame({"sentence_id": ["a"]}))
