"""The sensitivity panel, who is removed, and the refusal of circular plans."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.errors import BadInput
from analysis.exclusions.apply import apply_plan
from analysis.exclusions.plan import Step, parse_plan
from analysis.exclusions.report import exclusion_report, removed_by_group
from analysis.exclusions.sensitivity import headline, sensitivity

PLAN = parse_plan("flagged,not_native")


def choices():
    """Six people, four pairs; u4 is flagged and always wrong, u5 is no native and right half of the time."""
    rows = [
        (f"u{u}", f"i{i}", 0.0 if u == 4 else float(u != 5 or i < 2), u == 4, u != 5, "AB"[u % 2])
        for u in range(6)
        for i in range(4)
    ]
    frame = pd.DataFrame(rows, columns=["participant", "item", "value", "flagged", "native", "list"])
    return frame.assign(task="forced_choice", phenomenon="agreement", paradigm="number")


def test_the_panel_repeats_the_headline_under_each_recipe():
    rows = sensitivity(choices(), PLAN)
    assert [(row["recipe"], row["step"]) for row in rows] == [
        ("none", ""), ("plan", ""), ("without", "flagged"), ("without", "not_native")
    ]  # fmt: skip
    assert [row["participants"] for row in rows] == [6, 4, 5, 5]
    # by hand: 4 people right throughout; u4 never; u5 in two of four
    assert [row["individual_agreement"] for row in rows] == pytest.approx([18 / 24, 1, 16 / 20, 18 / 20])


def test_each_row_equals_the_headline_of_what_is_kept():
    rows, remaining = sensitivity(choices(), PLAN), apply_plan(choices(), PLAN).kept
    assert {name: rows[1][name] for name in headline(remaining)} == headline(remaining)


def test_ratings_have_a_mean_difference_and_contrasts():
    rng = np.random.default_rng(2)
    rows = pd.DataFrame(
        [(p, f"{f}{i}", f, e, 4 + s * (e == "acceptable") + rng.normal())
         for p in range(20) for f, s in (("a", 2.0), ("b", -1.0)) for i in range(4)
         for e in ("acceptable", "unacceptable")],
        columns=["participant", "item", "phenomenon", "expected", "value"],
    ).assign(task="likert", sentence_id=lambda frame: frame["item"] + frame["expected"])  # fmt: skip
    values = headline(rows)
    assert (values["contrasts"], values["contrasts_expected"]) == (2, 1)
    by_hand = rows.assign(
        z=rows.groupby("participant")["value"].transform(lambda x: (x - x.mean()) / x.std())
    )
    means = by_hand.groupby(["phenomenon", "expected"])["z"].mean().unstack()
    expected = (means["acceptable"] - means["unacceptable"]).mean()
    assert values["mean_difference"] == pytest.approx(expected)
    assert values["alpha"] is not None and values["judgments"] == 320


def test_removed_people_are_counted_by_group_and_rare_answers_are_put_together():
    rows = choices()
    remaining = apply_plan(rows, PLAN).kept
    background = pd.DataFrame({"participant": [f"u{u}" for u in range(6)],
                         "dialect": ["north"] * 3 + ["south"] * 2 + ["a.b@example.org"]})  # fmt: skip
    groups = {
        (row["group"], row["value"]): row for row in removed_by_group(rows, remaining, background=background)
    }
    assert (groups["native", "False"]["removed"], groups["native", "True"]["removed"]) == (1, 1)
    assert groups["list", "A"]["removed"] == 1 and groups["list", "B"]["removed"] == 1
    assert groups["dialect", "north"]["removed"] == 0
    assert (
        groups["dialect", "rare answers"]["participants"],
        groups["dialect", "rare answers"]["removed"],
    ) == (3, 2)
    assert not any("example.org" in value for _, value in groups)


def test_the_report_is_json_and_states_when_the_plan_was_fixed():
    report = exclusion_report(choices(), PLAN, experiment="x")
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert report["plan"]["locked_before_first_response"] is False
    assert {row["judgments"] for row in report["overlap"] if row["step"] != row["other"]} == {0}


def test_a_step_that_scores_analysed_items_is_refused_with_the_reason():
    with pytest.raises(BadInput, match="raise the agreement"):
        Step("circular", "session", "catch_failed", {"kinds": ("target",)})
