"""Power of planned studies by simulation."""

import json

import pytest

from analysis.errors import BadInput, UnknownName
from analysis.power.exact import paired_t_power, sign_power
from analysis.power.simulation import Noise, expected_share, prospective_power


def simulated_row(task, effect, **options):
    options = {"participants": [20], "items": [8], "lists": 8, "draws": 4000} | options
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
    by_model = simulated_row(
        "likert", 0.0, noise=noise, participants=[40], lists=2, draws=60, analysis="mixed"
    )
    assert by_people["power"] > 0.04
    assert by_model["power"] <= 0.12


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
        ({"task": "forced_choice", "analysis": "mixed"}, "logistic"),
    ],
)
def test_impossible_plans_are_refused(change, message):
    options = {"task": "likert", "effect": 0.5, "participants": [10], "items": [8], "lists": 2} | change
    task, effect = options.pop("task"), options.pop("effect")
    with pytest.raises(BadInput, match=message):
        prospective_power(task, effect, **options)


def test_unknown_words_are_named():
    with pytest.raises(UnknownName, match="likert"):
        prospective_power("likrt", 0.5, participants=[10])
    with pytest.raises(UnknownName, match="mixed"):
        prospective_power("likert", 0.5, participants=[10], analysis="mxed")
