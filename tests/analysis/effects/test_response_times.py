"""Response times: the outlier rule, shifted lognormals against R, ratios against their definitions."""

import numpy as np
import pandas as pd
import pingouin
import pytest

from analysis.effects.response_times import parse_outlier_rule, shifted_lognormal, time_report
from analysis.effects.within import repeated_measures_correlation
from analysis.errors import BadInput
from analysis.mixed_models.linear import Random, mixed_model
from analysis.mixed_models.structures import fit_largest
from analysis.report.page_findings import times_finding

# R 4.2.2: set.seed(4); round(300 + exp(rnorm(60, 6.5, .5)), 1)
TIMES = np.array([
    1041.3, 807.1, 1338.5, 1196, 1806.9, 1238.8, 650.5, 897.9, 2016.9, 1917.2, 1183, 970.4, 1105.6,
    950.3, 976.7, 1023.8, 1491, 950.6, 932.6, 877.3, 1737.1, 1022.4, 1579, 1566.6, 1194.7, 877.4,
    1546.3, 1348.3, 718.2, 1536.6, 1018.2, 1425.5, 756.2, 617, 1323.1, 843.3, 893.7, 1361.1, 826.9,
    783.6, 1602.3, 1028.3, 1569.3, 586, 741.2, 732.2, 998.8, 851.2, 1255.2, 570.8, 777.3, 786.9,
    939.2, 1127, 2081.9, 793.5, 804.6, 1242, 915.3, 1605.6,
])  # fmt: skip


def test_the_shifted_lognormal_is_the_local_maximum_that_r_finds():
    # R 4.2.2: optim (Nelder-Mead) of -sum(dlnorm(x - shift, mu, sigma, log=TRUE)) from five shifts
    fit = shifted_lognormal(TIMES)
    assert fit.status == "ok" and fit.shift == pytest.approx(316.8753, abs=1e-3)
    assert [fit.mu, fit.sigma] == pytest.approx([6.587174, 0.4631115], abs=1e-6)
    assert fit.mean == pytest.approx(fit.shift + np.exp(fit.mu + fit.sigma**2 / 2))


def test_the_fitted_likelihood_exceeds_that_of_every_other_shift_but_at_the_smallest_time():
    fit = shifted_lognormal(TIMES)

    def height(shift):
        logs = np.log(TIMES - shift)
        return -logs.sum() - len(logs) / 2 * np.log(logs.var())

    assert all(height(fit.shift) >= height(shift) for shift in np.linspace(0, TIMES.min() - 20, 500))


def test_times_without_a_shift_have_a_plain_lognormal():
    quantiles = np.exp(7 + 0.5 * np.array([-2.5, *np.linspace(-1.5, 2.2, 40)]))
    fit = shifted_lognormal(quantiles)
    assert fit.status in ("no_shift", "unbounded") and fit.shift == 0
    assert fit.mu == pytest.approx(np.log(quantiles).mean())
    assert shifted_lognormal(TIMES[:9]).status == "too_few"


def rows(n=12, *, ratio=1.2, seed=1):
    """Times of unacceptable sentences ``ratio`` times as long, by participants and items."""
    rng = np.random.default_rng(seed)
    speed, length = rng.normal(7, 0.2, n), rng.normal(0, 0.1, 8)
    table = [
        (f"p{p}", f"i{i}", side, "likert", "islands", float(rng.integers(1, 8)),
         np.exp(speed[p] + length[i] + np.log(ratio) * (side == "unacceptable") + rng.normal(0, 0.2)))
        for p in range(n) for i in range(8) for side in ("acceptable", "unacceptable")
    ]  # fmt: skip
    columns = ["participant", "item", "expected", "task", "phenomenon", "value", "rt_ms"]
    frame = pd.DataFrame(table, columns=columns)
    return frame.assign(condition=frame["expected"].str[:3])


def test_means_and_ratios_are_those_of_log_times():
    judgments = rows()
    report = time_report(judgments)
    logs = judgments.assign(log=np.log(judgments["rt_ms"]))
    people = logs.pivot_table(index="participant", columns="expected", values="log")
    difference = people["unacceptable"] - people["acceptable"]
    contrast = report["contrasts"][0]
    assert (contrast["slow"], contrast["fast"]) == ("unacceptable", "acceptable")
    assert contrast["ratio"] == pytest.approx(np.exp(difference.mean()))
    items = logs.pivot_table(index="item", columns="expected", values="log")
    expected = np.exp((items["unacceptable"] - items["acceptable"]).mean())
    assert contrast["items"]["ratio"] == pytest.approx(expected)
    coded = logs.assign(condition=(logs["expected"] == "unacceptable") - 0.5)
    slope = [Random(name, word) for word in ("", "condition") for name in ("participant", "item")]
    assert contrast["mixed"]["structure"]
    fit = fit_largest(
        lambda terms, start: mixed_model(coded, outcome="log", random=terms, start=start),
        coded,
        slopes=["condition"],
    )
    everything = mixed_model(coded, outcome="log", random=slope)["condition"]
    assert contrast["mixed"]["ratio"] == pytest.approx(np.exp(everything.estimate), rel=0.01)
    assert contrast["mixed"]["ratio"] == pytest.approx(np.exp(fit["condition"].estimate))
    assert contrast["mixed"]["p"] == pytest.approx(fit["condition"].p)
    means = {row["condition"]: row["geometric_mean"] for row in report["conditions"]}
    assert means["una"] == pytest.approx(np.exp(people["unacceptable"].mean()))
    assert means["una"] / means["acc"] == pytest.approx(contrast["ratio"])


def test_the_interval_of_a_ratio_covers_the_true_ratio_at_about_its_nominal_rate():
    holds = [
        row["ci_low"] < 1.2 < row["ci_high"]
        for seed in range(60)
        for row in time_report(rows(8, seed=seed))["contrasts"]
    ]
    assert 0.86 <= np.mean(holds) <= 1


def test_what_the_outlier_rule_leaves_out_is_counted_and_named():
    judgments = rows()
    judgments.loc[0, "rt_ms"] = 90.0
    judgments.loc[1, "rt_ms"] = 60_000.0
    judgments.loc[16, "rt_ms"] = 9_000.0
    report = time_report(judgments, outliers="200-10000,3sd")
    assert "below 200 ms or above 10,000 ms; then more than 3 SD" in report["rule"]
    dropped = report["dropped"]
    assert dropped["reasons"] == {"too fast": 1, "too slow": 1, "far from the participant's centre": 1}
    assert dropped["participants"][0] == {"participant": "p0", "dropped": 2, "timed": 16}
    assert {(row["participant"], row["rt_ms"]) for row in dropped["trials"]} == {
        ("p0", 90.0), ("p0", 60_000.0), ("p1", 9_000.0)
    }  # fmt: skip
    assert sum(row["n"] for row in report["conditions"]) == report["timed"] - 3
    remaining = judgments.drop(index=[0, 1, 16])
    assert report["contrasts"] == time_report(remaining)["contrasts"]


def test_a_spread_by_mad_takes_the_median_of_each_participant():
    judgments = rows()
    log = np.log(judgments["rt_ms"])
    median = log.groupby(judgments["participant"]).transform("median")
    mad = (log - median).abs().groupby(judgments["participant"]).transform("median")
    expected = int(((log - median).abs() > 2 * 1.4826 * mad).sum())
    assert time_report(judgments, outliers="2mad")["dropped"]["n"] == expected > 0


@pytest.mark.parametrize("rule", ["fast", "10000-200", "2.5", "0sd", "200-,300-", "1sd,2mad"])
def test_an_unreadable_rule_is_refused(rule):
    with pytest.raises(BadInput):
        parse_outlier_rule(rule)


def test_choices_have_times_by_phenomenon_and_no_ratio():
    judgments = rows().assign(task="forced_choice", condition="", value=1.0).drop(columns="expected")
    report = time_report(judgments)
    assert [row["condition"] for row in report["conditions"]] == ["islands"] and report["contrasts"] == []
    assert "belongs to neither" in report["reason"]


def test_conditions_without_an_expected_status_are_compared_with_the_first():
    judgments = rows().drop(columns="expected")
    report = time_report(judgments)
    assert [(row["slow"], row["fast"]) for row in report["contrasts"]] == [("una", "acc")]


def test_a_published_correlation_within_participants():
    """R's rmcorr and pingouin.rm_corr of Bland and Altman's data (1995): acidity and carbon dioxide."""
    data = pingouin.read_dataset("rm_corr")
    found = repeated_measures_correlation(data["pH"].to_numpy(), data["PacO2"].to_numpy(), data["Subject"])
    assert (found["participants"], found["n"], found["df"]) == (8, 47, 38)
    assert found["r"] == pytest.approx(-0.5067697, abs=1e-7) and found["p"] == pytest.approx(0.0008471081)
    theirs = pingouin.rm_corr(data, x="pH", y="PacO2", subject="Subject").iloc[0]
    assert found["r"] == pytest.approx(theirs["r"]) and found["p"] == pytest.approx(theirs["pval"])
    assert [found["ci_low"], found["ci_high"]] == pytest.approx(theirs["CI95"], abs=0.005)


def test_times_within_participants_by_rating_correctness_and_position():
    judgments = rows().assign(position=np.tile(np.arange(1.0, 17), 12))
    judgments["rt_ms"] *= np.exp(-0.05 * judgments["position"])
    found = {row["with"]: row for row in time_report(judgments)["within_participants"]}
    assert list(found) == ["rating", "position"]
    assert found["position"]["r"] < -0.4 and found["position"]["df"] == 12 * 16 - 13
    answers = judgments.assign(task="yes_no", value=np.tile([1.0, 1, 1, 0], 48))
    correct = (answers["value"] == (answers["expected"] == "acceptable")).to_numpy(dtype=float)
    row = time_report(answers)["within_participants"][0]
    expected = repeated_measures_correlation(correct, np.log(answers["rt_ms"]), answers["participant"])
    assert row == {"with": "correct", **expected}


@pytest.mark.parametrize(
    ("x", "status"),
    [
        ([1, 2, np.nan, 1, 2, 3], "ok"),
        ([1, 1, 1, 2, 2, 2], "no_variation"),
        ([1, 2, np.nan, 1, 2, np.nan], "too_few"),
    ],
)
def test_correlations_within_participants_that_are_undefined_have_a_status(x, status):
    y = np.array([1.0, 2, 3, 2, 1, 3])
    found = repeated_measures_correlation(np.array(x, dtype=float), y, pd.Series(list("aaabbb")))
    assert found["status"] == status and (found["r"] is None) == (status != "ok")


def test_the_clearest_of_many_ratios_has_the_interval_of_all_contrasts_together():
    # R 4.2.2: qt(1 - .05 / (2 * 4), 11) / qt(.975, 11)
    factor = 2.980 / 2.201
    parts = [rows(ratio=1 + 0.1 * number, seed=number).assign(phenomenon=f"p{number}") for number in range(4)]
    report = time_report(pd.concat(parts))
    for row in report["contrasts"]:
        low, high = np.log(row["simultaneous"])
        assert (high - low) / np.log(row["ci_high"] / row["ci_low"]) == pytest.approx(factor, abs=2e-3)
    assert "the clearest of 4 contrasts" in times_finding(report)
    assert "95 % CI for all 4 contrasts together" in times_finding(report)
    alone = time_report(parts[1])["contrasts"][0]
    assert alone["simultaneous"] == pytest.approx([alone["ci_low"], alone["ci_high"]])
