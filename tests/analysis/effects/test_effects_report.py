"""Factors read from names, interactions, and the effects and power documents."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.aggregation.ordinal import ordinal_report
from analysis.effects.factors import find_cells
from analysis.effects.report import effects_report
from analysis.effects.response_times import time_report
from analysis.errors import BadInput, UnknownName
from analysis.power.report import Price, pilot_report, prospective_report
from analysis.report.sections.effects import effects_section

ISLANDS = {"non.matrix": "acceptable", "non.embedded": "acceptable",
           "island.matrix": "acceptable", "island.embedded": "unacceptable"}  # fmt: skip


def island_rows(people=24, items=4, extra=1.0):
    rng = np.random.default_rng(6)
    rows = [
        (f"p{p}", f"i{i}", name, status, 2 - 0.5 * name.startswith("isl") - 0.5 * name.endswith("embedded")
         - extra * (name == "island.embedded") + rng.normal(0, 0.3))
        for p in range(people) for i in range(items) for name, status in ISLANDS.items()
    ]  # fmt: skip
    names = ["participant", "item", "condition", "expected", "value"]
    return pd.DataFrame(rows, columns=names).assign(task="likert", phenomenon="wh")


def test_the_unacceptable_condition_determines_the_marked_levels():
    cells = find_cells(ISLANDS)
    assert (cells.first.marked, cells.second.marked, cells.oriented_by) == ("island", "embedded", "expected")
    unlabelled = find_cells(dict.fromkeys(ISLANDS, ""))
    assert (unlabelled.first.marked, unlabelled.oriented_by) == ("non", "alphabetical")


@pytest.mark.parametrize("names", [["a", "b", "c", "d"], ["a.x", "a.y", "b.x"], ["a.x", "a.y", "b.x", "c.y"]])
def test_other_names_are_no_two_by_two_design(names):
    assert find_cells(dict.fromkeys(names, "")) is None


@pytest.mark.parametrize(
    "names",
    [
        ["non-island.short", "non-island.long", "island.short", "island.long"],
        ["non-island-short", "non-island-long", "island-short", "island-long"],
        ["non_island_short", "non_island_long", "island_short", "island_long"],
        ["non-island, long-distance", "island, long-distance", "non-island, short", "island, short"],
    ],
)
def test_levels_may_contain_separators(names):
    bad = next(name for name in names if name.startswith("island") and "long" in name)
    cells = find_cells({name: "unacceptable" if name == bad else "acceptable" for name in names})
    assert (cells.first.plain.replace("_", "-"), cells.first.marked) == ("non-island", "island")
    assert cells.second.marked.startswith("long") and cells.oriented_by == "expected"


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["a", "b", "c", "d"], "do not cross two factors of two levels"),
        (["x.a", "x.b", "x.c"], "3 conditions"),
        # each name can be cut after its first or after its second word, and both cross
        (["a-b-c", "a-b-d", "e-b-c", "e-b-d"], "several ways"),
    ],
)
def test_a_design_that_is_not_recognized_has_its_reason(names, reason):
    rows = [(f"p{p}", f"i{p % 4}", name, float(p)) for p in range(8) for name in names]
    frame = pd.DataFrame(rows, columns=["participant", "item", "condition", "value"])
    report = effects_report(frame.assign(task="likert", phenomenon="wh", expected=""), transform="raw")
    assert report["interactions"] == []
    assert [row["phenomenon"] for row in report["not_recognized"]] == ["wh"]
    assert reason in report["not_recognized"][0]["reason"]


def test_columns_are_factors_with_levels_in_the_order_given():
    rows = island_rows()
    split = rows["condition"].str.split(".", expand=True)
    rows = rows.assign(structure=split[0], distance=split[1], condition="c" + rows["condition"])
    levels = {"structure": ["non", "island"], "distance": ["matrix", "embedded"]}
    row = effects_report(rows, transform="raw", factors=levels)["interactions"][0]
    assert (row["read_from"], row["first"]["name"], row["second"]["marked"]) == (
        "columns",
        "structure",
        "embedded",
    )
    assert row["participants"]["estimate"] == pytest.approx(1.0, abs=0.1)
    turned = effects_report(rows, transform="raw", factors={**levels, "distance": ["embedded", "matrix"]})
    estimate = turned["interactions"][0]["participants"]["estimate"]
    assert estimate == pytest.approx(-row["participants"]["estimate"])


def test_given_conditions_decide_and_wrong_ones_are_named():
    order = "non.matrix,island.matrix,non.embedded,island.embedded"
    report = effects_report(island_rows(), transform="raw", factorial=order)
    assert report["interactions"][0]["oriented_by"] == "given"
    with pytest.raises(UnknownName, match="non.matrx"):
        effects_report(island_rows(), factorial=order.replace("non.matrix", "non.matrx"))
    with pytest.raises(BadInput, match="four conditions"):
        effects_report(island_rows(), factorial="a,b")


def test_given_conditions_lend_their_levels_to_the_factors():
    orders = {
        ("non:matrix", "island:matrix", "non:embedded", "island:embedded"): ("island", "embedded"),
        ("a", "b", "c", "d"): ("marked", "marked"),
        ("non:matrix", "island:embedded", "non:embedded", "island:matrix"): ("marked", "marked"),
    }
    for conditions, marked in orders.items():
        cells = find_cells(dict.fromkeys(conditions, ""), conditions=conditions)
        assert (cells.first.marked, cells.second.marked) == marked
        assert cells.levels[conditions[3]] == marked


def test_the_interaction_is_recovered_with_its_interval():
    report = effects_report(island_rows(), transform="raw")
    (interaction,) = report["interactions"]
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    means = island_rows().groupby("condition")["value"].mean()
    by_hand = (means["non.embedded"] - means["island.embedded"]) - (
        means["non.matrix"] - means["island.matrix"]
    )
    for way in ("participants", "items", "mixed"):
        assert interaction[way]["estimate"] == pytest.approx(by_hand)
    assert (
        interaction["mixed"]["ci_low"] < 1 < interaction["mixed"]["ci_high"]
        and interaction["mixed"]["p"] < 1e-3
    )
    (intercepts,) = effects_report(island_rows(), transform="raw", slopes="none")["interactions"]
    assert intercepts["mixed"]["p"] < 1e-6 < interaction["mixed"]["p"]  # four items differ in their effect


def test_islands_of_the_published_study(shared_data):
    raw = pd.read_csv(shared_data("swp2012-exp1/SWP.EXP1.results.csv"))
    island = raw["subdesign"].isin(["wh", "np", "sub", "adj"])
    marked = (raw["structure"] == "island") & (raw["distance"] == "embedded")
    rows = pd.DataFrame({
        "participant": raw["subject"], "phenomenon": raw["subdesign"], "value": raw["raw.judgment"],
        "item": raw["subdesign"] + raw["item"].str[-4:], "task": "likert",
        "kind": np.where(island, "target", "filler"),
        "condition": raw["structure"].astype(str) + "." + raw["distance"].astype(str),
        "expected": np.where(marked, "unacceptable", "acceptable"),
    })  # fmt: skip
    interactions = {row["phenomenon"]: row for row in effects_report(rows)["interactions"]}
    published = {"adj": 1.046, "np": 0.982, "sub": 0.797, "wh": 0.735}
    assert {
        name: round(row["participants"]["estimate"], 3) for name, row in interactions.items()
    } == published


def test_the_price_rounds_fees_up_and_refuses_nonsense():
    assert Price(150, 0.333).of(20) == {"reward_minor": 3000, "fees_minor": 999, "cost_minor": 3999}
    assert Price(1, 0.2).of(1)["fees_minor"] == 1
    for wrong in ((-1, 0.0), (100, 33.3)):
        with pytest.raises(BadInput, match="fee"):
            Price(*wrong)


def test_the_smallest_design_that_reaches_the_target_is_named():
    report = prospective_report("likert", 0.5, participants=[5, 10, 80], items=[12], draws=300)
    powered = [row for row in report["designs"] if row["power"] >= 0.8]
    assert report["smallest"] == powered[0]
    assert prospective_report("likert", 0.0, participants=[5], draws=100)["smallest"] is None


def test_yes_no_loses_power_against_ratings_and_has_no_type_m():
    options = {"participants": [15], "items": [4], "draws": 1000}
    answers, ratings = (prospective_report(task, 0.5, **options) for task in ("yes_no", "slider"))
    assert answers["designs"][0]["power"] < ratings["designs"][0]["power"]
    assert answers["designs"][0]["type_m"] is None and ratings["designs"][0]["type_m"] is not None


def test_a_small_pilot_is_reported_as_small():
    report = pilot_report(island_rows(people=12), participants=[10], draws=100, price=Price(100, 0.0))
    assert report["few_in_pilot"] and report["sizes"][0]["cost_minor"] == 1000
    assert report["conventions"]["share_powered"]


def test_items_of_equal_name_in_two_paradigms_are_two():
    rng = np.random.default_rng(2)
    rows = [
        (
            f"p{person}",
            paradigm,
            f"{paradigm} {item}",
            side,
            np.clip(round(4 + good + rng.normal(0, 1.5)), 1, 7),
        )
        for person in range(10)
        for paradigm in ("x", "y")
        for item in range(5)
        for side, good in (("acceptable", 1), ("unacceptable", -1))
    ]
    names = ["participant", "paradigm", "item", "expected", "value"]
    distinct = pd.DataFrame(rows, columns=names).assign(phenomenon="p", task="likert")
    distinct["condition"], distinct["rt_ms"] = distinct["expected"], rng.integers(500, 900, len(distinct))
    equal = distinct.assign(item=distinct["item"].str[2:])
    for report in (effects_report, ordinal_report, time_report):
        assert json.dumps(report(equal)) == json.dumps(report(distinct)), report
    assert effects_report(equal)["effects"][0]["n_items"] == 10


def one_rating_each():
    rows = [
        (f"p{person}", f"i{person % 5}", side, 3.0 + 2 * (side == "acceptable") + person % 3)
        for person in range(30)
        for side in [["acceptable", "unacceptable"][person % 2]]
    ]
    frame = pd.DataFrame(rows, columns=["participant", "item", "expected", "value"])
    return frame.assign(phenomenon="p", task="likert", condition=frame["expected"])


def test_one_rating_of_each_participant_is_reported_as_left_out():
    report = effects_report(one_rating_each())
    assert report["analyses"] == []
    assert report["left_out"] == {"judgments": 30, "participants": 30, "constant": 0, "too_few": 30}
    section, _ = effects_section({"task": "likert", "effects": report}, figures=[])
    assert "30 gave fewer than 4 ratings" in str(section) and "no contrast" not in str(section)
    raw = effects_report(one_rating_each(), transform="raw")
    assert raw["left_out"]["judgments"] == 0
    by_name = {row["analysis"]: row for row in raw["analyses"]}
    assert by_name["two_tailed"]["p"] is not None
    for row in raw["analyses"]:
        assert row["status"] != "ok" or row["estimate"] is not None
        if row["analysis"] == "bayes_factor":
            assert row["status"] != "ok" or row["statistic"] is not None
