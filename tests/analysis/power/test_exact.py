"""Power: exact, by resampling a pilot, and by simulating a plan."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.effects.bayes import jzs_bayes_factor, share_bayes_factor
from analysis.errors import BadInput, NotEnoughData, UnknownName
from analysis.power.anova import anova_power
from analysis.power.exact import (
    critical_count,
    enough_participants,
    inclusion_power,
    paired_t_power,
    share_powered,
    sign_power,
)
from analysis.power.pilot import (
    _bayes_cut,
    choice_power,
    describe_sample,
    pilot_matrix,
    powered_by_size,
    resampled_power,
)
from analysis.power.report import pilot_report, prospective_report
from analysis.report.page_findings import unknown_power_sentence


def test_vector_power_exact(shared_vectors):
    vector = shared_vectors["power_exact"]
    for (n, share), expected in zip(vector["input"]["sign"], vector["expected"]["sign"], strict=True):
        assert float(sign_power(n, share)) == pytest.approx(expected, abs=1e-9)
    for (n, d), expected in zip(vector["input"]["paired_t"], vector["expected"]["paired_t"], strict=True):
        assert float(paired_t_power(n, d)) == pytest.approx(expected, abs=vector["tolerance"])


def test_vector_power_resampling(shared_vectors):
    vector = shared_vectors["power_resampling"]
    pilot = pd.DataFrame({"a": vector["input"]["differences"]})
    exact = vector["expected"]["t_power_exact"]
    row = resampled_power(pilot, [vector["input"]["n"]], draws=20_000).iloc[0]
    assert row["power"] == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 20_000) ** 0.5)
    hits = pd.DataFrame({"a": vector["input"]["fc"]}, dtype=float)
    by_choice = choice_power(hits, [vector["input"]["fc_n"]]).iloc[0]
    assert by_choice["power"] == pytest.approx(vector["expected"]["fc_sign_power_exact"], abs=1e-10)


def test_five_choices_can_never_be_significant():
    assert critical_count(5) is None and float(sign_power(5, 1.0)) == 0
    assert [critical_count(n) for n in (6, 10, 15, 20)] == [6, 9, 12, 15]


@given(st.integers(2, 80))
def test_without_an_effect_power_is_at_most_half_alpha(n):
    assert float(sign_power(n, 0.5)) <= 0.025
    assert float(paired_t_power(n, 0.0)) == pytest.approx(0.025, abs=1e-9)


@given(st.floats(0.55, 0.99))
def test_enough_participants_stay_enough(share):
    n = enough_participants("forced_choice", share)
    if n is not None:
        assert all(float(sign_power(m, share)) >= 0.8 for m in range(n, n + 30))
        assert n == 2 or float(sign_power(n - 1, share)) < 0.8
    assert enough_participants("forced_choice", 0.5, most=100) is None


def test_resampling_a_large_pilot_comes_near_the_formula():
    differences = np.random.default_rng(1).normal(0.5, 1, size=(4000, 1))
    differences = 0.5 + (differences - differences.mean()) / differences.std()
    powers = resampled_power(pd.DataFrame(differences, columns=["a"]), [10, 30, 60], draws=4000)
    expected = [float(paired_t_power(n, 0.5)) for n in (10, 30, 60)]
    assert powers["power"].tolist() == pytest.approx(expected, abs=0.03)


def test_gaps_are_drawn_as_gaps():
    rng = np.random.default_rng(2)
    full = pd.DataFrame({"a": rng.normal(0.6, 1, 400), "b": rng.normal(0.6, 1, 400)})
    half = full.assign(b=full["b"].where(np.arange(400) % 2 == 0))
    powers = resampled_power(half, [30], draws=3000).set_index("phenomenon")
    fewer = resampled_power(full[::2], [15], draws=3000).set_index("phenomenon")
    assert powers.loc["b", "power"] == pytest.approx(fewer.loc["b", "power"], abs=0.08)
    assert powers.loc["b", "power"] < powers.loc["a", "power"]
    assert powers["n_pilot"].tolist() == [400, 200]
    # of whom the numbers of participants are: the study's, of whom not everybody judges a contrast
    assert describe_sample(resampled_power(half, [30])) == (
        "participants of the whole study; 200 to 400 of 400 in the pilot judged each contrast"
    )
    assert describe_sample(resampled_power(full, [30])) == "participants, 400 in the pilot"
    assert "who judge the contrast, once each" in describe_sample(choice_power(half > 0, [30]))


def test_draws_without_variance_are_not_detected_and_the_seed_decides():
    pilot = pd.DataFrame({"same": [1.0] * 6, "mixed": [1.0, 2, 3, 0.5, 1, 2]})
    first, other = (resampled_power(pilot, [4, 8], seed=3, pilots=20) for _ in range(2))
    assert first.equals(other)
    assert first.set_index(["phenomenon", "n"]).loc[("same", 8), "power"] == 0
    assert (first["pilot_low"] <= first["pilot_high"]).all()


def test_near_unanimous_choices_have_the_power_of_the_sign_test():
    pilot = pd.DataFrame({"99 %": [0.5] * 59 + [-0.5], "75 %": [0.5] * 45 + [-0.5] * 15})
    table = resampled_power(pilot, [10, 20], draws=20_000).set_index(["phenomenon", "n"])
    for name, share in (("99 %", 59 / 60), ("75 %", 0.75)):
        for n in (10, 20):
            exact = float(sign_power(n, share))
            assert table.loc[(name, n), "power"] == pytest.approx(exact, abs=0.012)


def test_unanimous_shares_of_several_choices_are_detected_by_the_sign_test():
    shares = pd.DataFrame({"all right": [0.5] * 20, "nearly": [0.5] * 18 + [0.25] * 2})
    power = resampled_power(shares, [5, 6, 12], draws=2_000, choices=True).set_index(["phenomenon", "n"])[
        "power"
    ]
    assert power["all right"].tolist() == [0, 1, 1]  # five of five have p = .0625
    assert power["nearly", 12] == 1
    ratings = resampled_power(shares - 0.1, [12], draws=200)["power"]
    assert ratings[0] == 0  # differences of ratings without variance stay undetected


def test_power_at_a_size_does_not_depend_on_the_other_sizes():
    pilot = pd.DataFrame({"a": np.random.default_rng(5).normal(0.4, 1, 50)})
    sizes = {tuple(sizes): resampled_power(pilot, sizes).set_index("n") for sizes in ([50], [10, 30, 50])}
    first, second = sizes.values()
    assert first.loc[50, "power"] == second.loc[50, "power"]


def test_the_bayes_criterion_is_a_factor_above_three():
    for n in (5, 20, 100):
        cut = _bayes_cut(n)
        assert jzs_bayes_factor(cut, n).value == pytest.approx(3, rel=1e-6)
    pilot = pd.DataFrame({"a": np.random.default_rng(4).normal(0.5, 1, 200)})
    by_t, by_bayes = (resampled_power(pilot, [25], criterion=name)["power"][0] for name in ("t", "bayes"))
    assert 0 < by_bayes < by_t
    with pytest.raises(UnknownName, match="bayes"):
        resampled_power(pilot, [25], criterion="bays")


def test_a_pilot_needs_people_and_one_task():
    with pytest.raises(NotEnoughData, match="two participants"):
        resampled_power(pd.DataFrame({"a": [1.0]}), [5])
    with pytest.raises(BadInput, match="at least 1"):
        resampled_power(pd.DataFrame({"a": [1.0, 2]}), [0])
    rows = pd.DataFrame({"participant": ["A", "B"], "value": [1, 0], "task": ["forced_choice", "likert"]})
    with pytest.raises(BadInput, match="2 tasks"):
        pilot_matrix(rows)
    one_sided = pd.DataFrame(
        {"participant": ["A"] * 4, "value": [1, 2, 3, 4], "expected": "acceptable", "item": 1}
    )
    with pytest.raises(NotEnoughData, match="both sides"):
        pilot_matrix(one_sided.assign(phenomenon="p", task="likert"))


def test_the_published_curve_is_a_share_of_phenomena():
    assert share_powered([]) is None
    table = pd.DataFrame({"n": [10, 10, 20, 20], "power": [0.5, 0.9, 0.8, 0.9], "phenomenon": list("abab")})
    assert powered_by_size(table)["share_powered"].tolist() == [0.5, 1.0]


def li_differences(shared_data):
    """Give the mean difference of each published pair of sentence types of LI."""
    human = pd.read_csv(shared_data("li-adger/human_ME_results_li-adger_sentences.csv"))
    pairs = pd.read_csv(shared_data("li-adger/li-adger_min_pairs.csv"))
    pairs = pairs[(pairs["dataset"] == "LI") & pairs["discard"].isna()]
    score = human.set_index("id")["judgement"]
    types = [pairs[name].str.replace(r"\.\d+$", "", regex=True) for name in ("gramm_id", "ungramm_id")]
    delta = pairs["gramm_id"].map(score) - pairs["ungramm_id"].map(score)
    return delta.groupby(types).mean().dropna()


def test_published_anchors_are_within_the_computed_figures(shared_data):
    d_z = li_differences(shared_data).to_numpy() / (0.68 * 2**0.5)
    assert len(d_z) == pytest.approx(147, abs=2)
    expected = {10: 0.63, 15: 0.73, 20: 0.74, 25: 0.76, 30: 0.79, 35: 0.81}
    for n, share in expected.items():
        assert share_powered(paired_t_power(n, d_z)) == pytest.approx(share, abs=0.012)
    assert share_powered(paired_t_power(35, d_z)) >= 0.8 > share_powered(paired_t_power(25, d_z))


def test_forced_choice_anchors_with_the_gain_of_joint_presentation(shared_data):
    d_z = li_differences(shared_data).to_numpy() / (0.68 * 2**0.5)
    expected = {
        (1, 10): 0.39,
        (1.5, 10): 0.67,
        (1.5, 15): 0.74,
        (1.75, 10): 0.72,
        (1.75, 15): 0.76,
        (2, 15): 0.80,
    }
    for (gain, n), share in expected.items():
        assert share_powered(sign_power(n, stats.norm.cdf(gain * d_z))) == pytest.approx(share, abs=0.012)


def choices_of_people(rights, n):
    rows = [(p, name, float(p < k)) for name, k in rights.items() for p in range(n)]
    frame = pd.DataFrame(rows, columns=["participant", "phenomenon", "value"])
    return frame.assign(item=frame["phenomenon"], task="forced_choice")


def test_the_bayes_criterion_holds_for_single_choices_too():
    rows = choices_of_people({"clear": 38, "near": 29}, 40)
    reports = {
        name: pilot_report(rows, participants=[15, 20], criterion=name, analysis="participants")
        for name in ("t", "bayes")
    }
    assert reports["bayes"]["test"] == "Bayes factor of the share, over these items only"
    for n in (15, 20):
        least = next(k for k in range(n // 2 + 1, n + 1) if share_bayes_factor(k, n).value > 3)
        expected = stats.binom.sf(least - 1, n, 29 / 40)
        power = {
            name: {(row["phenomenon"], row["n"]): row["power"] for row in report["phenomena"]}["near", n]
            for name, report in reports.items()
        }
        assert power["bayes"] == pytest.approx(expected)
        assert power["t"] == pytest.approx(float(sign_power(n, 29 / 40)))


def test_a_contrast_without_complete_participants_has_no_power_and_no_share():
    rng = np.random.default_rng(4)
    sides = [
        (p, name, side) for p in range(20) for name in ("a", "b") for side in ("acceptable", "unacceptable")
    ]
    rows = pd.DataFrame(sides, columns=["participant", "phenomenon", "expected"]).assign(task="slider")
    rows["value"] = rng.normal(size=len(rows)) + 3 * (rows["expected"] == "acceptable")
    rows["item"] = rows["phenomenon"] + rows["expected"]
    rows = rows[(rows["phenomenon"] == "a") | (rows["expected"] == "unacceptable")]
    matrix, _ = pilot_matrix(rows, transform="raw")
    assert list(matrix.columns) == ["a"]
    assert powered_by_size(resampled_power(matrix, [40], draws=50))["share_powered"].tolist() == [1.0]


def test_power_from_a_small_pilot_comes_with_its_interval():
    choices = choices_of_people({"clear": 12, "near": 9}, 12)
    choices = pilot_report(choices, participants=[20], analysis="participants")
    clear, near = choices["phenomena"]
    assert clear["power"] == 1 and clear["pilot_low"] < 0.8  # Wilson's lower end of 12 of 12 is .757
    assert near["pilot_low"] < near["power"] < near["pilot_high"]
    assert choices["sizes"][0]["share_powered"] == 0.5 and choices["sizes"][0]["share_sure"] == 0
    rng = np.random.default_rng(6)
    sides = {"acceptable": 1.2, "unacceptable": 0.0}
    rows = pd.DataFrame(
        [(p, word, mean + rng.normal()) for p in range(12) for word, mean in sides.items()],
        columns=["participant", "expected", "value"],
    ).assign(item="i", phenomenon="a", task="likert")
    few = pilot_report(rows, participants=[20], transform="raw", draws=200)["phenomena"][0]
    assert few["pilot_low"] < few["power"] < few["pilot_high"]
    many = pd.concat([rows.assign(participant=rows["participant"] + 12 * n) for n in range(3)])
    assert "pilot_low" not in pilot_report(many, participants=[20], transform="raw")["phenomena"][0]


def test_inclusion_is_the_share_of_simulated_paradigms_with_four_right_majorities():
    rng = np.random.default_rng(5)
    choices = rng.random((40_000, 5, 20)) < 0.6
    right = choices.sum(axis=2) > 10
    assert float(inclusion_power(0.6)) == pytest.approx((right.sum(axis=1) >= 4).mean(), abs=0.01)
    assert float(inclusion_power(1)) == 1 and float(inclusion_power(0)) == 0
    with pytest.raises(BadInput, match="below 0 or above 1"):
        inclusion_power(1.5)


def test_published_powers_of_analyses_of_variance():
    """Cohen (1988), p. 357, by R's pwr.anova.test; f = .25 by G*Power: stats.stackexchange.com/q/68754."""
    between = anova_power(80, 0.28, conditions=4, test="anova_between")
    assert between == pytest.approx(0.5149793, abs=1e-6)
    within = [anova_power(n, 0.25, conditions=3, correlation=0) for n in (83, 84)]
    groups = [anova_power(n, 0.25, conditions=3, test="anova_between") for n in (249, 252)]
    for less, enough in (within, groups):
        assert less < 0.95 < enough
    assert anova_power(5, 1.0, conditions=3, test="anova_between") == 0


def test_the_f_test_of_two_conditions_within_participants_is_the_paired_t_test():
    d, correlation, n = 0.4, 0.3, 25
    d_z = d / np.sqrt(2 * (1 - correlation))
    critical = stats.t.ppf(0.975, n - 1)
    t = stats.nct(n - 1, d_z * np.sqrt(n))
    power = anova_power(n, d / 2, conditions=2, correlation=correlation)
    assert power == pytest.approx(t.sf(critical) + t.cdf(-critical), abs=1e-8)


def test_a_plan_of_several_conditions_has_the_keys_of_other_plans():
    plan = prospective_report("likert", 0.25, participants=[10, 40], draws=20)
    found = prospective_report("likert", 0.25, participants=[10, 40], items=[9], lists=3, test="anova")
    assert plan.keys() <= found.keys() and plan["designs"][0].keys() <= found["designs"][0].keys()
    assert found["smallest"]["participants"] == 40 and found["smallest"]["trials_per_participant"] == 9
    assert found["eta_squared"] == pytest.approx(1 / 17)
    less = prospective_report("likert", 0.25, participants=[40], test="anova", epsilon=0.6)
    assert less["designs"][0]["power"] < found["designs"][1]["power"]
    for wrong in ({"correlation": 1.0}, {"epsilon": 0.0}, {"conditions": 1}):
        with pytest.raises(BadInput):
            prospective_report("likert", 0.25, test="anova", **wrong)
    with pytest.raises(BadInput, match="no F test"):
        prospective_report("forced_choice", 0.25, test="anova")
    with pytest.raises(UnknownName):
        prospective_report("likert", 0.25, test="z")


def test_contrasts_whose_power_is_unknown_are_named_with_the_reason():
    rng = np.random.default_rng(2)
    rows = [
        (f"p{person}", f"i{item}", side, name, (side == "acceptable") + rng.normal())
        for person in range(8)
        for item in range(4)
        for side in ("acceptable", "unacceptable")
        for name in ("whole", "half")
        if name == "whole" or (side == "acceptable") == (person % 2 == 0)
    ]
    frame = pd.DataFrame(rows, columns=["participant", "item", "expected", "phenomenon", "value"])
    frame = frame.assign(task="likert")
    for analysis, reason in (
        ("mixed", "fewer than two participants judged both sides"),
        ("participants", "no participant judged both sides"),
    ):
        report = pilot_report(frame, participants=[10], transform="raw", draws=50, analysis=analysis)
        assert {row["phenomenon"] for row in report["phenomena"]} == {"whole"}
        assert report["left_out"] == [{"phenomenon": "half", "reason": reason}]
        assert unknown_power_sentence(report) == f"Power is unknown for 1 contrast: half ({reason})."
