"""Differences of differences in 2×2 designs."""

import numpy as np
import pandas as pd
import pytest

from analysis.effects.factorial import difference_of_differences, listed_differences
from analysis.effects.factors import Factor
from analysis.errors import BadInput

STRUCTURE, DISTANCE = Factor("structure", "non", "island"), Factor("distance", "matrix", "embedded")


def study(effect=0.8, *, people=40, items=8, seed=1):
    """Everybody judges every item in one cell of a Latin square."""
    rng = np.random.default_rng(seed)
    cells = [(s, d) for s in ("non", "island") for d in ("matrix", "embedded")]
    rows = pd.DataFrame(
        [(p, i, *cells[(p + i) % 4]) for p in range(people) for i in range(items)],
        columns=["participant", "item", "structure", "distance"],
    )
    island, embedded = rows["structure"] == "island", rows["distance"] == "embedded"
    people_level, item_level = rng.normal(0, 0.5, people), rng.normal(0, 0.3, items)
    rows["value"] = (
        people_level[rows["participant"]] + item_level[rows["item"]] - 0.3 * island - 0.4 * embedded
        - effect * (island & embedded) + rng.normal(0, 0.6, len(rows))
    )  # fmt: skip
    return rows


def test_a_superadditive_effect_is_recovered_three_ways():
    effect = difference_of_differences(study(people=200), first=STRUCTURE, second=DISTANCE)
    assert effect.estimate.ci_low < 0.8 < effect.estimate.ci_high
    assert effect.by_participants.mean_difference == pytest.approx(0.8, abs=0.15)
    assert effect.by_items.mean_difference == pytest.approx(0.8, abs=0.15)
    assert effect.by_items.n == 8 and effect.by_participants.n == 200
    assert effect.mixed["first"].estimate == pytest.approx(0.3 + 0.4, abs=0.15)


def test_the_mixed_estimate_is_the_difference_of_cell_means_when_balanced():
    effect = difference_of_differences(study(), first=STRUCTURE, second=DISTANCE)
    mean = effect.cells.set_index(["first", "second"])["mean"]
    by_hand = (mean["non", "embedded"] - mean["island", "embedded"]) - (
        mean["non", "matrix"] - mean["island", "matrix"]
    )
    assert effect.by_participants.mean_difference == pytest.approx(by_hand)
    assert effect.cells["n"].tolist() == [80] * 4


def test_swapping_the_levels_of_one_factor_changes_the_sign_only():
    rows = study()
    estimate = difference_of_differences(rows, first=STRUCTURE, second=DISTANCE).estimate
    turned = Factor("structure", "island", "non")
    other = difference_of_differences(rows, first=turned, second=DISTANCE).estimate
    both_swapped = difference_of_differences(rows, first=DISTANCE, second=STRUCTURE).estimate
    assert other.estimate == pytest.approx(-estimate.estimate)
    assert other.p == pytest.approx(estimate.p) and both_swapped.estimate == pytest.approx(estimate.estimate)


def test_an_empty_cell_is_refused_with_the_cells_found():
    rows = study().query("not (structure == 'island' and distance == 'embedded')")
    with pytest.raises(BadInput, match="island matrix"):
        difference_of_differences(rows, first=STRUCTURE, second=DISTANCE)


def test_swp_2012_islands_have_the_computed_scores(shared_data):
    raw = pd.read_csv(shared_data("swp2012-exp1/SWP.EXP1.results.csv"))
    rows = raw.rename(columns={"subject": "participant", "zscores": "value"})
    published = {"adj": 1.046, "np": 0.982, "sub": 0.797, "wh": 0.735}
    for island, score in published.items():
        part = rows[rows["subdesign"] == island]
        effect = difference_of_differences(part, first=STRUCTURE, second=DISTANCE)
        assert effect.by_participants.n == 142
        assert effect.by_participants.mean_difference == pytest.approx(score, abs=5e-4)
        assert effect.estimate.estimate == pytest.approx(score, abs=0.05)
        assert effect.estimate.p < 0.01 and effect.by_participants.p < 1e-9


def test_differences_are_listed_in_natural_order():
    listed = listed_differences(pd.Series({"item 10": 0.5, "item 2": 1.0, "item 1": 0.0}), "item")
    assert [row["item"] for row in listed] == ["item 1", "item 2", "item 10"]
    assert listed[2] == {"item": "item 10", "difference": 0.5}
