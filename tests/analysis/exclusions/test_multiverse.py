"""The multiverse: every specification equals its own analysis, twins count once, the own one is marked."""

import numpy as np
import pandas as pd
import pytest

from analysis.aggregation.ratings import transform_ratings
from analysis.effects.contrasts import contrast
from analysis.effects.five_analyses import five_analyses
from analysis.errors import BadInput, UnknownName
from analysis.exclusions.multiverse import Universe, multiverse_report, plan_variants
from analysis.exclusions.plan import parse_plan
from analysis.mixed_models.linear import mixed_model
from analysis.report.page_findings import multiverse_finding


def ratings(n=10, *, effect=1.0, seed=2):
    rng = np.random.default_rng(seed)
    rows = [
        (f"p{p}", f"i{i}", name, side, 4 + effect * (side == "acceptable") + rng.normal())
        for p in range(n)
        for name in ("islands", "agreement")
        for i in range(3)
        for side in ("acceptable", "unacceptable")
    ]
    columns = ["participant", "item", "phenomenon", "expected", "value"]
    return pd.DataFrame(rows, columns=columns).assign(task="likert")


@pytest.fixture(scope="module")
def report():
    everyone = ratings()
    strict = everyone[everyone["participant"] != "p0"]
    universes = [Universe("all", everyone), Universe("strict", strict), Universe("twin", strict.copy())]
    return multiverse_report(universes, exclusion="strict", transform="z", model="mixed")


def specification(report, **choice):
    return next(row for row in report["specifications"] if all(row[k] == v for k, v in choice.items()))


def test_there_is_one_specification_for_each_combination_and_twins_count_once(report):
    combinations = [(r["exclusion"], r["transform"], r["model"]) for r in report["specifications"]]
    assert len(set(combinations)) == len(combinations) == 2 * 4 * 4
    assert report["same"] == [{"exclusion": "twin", "as": "strict"}]
    estimates = [row["estimate"] for row in report["specifications"]]
    assert estimates == sorted(estimates)


def test_the_study_s_own_specification_is_marked_once(report):
    current = [row for row in report["specifications"] if row["is_current"]]
    assert [(r["exclusion"], r["transform"], r["model"]) for r in current] == [("strict", "z", "mixed")]
    assert report["summary"]["rank"] == 1 + report["specifications"].index(current[0])


@pytest.mark.parametrize("transform", ["z", "raw", "rank-normal"])
def test_every_specification_is_the_analysis_of_its_own(report, transform):
    strict = ratings()[lambda rows: rows["participant"] != "p0"]
    scored = strict.assign(score=transform_ratings(strict, transform=transform))
    tested = contrast(scored, value="score")
    row = specification(report, exclusion="strict", transform=transform, model="participants")
    assert row["raw"] == pytest.approx(tested.mean_difference) and row["p"] == pytest.approx(tested.p)
    assert row["estimate"] == pytest.approx(tested.mean_difference / scored["score"].std())
    assert row["ci_low"] == pytest.approx(tested.ci_low / scored["score"].std())
    coded = scored.assign(condition=(scored["expected"] == "acceptable") - 0.5)
    fit = mixed_model(coded, outcome="score")["condition"]
    row = specification(report, exclusion="strict", transform=transform, model="mixed")
    assert row["raw"] == pytest.approx(fit.estimate) and row["p"] == pytest.approx(fit.p)
    effects = five_analyses(strict, transform=transform, random=None).table
    assert len(effects[effects["analysis"] == "mixed_model"]) == 2  # one for each phenomenon
    single = multiverse_report([Universe("strict", strict)], contrast="islands")
    row = specification(single, transform=transform, model="mixed-slopes")
    effect = effects.set_index(["phenomenon", "analysis"]).loc[("islands", "mixed_model")]
    assert row["raw"] == pytest.approx(effect["estimate"]) and row["p"] == pytest.approx(effect["p"])


def test_the_finding_counts_signs_and_significant_specifications(report):
    rows, summary = report["specifications"], report["summary"]
    assert summary["same_sign"] == sum(row["estimate"] > 0 for row in rows)
    assert summary["significant_same_sign"] == sum(row["p"] < 0.05 and row["estimate"] > 0 for row in rows)
    text = multiverse_finding(report)
    assert f"{summary['same_sign']} of 32 specifications have the sign of the study's own" in text


def test_a_specification_whose_estimate_turns_is_not_of_the_same_sign():
    weak = ratings(effect=0.0)
    turned = weak.assign(expected=np.where(weak["expected"] == "acceptable", "unacceptable", "acceptable"))
    turned.index = turned.index + 1000  # other judgments
    summary = multiverse_report([Universe("a", weak), Universe("b", turned)], exclusion="a")["summary"]
    assert 0 < summary["same_sign"] < summary["estimated"]


def test_one_contrast_can_be_chosen_and_an_unknown_one_is_refused():
    universe = [Universe("all", ratings())]
    single = multiverse_report(universe, contrast="islands")["specifications"][0]
    assert single["judgments"] == 60
    with pytest.raises(UnknownName, match="islandz"):
        multiverse_report(universe, contrast="islandz")
    with pytest.raises(BadInput, match="2x2"):
        multiverse_report(universe, effect="interaction")


def test_choices_and_yes_no_are_in_shares():
    rng = np.random.default_rng(3)
    rows = [(f"p{p}", f"i{i}", float(rng.random() < 0.8)) for p in range(12) for i in range(10)]
    choices = pd.DataFrame(rows, columns=["participant", "item", "value"]).assign(phenomenon="islands")
    report = multiverse_report([Universe("all", choices.assign(task="forced_choice"))])
    assert {row["model"] for row in report["specifications"]} == {"participants", "items", "mixed"}
    share = choices["value"].mean() - 0.5
    assert all(row["estimate"] == pytest.approx(share, abs=0.03) for row in report["specifications"])
    answers = ratings().assign(task="yes_no", value=lambda r: (r["value"] > 4.4) * 1.0)
    yes = multiverse_report([Universe("all", answers)])
    means = answers.groupby("expected")["value"].mean()
    difference = means["acceptable"] - means["unacceptable"]
    assert all(row["estimate"] == pytest.approx(difference, abs=0.05) for row in yes["specifications"])


def test_the_interaction_of_a_design_is_the_difference_of_differences():
    rng = np.random.default_rng(4)
    rows = [
        (f"p{p}", f"i{i}", f"{s}.{d}", "wh", rng.normal() - 2 * (s == "isl") * (d == "emb"))
        for p in range(8)
        for i in range(4)
        for s in ("non-isl", "isl")
        for d in ("mat", "emb")
    ]
    frame = pd.DataFrame(rows, columns=["participant", "item", "condition", "phenomenon", "value"])
    frame["expected"] = np.where(frame["condition"] == "isl.emb", "unacceptable", "acceptable")
    report = multiverse_report([Universe("all", frame.assign(task="likert"))], effect="interaction")
    cells = frame.groupby("condition")["value"].mean()
    expected = (cells["non-isl.emb"] - cells["isl.emb"]) - (cells["non-isl.mat"] - cells["isl.mat"])
    assert specification(report, transform="raw", model="participants")["raw"] == pytest.approx(expected)


def test_a_plan_varies_by_each_of_its_steps():
    names = [plan.name for plan in plan_variants(parse_plan("flagged,too_few"))]
    assert names[0] == "nothing excluded" and len(names) == 4 and names[2].endswith("without flagged")
    assert len(plan_variants(parse_plan("flagged"))) == 2 and len(plan_variants(parse_plan(""))) == 1
