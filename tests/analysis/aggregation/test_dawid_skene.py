"""Latent labels and the skill of annotators."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.aggregation.dawid_skene import dawid_skene, one_coin

COLUMNS = ["item", "participant", "value"]


def simulated(items=80, *, skills=(0.95, 0.9, 0.85, 0.55), seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=items)
    rows = [
        (f"i{i:03}", f"P{p}", int(truth[i] if rng.random() < skill else 1 - truth[i]))
        for i in range(items)
        for p, skill in enumerate(skills)
    ]
    return pd.DataFrame(rows, columns=COLUMNS), truth


def test_vector_dawid_skene(shared_vectors):
    vector = shared_vectors["dawid_skene"]
    fit = dawid_skene(pd.DataFrame(vector["input"], columns=COLUMNS))
    expected = vector["expected"]
    p = fit.items.set_index("item")["p_1"]
    for item, value in expected["p_label1"].items():
        assert p[item] == pytest.approx(value, abs=vector["tolerance"])
    assert fit.prior["1"] == pytest.approx(expected["prior1"], abs=1e-5)
    assert abs(fit.steps - expected["iterations_about"]) < 15
    overturned = fit.items.set_index("item").loc["t00"]
    assert (overturned["majority"], overturned["label"], overturned["contradicts"]) == ("1", "0", True)


def test_known_skills_and_labels_are_recovered():
    rows, truth = simulated(300)
    fit = one_coin(rows)
    assert fit.status == "ok"
    assert fit.annotators["skill"].tolist() == pytest.approx([0.95, 0.9, 0.85, 0.55], abs=0.06)
    assert ((fit.items["label"] == "1") == truth).mean() > 0.93


@settings(max_examples=20)
@given(st.sets(st.integers(0, 79)), st.integers(0, 9))
def test_one_coin_does_not_depend_on_coding_or_order(turned, seed):
    rows, _ = simulated()
    flip = rows["item"].isin([f"i{i:03}" for i in turned])
    coded = rows.assign(value=rows["value"].where(~flip, 1 - rows["value"]))
    original, other = one_coin(rows), one_coin(coded.sample(frac=1, random_state=seed))
    assert other.annotators["skill"].tolist() == pytest.approx(
        original.annotators["skill"].tolist(), abs=1e-7
    )
    assert other.items["posterior"].tolist() == pytest.approx(original.items["posterior"].tolist(), abs=1e-6)
    assert other.items["contradicts"].tolist() == original.items["contradicts"].tolist()


def test_annotators_with_few_judgments_are_not_rated():
    rows, _ = simulated(15)
    assert one_coin(rows).status == "too_few" and one_coin(rows).items.empty
    assert one_coin(rows, min_median=5).status == "ok"


def test_more_than_two_labels_share_the_errors():
    rng = np.random.default_rng(2)
    truth = rng.integers(3, size=100)
    rows = [
        (i, p, "abc"[truth[i] if rng.random() < 0.8 else (truth[i] + rng.integers(1, 3)) % 3])
        for i in range(100)
        for p in range(5)
    ]
    fit = one_coin(pd.DataFrame(rows, columns=COLUMNS))
    assert fit.annotators["skill"].mean() == pytest.approx(0.8, abs=0.05)
    right = fit.items.set_index("item")["label"].loc[[str(i) for i in range(100)]]
    assert (right.to_numpy() == np.array(list("abc"))[truth]).mean() > 0.95


def test_nothing_and_one_label_have_a_status():
    rows, _ = simulated()
    for fit in (one_coin, dawid_skene):
        assert fit(rows.iloc[:0]).status == "no_data"
        assert fit(rows.assign(value=1)).status == "no_variation"
    assert one_coin(rows, max_steps=1).status == "not_converged"


def test_a_tie_has_no_majority_to_contradict():
    rows = pd.DataFrame([(1, "a", 0), (1, "b", 1), (2, "a", 1), (2, "b", 1)], columns=COLUMNS)
    items = one_coin(rows, min_median=1).items
    assert items["majority"].tolist() == ["", "1"] and not items["contradicts"].any()
