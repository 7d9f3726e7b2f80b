"""Bayes factors after each participant, and the stopping rule."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.bayesian.sequential import StoppingRule, sequential_report
from analysis.command_line.program import main
from analysis.effects.bayes import jzs_bayes_factor
from analysis.effects.five_analyses import five_analyses
from analysis.errors import BadInput


def ratings(people=30, effect=1.0, seed=1):
    rng = np.random.default_rng(seed)
    rows = [
        (f"p{person}", f"i{item}", side, effect * (side == "acceptable") + rng.normal())
        for person in rng.permutation(people)
        for item in range(4)
        for side in ("acceptable", "unacceptable")
    ]
    frame = pd.DataFrame(rows, columns=["participant", "item", "expected", "value"])
    return frame.assign(task="likert", phenomenon="islands")


def test_each_look_is_the_bayes_factor_of_the_participants_so_far():
    rows = ratings()
    (contrast,) = sequential_report(rows, transform="raw")["contrasts"]
    means = rows.groupby(["participant", "expected"], sort=False)["value"].mean().unstack()
    differences = (means["acceptable"] - means["unacceptable"])[rows["participant"].unique()].to_numpy()
    assert [look["n"] for look in contrast["looks"]] == list(range(2, 31))
    for look in contrast["looks"]:
        part = differences[: look["n"]]
        t = part.mean() / (part.std(ddof=1) / np.sqrt(len(part)))
        assert look["factor"] == pytest.approx(jzs_bayes_factor(t, len(part)).value)
    table = five_analyses(rows, transform="raw").table.set_index("analysis")
    assert contrast["final"]["factor"] == pytest.approx(table.loc["bayes_factor", "statistic"])


def test_rule_stops_at_the_first_look_beyond_a_threshold():
    looks = [{"n": n, "factor": factor} for n, factor in ((2, 50.0), (10, 9.9), (20, 10.0), (30, 0.01))]
    assert StoppingRule(10, 5).decide(looks) == {"n": 20, "factor": 10.0, "decision": "difference"}
    assert StoppingRule(10, 25).decide(looks)["decision"] == "no_difference"
    assert StoppingRule(1000, 5).decide(looks)["decision"] == "go_on"
    assert StoppingRule(1000, 5, 30).decide(looks)["decision"] == "largest_reached"
    assert StoppingRule(10, 5, 15).decide(looks)["decision"] == "largest_reached"
    for wrong in ({"threshold": 1}, {"least": 1}, {"least": 30, "largest": 20}):
        with pytest.raises(BadInput):
            StoppingRule(**wrong)


def test_number_from_which_no_difference_can_be_decided():
    report = sequential_report(ratings(people=30), transform="raw", threshold=6)
    n = report["rule"]["none_from"]
    assert jzs_bayes_factor(0.0, n).value <= 1 / 6 < jzs_bayes_factor(0.0, n - 1).value


def test_choices_and_what_cannot_be_tested():
    rng = np.random.default_rng(3)
    rows = pd.DataFrame({"participant": np.repeat(range(30), 6), "item": np.tile(range(6), 30)})
    rows = rows.assign(value=(rng.random(180) < 0.7).astype(int), task="forced_choice", pair_id=rows["item"])
    (contrast,) = sequential_report(rows)["contrasts"]
    assert contrast["stop"]["decision"] == "difference"
    between = ratings()
    is_even = between["participant"].str[1:].astype(int) % 2 == 0
    between = between[is_even == (between["expected"] == "acceptable")]
    for data, status in (
        (between, "not_paired"),
        (rows.assign(value=1), "no_variation"),
        (rows[rows["participant"] == 0], "too_few"),
    ):
        (contrast,) = sequential_report(data, transform="raw")["contrasts"]
        assert (contrast["status"], contrast["looks"], contrast["final"]) == (status, [], None)
        assert contrast["reason"] and contrast["stop"]["decision"] == "not_estimable"


def test_command_prints_where_the_rule_stops(tmp_path, capsys):
    path = tmp_path / "ratings.csv"
    ratings().to_csv(path, index=False)
    assert main(["sequential", str(path), "--transform", "raw", "--least", "10", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["contrasts"][0]["stop"]["n"] == 10 and document["rule"]["least"] == 10
    assert main(["sequential", str(path), "--transform", "raw"]) == 0
    assert "stop: a difference, after 20 participants" in capsys.readouterr().out
    assert main(["sequential", str(path), "--threshold", "0.5"]) == 2
