"""Differences of differences in 2×2 designs; main, simple and interaction effects."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.effects.factorial import difference_of_differences, listed_differences
from analysis.effects.factorial_effects import factorial_effects
from analysis.effects.factors import Factor
from analysis.effects.report import effects_report
from analysis.errors import BadInput
from analysis.mixed_models.linear import CROSSED

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
    assert effect.mixed["structure"].estimate == pytest.approx(0.3 + 0.4, abs=0.15)


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


REFERENCE = Path(__file__).resolve().parents[2] / "reference"  # made by factorial.R there
FACTORS = {
    "voice": ["active", "passive"],
    "animacy": ["animal", "human", "thing"],
    "group": ["north", "south"],
}


def reference_study():
    rows = pd.read_csv(REFERENCE / "factorial.csv")
    return rows, json.loads((REFERENCE / "factorial.json").read_text())


def test_main_and_interaction_effects_within_and_between_participants_are_those_of_lmertest():
    rows, expected = reference_study()
    report = factorial_effects(rows, FACTORS, random=CROSSED)
    tests = {row["effect"]: row for row in report["effects"] if row["kind"] in ("main", "interaction")}
    assert len(tests) == len(expected["omnibus"]) == 7
    for row in expected["omnibus"]:
        ours = tests[row["effect"]]
        assert [ours["F"], ours["df1"], ours["p"]] == pytest.approx(
            [row["F"], row["df1"], row["p"]], rel=1e-4
        )
        assert ours["df2"] == pytest.approx(row["df2"], rel=1e-3)
    within = {factor["name"]: factor["within_participants"] for factor in report["factors"]}
    assert within == {"voice": True, "animacy": True, "group": False}


def test_a_simple_effect_is_the_difference_at_one_level_with_the_test_of_a_refit():
    rows, expected = reference_study()
    two = {name: FACTORS[name] for name in ("voice", "group")}
    with_three = factorial_effects(rows, FACTORS, random=CROSSED)["effects"]
    pooled = factorial_effects(rows, two, random=CROSSED)["effects"]
    by_animacy = [
        row for row in with_three
        if row["kind"] == "simple" and row["effect"] == "voice" and row["at"]["group"] == "north"
    ]  # fmt: skip
    mean = np.mean([row["estimate"] for row in by_animacy])
    assert -mean == pytest.approx(expected["voice_in_north_se_df"][0], rel=1e-4)
    north = next(row for row in pooled if row["kind"] == "simple" and row["at"] == {"group": "north"})
    means = rows[rows["group"] == "north"].groupby("voice")["score"].mean()
    assert north["label"] == "voice: active − passive, at group north"
    assert north["estimate"] == pytest.approx(means["active"] - means["passive"], abs=0.15)


def test_the_interaction_of_a_2x2_design_is_the_difference_of_differences_with_names_of_factors():
    rows = study().rename(columns={"value": "score"})
    levels = {"structure": ["non", "island"], "distance": ["matrix", "embedded"]}
    report = factorial_effects(rows, levels)
    effect = difference_of_differences(rows, first=STRUCTURE, second=DISTANCE, value="score", random=None)
    interaction = next(row for row in report["effects"] if row["kind"] == "interaction")
    assert (interaction["estimate"], interaction["p"]) == (effect.estimate.estimate, effect.estimate.p)
    assert "first" not in report["method"] + report["structure"] and "structure" in report["method"]


def test_an_empty_cell_is_named_and_a_factor_between_participants_warns_about_z():
    rows, _ = reference_study()
    gap = rows[(rows["voice"] == "active") | (rows["animacy"] != "thing")]
    assert factorial_effects(gap, FACTORS)["reason"] == "2 of the 12 cells have no judgment."
    rated = rows.assign(
        value=rows["score"], condition=rows[list(FACTORS)].agg(".".join, axis=1), task="slider",
        phenomenon="x", scale_low=-9.0, scale_high=9.0, expected="",
    )  # fmt: skip
    report = effects_report(rated, factors=FACTORS, slopes="none")
    assert report["factorial"][0]["note"].startswith("group varies between participants")
    raw = effects_report(rated, factors=FACTORS, slopes="none", transform="raw")
    assert raw["factorial"][0]["note"] == "" and raw["interactions"] == []
