"""Groups of participants: effects, items, and who is compared."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.command_line.program import main
from analysis.errors import BadInput, UnknownName
from analysis.groups.grouping import group_participants
from analysis.groups.item_functioning import mantel, mantel_haenszel
from analysis.groups.report import groups_report

REFERENCE = Path(__file__).parents[2] / "reference"
# Admissions to Berkeley by department: admitted and rejected men, admitted and rejected women (Bickel, Hammel
# & O'Connell 1975, Science 187; R's UCBAdmissions).
BERKELEY = (
    (512, 313, 89, 19),
    (353, 207, 17, 8),
    (120, 205, 202, 391),
    (138, 279, 131, 244),
    (53, 138, 94, 299),
    (22, 351, 24, 317),
)


def reference_rows():
    rows = pd.read_csv(REFERENCE / "groups.csv")
    return rows.rename(columns={"condition": "expected"}), json.loads((REFERENCE / "groups.json").read_text())


def simulated(task, *, people=240, items=20, shift=0.0, differ=0.0, seed=1):
    """Two groups; the second judges item 0 differently by ``shift``, and everything higher by ``differ``."""
    rng = np.random.default_rng(seed)
    group = np.arange(people) % 2
    level = rng.normal(differ * group, 1.0)
    value = level[:, None] + rng.normal(0, 1, items) + rng.logistic(size=(people, items))
    value[:, 0] += shift * group
    answers = (value > 0).astype(int) if task == "yes_no" else np.clip(np.round(4 + value), 1, 7)
    return pd.DataFrame(
        {
            "participant": np.repeat([f"p{number}" for number in range(people)], items),
            "item": np.tile([f"i{number:02}" for number in range(items)], people),
            "dialect": np.repeat(np.where(group, "south", "north"), items),
            "expected": "acceptable",
            "value": answers.ravel(),
            "task": task,
        }
    )


def test_published_odds_ratio_of_berkeley():
    cells = [
        (answer, focal, stratum, count)
        for stratum, counts in enumerate(BERKELEY)
        for (answer, focal), count in zip(((1, 0), (0, 0), (1, 1), (0, 1)), counts, strict=True)
    ]
    value, focal, stratum, count = (np.array(column) for column in zip(*cells, strict=True))
    found = mantel_haenszel(
        *(np.repeat(column, count) for column in (value.astype(float), focal == 1, stratum))
    )
    assert (found.statistic, found.p) == pytest.approx((1.4269, 0.2323), abs=5e-5)
    assert (found.odds_ratio, found.ci_low, found.ci_high) == pytest.approx(
        (0.9046968, 0.7719074, 1.0603298), abs=5e-8
    )
    assert found.effect_class == "A"


def test_items_equal_mantelhaen_test_and_coin():
    rows, reference = reference_rows()
    for entry in reference["items"]:
        part = rows[(rows["item"] == entry["item"]) & (rows["expected"] == "unacceptable")]
        split = (part["dialect"] == "south").to_numpy(), (part["participant"] % 2).to_numpy()
        yes = mantel_haenszel(part["yes"].to_numpy(dtype=float), *split)
        assert (yes.statistic, yes.p, yes.odds_ratio, yes.ci_low, yes.ci_high) == pytest.approx(
            (entry["statistic"], entry["p"], entry["odds_ratio"], *entry["ci"]), rel=1e-8
        )
        rating = mantel(part["rating"].to_numpy(dtype=float), *split)
        assert (rating.statistic, rating.p) == pytest.approx((entry["mantel"], entry["mantel_p"]), rel=1e-8)


def test_interaction_equals_lmer():
    rows, reference = reference_rows()
    rows = rows.assign(
        value=rows["rating"], task="likert", sentence_id=rows["item"].astype(str) + rows["expected"]
    )
    (found,) = groups_report(rows, group="dialect", transform="raw")["effects"]
    expected = reference["interaction"]
    assert found["estimate"] == pytest.approx(expected["estimate"], abs=1e-7)
    assert (found["se"], found["df"], found["p"]) == pytest.approx(
        (expected["se"], expected["df"], expected["p"]), rel=1e-4
    )
    assert (found["group"], found["reference"]) == ("south", "north")
    sides = [
        rows[rows["dialect"] == name].groupby(["participant", "expected"])["value"].mean().unstack()
        for name in ("south", "north")
    ]
    for side, effect in zip(sides, (found["effect"], found["effect_reference"]), strict=True):
        differences = side["acceptable"] - side["unacceptable"]
        assert effect["estimate"] == pytest.approx(differences.mean())
        assert effect["n_participants"] == len(side)


@pytest.mark.parametrize("task", ["yes_no", "likert"])
def test_only_the_item_that_differs_is_flagged(task):
    for seed in (1, 2, 3):
        report = groups_report(simulated(task, shift=-2.5, differ=0.8, seed=seed), group="dialect")
        flagged = [
            row["item"] for row in report["items"] if row["p_holm"] < 0.05 and row["effect_class"] == "C"
        ]
        assert flagged == ["i00"] and report["summary"]["items_flagged"] == 1


@pytest.mark.parametrize("task", ["yes_no", "likert"])
def test_groups_of_equal_items_keep_the_level(task):
    reports = [
        groups_report(simulated(task, people=80, differ=0.5, seed=seed), group="dialect")
        for seed in range(30)
    ]
    p_values = np.array([row["p"] for report in reports for row in report["items"]])
    assert len(p_values) == 600 and (p_values < 0.05).mean() < 0.08


def test_choices_compare_shares():
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({"participant": np.repeat(range(40), 12), "item": np.tile(range(12), 40)})
    rows["dialect"] = np.where(rows["participant"] < 20, "north", "south")
    chance = np.where(rows["dialect"] == "north", 0.9, 0.6)
    rows = rows.assign(
        value=(rng.random(len(rows)) < chance).astype(int), task="forced_choice", pair_id=rows["item"]
    )
    (effect,) = groups_report(rows, group="dialect")["effects"]
    shares = rows.groupby("dialect")["value"].mean() - 0.5
    assert effect["effect"]["estimate"] == pytest.approx(shares["south"])
    assert effect["estimate"] == pytest.approx(shares["south"] - shares["north"], abs=1e-6)
    assert effect["p"] < 0.001


def people(**answers):
    n = len(next(iter(answers.values())))
    names = [f"p{number}" for number in range(n)]
    rows = pd.DataFrame({"participant": names, "value": 1})
    return rows, pd.DataFrame({"participant": names, **answers})


def test_small_groups_and_missing_answers_are_left_out_and_counted():
    rows, background = people(dialect=["north"] * 7 + ["south"] * 6 + ["west"] * 2 + [None, ""])
    found = group_participants(rows, "dialect", background=background, reference="south")
    assert [(group["value"], group["participants"]) for group in found.groups] == [("south", 6), ("north", 7)]
    assert [(row["value"], row["participants"]) for row in found.left_out] == [("west", 2), ("no answer", 2)]


def test_numbers_are_divided_after_the_median_or_the_cuts():
    rows, background = people(age=list(range(20, 60)))
    assert [group["value"] for group in group_participants(rows, "age", background=background).groups] == [
        "above 39.5",
        "up to 39.5",
    ]
    found = group_participants(rows, "age", background=background, cuts=[30, 50], reference="up to 30")
    assert {group["value"]: group["participants"] for group in found.groups} == {
        "up to 30": 11,
        "above 30 up to 50": 20,
        "above 50": 9,
    }


def test_what_gives_no_groups_is_said():
    rows, background = people(dialect=["north"] * 12, town=[f"town {number}" for number in range(12)])
    report = groups_report(rows.assign(item="i", task="likert"), background=background)
    assert "no question and no column gives two groups" in report["reason"] and report["effects"] == []
    with pytest.raises(UnknownName, match="dialect"):
        group_participants(rows, "dialekt", background=background)
    twice = pd.concat([rows.assign(place="a"), rows.assign(place="b")])
    with pytest.raises(BadInput, match="participant p0 has several values"):
        group_participants(twice, "place")


def test_command_prints_groups_of_a_column(tmp_path, capsys):
    path = tmp_path / "judgments.csv"
    simulated("yes_no", people=60, shift=-3.0).to_csv(path, index=False)
    assert main(["groups", str(path), "--group", "dialect", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["group"] == "dialect" and document["summary"]["items_tested"] == 20
    assert main(["groups", str(path), "--group", "dialect", "--reference", "south"]) == 0
    text = capsys.readouterr().out
    assert "dialect south: 30 participants, the reference" in text and "tests of items do" in text
    assert main(["groups", str(path), "--group", "region"]) == 2
