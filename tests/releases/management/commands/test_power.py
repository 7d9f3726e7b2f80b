"""The command power."""

import json

import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.power.exact import sign_power


def run(capsys, *words):
    call_command("power", *words)
    return capsys.readouterr().out


@pytest.fixture
def pilot(tmp_path):
    """A pilot of 40 people in two phenomena, as a file."""
    rng = np.random.default_rng(1)
    rows = [
        (f"P{p:02}", name, f"{name}{i}", status, 4 + size * (status == "acceptable") + rng.normal())
        for p in range(40)
        for name, size in (("strong", 2.0), ("weak", 0.1))
        for i in range(4)
        for status in ("acceptable", "unacceptable")
    ]  # fmt: skip
    path = tmp_path / "pilot.csv"
    names = ["participant", "phenomenon", "item", "expected", "value"]
    frame = pd.DataFrame(rows, columns=names).assign(task="likert")
    frame.assign(sentence_id=frame["item"] + frame["expected"]).to_csv(path, index=False)
    return path


def test_a_plan_is_simulated_for_every_size(capsys):
    words = [
        "prospective",
        "--task",
        "likert",
        "--effect",
        "0.5",
        "--participants",
        "10",
        "30",
        "--draws",
        "500",
    ]
    document = json.loads(run(capsys, *words, "--items", "8", "--lists", "8", "--json"))
    assert document["mode"] == "prospective" and document["conventions"]["draws"] == 500
    small, large = document["designs"]
    assert (small["participants"], large["participants"]) == (10, 30) and small["power"] < large["power"]
    assert {"type_s", "type_m", "ci_width", "mc_error"} <= set(small)


def test_forced_choice_shows_how_many_participants_are_enough(capsys):
    words = ["prospective", "--task", "forced_choice", "--effect", "0.5", "--participants", "20", "--json"]
    document = json.loads(run(capsys, *words, "--draws", "200"))
    n, share = document["enough_participants_one_choice_each"], document["expected_share"]
    assert float(sign_power(n, share)) >= 0.8 > float(sign_power(n - 1, share))


def test_a_pilot_is_drawn_again(capsys, pilot):
    words = ["resample", "--judgments", str(pilot), "--participants", "10", "40", "--draws", "300"]
    document = json.loads(run(capsys, *words, "--pilots", "20", "--json"))
    power = {(row["phenomenon"], row["n"]): row["power"] for row in document["phenomena"]}
    assert power["strong", 10] > 0.9 > power["weak", 10]
    assert [row["n"] for row in document["sizes"]] == [10, 40] and document["pilot_participants"] == 40
    assert document["phenomena"][0]["pilot_low"] <= document["phenomena"][0]["pilot_high"]


def test_without_json_a_table_is_printed(capsys, pilot):
    words = ["--participants", "12", "--draws", "50"]
    assert "share of phenomena" in run(capsys, "resample", "--judgments", str(pilot), *words)
    table = run(capsys, "prospective", "--task", "likert", "--effect", "0.4", *words)
    assert "Type S" in table and "effect 0.4" in table


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["prospective", "--task", "likrt", "--effect", "1"], "likert"),
        (["prospective", "--task", "likert", "--effect", "1", "--lists", "9"], "cannot fill"),
        (["prospective", "--task", "likert", "--effect", "1", "--alpha", "2"], "alpha"),
        (["prospective", "--task", "likert", "--effect", "1", "--residual", "0"], "deviation"),
        (["resample", "--judgments", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_bad_input_is_one_line_and_status_two(words, message):
    with pytest.raises(CommandError, match=message) as error:
        call_command("power", *words)
    assert error.value.returncode == 2 and "\n" not in str(error.value)


def test_a_plan_of_several_conditions_is_computed(capsys):
    words = ["prospective", "--task", "likert", "--test", "anova", "--conditions", "4", "--effect", "0.25"]
    words += ["--participants", "30"]
    assert "likert, f 0.25, analysis of variance within participants" in run(capsys, *words)
    document = json.loads(run(capsys, *words, "--json"))
    assert (document["test"], document["conditions"]) == ("anova", 4)
    assert document["designs"][0]["power"] > 0.8 and document["designs"][0]["type_m"] is None
