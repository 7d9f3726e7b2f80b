"""Surprisingly popular answers and predictions of others' answers."""

import numpy as np
import pandas as pd
import pytest

from analysis.aggregation.surprisingly_popular import surprisingly_popular
from analysis.reliability.item_diagnostics import item_diagnostics


def experts(items=60, people=60, seed=1):
    """A minority knows the answer and that most others do not; the others think that all agree."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=items)
    knows = rng.random((people, items)) < 0.3
    value = np.where(knows, truth, 1 - truth)
    agree = np.clip(np.where(knows, 0.35, 0.85) + rng.normal(0, 0.05, value.shape), 0, 1)
    predicted = np.where(value == 1, agree, 1 - agree)
    rows = pd.DataFrame(
        {
            "participant": np.repeat([f"p{number:02}" for number in range(people)], items),
            "item": np.tile([f"i{number:02}" for number in range(items)], people),
            "value": value.ravel(),
            "predicted": predicted.ravel(),
        }
    )
    return rows, truth


def test_knowledge_of_a_minority_is_found():
    rows, truth = experts()
    items = surprisingly_popular(rows).items.set_index("item").sort_index()
    assert ((items["majority"] == "1") == truth).mean() < 0.1
    assert ((items["label"] == "1") == truth).mean() > 0.9
    by_item = rows.groupby("item")[["value", "predicted"]].mean()
    assert items["surprise"].tolist() == pytest.approx((by_item["value"] - by_item["predicted"]).tolist())


def test_predictions_are_measured_against_the_other_participants():
    rows = pd.DataFrame(
        {"item": "i", "participant": list("abcd"), "value": [1, 1, 0, 0], "predicted": [0.5, 1.0, 0.5, 0.25]}
    )
    people = surprisingly_popular(rows).participants.set_index("participant")
    # a: one of the three others says yes
    assert people.loc["a", "error"] == pytest.approx(0.5 - 1 / 3)
    assert people.loc["d", "error"] == pytest.approx(2 / 3 - 0.25)
    assert people.loc["b", "own_bias"] == pytest.approx(1 - 1 / 3)
    assert people.loc["d", "own_bias"] == pytest.approx(0.75 - 1 / 3)


def test_diagnostics_read_both_columns_and_refuse_what_is_no_percentage():
    rows, _ = experts(items=6, people=12)
    judgments = rows.assign(task="yes_no", expected="acceptable", sentence_id=rows["item"])
    assert item_diagnostics(judgments)["predictions"]["status"] == "not_asked"
    yes = judgments.assign(predicted_yes=100 * judgments["predicted"])
    agree = judgments["predicted"].where(judgments["value"] == 1, 1 - judgments["predicted"])
    same = judgments.assign(predicted_same=(100 * agree).map("{:.12f}".format))
    for name, frame in (("yes", yes), ("same", same)):
        block = item_diagnostics(frame)["predictions"]
        assert block["status"] == "ok" and len(block["items"]) == 6, name
        expected = surprisingly_popular(rows).items["surprise"].tolist()
        assert [row["surprise"] for row in block["items"]] == pytest.approx(expected)
    wrong = item_diagnostics(yes.assign(predicted_yes=120))["predictions"]
    assert wrong["status"] == "not_estimable" and "from 0 to 100" in wrong["reason"]
