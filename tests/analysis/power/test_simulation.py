"""Power of planned studies by simulation."""

import json

import pytest

from analysis.errors import BadInput, UnknownName
from analysis.power.exact import paired_t_power, sign_power
from analysis.power.simulation import VARIATION, Noise, expected_share, prospective_power


def simulated_row(task, effect, **options):
    options = {
        "participants": [20],
        "items": [8],
        "lists": 8,
        "draws": 4000,
        "analysis": "participants",
    } | options
    return prospective_power(task, effect, **options)["designs"][0]


@pytest.mark.parametrize("effect", [0.3, 0.6])
def test_one_rating_of_each_kind_equals_the_paired_t(effect):
    noise = Noise(item=0.0)
    row = simulated_row("likert", effect, noise=noise)
    expected = float(paired_t_power(20, effect / (0.68 * 2**0.5)))
    assert row["trials_per_participant"] == 2
    assert row["power"] == pytest.approx(expected, abs=4 * row["mc_error"] + 0.005)


@pytest.mark.parametrize("effect", [0.3, 0.6])
def test_one_choice_each_equals_the_exact_sign_test(effect):
    row = simulated_row("forced_choice", effect, participants=[24])
    expected = float(sign_power(24, expected_share(effect)))
    assert row["trials_per_participant"] == 1
    assert row["power"] == pytest.approx(expected, abs=4 * row["mc_error"] + 0.005)


def test_without_an_effect_five_in_a_hundred_are_significant_and_half_of_them_point_back():
    row = simulated_row("likert", 0.0, noise=Noise(item=0.0), draws=8000)
    assert row["power"] == pytest.approx(0.025, abs=0.008)
    assert row["type_s"] == pytest.approx(0.5, abs=0.1) and row["type_m"] is None


def test_weak_studies_exaggerate_and_strong_ones_do_not():
    weak, strong = (
        simulated_row("likert", 0.15, participants=[10]),
        simulated_row("likert", 0.8, participants=[60]),
    )
    assert weak["type_m"] > 2 and weak["type_s"] > strong["type_s"]
    assert strong["type_m"] == pytest.approx(1, abs=0.05) and strong["ci_width"] < weak["ci_width"]


def test_more_trials_and_more_people_bring_more_power():
    few, many = simulated_row("likert", 0.3, lists=8), simulated_row("likert", 0.3, lists=2)
    assert (few["trials_per_participant"], many["trials_per_participant"]) == (2, 8)
    assert many["power"] > few["power"] + 0.1
    designs = prospective_power("likert", 0.3, participants=[10, 40], items=[4, 8], draws=800)["designs"]
    assert [(row["participants"], row["items"]) for row in designs] == [(10, 4), (40, 4), (10, 8), (40, 8)]
    assert designs[1]["power"] > designs[0]["power"]


def test_items_that_differ_make_the_test_by_participants_too_hopeful():
    noise = Noise(item_effect=0.6)
    by_people = simulated_row("likert", 0.0, noise=noise, participants=[40], lists=2, draws=1000)
    by_model = simulated_row("likert", 0.0, noise=noise, participants=[40], lists=2, analysis="mixed")
    assert by_people["power"] > 0.04
    assert by_model["power"] <= 0.03


def test_scale_points_censor_large_effects():
    plain = simulated_row("likert", 3.0, noise=Noise(), draws=200)
    coarse = simulated_row("likert", 3.0, noise=Noise(points=7), draws=200)
    assert coarse["type_m"] < plain["type_m"]


def test_effects_that_vary_shrink_the_expected_share():
    assert expected_share(0.5) == pytest.approx(0.819, abs=1e-3)
    assert 0.5 < expected_share(0.5, noise=Noise(item_effect=0.5)) < expected_share(0.5)


def test_the_document_is_json_and_repeats_with_its_seed():
    first, second = (prospective_power("likert", 0.4, participants=[12], seed=7, draws=200) for _ in range(2))
    assert json.dumps(first, allow_nan=False) == json.dumps(second)
    assert first["conventions"]["seed"] == 7 and first["noise"]["residual"] == 0.68


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lists": 9}, "cannot fill"),
        ({"participants": [1]}, "1 participants"),
        ({"draws": 0}, "draws"),
        ({"effect": -1.0}, "effect"),
        ({"items": [1], "lists": 1}, "two items"),
        ({"task": "forced_choice", "test": "interaction"}, "means of conditions"),
        ({"test": "inclusion"}, "choices"),
        ({"test": "interaction", "analysis": "participants"}, "mixed"),
    ],
)
def test_impossible_plans_are_refused(change, message):
    options = {"task": "likert", "effect": 0.5, "participants": [10], "items": [8], "lists": 2} | change
    task, effect = options.pop("task"), options.pop("effect")
    with pytest.raises(BadInput, match=message):
        prospective_power(task, effect, **options)


# Share of simulated studies that the product's mixed model detects: benchmarks/analysis/bench_power.py.
REALIZED = [
    ({"task": "likert", "effect": 0.35, "participants": [20], "items": [8]}, (0.3, 0.2), 0.485),
    ({"task": "likert", "effect": 0.35, "participants": [20], "items": [8]}, (0.0, 0.0), 0.760),
    ({"task": "likert", "effect": 0.3, "participants": [30], "items": [8]}, (0.0, 0.0), 0.815),
]


@pytest.mark.parametrize(("plan", "variation", "realized"), REALIZED)
def test_planned_power_is_what_the_default_analysis_detects(plan, variation, realized):
    item, participant = variation
    noise = Noise(item_effect=item, participant_effect=participant)
    row = prospective_power(**plan, noise=noise)["designs"][0]
    assert row["power"] == pytest.approx(realized, abs=0.05)


def test_without_a_stated_variation_the_published_one_is_planned():
    report = prospective_power("likert", 0.35, participants=[20])
    assert (report["noise"]["item_effect"], report["noise"]["participant_effect"]) == VARIATION["t"]
    without = prospective_power(
        "likert", 0.35, participants=[20], noise=Noise(item_effect=0, participant_effect=0)
    )
    assert report["designs"][0]["power"] < without["designs"][0]["power"] - 0.2
    assert "Sprouse" in report["conventions"]["variation"]


def test_more_participants_cannot_replace_items_whose_effects_differ():
    plan = {"effect": 0.3, "noise": Noise(item_effect=0.4, participant_effect=0.0)}
    few, many = (
        prospective_power("likert", participants=[400], items=[n], **plan)["designs"][0]["power"]
        for n in (6, 24)
    )
    assert few < 0.4 and many > 0.85


def test_without_an_effect_the_mixed_model_keeps_its_level_in_every_task():
    for task, test in (("likert", "t"), ("likert", "interaction"), ("forced_choice", "t"), ("yes_no", "t")):
        row = prospective_power(task, 0.0, participants=[30], items=[12], test=test)["designs"][0]
        assert row["power"] <= 0.035, (task, test)


def test_choices_between_pairs_need_fewer_participants_than_ratings_and_yes_no_more():
    power = {
        task: prospective_power(task, 0.4, participants=[20], items=[12], lists=lists)["designs"][0]["power"]
        for task, lists in (("likert", 2), ("forced_choice", 1), ("yes_no", 2))
    }
    assert power["yes_no"] < power["likert"] < power["forced_choice"]


def test_a_rule_includes_a_valid_paradigm_more_often_than_a_weak_one():
    include = {
        (effect, rule): prospective_power(
            "forced_choice", effect, participants=[20], items=[5], test="inclusion", rule=rule
        )["designs"][0]["power"]
        for effect in (0.1, 0.8)
        for rule in ("blimp", "climp")
    }
    assert include[0.8, "blimp"] > 0.95 and include[0.1, "blimp"] < 0.5
    assert include[0.1, "climp"] < 0.1 < include[0.8, "climp"]


def test_unknown_words_are_named():
    with pytest.raises(UnknownName, match="likert"):
        prospective_power("likrt", 0.5, participants=[10])
    with pytest.raises(UnknownName, match="mixed"):
        prospective_power("likert", 0.5, participants=[10], analysis="mxed")
